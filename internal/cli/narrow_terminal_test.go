// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux || darwin

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/creack/pty"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// On a narrow terminal, questions, notices and help break between words.
func TestNarrowTerminal(t *testing.T) {
	testenv.Engine(t)
	dir := t.TempDir()
	for name, content := range map[string]string{
		"main.tfcomponent.hcl": `
required_providers {}

variable "name" {
  type        = string
  description = "The name under which all that this stack makes can be found again."
}

variable "zones" {
  type = set(string)
}

component "a" {
  source = "./m"
  inputs = { name = var.name }
}
`,
		"m/main.tf": `
variable "name" {}

resource "terraform_data" "x" {
  input = var.name
}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	size := pty.Winsize{Rows: 60, Cols: 50}

	term := startOnTerminal(t, size, nil, "-chdir="+dir, "apply")
	term.waitFor("  The name under which all that this stack makes\n  can be found again.\n\n  Enter a value:")
	term.typeText("x\r")
	term.waitFor("var.zones\n  Write it as in a variables file: its type is\n  set(string).\n\n  Enter a value:")
	term.typeText("[]\r")
	term.waitFor("✓ component.a: Planned: 1 to add\n", "0 to destroy in 1\ncomponent.",
		"as described above.\n  Only \"yes\" will be accepted to approve.\n\n  Enter a value:")
	term.typeText("no\r")
	if code := term.end(); code != cmdline.ExitError {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitError)
	}

	term = startOnTerminal(t, size, nil, "-chdir="+dir, "plan", "-var=name=x", "-var=zones=[]")
	if code := term.end(); code != cmdline.ExitOK {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitOK)
	}
	term.waitFor("The plan was not saved. To apply exactly this plan\nlater, save it with -out=FILE.")

	term = startOnTerminal(t, size, nil, "-chdir="+dir, "plan", "-var=name=x", "-var=zones=[]", "-out=a-long-name.plan")
	if code := term.end(); code != cmdline.ExitOK {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitOK)
	}
	term.waitFor(" is saved in a-long-name.plan. To\ncarry it out:\n  cairn apply a-long-name.plan")

	term = startOnTerminal(t, size, nil, "plan", "-h")
	if code := term.end(); code != cmdline.ExitOK {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitOK)
	}
	term.waitFor("take values of\n                            variables from this\n")
}
