// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackpicture

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/operation/graph"
	"github.com/cairnstacks/cairn/internal/show/picture"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func planned(t *testing.T, addr string, action stackplan.Action, requires ...string) *stackplan.Component {
	t.Helper()
	instance, err := stackaddrs.ParseAbsComponentInstance(addr)
	if err != nil {
		t.Fatal(err)
	}
	c := &stackplan.Component{Addr: instance, Action: action, Complete: true}
	for _, text := range requires {
		component, err := stackaddrs.ParseAbsComponent(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Requires = append(c.Requires, component)
	}
	return c
}

// Each component has the look of the actions planned for all of its instances, and required
// components stand on the left.
func TestPictureOfPlan(t *testing.T) {
	deferred := planned(t, "component.deferred", stackplan.Create, "component.created")
	deferred.Complete = false
	p := Of(graph.OfPlan(&stackplan.Plan{Applyable: true, Components: []*stackplan.Component{
		planned(t, "component.created", stackplan.Create),
		planned(t, "component.kept", stackplan.NoOp, "component.created"),
		planned(t, `component.mixed["a"]`, stackplan.Create, "component.kept", "component.elsewhere"),
		planned(t, `component.mixed["b"]`, stackplan.Delete, "component.kept"),
		planned(t, `component.partly["a"]`, stackplan.NoOp),
		planned(t, `component.partly["b"]`, stackplan.Update),
		deferred,
	}}), nil)
	got := map[string]string{}
	for column, nodes := range p.Columns {
		for _, n := range nodes {
			got[strings.SplitN(p.Nodes[n].Tooltip, "\n", 2)[0]] = strings.Repeat(">", column) + string(p.Nodes[n].Class)
		}
	}
	want := map[string]string{
		"component.created": "create", "component.kept": ">", "component.mixed": ">>several", "component.elsewhere": "",
		"component.partly": "update", "component.deferred": ">deferred",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, e := range p.Edges {
		if e.Backward {
			t.Errorf("the arrow %q points to the left", e.Tooltip)
		}
	}
	var legend []picture.Class
	for _, entry := range p.Legend {
		legend = append(legend, entry.Class)
	}
	if diff := cmp.Diff([]picture.Class{picture.Create, picture.Update, picture.Several, picture.Deferred}, legend); diff != "" {
		t.Error(diff)
	}
}

// A component instance to destroy may require one to create, which requires it in turn: the picture
// is drawn nevertheless.
func TestPictureOfTurnedRequirement(t *testing.T) {
	p := Of(graph.OfPlan(&stackplan.Plan{Applyable: true, Components: []*stackplan.Component{
		planned(t, `component.a["old"]`, stackplan.Delete, "component.b"),
		planned(t, `component.a["new"]`, stackplan.Create),
		planned(t, `component.b`, stackplan.Update, "component.a"),
	}}), nil)
	if len(p.Columns) != 2 || len(p.Edges) != 2 || p.Edges[0].Backward == p.Edges[1].Backward {
		t.Errorf("columns %v, edges %v", p.Columns, p.Edges)
	}
	if svg := p.SVG(); strings.Count(svg, "marker-end") != 2 {
		t.Errorf("there are not two arrows in\n%s", svg)
	}
}
