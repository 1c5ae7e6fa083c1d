// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// FuzzLoad loads the deployments of a stack from one native and one JSON file.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*/*.tfdeploy.hcl", "testdata/*/*/*.tfdeploy.json"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatalf("no files %s: %v", pattern, err)
		}
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			if filepath.Ext(name) == ".hcl" {
				f.Add(string(src), "{}")
			} else {
				f.Add("", string(src))
			}
		}
	}
	stack, diags := stackconfig.Load("testdata/valid/all")
	if diags.HasErrors() {
		f.Fatal(diags)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, native, inJSON string) {
		config, diags := deployconfig.LoadWith(dir, deployconfig.LoadOptions{Buffers: map[string][]byte{
			filepath.Join(dir, "a.tfdeploy.hcl"):  []byte(native),
			filepath.Join(dir, "b.tfdeploy.json"): []byte(inJSON),
		}})
		if config == nil {
			t.Fatalf("no configuration: %s", details(diags))
		}
		checkPlaces(t, config, diags)
		checkPlaces(t, config, config.CheckStack(stack.Root))
		for name, deployment := range config.Deployments {
			if group := config.Groups[deployment.Group]; group == nil || deployment.Inputs == nil {
				t.Errorf("deployment %q has no group or no inputs", name)
			}
			config.Uses(deployment.Inputs)
		}
		members := 0
		for _, name := range config.GroupOrder {
			members += len(config.Groups[name].Members)
		}
		if members != len(config.Order) || len(config.Order) != len(config.Deployments) || len(config.GroupOrder) != len(config.Groups) {
			t.Errorf("%d members of %d groups, %d deployments in order of %d", members, len(config.Groups), len(config.Order),
				len(config.Deployments))
		}
		if !diags.HasErrors() && (config.Incomplete || len(config.Deployments) == 0) {
			t.Error("declarations are missing without an error")
		}
	})
}

// checkPlaces checks that the places of diagnostics are in the files that they name.
func checkPlaces(t *testing.T, config *deployconfig.Config, diags hcl.Diagnostics) {
	t.Helper()
	for _, diag := range diags {
		if diag.Subject == nil {
			t.Errorf("%s: no place", diag.Summary)
			continue
		}
		file := config.Files[diag.Subject.Filename]
		if file == nil {
			t.Errorf("%s: the place is in the unknown file %q", diag.Summary, diag.Subject.Filename)
			continue
		}
		start, end := diag.Subject.Start, diag.Subject.End
		if start.Byte < 0 || end.Byte < start.Byte || end.Byte > len(file.Bytes) || start.Line < 1 || start.Column < 1 {
			t.Errorf("%s: %#v is not inside the file of %d bytes", diag.Summary, diag.Subject, len(file.Bytes))
		}
	}
}
