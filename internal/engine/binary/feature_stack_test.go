// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// feature is a stack to try a feature of modules with: component.c has the module
// ./mod. Plans are saved and read again before they are applied.
type feature struct {
	*stack
	store  testprovider.Store
	inputs map[string]cty.Value // root variables
	events []engine.Event       // of component.c, since the last plan or apply began
}

// fakeModule begins modules that use the fake provider.
const fakeModule = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
`

// featureStack is the stack of features that need no other.
const featureStack = `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "~> 1.0"
  }
}
variable "name" {
  type    = string
  default = "name"
}
provider "fake" "main" {}
component "c" {
  source    = "./mod"
  inputs    = { INPUTS }
  providers = { SLOTS }
}
`

// laterStack adds component.up, with a value that is known only once that is applied.
const laterStack = `
-- later.tfcomponent.hcl --
component "up" {
  source = "./up"
  inputs = { name = var.name }
}
-- up/main.tf --
variable "name" { type = string }
resource "terraform_data" "up" { input = "later-${var.name}" }
output "later" { value = terraform_data.up.output }
`

// newFeature makes the stack with these inputs of component.c, like "name = var.name, later =
// component.up.later", and the files of a txtar archive. Slots are filled besides that of the fake
// provider.
func newFeature(t *testing.T, inputs, archive string, slots ...string) *feature {
	t.Helper()
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	dir := t.TempDir()
	t.Setenv("CAIRN_FAKE_STORE", dir)
	files := strings.NewReplacer("INPUTS", inputs, "SLOTS", strings.Join(append(slots, "fake = provider.fake.main"),
		", ")).Replace(featureStack)
	if strings.Contains(inputs, "component.up") {
		files += laterStack
	}
	return &feature{stack: newStack(t, files+archive), store: testprovider.Store{Dir: dir}}
}

// write adds or replaces the files of a txtar archive, and loads the stack as another command
// would.
func (f *feature) write(archive string) {
	f.t.Helper()
	dir := f.opts.Config.Root.Dir
	for _, file := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(name, file.Data, 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	f.opts = loadStack(f.t, dir)
}

func (f *feature) options() stackruntime.Options {
	f.events = nil
	opts := f.opts
	opts.Hooks = hooks.Hooks{ComponentEvent: func(component stackaddrs.AbsComponentInstance, event engine.Event) {
		if component.String() == "component.c" {
			f.events = append(f.events, event)
		}
	}}
	return opts
}

// tryPlan plans, and reads the plan from a file again.
func (f *feature) tryPlan(mode engine.Mode) (*stackplan.Plan, hcl.Diagnostics) {
	f.t.Helper()
	plan, diags := stackruntime.Plan(f.t.Context(), stackruntime.PlanRequest{
		Options: f.options(), Mode: mode, Prior: f.state, Inputs: f.inputs,
	})
	if diags.HasErrors() {
		return plan, diags
	}
	var file bytes.Buffer
	if _, err := stackplan.Write(&file, plan, stackplan.FileContext{}); err != nil {
		f.t.Fatal(err)
	}
	read, _, err := stackplan.ReadFrom(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		f.t.Fatal(err)
	}
	return read, diags
}

func (f *feature) plan(mode engine.Mode) *stackplan.Plan {
	f.t.Helper()
	plan, diags := f.tryPlan(mode)
	if diags.HasErrors() {
		f.t.Fatal(explain(diags))
	}
	return plan
}

// tryApply applies, and reads the state from its records again.
func (f *feature) tryApply(plan *stackplan.Plan) (*stackruntime.ApplyResult, hcl.Diagnostics) {
	f.t.Helper()
	result, diags := stackruntime.Apply(f.t.Context(), stackruntime.ApplyRequest{Options: f.options(), Plan: plan, Prior: f.state})
	if result == nil {
		f.t.Fatal(explain(diags))
	}
	records, err := stackstate.Diff(stackstate.New(), result.State)
	if err != nil {
		f.t.Fatal(err)
	}
	if f.state, err = stackstate.FromRecords(records); err != nil {
		f.t.Fatal(err)
	}
	return result, diags
}

func (f *feature) apply(plan *stackplan.Plan) *stackruntime.ApplyResult {
	f.t.Helper()
	result, diags := f.tryApply(plan)
	if diags.HasErrors() {
		f.t.Fatal(explain(diags))
	}
	return result
}

// run plans and applies.
func (f *feature) run() *stackruntime.ApplyResult {
	f.t.Helper()
	return f.apply(f.plan(engine.Normal))
}

// settled fails unless a plan finds nothing to do.
func (f *feature) settled() {
	f.t.Helper()
	if plan := f.plan(engine.Normal); !plan.IsEmpty() {
		f.t.Errorf("another plan is not empty:\n%s", f.text(plan))
	}
}

// destroyed destroys everything and fails if something is left.
func (f *feature) destroyed() {
	f.t.Helper()
	f.apply(f.plan(engine.Destroy))
	if len(f.state.Components) > 0 {
		f.t.Errorf("%d components left after destroy", len(f.state.Components))
	}
}

func planned(t *testing.T, plan *stackplan.Plan) *stackplan.Component {
	t.Helper()
	for _, c := range plan.Components {
		if c.Addr.String() == "component.c" {
			return c
		}
	}
	t.Fatal("component.c is not in the plan")
	return nil
}

// component returns component.c of the state.
func (f *feature) component() *stackstate.Component {
	f.t.Helper()
	for _, c := range f.state.SortedComponents() {
		if c.Addr.String() == "component.c" {
			return c
		}
	}
	f.t.Fatal("component.c is not in the state")
	return nil
}

// change returns the planned change of a resource of component.c.
func change(t *testing.T, plan *stackplan.Plan, address string) *engine.Change {
	t.Helper()
	for _, rc := range planned(t, plan).Changes {
		if rc.Address() == address {
			return rc
		}
	}
	t.Fatalf("no planned change of %s", address)
	return nil
}

// objects returns the addresses of the objects in the state of component.c.
func (f *feature) objects() []string {
	f.t.Helper()
	objects, err := tfstate.ParseObjects(f.component().Module)
	if err != nil {
		f.t.Fatal(err)
	}
	addresses := []string{}
	for _, object := range objects {
		addresses = append(addresses, object.Addr.String())
	}
	return addresses
}

func (f *feature) wantObjects(want ...string) {
	f.t.Helper()
	if got := f.objects(); !slices.Equal(got, want) {
		f.t.Errorf("objects in the state: got %q, want %q", got, want)
	}
}

// wantOutputs compares outputs of component.c in the state.
func (f *feature) wantOutputs(want map[string]cty.Value) {
	f.t.Helper()
	outputs := f.component().Outputs
	for name, value := range want {
		if got := outputs[name]; !got.RawEquals(value) {
			f.t.Errorf("output %s = %#v, want %#v", name, got, value)
		}
	}
}

// text is the plan as a person sees it.
func (f *feature) text(plan *stackplan.Plan) string {
	f.t.Helper()
	var b strings.Builder
	if err := views.WritePlan(&b, plan, views.Options{Width: 1000}); err != nil {
		f.t.Fatal(err)
	}
	return b.String()
}

// stateText is the state as a person sees it.
func (f *feature) stateText() string {
	f.t.Helper()
	var b strings.Builder
	if err := views.WriteState(&b, f.state, views.Options{Width: 1000}); err != nil {
		f.t.Fatal(err)
	}
	return b.String()
}

// planJSON returns component.c in the document of a plan.
func (f *feature) planJSON(plan *stackplan.Plan) map[string]any {
	return f.inDocument(document.NewPlan(plan, document.PlanOptions{Prior: f.state}))
}

// stateJSON returns component.c in the document of the state.
func (f *feature) stateJSON() map[string]any {
	f.t.Helper()
	doc, err := document.NewState(f.state, document.Version{Serial: 1, Lineage: "l"})
	if err != nil {
		f.t.Fatal(err)
	}
	return f.inDocument(doc)
}

func (f *feature) inDocument(doc any) map[string]any {
	f.t.Helper()
	data, err := json.Marshal(doc)
	if err != nil {
		f.t.Fatal(err)
	}
	var decoded struct{ Components []map[string]any }
	if err := json.Unmarshal(data, &decoded); err != nil {
		f.t.Fatal(err)
	}
	for _, c := range decoded.Components {
		if c["address"] == "component.c" {
			return c
		}
	}
	f.t.Fatal("component.c is not in the document")
	return nil
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

func wantCounts(t *testing.T, what string, got, want stackplan.Counts) {
	t.Helper()
	if got != want {
		t.Errorf("%s: counts %+v, want %+v", what, got, want)
	}
}

// wantDiagnostic fails unless there is one of that severity that contains the text, and returns its
// place.
func wantDiagnostic(t *testing.T, diags hcl.Diagnostics, severity hcl.DiagnosticSeverity, text string) hcl.Range {
	t.Helper()
	for _, diag := range diags {
		if diag.Severity == severity && strings.Contains(diag.Summary+": "+diag.Detail, text) {
			if diag.Subject == nil {
				return hcl.Range{}
			}
			return *diag.Subject
		}
	}
	t.Errorf("no diagnostic of severity %d with %q in:\n%s", severity, text, explain(diags))
	return hcl.Range{}
}

// noDiagnostics fails if there are any.
func noDiagnostics(t *testing.T, call string, diags hcl.Diagnostics) {
	t.Helper()
	if len(diags) > 0 {
		t.Errorf("%s: got diagnostics, want none:\n%s", call, explain(diags))
	}
}

// outcome returns how the apply of component.c ended.
func outcome(t *testing.T, result *stackruntime.ApplyResult) stackruntime.Outcome {
	t.Helper()
	for addr, o := range result.Components {
		if addr.String() == "component.c" {
			return o
		}
	}
	t.Fatalf("component.c was not applied: %v", result.Components)
	return stackruntime.Outcome{}
}
