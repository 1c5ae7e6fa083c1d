// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// instances parses names of components in the root stack, with keys after a slash.
func instances(texts string) []stackaddrs.AbsComponentInstance {
	var all []stackaddrs.AbsComponentInstance
	for text := range strings.FieldsSeq(texts) {
		name, key, keyed := strings.Cut(text, "/")
		instanceKey := stackaddrs.NoKey
		if keyed {
			instanceKey = stackaddrs.StringKey(key)
		}
		component := stackaddrs.AbsComponent{Stack: stackaddrs.RootStackInstance, Item: stackaddrs.Component{Name: name}}
		all = append(all, stackaddrs.InstanceOf(component, instanceKey))
	}
	return all
}

// net <- db <- app -> cache: app requires db and cache, db requires net.
func requirements() components.Graph {
	graph := components.Graph{}
	for _, edge := range []string{"db net", "app db", "app cache"} {
		ends := instances(edge)
		graph.Add(stackaddrs.ComponentOf(ends[0]), stackaddrs.ComponentOf(ends[1]))
	}
	return graph
}

func TestSelection(t *testing.T) {
	const all = "net db/a db/b app cache other"
	for name, test := range map[string]struct {
		targets, excludes string
		destroying        bool
		want              string
	}{
		"target brings what it requires":        {targets: "db", want: "net db/a db/b"},
		"one instance":                          {targets: "db/a", want: "net db/a"},
		"several":                               {targets: "db/a cache", want: "net db/a cache"},
		"destroy brings what requires it":       {targets: "db", destroying: true, want: "db/a db/b app"},
		"exclude leaves out what requires it":   {excludes: "db", want: "net cache other"},
		"exclude one instance":                  {excludes: "db/a", want: "net db/b cache other"},
		"exclude from destroy":                  {excludes: "db", destroying: true, want: "app cache other"},
		"target needs what is excluded":         {targets: "app", excludes: "net", want: "cache"},
		"target is not in the graph":            {targets: "other", want: "other"},
		"target that is nowhere selects no one": {targets: "nowhere", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			limits := planning.Limits{Targets: instances(test.targets), Excludes: instances(test.excludes)}
			selection := planning.NewSelection(limits, requirements(), test.destroying)
			var got []string
			for text := range strings.FieldsSeq(all) {
				if selection.Has(instances(text)[0]) {
					got = append(got, text)
				}
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("selected %q, want %q", got, test.want)
			}
		})
	}
}

func TestRootChanges(t *testing.T) {
	a, b, unknown := cty.StringVal("a"), cty.StringVal("b"), cty.UnknownVal(cty.String)
	for name, test := range map[string]struct {
		prior         planning.Prior
		after         cty.Value
		ephemeral     bool
		input, output stackplan.Action
	}{
		"new":                    {planning.Prior{}, a, false, stackplan.Create, stackplan.Create},
		"same":                   {planning.Prior{Value: a, Existed: true}, a, false, stackplan.NoOp, stackplan.NoOp},
		"other":                  {planning.Prior{Value: a, Existed: true}, b, false, stackplan.Update, stackplan.Update},
		"ephemeral":              {planning.Prior{Value: a, Existed: true}, a, true, stackplan.Update, stackplan.NoOp},
		"not made by last apply": {planning.Prior{Value: unknown, Existed: true}, unknown, false, stackplan.NoOp, stackplan.Create},
		"partly unknown again": {
			planning.Prior{Value: cty.ListVal([]cty.Value{a, unknown}), Existed: true},
			cty.ListVal([]cty.Value{a, unknown}),
			false, stackplan.NoOp, stackplan.Update,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := planning.InputChange(test.prior, test.after, test.ephemeral); got.Action != test.input || !got.After.RawEquals(test.after) {
				t.Errorf("InputChange: %v, want %v", got.Action, test.input)
			}
			got := planning.OutputChange(test.prior, test.after)
			if got.Action != test.output || !got.After.RawEquals(test.after) {
				t.Errorf("OutputChange: %v, want %v", got.Action, test.output)
			}
			if created := got.Action == stackplan.Create; created != got.Before.IsNull() {
				t.Errorf("OutputChange: before is %#v", got.Before)
			}
		})
	}
}

// A part of a stack of which nothing changes has no changes of outputs that depend on the rest.
func TestKeepUnknownOutputs(t *testing.T) {
	unknown := cty.UnknownVal(cty.String)
	plan := func(partial bool, action stackplan.Action) *stackplan.Plan {
		return &stackplan.Plan{
			Partial: partial, Complete: true, Components: []*stackplan.Component{{Action: action}},
			Outputs: map[string]*stackplan.OutputChange{"o": {Action: stackplan.Create, After: unknown}},
		}
	}
	for name, test := range map[string]struct {
		plan *stackplan.Plan
		want stackplan.Action
	}{
		"partial, nothing changes": {plan(true, stackplan.NoOp), stackplan.NoOp},
		"partial, with a change":   {plan(true, stackplan.Update), stackplan.Create},
		"whole":                    {plan(false, stackplan.NoOp), stackplan.Create},
	} {
		planning.KeepUnknownOutputs(test.plan, map[string]cty.Value{"o": unknown})
		if got := test.plan.Outputs["o"].Action; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestDropUndeclared(t *testing.T) {
	value := map[string]cty.Value{"kept": cty.True, "gone": cty.True}
	plan := &stackplan.Plan{Inputs: map[string]*stackplan.InputChange{}, Outputs: map[string]*stackplan.OutputChange{}}
	declared := map[string]bool{"kept": true}
	planning.DropUndeclared(plan, value, value, declared, declared)
	if plan.Inputs["kept"] != nil || plan.Outputs["kept"] != nil {
		t.Error("what is declared is dropped")
	}
	if in, out := plan.Inputs["gone"], plan.Outputs["gone"]; in == nil ||
		in.Action != stackplan.Delete || out == nil || out.Action != stackplan.Delete {
		t.Errorf("what is not declared: %+v, %+v", in, out)
	}
}
