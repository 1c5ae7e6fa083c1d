// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-exec/tfexec"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/judge"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// TestPlanAsTerraform plans the components of testdata that need no fake provider with terraform,
// too.
func TestPlanAsTerraform(t *testing.T) {
	if testing.Short() {
		t.Skip("starts terraform for each archive")
	}
	program := testenv.Terraform(t)
	testenv.CLIConfig(t, "")
	for _, s := range scripts(t) {
		if strings.Contains(s.text, "fake") || s.settings("unknown") != nil || s.settings("defer all") != nil ||
			s.settings("not as terraform") != nil {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			c := nativetest.New(t, s.text)
			plan := c.Plan(t, s.request(t))
			want, ok := terraformPlan(t, program, c, &s)
			if ok == plan.Diags.HasErrors() {
				t.Fatalf("terraform succeeds: %t; Plan: %s", ok, nativetest.ShowDiagnostics(plan.Diags))
			}
			if !ok {
				return
			}
			if diff := cmp.Diff(want.lines(), resultLines(plan)); diff != "" {
				t.Errorf("Plan: differs from terraform (-terraform +plan):\n%s", diff)
			}
		})
	}
}

// planJSON is the JSON form in which terraform shows a plan.
type planJSON struct {
	Changes []changeJSON `json:"resource_changes"`
	Drift   []changeJSON `json:"resource_drift"`
	Outputs map[string]struct {
		After        any `json:"after"`
		AfterUnknown any `json:"after_unknown"`
		Actions      []string
	} `json:"output_changes"`
	Complete  bool `json:"complete"`
	Applyable bool `json:"applyable"`
}

type changeJSON struct {
	Address  string `json:"address"`
	Previous string `json:"previous_address"`
	Deposed  string `json:"deposed"`
	Reason   string `json:"action_reason"`
	Change   struct {
		Actions      []string `json:"actions"`
		After        any      `json:"after"`
		AfterUnknown any      `json:"after_unknown"`
		Importing    *struct {
			ID string `json:"id"`
		} `json:"importing"`
	} `json:"change"`
}

// terraformPlan returns terraform's plan of a component, or false if it has none.
func terraformPlan(t *testing.T, program string, c *nativetest.Component, s *script) (*planJSON, bool) {
	t.Helper()
	if len(c.Prior) > 0 {
		if err := os.WriteFile(filepath.Join(c.Dir, "terraform.tfstate"), c.Prior, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	terraform := judge.New(t, program, c.Dir)
	if strings.Contains(s.text, "\nmodule ") {
		if err := terraform.Init(t.Context()); err != nil {
			t.Fatalf("terraform init: %v", err)
		}
	}
	mode := s.mode(t)
	options := []tfexec.PlanOption{
		tfexec.Out("plan"), tfexec.Destroy(mode == engine.Destroy), tfexec.RefreshOnly(mode == engine.RefreshOnly),
		tfexec.Refresh(s.settings("skip refresh") == nil),
	}
	for _, address := range s.settings("replace") {
		options = append(options, tfexec.Replace(address))
	}
	if _, err := terraform.Plan(t.Context(), options...); err != nil {
		t.Logf("terraform plan: %v", err)
		return nil, false
	}
	var plan planJSON
	reader := json.NewDecoder(bytes.NewReader(terraform.ShowPlan("plan")))
	reader.UseNumber()
	if err := reader.Decode(&plan); err != nil {
		t.Fatal(err)
	}
	return &plan, true
}

// lines returns the parts to compare, in the order of texts.
func (p *planJSON) lines() []string {
	lines := []string{fmt.Sprintf("complete %t, applyable %t", p.Complete, p.Applyable)}
	for _, c := range p.Changes {
		action := strings.Join(c.Change.Actions, "/")
		imported := ""
		if c.Change.Importing != nil {
			imported = c.Change.Importing.ID
		}
		lines = append(lines, fmt.Sprintf("%s %s %s was %s because %s importing %q: %s unknown %v",
			action, c.Address, c.Deposed, c.Previous, c.Reason, imported, asJSON(c.Change.After), unknownPaths(c.Change.AfterUnknown)))
	}
	for _, c := range p.Drift {
		lines = append(lines, fmt.Sprintf("outside: %s %s was %s", strings.Join(c.Change.Actions, "/"), c.Address, c.Previous))
	}
	for name, output := range p.Outputs {
		if !slices.Contains(output.Actions, "delete") {
			lines = append(lines, fmt.Sprintf("output %s = %s unknown %v", name, asJSON(output.After), unknownPaths(output.AfterUnknown)))
		}
	}
	slices.Sort(lines)
	return lines
}

// resultLines is planJSON.lines for a plan of ours.
func resultLines(p *nativetest.Plan) []string {
	lines := []string{fmt.Sprintf("complete %t, applyable %t", p.Complete, p.Applyable)}
	for _, c := range p.Changes {
		previous, imported := "", ""
		if c.IsMove() {
			previous = c.PreviousAddr.String()
		}
		if c.Importing != nil {
			imported = c.Importing.ID
		}
		after, unknown := shown(c.After)
		lines = append(lines, fmt.Sprintf("%s %s %s was %s because %s importing %q: %s unknown %v",
			c.Action, c.Address(), c.Deposed, previous, c.Reason, imported, asJSON(after), unknownPaths(unknown)))
	}
	for _, c := range p.Drift {
		previous := ""
		if c.IsMove() {
			previous = c.PreviousAddr.String()
		}
		lines = append(lines, fmt.Sprintf("outside: %s %s was %s", c.Action, c.Address(), previous))
	}
	if p.Mode != engine.Destroy {
		for name, value := range p.Outputs {
			after, unknown := shown(value)
			lines = append(lines, fmt.Sprintf("output %s = %s unknown %v", name, asJSON(after), unknownPaths(unknown)))
		}
	}
	slices.Sort(lines)
	return lines
}

// asJSON leaves out where terraform_data stores nothing, of which terraform before 1.16 says
// nothing.
func asJSON(v any) string {
	withoutStore(v)
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func withoutStore(v any) {
	switch v := v.(type) {
	case map[string]any:
		if store, found := v["store"]; found && store == nil {
			delete(v, "store")
		}
		for _, inner := range v {
			withoutStore(inner)
		}
	case []any:
		for _, inner := range v {
			withoutStore(inner)
		}
	}
}

// shown returns the known parts of a value, and where it is unknown, in terraform's form.
func shown(v cty.Value) (known, unknown any) {
	v, _ = v.UnmarkDeep()
	switch {
	case !v.IsKnown():
		return nil, true
	case v.IsNull():
		return nil, false
	case v.Type().IsObjectType() || v.Type().IsMapType():
		values, masks := map[string]any{}, map[string]any{}
		for it := v.ElementIterator(); it.Next(); {
			key, element := it.Element()
			value, mask := shown(element)
			if masks[key.AsString()] = mask; mask != true {
				values[key.AsString()] = value
			}
		}
		return values, masks
	case v.CanIterateElements():
		values, masks := []any{}, []any{}
		for it := v.ElementIterator(); it.Next(); {
			_, element := it.Element()
			value, mask := shown(element)
			values, masks = append(values, value), append(masks, mask)
		}
		return values, masks
	default:
		text, err := ctyjson.Marshal(v, v.Type())
		if err != nil {
			return err.Error(), false
		}
		return json.RawMessage(text), false
	}
}

// unknownPaths returns the paths to true values in a mask, sorted.
func unknownPaths(mask any) []string {
	var paths []string
	switch mask := mask.(type) {
	case bool:
		if mask {
			paths = []string{"."}
		}
	case map[string]any:
		for name, inner := range mask {
			for _, path := range unknownPaths(inner) {
				paths = append(paths, "."+name+path)
			}
		}
	case []any:
		for i, inner := range mask {
			for _, path := range unknownPaths(inner) {
				paths = append(paths, fmt.Sprintf("[%d]%s", i, path))
			}
		}
	}
	slices.Sort(paths)
	return paths
}
