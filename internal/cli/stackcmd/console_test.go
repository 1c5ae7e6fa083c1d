// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

func TestIsOpen(t *testing.T) {
	for source, want := range map[string]bool{
		"":                  false,
		"1 + 2\n":           false,
		"[\n":               true,
		"[1,\n2]\n":         false,
		"{ a = [\n":         true,
		"f(\n":              true,
		"\"${\n":            true,
		"\"${a}\"\n":        false,
		"<<EOT\nx\n":        true,
		"<<EOT\nx\nEOT\n":   false,
		"]\n":               false,
		"\"%{ if a }\n\"\n": false,
	} {
		if got := isOpen(source); got != want {
			t.Errorf("isOpen(%q): got %t, want %t", source, got, want)
		}
	}
}

func TestNameStart(t *testing.T) {
	for line, want := range map[string]string{
		"":                        "",
		"var.x":                   "var.x",
		"1 + var.x":               "var.x",
		"f(component.a":           "component.a",
		`component.a["k"].out`:    `component.a["k"].out`,
		`x[component.a["k"].out`:  `component.a["k"].out`,
		"[for k, v in component.": "component.",
	} {
		if got := line[nameStart(line):]; got != want {
			t.Errorf("nameStart(%q): got %q, want %q", line, got, want)
		}
	}
}

// writeChain makes a directory with a stack the current one.
func writeChain(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"main.tfcomponent.hcl": `
component "a" {
  source = "./m"
  inputs = { value = "start" }
}
component "b" {
  source = "./m"
  inputs = { value = component.a.value }
}
component "c" {
  source = "./m"
  inputs = { value = component.b.value }
}
locals {
  both = { first = component.a.value, last = component.c.value }
}`,
		"m/main.tf": `
variable "value" {
  type = string
}
resource "terraform_data" "x" {
  input = var.value
}
output "value" {
  value = terraform_data.x.output
}`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{env.StateVariable, engines.Variable} {
		t.Setenv(name, "")
	}
}

func TestConsoleCandidates(t *testing.T) {
	writeChain(t)
	newSession := func() *session.Session {
		return session.New(session.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard},
			session.Dependencies{Engine: stacktest.NewMemory(t, ".cairn", memengine.Options{})})
	}
	applying := newSession()
	defer applying.Close()
	program := cmdline.New(cmdline.Program[*session.Session]{
		Root: &session.Command{Name: "cairn", Commands: []*session.Command{ApplyCommand()}}, NewSession: newSession,
	})
	inv, err := program.Parse(applying, []string{"apply", "-auto-approve"})
	if err != nil {
		t.Fatal(err)
	}
	if status, err := inv.Command.Run(t.Context(), applying, inv.Args); status != cmdline.ExitOK || err != nil {
		t.Fatalf("apply: exit code %d, %v", status, err)
	}

	session := newSession()
	defer session.Close()
	c, diags := openConsole(t.Context(), session, nil, "", "")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, test := range []struct{ typed, want string }{
		{"comp", "component.a component.b component.c"},
		{"component.a", "component.a"},
		{"component.a.", "component.a.value"},
		{"component.a.x", ""},
		{"local.", "local.both"},
		{"local.both.", "local.both.first local.both.last"},
		{"var.", ""},
		{"component.zz.", ""},
	} {
		if got := strings.Join(c.candidates(t.Context(), test.typed), " "); got != test.want {
			t.Errorf("candidates(%q): got %q, want %q", test.typed, got, test.want)
		}
	}
}
