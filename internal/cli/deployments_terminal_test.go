// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux || darwin

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// askedStack writes a stack with three deployments. When one is applied, it writes to a pipe that
// it has begun, and waits for one of its name.
func askedStack(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range map[string]string{
		"main.tfcomponent.hcl": `
variable "name" { type = string }
component "x" {
  source = "./x"
  inputs = { name = var.name }
}
`,
		"x/main.tf": `
variable "name" { type = string }
resource "terraform_data" "x" {
  input = var.name
  provisioner "local-exec" {
    command = "cd '${path.cwd}'; echo > ${var.name}.begun; read x < ${var.name}"
  }
}
`,
		"main.tfdeploy.hcl": `
deployment "dev" {
  inputs = { name = "dev" }
}
deployment "stage" {
  inputs = { name = "stage" }
}
deployment "prod" {
  inputs = { name = "prod" }
}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dev", "stage", "prod"} {
		for _, pipe := range []string{name, name + ".begun"} {
			if err := syscall.Mkfifo(filepath.Join(dir, pipe), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// awaitBegin returns when the provisioner of a deployment has begun.
func awaitBegin(t *testing.T, dir, name string) {
	t.Helper()
	testenv.Within(t, name+" is applied", func() {
		if _, err := os.ReadFile(filepath.Join(dir, name+".begun")); err != nil {
			t.Error(err)
		}
	})
}

func TestDeploymentsAskOnTerminal(t *testing.T) {
	dir := askedStack(t)
	start := func() *terminal {
		return startOnTerminal(t, pty.Winsize{Rows: 200, Cols: 150}, []string{"CAIRN_ENGINE=native"}, "-chdir="+dir, "apply", "-parallelism=1")
	}
	const question = "Do you want to perform these actions in the deployment "

	// An interrupt ends the running operations, which get it from the terminal, too, and begins
	// nothing more.
	term := start()
	term.waitFor(question+"dev?", "Enter a value:")
	if !term.cursorVisible() {
		t.Errorf("during the question the screen shows\n%s", term.text())
	}
	term.typeText("yes\n")
	awaitBegin(t, dir, "dev")
	if err := os.WriteFile(filepath.Join(dir, "dev"), []byte("now\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	term.waitFor("✓ dev: applied (1 added, 0 changed, 0 destroyed)", question+"stage?")
	term.typeText("yes\n")
	awaitBegin(t, dir, "stage")
	term.typeText("\x03")
	term.waitFor("Interrupted.")
	code := term.end()
	text := term.text()
	if code != cmdline.ExitError || strings.Contains(text, question+"prod") {
		t.Errorf("exit code %d, want %d and no question about prod:\n%s", code, cmdline.ExitError, text)
	}
	for _, want := range []string{"\napplied ", "\nnot begun  prod"} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen does not have %q:\n%s", want, text)
		}
	}

	// After a refusal there is no question about the deployments after it.
	term = start()
	term.waitFor(question+"stage?", "is tainted, so must be replaced")
	term.typeText("no\n")
	if code := term.end(); code != cmdline.ExitError {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitError)
	}
	if text := term.text(); !strings.Contains(text, "not approved  stage") || strings.Contains(text, question+"prod") {
		t.Errorf("the screen shows\n%s", text)
	}
}
