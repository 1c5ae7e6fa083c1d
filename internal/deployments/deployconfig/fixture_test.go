// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/wantdiag"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// The fixtures below testdata/invalid are stacks with mistakes in their deployment files, with the
// expectations of package wantdiag.
func TestInvalidFixtures(t *testing.T) {
	for _, root := range fixtures(t, "testdata/invalid") {
		t.Run(filepath.Base(root), func(t *testing.T) {
			config, diags := check(t, root)
			want, err := wantdiag.Expected(root)
			if err != nil {
				t.Fatal(err)
			}
			if len(want) == 0 {
				t.Error("the fixture expects no diagnostics")
			}
			if diff := cmp.Diff(want, wantdiag.Found(diags, wantdiag.SourceOf(config.Files))); diff != "" {
				t.Errorf("wrong diagnostics (-want +got):\n%s\n%s", diff, details(diags))
			}
		})
	}
}

func TestValidFixtures(t *testing.T) {
	for _, root := range fixtures(t, "testdata/valid") {
		t.Run(filepath.Base(root), func(t *testing.T) {
			config, diags := check(t, root)
			if len(diags) > 0 {
				t.Errorf("unexpected diagnostics:\n%s", details(diags))
			}
			if config.Incomplete || len(config.Deployments) == 0 {
				t.Errorf("got %d deployments, incomplete: %t", len(config.Deployments), config.Incomplete)
			}
		})
	}
}

func fixtures(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatalf("no fixtures in %s: %v", dir, err)
	}
	var roots []string
	for _, entry := range entries {
		roots = append(roots, filepath.Join(dir, entry.Name()))
	}
	return roots
}

// check loads the deployments of a fixture, and checks them against its stack if it has one.
func check(t *testing.T, root string) (*deployconfig.Config, hcl.Diagnostics) {
	t.Helper()
	config, diags := deployconfig.Load(root)
	if config == nil {
		t.Fatalf("Load(%q) returned no configuration: %s", root, diags)
	}
	stack, stackDiags := stackconfig.Load(root)
	if len(stackDiags) > 0 {
		t.Fatal(stackDiags)
	}
	if len(stack.Files) > 0 {
		diags = append(diags, config.CheckStack(stack.Root)...)
	}
	return config, diags
}

var details = wantdiag.Details
