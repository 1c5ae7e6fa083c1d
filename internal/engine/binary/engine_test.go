// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"go.uber.org/goleak"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is an engine with a stack directory of its own.
type bench struct {
	t      *testing.T
	stack  string
	engine *Session

	observe engine.Observer // of later plans and applies; the events that work began are left out
	works   int             // how many were named
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	testenv.CLIConfig(t, "")
	return newBenchAt(t, t.TempDir(), files)
}

func newBenchAt(t *testing.T, stack string, files map[string]string) *bench {
	t.Helper()
	b := &bench{t: t, stack: stack}
	for name, content := range files {
		b.write(name, content)
	}
	b.reopen()
	return b
}

// reopen makes a new engine, as a later command would.
func (b *bench) reopen() {
	b.t.Helper()
	b.engine = open(b.t, b.stack, Options{Binary: testenv.Engine(b.t), WorkDir: filepath.Join(b.stack, ".cairn")})
}

// open opens a session of a new engine until the end of the test.
func open(t testing.TB, stackDir string, opts Options) *Session {
	t.Helper()
	e, err := New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.Open(t, e, engine.SessionOptions{StackDir: stackDir}).(*Session)
}

// work names a piece of work.
func (b *bench) work() engine.WorkID {
	b.works++
	return engine.WorkID(fmt.Sprint("work ", b.works))
}

func (b *bench) tryPlan(ctx context.Context, req *engine.PlanRequest) (*engine.PlanResult, hcl.Diagnostics) {
	req.Work = b.work()
	return b.engine.Plan(ctx, req, b.observeProgress)
}

func (b *bench) tryApply(ctx context.Context, req *engine.ApplyRequest) (*engine.ApplyResult, hcl.Diagnostics) {
	req.Work = b.work()
	return b.engine.Apply(ctx, req, b.observeProgress)
}

func (b *bench) observeProgress(ev engine.Event) {
	if ev.Type != engine.WorkBegan {
		b.observe.Observe(ev)
	}
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	writeFiles(b.t, b.stack, map[string]string{name: content})
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var testTime = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)

var component = stackaddrs.AbsComponentInstance{Item: stackaddrs.ComponentInstance{
	Component: stackaddrs.Component{Name: "c"}, Key: stackaddrs.StringKey("a/b"),
}}

func (b *bench) request(inputs map[string]cty.Value) *engine.PlanRequest {
	return &engine.PlanRequest{Component: component, ModuleDir: filepath.Join(b.stack, "mod"), Inputs: inputs}
}

func (b *bench) plan(req *engine.PlanRequest) *engine.PlanResult {
	b.t.Helper()
	result, diags := b.tryPlan(context.Background(), req)
	b.noErrors("Plan", diags)
	return result
}

// applyRequest applies a plan with final inputs.
func applyRequest(req *engine.PlanRequest, plan []byte, final map[string]cty.Value) *engine.ApplyRequest {
	return &engine.ApplyRequest{
		Component: req.Component, ModuleDir: req.ModuleDir, Mode: req.Mode, Planned: &engine.PlanResult{Plan: plan},
		Inputs: final, Providers: req.Providers, PriorState: req.PriorState,
	}
}

func (b *bench) apply(req *engine.ApplyRequest) *engine.ApplyResult {
	b.t.Helper()
	result, diags := b.tryApply(context.Background(), req)
	b.noErrors("Apply", diags)
	b.acknowledge()
	return result
}

// acknowledge says that the state of the last apply was saved.
func (b *bench) acknowledge() {
	b.t.Helper()
	b.acknowledgeLast()
	b.noRuns()
}

func (b *bench) acknowledgeLast() {
	b.t.Helper()
	if err := b.engine.Acknowledge(context.Background(), engine.WorkID(fmt.Sprint("work ", b.works))); err != nil {
		b.t.Error(err)
	}
}

func (b *bench) noErrors(call string, diags hcl.Diagnostics) {
	b.t.Helper()
	if diags.HasErrors() {
		for _, diag := range diags {
			b.t.Errorf("%s: %s: %s (%v)", call, diag.Summary, diag.Detail, diag.Subject)
		}
		b.t.FailNow()
	}
}

// noRuns fails if a run's directory was left behind.
func (b *bench) noRuns() {
	b.t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.stack, ".cairn", "runs"))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, entry := range entries {
		b.t.Errorf("the run's directory %s was left behind", entry.Name())
	}
}

func actions(result *engine.PlanResult) map[string]string {
	out := map[string]string{}
	for _, change := range result.Changes {
		out[change.Address()] = strings.ReplaceAll(string(change.Action), "/", " ") + " "
	}
	return out
}

func TestKnownInputsPlanAndApply(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "name" { type = string }
resource "terraform_data" "a" { input = var.name }
output "out" { value = terraform_data.a.output }
output "id" { value = terraform_data.a.id }
output "nothing" { value = null }
output "secret" {
  value     = "s-${var.name}"
  sensitive = true
}
`})
	inputs := map[string]cty.Value{"name": cty.StringVal("${not} a %{template}")}
	req := b.request(inputs)
	plan := b.plan(req)
	if !plan.Complete || !plan.Applyable {
		t.Errorf("complete %v, applyable %v, want true, true", plan.Complete, plan.Applyable)
	}
	if got := plan.Outputs["id"]; got.IsKnown() {
		t.Errorf("planned id: got %#v, want unknown", got)
	}
	result := b.apply(applyRequest(req, plan.Plan, inputs))
	want := cty.StringVal("${not} a %{template}")
	if got := result.Outputs["out"]; !got.RawEquals(want) {
		t.Errorf("out: got %#v, want %#v", got, want)
	}
	if got := result.Outputs["nothing"]; !got.RawEquals(cty.NullVal(cty.DynamicPseudoType)) {
		t.Errorf("nothing: got %#v, want null", got)
	}
	req.PriorState = result.State
	again := b.plan(req)
	if got := actions(again)["terraform_data.a"]; got != "no-op " {
		t.Errorf("second plan: got %q, want no-op", got)
	}
	if again.Applyable {
		t.Error("second plan is applyable, want nothing to apply")
	}
}

// unzipped returns the content of all members of a zip.
func unzipped(t *testing.T, data []byte) [][]byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var members [][]byte
	for _, file := range archive.File {
		content, err := readMember(archive, file.Name)
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, content)
	}
	return members
}

// A module that was found to be valid is validated again when it has changed, or when it was not.
func TestValidModulesAreRemembered(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": "resource \"terraform_data\" \"a\" {}\n", "mod/called/main.tf": ""})
	dir := filepath.Join(b.stack, "mod")
	validate := func() hcl.Diagnostics {
		t.Helper()
		b.reopen()
		return b.engine.ValidateModule(context.Background(), dir)
	}
	withoutBinary := func() hcl.Diagnostics {
		t.Helper()
		b.reopen()
		b.engine.binary.Path = filepath.Join(t.TempDir(), "gone")
		return b.engine.ValidateModule(context.Background(), dir)
	}
	b.noErrors("the first time", validate())
	b.noErrors("the second time, without a binary", withoutBinary())

	b.write("mod/more.tf", "locals {\n  x = nothing.at_all\n}\n")
	for range 2 {
		if diags := validate(); !diags.HasErrors() {
			t.Error("a mistake in a module that was valid before is not found")
		}
	}
	b.write("mod/more.tf", "")
	b.noErrors("when it is corrected", validate())
	b.noErrors("when it is corrected, without a binary", withoutBinary())
	if diags := func() hcl.Diagnostics {
		b.write("mod/more.tf", "locals {}\n")
		return withoutBinary()
	}(); !diags.HasErrors() {
		t.Error("a module that has changed is not validated again")
	}
}
