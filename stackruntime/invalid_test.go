// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/wantdiag"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

const invalidStacks = "../testdata/stacks/invalid"

// rowsOfInvalidStacks are the rows of the behaviour checklist that a fixture is for.
var rowsOfInvalidStacks = map[string]string{
	"undeclared-variable":                  "030_",
	"provider-not-declared":                "032_",
	"provider-slot-unfilled":               "033_",
	"provider-slot-wrong-type":             "034_",
	"provider-config-unsupported-argument": "035_",
	"component-input-undeclared-variable":  "036_",
	"component-input-missing":              "037_",
	"component-input-undeclared-component": "038_",
	"provider-as-component-input":          "039_",
	"depends-on":                           "040_",
	"cycle-through-stack":                  "041_",
	"cycle-components":                     "042_",
}

// Each mistake is reported once, on the line that has it, and by planning just
// as by validating.
func TestRowsInvalidConfigurations(t *testing.T) {
	dirs, err := os.ReadDir(invalidStacks)
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 30 {
		t.Errorf("%d fixtures, want 30 or more", len(dirs))
	}
	found := 0
	for _, dir := range dirs {
		row := rowsOfInvalidStacks[dir.Name()]
		if row != "" {
			found++
		}
		t.Run(row+dir.Name(), func(t *testing.T) {
			root := filepath.Join(invalidStacks, dir.Name())
			want, err := wantdiag.Expected(root)
			if err != nil {
				t.Fatal(err)
			}
			if len(want) == 0 {
				t.Fatal("the fixture expects no diagnostics")
			}
			source := func(filename string) []byte {
				src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(filename)))
				if err != nil {
					t.Errorf("a diagnostic names %q, which cannot be read: %s", filename, err)
				}
				return src
			}
			check := func(operation string, run func(stackruntime.Options) hcl.Diagnostics) {
				config, diags := stackconfig.Load(root)
				e := stacktest.NewMemory(t, t.TempDir(), memengine.Options{
					Functions: map[stackaddrs.Provider]map[string]*memengine.Function{fakeProvider: fakeFunctions()},
				})
				diags = diags.Extend(run(stackruntime.Options{
					Config:  config,
					Session: enginetest.Open(t, e, engine.SessionOptions{StackDir: config.Root.Dir}),
				}))
				if diff := cmp.Diff(want, wantdiag.Found(diags, source)); diff != "" {
					t.Errorf("%s: wrong diagnostics (-want +got):\n%s\n%s", operation, diff, describe(diags))
				}
			}
			check("validate", func(opts stackruntime.Options) hcl.Diagnostics {
				return stackruntime.Validate(t.Context(), opts)
			})
			check("plan", func(opts stackruntime.Options) hcl.Diagnostics {
				_, diags := stackruntime.Plan(t.Context(), stackruntime.PlanRequest{Options: opts, Inputs: map[string]cty.Value{}})
				return diags
			})
		})
	}
	if found != len(rowsOfInvalidStacks) {
		t.Errorf("%d fixtures with rows, want %d", found, len(rowsOfInvalidStacks))
	}
}
