// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package model_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/fleet/savedplan"
	"github.com/cairnstacks/cairn/internal/operation/graph"
	"github.com/cairnstacks/cairn/internal/page/model"
	"github.com/cairnstacks/cairn/internal/show/picture"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// newPlan returns a plan that creates an object in each of so many components.
func newPlan(t testing.TB, components int) *savedplan.Plan {
	t.Helper()
	plan := &stackplan.Plan{Applyable: true, Complete: true}
	long := cty.StringVal(strings.Repeat("<b>", 1<<19))
	for i := range components {
		text := fmt.Sprintf("component.c%05d.terraform_data.x", i)
		addr, err := stackaddrs.ParseAbsResourceInstance(text)
		if err != nil {
			t.Fatal(err)
		}
		component, _, err := stackaddrs.ParseAbsComponentInstancePrefix(text)
		if err != nil {
			t.Fatal(err)
		}
		plan.Components = append(plan.Components, &stackplan.Component{
			Addr: component, Source: "./module", Action: stackplan.Create, Complete: true, Applyable: true,
			Changes: []*engine.Change{{
				Addr: addr.Item, Action: engine.ActionCreate, Before: cty.NullVal(cty.DynamicPseudoType), After: cty.ObjectVal(map[string]cty.Value{
					"id":     cty.UnknownVal(cty.String),
					"input":  long,
					"secret": cty.StringVal("hunter2").Mark(marks.Sensitive),
				}),
			}},
		})
	}
	return &savedplan.Plan{Plan: plan}
}

// A page of a large plan has a part of it, and values are cut and hidden.
func TestPlanPages(t *testing.T) {
	plan := newPlan(t, 250)
	first := model.NewPlan(plan, model.Query{})
	if len(first.Components) != 100 || first.Total != 250 || first.Last != 3 || first.Next != 2 || first.Previous != 0 || first.All != 250 {
		t.Errorf("the first page is %+v with %d components", first.Pages, len(first.Components))
	}
	last := model.NewPlan(plan, model.Query{Page: 99})
	if len(last.Components) != 50 || last.Page != 3 || last.Next != 0 || last.Components[49].Address != "component.c00249" {
		t.Errorf("the last page is %+v with %d components", last.Pages, len(last.Components))
	}
	found := model.NewPlan(plan, model.Query{Search: "C00017.Terraform", Page: 2})
	if len(found.Components) != 1 || found.Total != 1 || !found.Components[0].Open {
		t.Fatalf("a search finds %+v", found)
	}
	change := found.Components[0].Changes[0]
	if change.Class != "create" || change.Title != "terraform_data.x will be created" {
		t.Errorf("the change is %+v", change)
	}
	for _, row := range change.Rows {
		switch want := map[string]string{"id": "(known after apply)", "secret": "(sensitive value)"}[row.Path]; {
		case row.Path == "input" && (!row.Cut || utf8.RuneCountInString(row.After) > 1001):
			t.Errorf("a value of 1.5 MB has %d letters, cut: %t", utf8.RuneCountInString(row.After), row.Cut)
		case row.Path != "input" && row.After != want:
			t.Errorf("%s is %q, want %q", row.Path, row.After, want)
		}
	}
	if none := model.NewPlan(plan, model.Query{Search: "nothing"}); len(none.Components) != 0 || none.Total != 0 || none.Last != 1 {
		t.Errorf("a search for nothing finds %+v", none)
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\u202e\x1b":          "a␊b\ufffd␛",
		strings.Repeat("é", 2000): strings.Repeat("é", 300) + "…",
	} {
		if got := model.Text(text); got != want {
			t.Errorf("Text of %.20q is %q", text, got)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	plan := newPlan(b, 10_000)
	for b.Loop() {
		if page := model.NewPlan(plan, model.Query{}); page.Total != 10_000 {
			b.Fatal(page.Total)
		}
	}
}

// A component is done when all of its instances are, and nothing is said of one that the operation
// has nothing to do with.
func TestLooksOfProgress(t *testing.T) {
	component := func(name string) stackaddrs.AbsComponent {
		addr, err := stackaddrs.ParseAbsComponent("component." + name)
		if err != nil {
			t.Fatal(err)
		}
		return addr
	}
	p := model.Progress{Running: true, Components: []model.WorkedOn{
		{Of: component("done"), Class: "good"},
		{Of: component("half"), Class: "good"},
		{Of: component("half"), Class: "busy"},
		{Of: component("half"), Class: "good"},
		{Of: component("gone"), Class: "quiet"},
		{Of: component("changed"), Class: "quiet", Stage: model.Changed},
	}}
	for name, want := range map[string]picture.Class{
		"done": picture.Done, "half": picture.Working, "gone": picture.Done, "changed": "", "other": "",
	} {
		if got := p.Looks(graph.Component{Addr: component(name)}); got != want {
			t.Errorf("%s looks like %q, want %q", name, got, want)
		}
	}
	p.Running = false
	if got := p.Looks(graph.Component{Addr: component("half")}); got != picture.Failed {
		t.Errorf("half looks like %q after the operation, want %q", got, picture.Failed)
	}
}
