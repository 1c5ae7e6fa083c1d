// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

// twoEngines hands the component "b" to another engine.
type twoEngines struct {
	engine.Session
	other engine.Session
}

func (s twoEngines) CanApply(made engine.Info) bool {
	return s.Session.CanApply(made) || s.other.CanApply(made)
}

func (s twoEngines) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	if req.Component.Item.Component.Name == "b" {
		return s.other.Plan(ctx, req, observe)
	}
	return s.Session.Plan(ctx, req, observe)
}

func (s twoEngines) Apply(ctx context.Context, req *engine.ApplyRequest, observe engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	if req.Planned.Engine == s.other.Info() {
		return s.other.Apply(ctx, req, observe)
	}
	return s.Session.Apply(ctx, req, observe)
}

// bracketModule is the module of the chain, made of Go functions.
var bracketModule = &memengine.Module{
	Variables: memengine.Variables("in"),
	Resources: []memengine.Resource{{
		Name: "this", Input: func(s memengine.Scope) (cty.Value, error) { return s.Inputs["in"], nil },
	}},
	Outputs: memengine.Outputs("out"),
	Values: func(s memengine.Scope) (map[string]cty.Value, error) {
		out := s.Resources["this"].GetAttr("output")
		if !out.IsKnown() {
			return map[string]cty.Value{"out": cty.UnknownVal(cty.String)}, nil
		}
		return map[string]cty.Value{"out": cty.StringVal("<" + out.AsString() + ">")}, nil
	},
}

// One plan may use two engines, and says about each component which it was.
func TestTwoEnginesInOnePlan(t *testing.T) {
	w := newWorld(t, chain)
	second := memengine.New(memengine.Options{
		Info: engine.Info{Name: "second", Version: "0.2.0"}, Modules: map[string]*memengine.Module{filepath.Join(w.Dir, "mod"): bracketModule},
	})
	w.Stack.Engine = enginetest.Replaced{Engine: w.engine, Session: func(session engine.Session) engine.Session {
		return twoEngines{session, enginetest.Open(t, second, engine.SessionOptions{StackDir: w.Dir})}
	}}
	plan := w.Plan(engine.Normal)
	for _, component := range plan.Components {
		want := engine.Info{Name: native.Name, Version: native.Version}
		if component.Addr.Item.Component.Name == "b" {
			want = second.Info()
		}
		if component.Engine != want {
			t.Errorf("%s was planned with %v, want %v", component.Addr, component.Engine, want)
		}
	}

	// Without one of them nothing is begun.
	both := w.Stack.Engine
	w.Stack.Engine = w.engine
	_, diags := w.TryApply(plan)
	if len(diags) != 1 || diags[0].Summary != "Plan of another engine" ||
		!strings.Contains(diags[0].Detail, "component.b was planned with second 0.2.0") {
		t.Errorf("apply without one of the engines:\n%swant that it is named", stacktest.Explain(diags))
	}
	if calls := w.engine.CallsOf(memengine.Apply); len(calls) > 0 {
		t.Errorf("%d components were applied, want none", len(calls))
	}

	w.Stack.Engine = both
	w.Apply(plan)
	if applied := second.CallsOf(memengine.Apply); len(applied) != 1 || applied[0].Component.String() != "component.b" {
		t.Errorf("the second engine has applied %v, want component.b", applied)
	}
}
