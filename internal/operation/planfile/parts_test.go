// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func TestParts(t *testing.T) {
	state := stateOf(t, "x", map[string]string{"component.a": "1", "component.b[0]": "1", "component.c": "1"})
	plan := func(partial bool) *stackplan.Plan {
		return &stackplan.Plan{
			Partial: partial,
			Components: []*stackplan.Component{
				{Addr: instance(t, "component.a"), Action: stackplan.Update, Requires: []stackaddrs.AbsComponent{
					stackaddrs.ComponentOf(instance(t, "component.b[0]")),
				}},
				{Addr: instance(t, "component.c"), Action: stackplan.NoOp, Complete: true, Inputs: map[string]cty.Value{"in": cty.StringVal("1")}},
			},
			Inputs: map[string]*stackplan.InputChange{
				"v": {Action: stackplan.NoOp}, "w": {Action: stackplan.Update}, "ephemeral": {Action: stackplan.Create, RequiredOnApply: true},
			},
		}
	}
	moving := plan(true)
	moving.Moved = []stackaddrs.Rename{{From: instance(t, "component.old"), To: instance(t, "component.a")}}
	huge := plan(true)
	for i := range mostParts {
		addr := instance(t, fmt.Sprintf("component.x[%d]", i))
		huge.Components = append(huge.Components, &stackplan.Component{Addr: addr, Action: stackplan.Create})
	}
	for name, test := range map[string]struct {
		plan *stackplan.Plan
		want string
	}{
		"part of the stack": {plan(true), "+component.a -component.b -component.c -var.ephemeral -var.v +var.w"},
		"whole stack":       {plan(false), "- +component.a +var.w"},
		"with moves":        {moving, ""},
		"very many":         {huge, "+"},
	} {
		var got []string
		for _, part := range Parts(test.plan, state) {
			sign := "-"
			if part.Exclusive {
				sign = "+"
			}
			got = append(got, sign+part.Name())
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: %s, want %s", name, text, test.want)
		}
	}
	if !slices.Equal(Parts(huge, state)[0].Path, statestore.Whole.Path) {
		t.Error("very many parts are not the whole")
	}
}
