// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// open opens a session for a module with the engine on PATH.
func open(t *testing.T, source string) *rootmodule.Session {
	t.Helper()
	testenv.CLIConfig(t, "")
	dir, files := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &rootmodule.Engine{Path: testenv.Engine(t), WorkDir: t.TempDir(), Shared: &binary.Shared{}, Processes: &process.Set{}}
	return e.Open(rootmodule.Options{
		Dir: dir, Environ: os.Environ(), PlanFile: filepath.Join(files, "plan"), RunDir: filepath.Join(files, "run"),
	})
}

func size(value cty.Value) []rootmodule.Input {
	return []rootmodule.Input{{Name: "size", Value: value}}
}

// A session plans, applies and destroys a module for a caller that shows nothing.
func TestSession(t *testing.T) {
	session := open(t, `
variable "size" { type = number }
resource "terraform_data" "a" { input = var.size }
output "size" { value = terraform_data.a.output }
`)
	work := session.Begin(rootmodule.Output{})
	if err := work.SetInputs(size(cty.NumberIntVal(3))); err != nil {
		t.Fatal(err)
	}
	plan, err := work.Plan(t.Context(), rootmodule.PlanRequest{})
	if err != nil {
		t.Fatal(err, work.Report())
	}
	if !plan.Changes || *plan.Counts != (stackplan.Counts{Add: 1}) || !plan.OutputsChange || plan.Details.Outputs["size"] == nil {
		t.Errorf("planned %+v", plan)
	}

	var created int
	applied, err := session.Begin(rootmodule.Output{Event: func(event engine.Event) {
		if event.Type == engine.ApplyComplete {
			created++
		}
	}}).Apply(t.Context())
	if err != nil || applied.Counts != (stackplan.Counts{Add: 1}) || created != 1 || !applied.Outputs["size"].RawEquals(cty.NumberIntVal(3)) {
		t.Errorf("applied %+v with %d events: %v", applied, created, err)
	}
	outputs, found, err := session.Begin(rootmodule.Output{}).Outputs(t.Context())
	if err != nil || !found || !outputs["size"].RawEquals(cty.NumberIntVal(3)) {
		t.Errorf("outputs %#v, %t: %v", outputs, found, err)
	}
	made, err := session.Begin(rootmodule.Output{}).Fingerprint(t.Context())
	if err != nil || made.Lineage == "" || made.Serial == 0 || filepath.Base(made.StateFile) != "terraform.tfstate" {
		t.Errorf("made of %+v: %v", made, err)
	}
	work = session.Begin(rootmodule.Output{})
	if exists, err := work.HasState(t.Context()); !exists || err != nil {
		t.Errorf("state: %t, %v", exists, err)
	}
	if drift, err := work.PlanDrift(t.Context()); err != nil || drift.Changes {
		t.Errorf("drift: %+v, %v", drift, err)
	}

	// The value is not needed for destroying, and may be gone.
	work = session.Begin(rootmodule.Output{})
	if err := work.SetInputs(size(cty.UnknownVal(cty.Number))); err != nil {
		t.Fatal(err)
	}
	if plan, err = work.Plan(t.Context(), rootmodule.PlanRequest{Destroy: true}); err != nil || *plan.Counts != (stackplan.Counts{Remove: 1}) {
		t.Fatalf("planned %+v: %v, %+v", plan, err, work.Report())
	}
	if applied, err = session.Begin(rootmodule.Output{}).Apply(t.Context()); err != nil || applied.Counts != (stackplan.Counts{Remove: 1}) {
		t.Errorf("applied %+v: %v", applied, err)
	}
	if plan, err = session.Begin(rootmodule.Output{}).Plan(t.Context(), rootmodule.PlanRequest{Destroy: true}); plan != nil || err != nil {
		t.Errorf("planned %+v to destroy nothing: %v", plan, err)
	}
}

// The report of work that has failed has the reasons, at the places of values where these are
// wrong.
func TestReport(t *testing.T) {
	session := open(t, `resource "terraform_data" "a" { input = local.undeclared }`)
	work := session.Begin(rootmodule.Output{})
	err := work.SetInputs(size(cty.True))
	if diags := work.Report().Diagnostics; !errors.As(err, new(*process.ExitError)) || len(diags) != 1 ||
		diags[0].Summary != "Value for undeclared variable" {
		t.Errorf("an input that is not declared: %v, %v", err, diags)
	}
	work = session.Begin(rootmodule.Output{})
	_, err = work.Plan(t.Context(), rootmodule.PlanRequest{})
	if diags := work.Report().Diagnostics; !errors.As(err, new(*process.ExitError)) || len(diags) != 1 || diags[0].Subject == nil {
		t.Errorf("a module with a mistake: %v, %v", err, diags)
	}
}
