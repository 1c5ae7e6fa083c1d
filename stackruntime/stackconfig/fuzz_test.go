// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// FuzzLoad loads a stack of one native and one JSON file.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*/*.tfcomponent.hcl", "testdata/*/*/*.tfcomponent.json"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				continue // a directory with the suffix of a file
			}
			if filepath.Ext(name) == ".hcl" {
				f.Add(string(src), "{}")
			} else {
				f.Add("", string(src))
			}
		}
	}
	f.Fuzz(func(t *testing.T, native, inJSON string) {
		cfg, diags := load(inMemory(map[string]string{
			"/s/a.tfcomponent.hcl":      native,
			"/s/b.tfcomponent.json":     inJSON,
			"/modules/m/main.tf":        "",
			"/leaf/x.tfcomponent.hcl":   "",
			"/s/child/.tfcomponent.hcl": "",
		}), "/s")
		if cfg == nil {
			t.Fatalf("no configuration: %s", details(diags))
		}
		for _, diag := range diags {
			checkSubject(t, cfg, diag)
		}
		if diags.HasErrors() {
			return
		}
		if cfg.Root.Incomplete || len(cfg.Root.Rejected) > 0 {
			t.Error("declarations are missing without an error")
		}
		for name, v := range cfg.Root.Variables {
			if !v.Type.Constraint.HasDynamicTypes() {
				continue
			}
			t.Errorf("the type of var.%s is a placeholder without an error", name)
		}
		for name, c := range cfg.Root.Components {
			if c.Source.Dir == "" {
				t.Errorf("the source of component.%s was not resolved, without an error", name)
			}
		}
		for name, call := range cfg.Root.Calls {
			if call.Source.Dir == "" || cfg.Root.Children[name] == nil {
				t.Errorf("stack.%s was not loaded, without an error", name)
			}
		}
	})
}

// checkSubject checks that the place of a diagnostic is in the file it names.
func checkSubject(t *testing.T, cfg *Config, diag *hcl.Diagnostic) {
	t.Helper()
	if diag.Subject == nil {
		t.Errorf("%s: no place", diag.Summary)
		return
	}
	file := cfg.Files[diag.Subject.Filename]
	if file == nil {
		t.Errorf("%s: the place is in the unknown file %q", diag.Summary, diag.Subject.Filename)
		return
	}
	start, end := diag.Subject.Start, diag.Subject.End
	if start.Byte < 0 || end.Byte < start.Byte || end.Byte > len(file.Bytes) || start.Line < 1 || start.Column < 1 {
		t.Errorf("%s: %#v is not inside the file of %d bytes", diag.Summary, diag.Subject, len(file.Bytes))
	}
}
