// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation"
)

// mistake is something that a user does wrong.
type mistake struct {
	name  string
	files map[string]string // written before, and put back after; "" removes the file
	modes map[string]fs.FileMode
	env   map[string]string

	args    []string // of one command
	command string   // the same, by words
	code    int      // 0 stands for ExitError

	summary string
	place   string   // "FILE line N", "" if there is none
	says    []string // parts of the text: what is wrong, and what to do
}

// checkMistakes makes mistakes, one after the other, in the current directory. Each is to be reported as it says, and to change nothing.
func checkMistakes(t *testing.T, mistakes []mistake) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			for name, value := range m.env {
				t.Setenv(name, value)
			}
			for name, text := range m.files {
				replaceFile(t, name, text, m.modes[name])
			}
			commands := [][]string{m.args}
			switch {
			case m.command != "":
				commands = [][]string{strings.Fields(m.command)}
			case m.args == nil: // of the files: whatever looks at them finds it
				commands = [][]string{{"validate"}, {"plan"}, {"apply", "-auto-approve"}, {"destroy", "-auto-approve"}}
			}
			for _, args := range commands {
				before := directoryTree(t)
				got := runNative(t, args...)
				if diff := cmp.Diff(before, directoryTree(t)); diff != "" {
					t.Errorf("cairn %s has changed files (-before +after):\n%s", strings.Join(args, " "), diff)
				}
				m.check(t, strings.Join(args, " "), got)
			}
		})
	}
}

func (m *mistake) check(t *testing.T, command string, got result) {
	t.Helper()
	want := m.code
	if want == 0 {
		want = cmdline.ExitError
	}
	if got.status != want {
		t.Errorf("cairn %s: exit code %d, want %d\n%s%s", command, got.status, want, got.out, got.err)
	}
	for box := range strings.SplitSeq(got.err, "╷") {
		title, text, _ := strings.Cut(strings.TrimPrefix(box, "\n│ "), "\n")
		if title != "Error: "+m.summary {
			continue
		}
		text = strings.Join(strings.Fields(strings.ReplaceAll(text, "│", "")), " ")
		found := strings.HasPrefix(text, "on "+m.place) && m.place != "" || m.place == "" && !strings.HasPrefix(text, "on ")
		if found && !slices.ContainsFunc(m.says, func(part string) bool { return !strings.Contains(text, part) }) {
			return
		}
	}
	t.Errorf("cairn %s: no error %q at %q that says %q in\n%s%s", command, m.summary, m.place, m.says, got.out, got.err)
}

// runNative runs a command as its user would, with the native engine.
func runNative(t *testing.T, args ...string) result {
	t.Helper()
	t.Setenv(operation.EngineVariable, operation.NativeEngine)
	var out, err bytes.Buffer
	status := run(t.Context(), args, session.Streams{In: strings.NewReader(""), Out: &out, Err: &err}, session.Dependencies{})
	return result{status, out.String(), err.String()}
}

func mustRunNative(t *testing.T, args ...string) {
	t.Helper()
	if got := runNative(t, args...); got.status != cmdline.ExitOK {
		t.Fatalf("cairn %s: exit code %d\n%s%s", strings.Join(args, " "), got.status, got.out, got.err)
	}
}

// replaceFile writes a file until the test ends.
func replaceFile(t *testing.T, name, text string, mode fs.FileMode) {
	t.Helper()
	before, err := os.ReadFile(name)
	existed := err == nil
	t.Cleanup(func() {
		err := os.Remove(name)
		if existed {
			err = os.WriteFile(name, before, 0o600)
		}
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	})
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if text == "" {
		return
	}
	if mode == 0 {
		mode = 0o600
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}

// directoryTree returns what is below the current directory: modes, and hashes of files.
func directoryTree(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found[path] = info.Mode().String()
		if entry.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found[path] += fmt.Sprintf(" %x", sha256.Sum256(content))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

const mistakenStack = `
-- main.tfcomponent.hcl --
variable "name" { type = string }
variable "size" {
  type    = number
  default = 1
}
variable "token" {
  type      = string
  ephemeral = true
  default   = ""
}
component "label" {
  source = "./label"
  inputs = { name = var.name, size = var.size, token = var.token }
}
output "label" {
  type  = string
  value = component.label.label
}
-- label/main.tf --
variable "name" { type = string }
variable "size" { type = number }
variable "token" {
  type      = string
  ephemeral = true
}
resource "terraform_data" "label" { input = "${var.name}-${var.size}" }
output "label" { value = terraform_data.label.output }
-- main.tfdeploy.hcl --
deployment "dev" {
  inputs = { name = "dev" }
}
deployment "prod" {
  inputs = { name = "prod" }
}
`

// Everything that the language of deployment files calls an error, in whatever command finds it. The codes are those of the specification, section 9.4.
func TestDeploymentFileMistakes(t *testing.T) {
	newStack(t, mistakenStack)
	mustRunNative(t, "apply", "-auto-approve")
	extra := func(text string) map[string]string { return map[string]string{"x.tfdeploy.hcl": text} }
	checkMistakes(t, []mistake{
		{
			name: "E-DPL-01 no deployment", files: map[string]string{"main.tfdeploy.hcl": "locals { a = 1 }\n"},
			summary: "No deployment defined", place: "main.tfdeploy.hcl line 1", says: []string{`Write deployment "NAME"`},
		},
		{
			name: "E-DPL-03 name used twice", files: extra("deployment \"dev\" {\n  inputs = { name = \"x\" }\n}\n"),
			summary: "Name used twice", place: "x.tfdeploy.hcl line 1", says: []string{"main.tfdeploy.hcl line 1"},
		},
		{
			name: "E-DPL-04 input without variable", files: extra("deployment \"x\" {\n  inputs = { name = \"x\", sise = 1 }\n}\n"),
			summary: "Unknown stack variable", place: "x.tfdeploy.hcl line 2", says: []string{`Did you mean "size"?`},
		},
		{
			name: "E-DPL-05 variable not set", files: extra("deployment \"x\" {\n  inputs = {}\n}\n"),
			summary: "Stack variable not set by deployment", place: "x.tfdeploy.hcl line 1", says: []string{`"name"`, "Set it in the inputs of deployment.x."},
		},
		{
			name: "E-DPL-05 variable set to null", files: extra("deployment \"x\" {\n  inputs = { name = null }\n}\n"),
			summary: "Stack variable not set by deployment", place: "x.tfdeploy.hcl line 2", says: []string{`"name"`, "null"},
		},
		{
			name: "E-DPL-05 value of another type", files: extra("deployment \"x\" {\n  inputs = { name = \"x\", size = \"big\" }\n}\n"),
			summary: "Unsuitable deployment input", place: "x.tfdeploy.hcl line 2", says: []string{`"size"`, "a number is required"},
		},
		{
			name: "E-DPL-06 token for kept variable", files: extra("identity_token \"t\" {\n  audience = [\"a\"]\n}\ndeployment \"x\" {\n  inputs = { name = identity_token.t.jwt }\n}\n"),
			summary: "Ephemeral value for kept variable", place: "x.tfdeploy.hcl line 5", says: []string{`Declare the variable "name" with ephemeral = true`},
		},
		{
			name: "E-DPL-06 store for kept variable", files: extra("store \"varset\" \"s\" {\n  name     = \"s\"\n  category = \"env\"\n}\ndeployment \"x\" {\n  inputs = { name = store.varset.s.K }\n}\n"),
			summary: "Ephemeral value for kept variable", place: "x.tfdeploy.hcl line 6", says: []string{"store.varset.s.stable.K"},
		},
		{
			name: "E-DPL-07 unknown reference", files: extra("locals {\n  region = \"eu\"\n}\ndeployment \"x\" {\n  inputs = { name = local.regoin }\n}\n"),
			summary: "Unknown reference", place: "x.tfdeploy.hcl line 5", says: []string{`Did you mean "local.region"?`},
		},
		{
			name: "E-DPL-07 unknown output", files: extra("publish_output \"l\" {\n  value = deployment.dev.lable\n}\n"),
			summary: "Unknown reference", place: "x.tfdeploy.hcl line 2", says: []string{`no output "lable"`, `Did you mean "label"?`},
		},
		{
			name: "E-DPL-08 neither id nor name", files: extra("store \"varset\" \"s\" {\n  category = \"env\"\n}\n"),
			summary: "Variable set not identified", place: "x.tfdeploy.hcl line 1", says: []string{"Identify the variable set by id or by name."},
		},
		{
			name: "E-DPL-08 id and name", files: extra("store \"varset\" \"s\" {\n  category = \"env\"\n  id       = \"i\"\n  name     = \"n\"\n}\n"),
			summary: "Variable set not identified", place: "x.tfdeploy.hcl line 4", says: []string{"by id or by name, not by both"},
		},
		{
			name: "E-DPL-09 category", files: extra("store \"varset\" \"s\" {\n  category = \"environment\"\n  name     = \"n\"\n}\n"),
			summary: "Unknown store category", place: "x.tfdeploy.hcl line 2", says: []string{`"terraform"`, `"env"`},
		},
		{
			name: "E-DPL-10 check without reason", files: extra("deployment_auto_approve \"r\" {\n  check {\n    condition = true\n  }\n}\n"),
			summary: "Incomplete approval rule", place: "x.tfdeploy.hcl line 2", says: []string{"reason"},
		},
		{
			name: "E-DPL-10 check without condition", files: extra("deployment_auto_approve \"r\" {\n  check {\n    reason = \"why\"\n  }\n}\n"),
			summary: "Incomplete approval rule", place: "x.tfdeploy.hcl line 2", says: []string{"condition"},
		},
		{
			name: "E-DPL-10 rule without check", files: extra("deployment_auto_approve \"r\" {\n}\n"),
			summary: "Incomplete approval rule", place: "x.tfdeploy.hcl line 1", says: []string{"Write check blocks"},
		},
		{
			name: "E-DPL-11 no rule", files: extra("deployment_group \"g\" {\n  auto_approve_checks = [deployment.dev]\n}\n"),
			summary: "Not an approval rule", place: "x.tfdeploy.hcl line 2", says: []string{"deployment_auto_approve.NAME"},
		},
		{
			name: "E-DPL-12 type of upstream", files: extra("upstream_input \"u\" {\n  type   = \"workspace\"\n  source = \"h.example/o/p/s\"\n}\n"),
			summary: "Unusable upstream", place: "x.tfdeploy.hcl line 2", says: []string{`"stack"`},
		},
		{
			name: "E-DPL-12 source of upstream", files: extra("upstream_input \"u\" {\n  type   = \"stack\"\n  source = \"h.example/o/p\"\n}\n"),
			summary: "Unusable upstream", place: "x.tfdeploy.hcl line 3", says: []string{"HOST/ORGANIZATION/PROJECT/STACK"},
		},
		{
			name:    "E-DPL-13 store as a whole",
			files:   extra("store \"varset\" \"s\" {\n  category = \"env\"\n  id       = \"i\"\n}\ndeployment \"x\" {\n  inputs = { name = store.varset.s }\n}\n"),
			summary: "Unusable store reference", place: "x.tfdeploy.hcl line 6", says: []string{"store.varset.s.KEY"},
		},
		{
			name:    "E-DPL-13 stable and not",
			files:   extra("store \"varset\" \"s\" {\n  category = \"env\"\n  id       = \"i\"\n}\ndeployment \"x\" {\n  inputs = { name = store.varset.s.stable.K, token = store.varset.s.K }\n}\n"),
			summary: "Unusable store reference", place: "x.tfdeploy.hcl line 6", says: []string{"stable"},
		},
		{
			name: "E-DPL-14 automatic group declared", files: extra("deployment_group \"dev_default\" {\n  auto_approve_checks = []\n}\n"),
			summary: "Reserved group name", place: "x.tfdeploy.hcl line 1", says: []string{"Choose another one"},
		},
		{
			name: "E-DPL-14 automatic group used", files: extra("deployment \"x\" {\n  inputs           = { name = \"x\" }\n  deployment_group = deployment_group.dev_default\n}\n"),
			summary: "Reserved group name", place: "x.tfdeploy.hcl line 3", says: []string{"group"},
		},
		{
			name: "meta-argument", files: extra("deployment \"x\" {\n  for_each = toset([\"a\"])\n  inputs   = { name = \"x\" }\n}\n"),
			summary: "Unsupported argument", place: "x.tfdeploy.hcl line 2", says: []string{"for_each"},
		},
		{
			name: "syntax", files: extra("deployment \"x\" {\n  inputs = { name = }\n}\n"),
			summary: "Invalid expression", place: "x.tfdeploy.hcl line 2",
		},
		{
			name: "secret in reason", files: extra("store \"varset\" \"s\" {\n  category = \"env\"\n  id       = \"i\"\n}\nlocals {\n  k = store.varset.s.K\n}\ndeployment_auto_approve \"r\" {\n  check {\n    condition = true\n    reason    = local.k\n  }\n}\n"),
			summary: "Unsuitable check reason", place: "x.tfdeploy.hcl line 11", says: []string{"a variable of a store"},
		},
	})

	// E-DPL-02: there may be any number.
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, "deployment \"d%d\" {\n  inputs = { name = \"d\" }\n}\n", i)
	}
	replaceFile(t, "x.tfdeploy.hcl", many.String(), 0)
	mustRunNative(t, "validate")
	mustRunNative(t, "plan")
}
