// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/judge"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

const comparedModule = `
variable "a" { type = string }
variable "s" {
  type      = string
  sensitive = true
}
resource "terraform_data" "none" {}
resource "terraform_data" "in" {
  input = var.a
}
resource "terraform_data" "sec" {
  input = { deep = [var.s, "open"], n = 1.5, big = 12345678901234567890 }
}
resource "terraform_data" "late" {
  input            = { id = terraform_data.in.id, l = [1, null], n = null, m = tomap({ k = var.a }), s = toset(["x", "y"]) }
  triggers_replace = [terraform_data.in.output]
}
resource "terraform_data" "after" {
  input = terraform_data.late
}
`

// comparedAsGo is the same module.
var comparedAsGo = &memengine.Module{
	Variables: map[string]*engine.Variable{
		"a": {Name: "a", Type: cty.String, Nullable: true},
		"s": {Name: "s", Type: cty.String, Nullable: true, Sensitive: true},
	},
	Resources: []memengine.Resource{
		{Name: "none"},
		{Name: "in", Input: func(s memengine.Scope) (cty.Value, error) { return s.Inputs["a"], nil }},
		{Name: "sec", Input: func(s memengine.Scope) (cty.Value, error) {
			return cty.ObjectVal(map[string]cty.Value{
				"deep": cty.TupleVal([]cty.Value{s.Inputs["s"], cty.StringVal("open")}),
				"n":    cty.NumberFloatVal(1.5), "big": cty.MustParseNumberVal("12345678901234567890"),
			}), nil
		}},
		{
			Name: "late", DependsOn: []string{"in"},
			Input: func(s memengine.Scope) (cty.Value, error) {
				return cty.ObjectVal(map[string]cty.Value{
					"id": s.Resources["in"].GetAttr("id"),
					"l":  cty.TupleVal([]cty.Value{cty.NumberIntVal(1), cty.NullVal(cty.DynamicPseudoType)}),
					"n":  cty.NullVal(cty.DynamicPseudoType),
					"m":  cty.MapVal(map[string]cty.Value{"k": s.Inputs["a"]}),
					"s":  cty.SetVal([]cty.Value{cty.StringVal("x"), cty.StringVal("y")}),
				}), nil
			},
			TriggersReplace: func(s memengine.Scope) (cty.Value, error) {
				return cty.TupleVal([]cty.Value{s.Resources["in"].GetAttr("output")}), nil
			},
		},
		{
			Name: "after", DependsOn: []string{"late", "in"},
			Input: func(s memengine.Scope) (cty.Value, error) { return s.Resources["late"], nil },
		},
	},
}

// planned has terraform make a plan, and returns its changes.
func planned(t *testing.T, terraform *judge.Judge, options ...tfexec.PlanOption) []*tfjson.ResourceChange {
	t.Helper()
	if _, err := terraform.Plan(t.Context(), append(options, tfexec.Out("plan"))...); err != nil {
		t.Fatal(err)
	}
	var shown struct {
		Changes []*tfjson.ResourceChange `json:"resource_changes"`
	}
	decodeJSON(t, terraform.ShowPlan("plan"), &shown)
	// Terraform has the root module first.
	slices.SortFunc(shown.Changes, func(a, b *tfjson.ResourceChange) int { return strings.Compare(a.Address, b.Address) })
	return shown.Changes
}

// uuids differ between the two engines by design.
var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func decodeJSON(t *testing.T, raw []byte, target any) {
	t.Helper()
	raw = uuids.ReplaceAll(raw, []byte("UUID"))
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(target); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}

// resourcesOf returns the resources of a state document in canonical form.
func resourcesOf(t *testing.T, doc engine.State) any {
	t.Helper()
	c := &stackstate.Component{Addr: component(t, "component.a"), Module: doc}
	records, err := stackstate.ComponentRecords(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stackstate.FromRecords(records)
	if err != nil {
		t.Fatal(err)
	}
	var joined struct{ Resources any }
	decodeJSON(t, s.Components[c.Addr].Module, &joined)
	return joined.Resources
}

// indented renders a value for comparison line by line.
func indented(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func changesOf(t *testing.T, plan *engine.PlanResult) []*tfjson.ResourceChange {
	t.Helper()
	var written []*tfjson.ResourceChange
	for _, change := range plan.Changes {
		written = append(written, terraformjson.ResourceChange(change))
	}
	raw, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	var changes []*tfjson.ResourceChange
	decodeJSON(t, raw, &changes)
	return changes
}

// Rule of the package comment: terraform_data is treated as terraform does.
func TestSameAsTerraform(t *testing.T) {
	binary := testenv.Terraform(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(comparedModule), 0o644); err != nil {
		t.Fatal(err)
	}
	terraform := judge.New(t, binary, dir, "TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, ""))
	if err := terraform.Init(t.Context()); err != nil {
		t.Fatal(err)
	}

	w := newWorld(t, comparedAsGo, memengine.Options{})
	steps := []struct {
		name    string
		a       string
		destroy bool
		replace []string
	}{
		{name: "create", a: "x"},
		{name: "no change", a: "x"},
		{name: "update and replace", a: "y"},
		{name: "replace by request", a: "y", replace: []string{"terraform_data.none"}},
		{name: "destroy", a: "y", destroy: true},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			options := []tfexec.PlanOption{tfexec.Var("a=" + step.a), tfexec.Var("s=secret"), tfexec.Destroy(step.destroy)}
			inputs := map[string]cty.Value{"a": cty.StringVal(step.a), "s": cty.StringVal("secret")}
			mode := engine.Normal
			if step.destroy {
				mode = engine.Destroy
			}
			for _, addr := range step.replace {
				options = append(options, tfexec.Replace(addr))
			}

			want := planned(t, terraform, options...)
			plan, diags := w.plan(t, inputs, func(r *engine.PlanRequest) { r.Mode, r.Replace = mode, slices.Clone(step.replace) })
			noErrors(t, diags)
			if diff := cmp.Diff(indented(t, want), indented(t, changesOf(t, plan))); diff != "" {
				t.Errorf("planned changes (-terraform +memengine):\n%s", diff)
			}

			if err := terraform.Apply(t.Context(), tfexec.DirOrPlan("plan")); err != nil {
				t.Fatal(err)
			}
			state, err := os.ReadFile(filepath.Join(dir, "terraform.tfstate"))
			if err != nil {
				t.Fatal(err)
			}
			_, diags = w.apply(t, mode, plan, inputs)
			noErrors(t, diags)
			if diff := cmp.Diff(indented(t, resourcesOf(t, state)), indented(t, resourcesOf(t, w.state))); diff != "" {
				t.Errorf("resources in the state (-terraform +memengine):\n%s", diff)
			}
		})
	}

	// The written file is a state for terraform, too.
	if err := os.WriteFile(filepath.Join(dir, "ours.tfstate"), exampleDocument(t), 0o644); err != nil {
		t.Fatal(err)
	}
	read, err := terraform.ShowStateFile(t.Context(), "ours.tfstate")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(read.Values.RootModule.Resources,
		func(r *tfjson.StateResource) bool { return r.Address == "terraform_data.late" }) {
		t.Errorf("terraform reads %+v", read.Values.RootModule.Resources)
	}
}

// exampleDocument is a state document after it was split into records and joined.
func exampleDocument(t *testing.T) engine.State {
	t.Helper()
	w := newWorld(t, comparedAsGo, memengine.Options{})
	w.planAndApply(t, map[string]cty.Value{"a": cty.StringVal("x"), "s": cty.StringVal("secret")})
	c := &stackstate.Component{Addr: w.addr, Module: w.state}
	records, err := stackstate.ComponentRecords(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stackstate.FromRecords(records)
	if err != nil {
		t.Fatal(err)
	}
	return s.Components[w.addr].Module
}
