// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package licences

import (
	"os/exec"
	"strings"
	"testing"
)

// All modules that are linked are named, in the version that is linked.
func TestAllModulesAreNamed(t *testing.T) {
	var text strings.Builder
	if err := Write(&text); err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]bool)
	for line := range strings.Lines(text.String()) {
		lines[strings.TrimSpace(line)] = true
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}",
		"github.com/cairnstacks/cairn/cmd/cairn")
	modules, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for module := range strings.Lines(string(modules)) {
		if module = strings.TrimSpace(module); module != "" && !lines[module] {
			t.Errorf("the licence of %s is missing: run go generate ./internal/licences", module)
		}
	}
	for _, want := range []string{"cairn", "Go standard library", "Mozilla Public License, version 2.0", "Apache License"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}
