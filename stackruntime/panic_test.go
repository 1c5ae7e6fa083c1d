// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// panickingEngine panics in one of its methods.
type panickingEngine struct {
	engine.Session
	in string
}

func (e panickingEngine) reach(method string) {
	if e.in == method {
		var none map[string]string
		none["s3cret"] = "x" //nolint:staticcheck,govet // a panic of the Go runtime
	}
	if e.in == method+" with a value" {
		panic("value s3cret is not usable")
	}
}

func (e panickingEngine) Module(ctx context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	e.reach("Module")
	return e.Session.Module(ctx, dir)
}

func (e panickingEngine) ValidateModule(ctx context.Context, dir string) hcl.Diagnostics {
	e.reach("ValidateModule")
	return e.Session.ValidateModule(ctx, dir)
}

func (e panickingEngine) ProviderSchema(ctx context.Context, provider stackaddrs.Provider) (*engine.ProviderSchema, hcl.Diagnostics) {
	e.reach("ProviderSchema")
	return e.Session.ProviderSchema(ctx, provider)
}

func (e panickingEngine) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	e.reach("Plan")
	return e.Session.Plan(ctx, req, observe)
}

func (e panickingEngine) Apply(
	ctx context.Context, req *engine.ApplyRequest, observe engine.Observer,
) (*engine.ApplyResult, hcl.Diagnostics) {
	e.reach("Apply")
	return e.Session.Apply(ctx, req, observe)
}

const panicky = `
-- main.tfcomponent.hcl --
required_providers {
  fake = { source = "cairnstacks/fake", version = ">= 1.0.0" }
}
provider "fake" "main" {}
component "a" {
  source    = "./mod"
  inputs    = { in = "x" }
  providers = { fake = provider.fake.main }
}
component "b" {
  source    = "./mod"
  inputs    = { in = component.a.out }
  providers = { fake = provider.fake.main }
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "in" { type = string }
resource "terraform_data" "this" { input = var.in }
output "out" { value = terraform_data.this.output }
`

func panickyWorld(t *testing.T) *world {
	t.Helper()
	return newWorld(t, panicky, memengine.Options{Providers: map[stackaddrs.Provider]engine.ProviderSchema{fakeProvider: {}}})
}

// panicIn has the engine panic in a method.
func panicIn(w *world, method string) {
	w.Stack.Engine = enginetest.Replaced{Engine: w.engine, Session: func(session engine.Session) engine.Session {
		return panickingEngine{session, method}
	}}
}

// wantPanic checks that diagnostics have one report of a panic, which shows no values.
func wantPanic(t *testing.T, operation string, diags hcl.Diagnostics, texts ...string) {
	t.Helper()
	found := 0
	for _, diag := range diags {
		if strings.Contains(diag.Detail, "s3cret") {
			t.Errorf("%s: %q shows the value of the panic", operation, diag.Detail)
		}
		if diag.Severity != hcl.DiagError || !strings.HasPrefix(diag.Detail, "The evaluator broke off") {
			continue
		}
		found++
		for _, text := range append(texts, "panic_test.go:", "This is a bug in cairn") {
			if !strings.Contains(diag.Detail, text) {
				t.Errorf("%s: no %q in %q", operation, text, diag.Detail)
			}
		}
	}
	if found != 1 {
		t.Errorf("%s: %d reports of a panic, want 1:\n%s", operation, found, stacktest.Explain(diags))
	}
}

// Whichever task panics, and whoever waits for it: it is an error of the operation, and never
// success.
func TestPanicsAreErrors(t *testing.T) {
	for _, method := range []string{"Module", "ValidateModule", "ProviderSchema", "ValidateModule with a value"} {
		t.Run(method, func(t *testing.T) {
			w := panickyWorld(t)
			text := "assignment to entry in nil map"
			if strings.HasSuffix(method, "value") {
				text = "panic with a string"
			}
			panicIn(w, method)
			for range 20 { // tasks end in any order
				wantPanic(t, "validate", w.Validate(), text)
			}
			if strings.HasPrefix(method, "ValidateModule") {
				return // planning does that itself
			}
			plan, diags := w.TryPlan(engine.Normal)
			wantPanic(t, "plan", diags, text)
			if plan == nil || plan.Applyable || len(plan.Components) > 0 {
				t.Errorf("plan after a panic of the static checks: %+v", plan)
			}
		})
	}

	t.Run("Plan", func(t *testing.T) {
		w := panickyWorld(t)
		panicIn(w, "Plan")
		plan, diags := w.TryPlan(engine.Normal)
		wantPanic(t, "plan", diags, "component.a")
		if plan.Applyable {
			t.Error("the plan is applyable")
		}
	})

	t.Run("Apply", func(t *testing.T) {
		w := panickyWorld(t)
		plan := w.Plan(engine.Normal)
		panicIn(w, "Apply")
		result, diags := w.TryApply(plan)
		wantPanic(t, "apply", diags, "component.a change")
		b := stackaddrs.AbsComponentInstance{Item: stackaddrs.ComponentInstance{Component: stackaddrs.Component{Name: "b"}}}
		if got := result.Components[b].Status; got != hooks.Skipped {
			t.Errorf("what depends on the change is %v, want skipped", got)
		}
	})

	// In a task of the walk, and in the main task.
	t.Run("hook", func(t *testing.T) {
		w := panickyWorld(t)
		w.Hooks.ComponentExpanded = func(stackaddrs.AbsComponent, []stackaddrs.AbsComponentInstance) {
			panickingEngine{in: "hook"}.reach("hook")
		}
		_, diags := w.TryPlan(engine.Normal)
		wantPanic(t, "plan", diags)
	})
	t.Run("main", func(t *testing.T) {
		w := panickyWorld(t)
		plan := w.Plan(engine.Normal)
		plan.Outputs = nil
		_, diags := w.TryApply(plan, func(req *stackruntime.ApplyRequest) {
			req.Save = func(_ context.Context, change stackruntime.StateChange) error {
				if change.After == nil {
					panickingEngine{in: "main"}.reach("main")
				}
				return nil
			}
			req.Prior.Discarded = []string{"x"} // is dropped when everything else was saved
		})
		wantPanic(t, "apply", diags)
	})
}

// A panic is an error for each use of the result that it left out.
func TestPanicStaysAnErrorOfTheInspector(t *testing.T) {
	w := panickyWorld(t)
	w.Converge()
	panicIn(w, "Module")
	opts, _ := w.Options()
	inspector := stackruntime.Inspect(stackruntime.InspectRequest{Options: opts, State: w.State})
	expression, diags := hclsyntax.ParseExpression([]byte("component.a.out"), "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for range 2 {
		value, diags := inspector.EvalExpr(t.Context(), expression)
		wantPanic(t, "console", diags)
		if value.IsKnown() {
			t.Errorf("value is %#v, want unknown", value)
		}
	}
}

// A stack without required_providers has no requirement for the providers of its modules:
// issue_009.
func TestModulesNeedProvidersWithoutRequirements(t *testing.T) {
	w := newWorld(t, `
-- main.tfcomponent.hcl --
provider "fake" "main" {} # want error "Provider not declared" `+"`\"fake\"`"+`
component "a" {
  source    = "./mod"
  providers = { fake = provider.fake.main }
}
removed {
  from      = component.b
  source    = "./mod"
  providers = { fake = provider.fake.main }
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake", version = ">= 1.0.0" }
  }
}
`)
	want := expected(t, w.Stack)
	for _, locks := range []map[stackaddrs.Provider]string{{fakeProvider: "1.0.0"}, {}, nil} {
		w.Locks = locks
		opts, loading := w.Options()
		want.compare(t, "validate", loading.Extend(stackruntime.Validate(t.Context(), opts)))
		opts, loading = w.Options()
		_, diags := stackruntime.Plan(t.Context(), stackruntime.PlanRequest{Options: opts, Inputs: map[string]cty.Value{}})
		want.compare(t, "plan", loading.Extend(diags))
	}
}
