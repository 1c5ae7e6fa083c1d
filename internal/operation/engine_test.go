// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
)

// The engines that are no binaries are named in the same places as binaries, and take none.
func TestEnginesWithoutBinary(t *testing.T) {
	for name, test := range map[string]struct {
		option, variable, file string
	}{
		"native by option":        {option: engines.Native},
		"auto by option":          {option: engines.Auto, variable: "CAIRN_ENGINE=terraform"},
		"native by variable":      {variable: "CAIRN_ENGINE=native", file: "engine {\n  binary = \"terraform\"\n}\n"},
		"auto by variable":        {variable: "CAIRN_ENGINE=auto"},
		"native by settings file": {file: "engine {\n  binary = \"native\"\n}\n"},
		"native by argument":      {file: "engine = \"native\"\n"},
		"auto by settings file":   {file: "engine {\n  binary = \"auto\"\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if test.file != "" {
				if err := os.WriteFile(filepath.Join(dir, "cairn.hcl"), []byte(test.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			stack := operation.Open(operation.Options{
				Env:    env.Options{Dir: dir, Environ: []string{"PATH=", test.variable}},
				Engine: engines.Request{Named: test.option, NamedBy: "-engine"},
			})
			defer stack.Close() //nolint:errcheck // nothing was written
			versions, _, err := stack.Versions(t.Context(), false)
			if err != nil || versions.Engine.Name != engines.Native {
				t.Errorf("Versions = %+v, %v, want the engine %s", versions, err, engines.Native)
			}
		})
	}
}

// An engine is named once.
func TestEngineNamedTwice(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cairn.hcl"), []byte("engine = \"native\"\nengine {\n  version = \"1\"\n}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	stack := operation.Open(operation.Options{Env: env.Options{Dir: dir, Environ: []string{"PATH="}}})
	defer stack.Close() //nolint:errcheck // nothing was written
	_, err := stack.Env().Settings()
	diags, ok := errors.AsType[hcl.Diagnostics](err)
	if !ok || len(diags) != 1 || diags[0].Summary != "Setting given twice" || diags[0].Subject.Start.Line != 1 {
		t.Errorf("Settings: got %v, want one error about line 1", err)
	}
}
