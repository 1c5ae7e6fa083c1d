// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

func TestRow178EphemeralModuleOutputs(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
component "self" { source = "./mod" }
-- mod/main.tf --
output "token" {
  value     = "t0ken"
  ephemeral = true
}
`)
	want := "error mod/main.tf:1: Ephemeral output not allowed here\n" // by binaries, as in a root module of terraform
	if isNative(s) {
		want = ""
	}
	_, diags := s.TryPlan(engine.Normal)
	same(t, "diagnostics", want, stacktest.Summaries(diags))
}

// A provider that defers the destruction of a dependent defers that of its dependencies. The
// in-memory engine stands for an engine whose providers can defer, which the released ones cannot.
func TestRow206DeferredDestroy(t *testing.T) {
	t.Parallel()
	modules := map[string]*memengine.Module{}
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "base" {
  source = "./echo"
  inputs = { in = "b" }
}
component "dependent" {
  source = "./late"
  inputs = { name = component.base.out }
}
-- late/main.tf --
# The test has it as Go functions.
`+echoModule, memengine.Options{Modules: modules})
	reason := ""
	modules[filepath.Join(s.Dir, "late")] = &memengine.Module{
		Variables: memengine.Variables("name"),
		Resources: []memengine.Resource{{
			Name:  "late",
			Input: func(scope memengine.Scope) (cty.Value, error) { return scope.Inputs["name"], nil },
			Defer: func(memengine.Scope) string { return reason },
		}},
	}
	s.Converge()
	reason = "resource_config_unknown"
	plan := s.Plan(engine.Destroy)
	same(t, "plan", `
incomplete
component.base: delete, incomplete, deferred (deferred_prereq), destroy mode
  terraform_data.this: deferred (deferred_prereq), delete
component.dependent: delete, incomplete, deferred (resource_config_unknown), destroy mode, requires component.base
  terraform_data.late: deferred (resource_config_unknown), delete
`, stacktest.PlanText(plan))
	before := stacktest.StateText(s.State)
	s.Apply(plan)
	after := stacktest.StateText(s.State)
	same(t, "state after a destroy with everything deferred", before, after)

	reason = ""
	s.Apply(s.Plan(engine.Destroy))
	if got := stacktest.StateText(s.State); strings.Contains(got, "component") {
		t.Errorf("state after the next destroy:\n%s\nwant no components", got)
	}
}
