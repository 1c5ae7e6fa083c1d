// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Checking inputs against the stack evaluates none of them a second time, whether they have
// mistakes or not: loops up to the limit of package bounds take seconds.
func TestInputsAreEvaluatedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string
		mistakes   int
	}{
		"value":           {"main.tfdeploy.hcl", `deployment "a" { inputs = { x = counted() } }`, 0},
		"mistake":         {"main.tfdeploy.hcl", `deployment "a" { inputs = { x = [counted()].nope } }`, 1},
		"value in JSON":   {"main.tfdeploy.json", `{"deployment": {"a": {"inputs": {"x": "${counted()}"}}}}`, 0},
		"mistake in JSON": {"main.tfdeploy.json", `{"deployment": {"a": {"inputs": {"x": "\u0024{[counted()].nope}"}}}}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{test.file: test.text, "main.tfcomponent.hcl": "variable \"x\" {\n  type = number\n}\n"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			stack, diags := stackconfig.Load(dir)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			config, diags := Load(dir)
			if config == nil {
				t.Fatal(diags)
			}
			calls := 0
			config.static.functions = maps.Clone(config.static.functions)
			config.static.functions["counted"] = function.New(&function.Spec{
				Type: function.StaticReturnType(cty.Number),
				Impl: func([]cty.Value, cty.Type) (cty.Value, error) { calls++; return cty.NumberIntVal(1), nil },
			})
			config.Deployments["a"].broken = false // Load does not know the function
			found := config.static.check()
			if len(found) != test.mistakes {
				t.Fatalf("found %d mistakes, want %d: %s", len(found), test.mistakes, found)
			}
			before := calls
			if more := config.CheckStack(stack.Root); calls != before || len(more) > 0 {
				t.Errorf("evaluated %d times, then %d times more, with diagnostics %v", before, calls-before, more)
			}
		})
	}
}
