// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package nativetest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Applied is the result of applying a plan.
type Applied struct {
	*engine.ApplyResult
	Diags  hcl.Diagnostics
	Events []engine.Event
}

// ApplyRequest returns the request for applying a plan of the component. Tests may change it.
func (c *Component) ApplyRequest(plan *Plan) *applying.Request {
	return &applying.Request{
		ApplyRequest: &engine.ApplyRequest{
			Mode: plan.Mode, Planned: plan.PlanResult, Timestamp: timestamp, PriorState: c.Prior,
			Inputs: map[string]cty.Value{},
		},
		Plan: plan.Planned, Tree: c.Tree, Graph: deps.New(c.Tree), Providers: c, Types: &resource.Types{},
		Functions: Functions(lang.Options{PlanTimestamp: timestamp}),
		RootPath:  ".", WorkPath: c.Dir, Calls: make(chan struct{}, 10),
	}
}

// Apply applies a plan of the component, whose prior state is then the resulting one. The function,
// which may be nil, changes the request.
func (c *Component) Apply(t testing.TB, plan *Plan, change func(*applying.Request)) *Applied {
	t.Helper()
	if plan.Diags.HasErrors() {
		t.Fatal(plan.Diags)
	}
	req := c.ApplyRequest(plan)
	applied := &Applied{}
	req.Observe = func(event engine.Event) { applied.Events = append(applied.Events, event) }
	if change != nil {
		change(req)
	}
	applied.ApplyResult, applied.Diags = applying.Apply(t.Context(), req)
	if applied.ApplyResult != nil {
		c.Prior = applied.State
	}
	return applied
}

// Show returns the result as text, for comparing: objects, outputs, results of checks that are no
// pass, and diagnostics.
func (a *Applied) Show(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	if a.ApplyResult != nil {
		b.WriteString(ShowState(t, a.State))
		for _, name := range slices.Sorted(maps.Keys(a.Outputs)) {
			fmt.Fprintf(&b, "output %s = %s\n", name, stable(ShowValue(a.Outputs[name])))
		}
		for _, check := range a.Checks {
			if check.Status != engine.CheckPass {
				fmt.Fprintf(&b, "check of %s: %s\n", check.Address, check.Status)
			}
		}
	}
	b.WriteString(ShowDiagnostics(a.Diags))
	return b.String()
}

// ShowState returns the objects of a state in the form that [Objects] reads, and its outputs. Texts
// that are made up anew in each run are replaced.
func ShowState(t testing.TB, text engine.State) string {
	t.Helper()
	doc, err := tfstate.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := doc.Objects()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, object := range objects {
		b.WriteString(showObject(&object))
	}
	outputs, err := doc.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		mark := ""
		if outputs[name].Sensitive {
			mark = "!"
		}
		fmt.Fprintf(&b, "stored output %s = %s%s\n", name, mark, stable(ShowValue(outputs[name].Value)))
	}
	return b.String()
}

func showObject(o *tfstate.Object) string {
	words := []string{o.Addr.String()}
	if o.Deposed != "" {
		words = append(words, "deposed")
	}
	if o.Tainted {
		words = append(words, "tainted")
	}
	if o.CreateBeforeDestroy {
		words = append(words, "cbd")
	}
	for _, name := range o.Dependencies {
		words = append(words, "depends="+name)
	}
	if paths := string(o.SensitiveAttributes); paths != "" && paths != "[]" {
		words = append(words, "sensitive")
	}
	return strings.Join(words, " ") + " " + stable(string(o.Attributes)) + "\n"
}

var madeUp = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// stable replaces texts that are made up anew in each run.
func stable(text string) string { return madeUp.ReplaceAllString(text, "UUID") }
