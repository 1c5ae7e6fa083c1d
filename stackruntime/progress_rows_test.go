// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// watch makes a stack report its progress, as plan -json and apply -json do. The function returns
// the reports since the last call, a line each:
//
//	component.a: planning
//	component.a: planned_change create terraform_data.b, from terraform_data.a, id x
//	component.a: apply_complete create terraform_data.b
//	component.a: counts add 1, move 1
func watch(t *testing.T, s *stacktest.Stack, operation string) func(component string) string {
	t.Helper()
	var written bytes.Buffer
	s.Hooks = jsonview.NewEvents(&written, nil).Hooks(operation)
	return func(component string) string {
		t.Helper()
		var lines strings.Builder
		for line := range bytes.Lines(written.Bytes()) {
			var event progressEvent
			if err := json.Unmarshal(line, &event); err != nil {
				t.Fatalf("%s: %s", line, err)
			}
			if event.Component == component {
				fmt.Fprintf(&lines, "%s: %s\n", component, event.text())
			}
		}
		written.Reset()
		return lines.String()
	}
}

type progressResource struct {
	Addr string `json:"addr"`
}

type progressDetail struct {
	Resource progressResource  `json:"resource"`
	Previous *progressResource `json:"previous_resource"`
	Action   string            `json:"action"`
	Import   *struct {
		ID string `json:"id"`
	} `json:"importing"`
}

type progressEvent struct {
	Type      string          `json:"type"`
	Component string          `json:"component"`
	Status    string          `json:"status"`
	Change    *progressDetail `json:"change"`
	Hook      *progressDetail `json:"hook"`
	Changes   map[string]any  `json:"changes"`
}

func (e progressEvent) text() string {
	switch e.Type {
	case "component_status":
		return e.Status
	case "change_summary":
		var counts []string
		for _, name := range []string{"add", "change", "remove", "import", "move", "forget", "defer"} {
			if n := e.Changes[name]; n != 0.0 {
				counts = append(counts, fmt.Sprintf("%s %v", name, n))
			}
		}
		return strings.TrimSpace("counts " + strings.Join(counts, ", "))
	}
	detail := e.Hook
	if e.Change != nil {
		detail = e.Change
	}
	text := e.Type
	if detail != nil {
		text += strings.TrimRight(" "+detail.Action, " ") + " " + detail.Resource.Addr
		if detail.Previous != nil {
			text += ", from " + detail.Previous.Addr
		}
		if detail.Import != nil {
			text += ", id " + detail.Import.ID
		}
	}
	return text
}

func wantReported(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimLeft(want, "\n"), got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func planErrors(s *stacktest.Stack) hcl.Diagnostics {
	_, diags := s.TryPlan(engine.Normal)
	return diags
}

func mustFail(t *testing.T, diags hcl.Diagnostics) {
	t.Helper()
	if !diags.HasErrors() {
		t.Error("there was no error")
	}
}

const oneResource = `
-- main.tfcomponent.hcl --
component "a" { source = "./mod" }
-- mod/main.tf --
resource "terraform_data" "x" { input = "x" }
`

func TestRow259ProgressOfDeferral(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
variable "names" { type = set(string) }
component "a" {
  for_each = var.names
  source   = "./mod"
}
-- mod/main.tf --
resource "terraform_data" "x" {}
`)
	s.LeaveUnknown = true
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	reported := watch(t, s, "plan")
	plan := s.Plan(engine.Normal)
	want := `
component.a[*]: pending
component.a[*]: planning
component.a[*]: planned_change create terraform_data.x
component.a[*]: counts defer 1
component.a[*]: deferred
`
	if isNative(s) { // a binary plans it, and does not know that the change is deferred
		want = strings.Replace(want, "component.a[*]: planned_change create terraform_data.x\n", "", 1)
	}
	wantReported(t, reported("component.a[*]"), want)
	s.Apply(plan)
	wantReported(t, reported("component.a[*]"), `
component.a[*]: pending
component.a[*]: deferred
`)
}

func TestRow260ProgressOfMovesImportsAndForgets(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
provider "fake" "main" {}
component "a" {
  source    = "./mod"
  providers = { fake = provider.fake.main }
}
`+usingFake+`
-- mod/more.tf --
resource "terraform_data" "old" {}
resource "fake_resource" "dropped" { id = "dropped" }
`)
	s.Converge()
	if err := s.Store.Create(&testprovider.Object{
		Type:   "fake_resource",
		ID:     "found",
		Values: map[string]json.RawMessage{"id": json.RawMessage(`"found"`)},
	}); err != nil {
		t.Fatal(err)
	}
	s.Write("-- main.tfcomponent.hcl --\n" + fakeRequired + `
provider "fake" "main" {}
component "a" {
  source    = "./next"
  providers = { fake = provider.fake.main }
}
` + strings.ReplaceAll(usingFake, "mod/", "next/") + `
-- next/more.tf --
resource "terraform_data" "new" {}
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
resource "fake_resource" "imported" { id = "found" }
import {
  to = fake_resource.imported
  id = "found"
}
removed {
  from = fake_resource.dropped
  lifecycle {
    destroy = false
  }
}
`)
	reported := watch(t, s, "plan")
	plan := s.Plan(engine.Normal)
	var changes, rest []string
	text := reported("component.a")
	for line := range strings.Lines(text) {
		switch {
		case strings.Contains(line, "planned_change"):
			changes = append(changes, line) // in any order
		case !strings.Contains(line, "refresh_"):
			rest = append(rest, line)
		}
	}
	slices.Sort(changes)
	wantReported(t, strings.Join(changes, ""), `
component.a: planned_change import fake_resource.imported, id found
component.a: planned_change move terraform_data.new, from terraform_data.old
component.a: planned_change remove fake_resource.dropped
`)
	wantReported(t, strings.Join(rest, ""), `
component.a: pending
component.a: planning
component.a: counts import 1, move 1, forget 1
component.a: planned
`)
	s.Apply(plan)
	if text := reported("component.a"); !strings.Contains(text, "component.a: counts import 1, move 1, forget 1\ncomponent.a: applied\n") {
		t.Errorf("progress of the apply:\n%swant the same counts", text)
	}
}

func TestRow261ProgressOfFailures(t *testing.T) {
	t.Parallel()
	config := func(failing string) string {
		return "-- main.tfcomponent.hcl --\n" + fakeRequired + `
provider "fake" "main" {}
variable "fail" { type = bool }
component "a" {
  source    = "./mod"
  inputs    = { fail = var.fail }
  providers = { fake = provider.fake.main }
}
` + strings.Replace(usingFake, `resource "fake_resource" "a" {}`, `
variable "fail" { type = bool }
resource "fake_failing" "a" {
  value = "value ${var.fail}"
  `+failing+` = var.fail
}
`, 1)
	}
	t.Run("create", func(t *testing.T) {
		t.Parallel()
		s := stacktest.Real(t, config("fail_plan"))
		s.Inputs["fail"] = cty.True
		reported := watch(t, s, "plan")
		mustFail(t, planErrors(s))
		wantReported(t, reported("component.a"), "component.a: pending\ncomponent.a: planning\ncomponent.a: failed\n")
	})
	t.Run("update", func(t *testing.T) {
		t.Parallel()
		s := stacktest.Real(t, config("fail_plan"))
		s.Inputs["fail"] = cty.False
		s.Converge()
		s.Inputs["fail"] = cty.True
		reported := watch(t, s, "plan")
		mustFail(t, planErrors(s))
		wantReported(t, reported("component.a"), `
component.a: pending
component.a: planning
component.a: refresh_start fake_failing.a
component.a: refresh_complete fake_failing.a
component.a: failed
`)
	})
	t.Run("apply", func(t *testing.T) {
		t.Parallel()
		s := stacktest.Real(t, config("fail_apply"))
		s.Inputs["fail"] = cty.True
		plan := s.Plan(engine.Normal)
		reported := watch(t, s, "apply")
		_, diags := s.TryApply(plan)
		mustFail(t, diags)
		wantReported(t, reported("component.a"), `
component.a: pending
component.a: applying
component.a: apply_start create fake_failing.a
component.a: apply_errored create fake_failing.a
component.a: failed
`)
	})
}

// The hooks of one resource, through a plan and an apply.
func TestRow242HooksOfResources(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, oneResource)
	reported := watch(t, s, "plan")
	plan := s.Plan(engine.Normal)
	wantReported(t, reported("component.a"), `
component.a: pending
component.a: planning
component.a: planned_change create terraform_data.x
component.a: counts add 1
component.a: planned
`)
	s.Apply(plan)
	wantReported(t, reported("component.a"), `
component.a: pending
component.a: applying
component.a: apply_start create terraform_data.x
component.a: apply_complete create terraform_data.x
component.a: counts add 1
component.a: applied
`)
}

func TestRow262And265ProgressWithoutChanges(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t,
		oneResource+"-- empty/main.tf --\n# There is nothing in it.\n-- b.tfcomponent.hcl --\ncomponent \"empty\" { source = \"./empty\" }\n")
	reported := watch(t, s, "plan")
	empty := func(component, status, done string) string {
		return fmt.Sprintf("%[1]s: pending\n%[1]s: %[2]s\n%[1]s: counts\n%[1]s: %[3]s\n", component, status, done)
	}
	plan := s.Plan(engine.Normal)
	wantReported(t, reported("component.empty"), empty("component.empty", "planning", "planned"))
	s.Apply(plan)
	wantReported(t, reported("component.empty"), empty("component.empty", "applying", "applied"))

	plan = s.Plan(engine.Normal) // now without changes
	wantReported(t, reported("component.a"), `
component.a: pending
component.a: planning
component.a: refresh_start terraform_data.x
component.a: refresh_complete terraform_data.x
component.a: counts
component.a: planned
`)
	s.Apply(plan)
	wantReported(t, reported("component.a"), empty("component.a", "applying", "applied"))
}

func TestRow264ProgressOfDestroy(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, oneResource)
	s.Converge()
	reported := watch(t, s, "destroy")
	plan := s.Plan(engine.Destroy)
	if text := reported("component.a"); !strings.Contains(text, "component.a: planned_change delete terraform_data.x\n") ||
		!strings.HasSuffix(text, "component.a: counts remove 1\ncomponent.a: planned\n") {
		t.Errorf("progress of the plan:\n%swant a deletion that is counted", text)
	}
	s.Apply(plan)
	wantReported(t, reported("component.a"), `
component.a: pending
component.a: applying
component.a: apply_start delete terraform_data.x
component.a: apply_complete delete terraform_data.x
component.a: counts remove 1
component.a: applied
`)
}

// Reading existing objects is reported as well, which the product's hooks never do.
func TestQuirkB23RefreshingIsReported(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, oneResource)
	s.Converge()
	reported := watch(t, s, "plan")
	s.Plan(engine.Normal)
	if text := reported("component.a"); !strings.Contains(text,
		"refresh_start terraform_data.x\ncomponent.a: refresh_complete terraform_data.x\n") {
		t.Errorf("progress:\n%swant that the resource was refreshed", text)
	}
}

func TestTrapC21SkippedComponentsAreQuiet(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "failing" { source = "./failing" }
component "skipped" {
  source     = "./echo"
  depends_on = [component.failing]
}
-- failing/main.tf --
resource "terraform_data" "x" {
  input = "x"
  lifecycle {
    postcondition {
      condition     = self.output != "x"
      error_message = "It is."
    }
  }
}
`+echoModule)
	plan := s.Plan(engine.Normal)
	reported := watch(t, s, "apply")
	_, diags := s.TryApply(plan)
	mustFail(t, diags)
	// Its status is reported, but nothing of a change.
	wantReported(t, reported("component.skipped"),
		"component.skipped: "+string(hooks.Pending)+"\ncomponent.skipped: "+string(hooks.Skipped)+"\n")
}

func TestRow260ProgressOfDeferredImport(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
provider "fake" "main" {}
component "a" {
  source    = "./mod"
  providers = { fake = provider.fake.main }
}
`+usingFake+`
-- mod/import.tf --
resource "terraform_data" "id" {}
import {
  to = fake_resource.a
  id = terraform_data.id.id
}
`)
	reported := watch(t, s, "plan")
	plan := s.Plan(engine.Normal)
	if got := plan.Components[0].Deferred; len(got) != 1 || got[0].Change.Address() != "fake_resource.a" || got[0].Change.Importing == nil {
		t.Errorf("deferred: %+v, want the import", got)
	}
	if text := reported("component.a"); !strings.HasSuffix(text, "component.a: counts add 1, defer 1\ncomponent.a: deferred\n") {
		t.Errorf("progress:\n%swant the component deferred", text)
	}
}
