// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeTree writes files by name below a new directory.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestConfigHash(t *testing.T) {
	files := map[string]string{
		"stack/main.tfcomponent.hcl": "a",
		"stack/more.tfcomponent.hcl": "b",
		"modules/vpc/main.tf":        "c",
		"modules/vpc/tpl/x.tftpl":    "d",
		"modules/other/main.tf":      "not part of it",
	}
	sources := func(root string) ConfigSources {
		return ConfigSources{
			Base:       filepath.Join(root, "stack"),
			Files:      []string{filepath.Join(root, "stack", "more.tfcomponent.hcl"), "main.tfcomponent.hcl"},
			ModuleDirs: []string{"../modules/vpc", filepath.Join(root, "modules", "vpc")},
		}
	}
	hash := func(s ConfigSources) string {
		t.Helper()
		files, err := HashConfig(s)
		h := files.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	original := hash(sources(writeTree(t, files)))

	tests := map[string]struct {
		set     map[string]string // "" removes the file
		changes bool
	}{
		"nothing":           {nil, false},
		"a component file":  {map[string]string{"stack/main.tfcomponent.hcl": "A"}, true},
		"a module file":     {map[string]string{"modules/vpc/tpl/x.tftpl": "D"}, true},
		"a new module file": {map[string]string{"modules/vpc/new.txt": ""}, true},
		"content moved":     {map[string]string{"stack/main.tfcomponent.hcl": "b", "stack/more.tfcomponent.hcl": "a"}, true},
		"another module":    {map[string]string{"modules/other/main.tf": "changed"}, false},
		"what tools leave": {map[string]string{
			"modules/vpc/.terraform/x": "1", "modules/vpc/terraform.tfstate": "2",
			"modules/vpc/cairn.state.db-wal": "3", "modules/vpc/.terraform.lock.hcl": "4",
		}, false},
		"a plan file somewhere": {map[string]string{"modules/vpc/out": string(planBytes(t))}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			changed := map[string]string{}
			for name, content := range files {
				changed[name] = content
			}
			for name, content := range test.set {
				changed[name] = content
			}
			if got := hash(sources(writeTree(t, changed))) != original; got != test.changes {
				t.Errorf("the hash has changed: %t, want %t", got, test.changes)
			}
		})
	}
	if _, err := HashConfig(ConfigSources{Base: t.TempDir(), Files: []string{"missing"}}); err == nil {
		t.Error("no error for a missing file")
	}
}

func planBytes(t *testing.T) []byte {
	p, file := examplePlan(t)
	return encode(t, p, file)
}

func TestConfigChanges(t *testing.T) {
	before := ConfigFiles{"a": {1}, "b": {2}, "c": {3}}
	now := ConfigFiles{"a": {1}, "b": {9}, "d": {4}}
	want := []ConfigChange{{Name: "b"}, {Name: "c", Removed: true}, {Name: "d", Added: true}}
	if diff := cmp.Diff(want, now.Since(before)); diff != "" {
		t.Error(diff)
	}
	if got := now.Since(now); len(got) > 0 {
		t.Errorf("changes since itself: %v", got)
	}
}
