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
	"github.com/cairnstacks/cairn/internal/operation/engines"
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
	locks   bool     // the state is locked for a while, by which its file changes, and its content does not

	summary string
	place   string   // "FILE line N", "" if there is none
	says    []string // parts of the text: the mistake and the remedy
}

// checkMistakes makes mistakes, one after the other, in the current directory. Each is to be
// reported as it says, and to change nothing.
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
			case m.args == nil: // of the files: every command that reads them finds it
				commands = [][]string{{"validate"}, {"plan"}, {"apply", "-auto-approve"}, {"destroy", "-auto-approve"}}
			}
			for _, args := range commands {
				before := m.snapshot(t)
				got := runNative(t, args...)
				if diff := cmp.Diff(before, m.snapshot(t)); diff != "" {
					t.Errorf("cairn %s has changed files (-before +after):\n%s", strings.Join(args, " "), diff)
				}
				m.check(t, strings.Join(args, " "), got)
			}
		})
	}
}

// snapshot returns the files and the state that must not change.
func (m *mistake) snapshot(t *testing.T) map[string]string {
	t.Helper()
	found := directoryTree(t)
	if m.locks {
		const file = "cairn.state.db"
		found[file] = runNative(t, "state", "pull", "-deployment=dev").out + runNative(t, "state", "history", "-deployment=dev").out
	}
	return found
}

func (m *mistake) check(t *testing.T, command string, got result) {
	t.Helper()
	if strings.Contains(got.out+got.err, mistakenSecret) {
		t.Errorf("cairn %s: a secret is in\n%s%s", command, got.out, got.err)
	}
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
	t.Setenv(engines.Variable, engines.Native)
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

// directoryTree returns the contents of the current directory: modes, and hashes of files.
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

// All errors of the language of deployment files, in each command that finds them. The codes are
// those of the specification, section 9.4.
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
			name:    "E-DPL-05 variable not set",
			files:   extra("deployment \"x\" {\n  inputs = {}\n}\n"),
			summary: "Stack variable not set by deployment",
			place:   "x.tfdeploy.hcl line 1",
			says:    []string{`"name"`, "Set it in the inputs of deployment.x,"},
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
			name:    "E-DPL-06 token for kept variable",
			files:   extra("identity_token \"t\" {\n  audience = [\"a\"]\n}\ndeployment \"x\" {\n  inputs = { name = identity_token.t.jwt }\n}\n"),
			summary: "Ephemeral value for kept variable",
			place:   "x.tfdeploy.hcl line 5",
			says:    []string{`Declare the variable "name" with ephemeral = true`},
		},
		{
			name: "E-DPL-06 store for kept variable",
			files: extra("store \"varset\" \"s\" {\n  name     = \"s\"\n  category = \"env\"\n}\ndeployment \"x\" {\n" +
				"  inputs = { name = store.varset.s.K }\n}\n"),
			summary: "Ephemeral value for kept variable", place: "x.tfdeploy.hcl line 6", says: []string{"store.varset.s.stable.K"},
		},
		{
			name:    "E-DPL-07 unknown reference",
			files:   extra("locals {\n  region = \"eu\"\n}\ndeployment \"x\" {\n  inputs = { name = local.regoin }\n}\n"),
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
			name:    "E-DPL-08 id and name",
			files:   extra("store \"varset\" \"s\" {\n  category = \"env\"\n  id       = \"i\"\n  name     = \"n\"\n}\n"),
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
			name: "E-DPL-13 store as a whole",
			files: extra("store \"varset\" \"s\" {\n  category = \"env\"\n  id       = \"i\"\n}\ndeployment \"x\" {\n" +
				"  inputs = { name = store.varset.s }\n}\n"),
			summary: "Unusable store reference", place: "x.tfdeploy.hcl line 6", says: []string{"store.varset.s.KEY"},
		},
		{
			name: "E-DPL-13 stable and not",
			files: extra("store \"varset\" \"s\" {\n  category = \"env\"\n  id       = \"i\"\n}\ndeployment \"x\" {\n" +
				"  inputs = { name = store.varset.s.stable.K, token = store.varset.s.K }\n}\n"),
			summary: "Unusable store reference", place: "x.tfdeploy.hcl line 6", says: []string{"stable"},
		},
		{
			name: "E-DPL-14 automatic group declared", files: extra("deployment_group \"dev_default\" {\n  auto_approve_checks = []\n}\n"),
			summary: "Reserved group name", place: "x.tfdeploy.hcl line 1", says: []string{"Choose another one"},
		},
		{
			name:    "E-DPL-14 automatic group used",
			files:   extra("deployment \"x\" {\n  inputs           = { name = \"x\" }\n  deployment_group = deployment_group.dev_default\n}\n"),
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
			name: "secret in reason",
			files: extra("store \"varset\" \"s\" {\n  category = \"env\"\n  id       = \"i\"\n}\nlocals {\n  k = store.varset.s.K\n}\n" +
				"deployment_auto_approve \"r\" {\n  check {\n    condition = true\n    reason    = local.k\n  }\n}\n"),
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

// Options of commands that work on deployments, where they do not fit.
func TestDeploymentOptionMistakes(t *testing.T) {
	newStack(t, mistakenStack)
	mustRunNative(t, "apply", "-auto-approve")
	mustRunNative(t, "plan", "-deployment=prod", "-out=prod.plan", "-var=size=2")
	several := []string{"dev, prod", "-deployment=NAME or CAIRN_DEPLOYMENT"}
	checkMistakes(t, []mistake{
		{
			name:    "unknown",
			command: "plan -deployment=pord",
			summary: "Deployment not declared",
			says:    []string{`Did you mean "prod"?`, "dev, prod", "destroy = true"},
		},
		{
			name:    "one of them unknown",
			command: "plan -deployment=dev -deployment=pord",
			summary: "Deployment not declared",
			says:    []string{`Did you mean "prod"?`, "destroy = true", "cairn run destroy -gone -base=REF"},
		},
		{
			name:    "pattern of nothing",
			command: "apply -auto-approve -deployment=x*",
			summary: "Deployment not declared",
			says:    []string{"dev, prod", "destroy = true", "cairn run destroy -gone -base=REF"},
		},
		{name: "unusable pattern", command: "plan -deployment=[", summary: "Invalid deployment pattern", says: []string{"a [ has no closing ]"}},
		{
			name:    "unusable name",
			command: "apply -auto-approve -deployment=../dev",
			summary: "Invalid deployment name",
			says:    []string{"letters, digits", "-deployment or CAIRN_DEPLOYMENT"},
		},
		{
			name:    "unusable name in the environment",
			command: "apply -auto-approve",
			env:     map[string]string{"CAIRN_DEPLOYMENT": "a/b"},
			summary: "Invalid deployment name",
			says:    []string{`"a/b"`},
		},
		{
			name:    "unknown in the environment",
			command: "apply -auto-approve",
			env:     map[string]string{"CAIRN_DEPLOYMENT": "prof"},
			summary: "Deployment not declared",
			says:    []string{`Did you mean "prod"?`},
		},
		{name: "pattern for one", command: "output -deployment=d*", summary: "Invalid deployment name", says: []string{"letters, digits"}},
		{name: "output of several", command: "output", summary: "Several deployments", says: several},
		{name: "state of several", command: "state list", summary: "Several deployments", says: several},
		{name: "state pull of several", command: "state pull", summary: "Several deployments", says: several},
		{name: "show of several", command: "show", summary: "Several deployments", says: several},
		{name: "console of several", command: "console -e 1", summary: "Several deployments", says: several},
		{name: "history of several", command: "state history", summary: "Several deployments", says: several},
		{name: "state rm of several", command: "state rm component.label", summary: "Several deployments", says: several},
		{
			name:    "plan file of several",
			command: "plan -out=p",
			summary: "Several deployments",
			says:    []string{"A plan file is that of one deployment", "dev, prod", "-deployment"},
		},
		{
			name:    "plan file of two named",
			command: "plan -out=p -deployment=dev -deployment=prod",
			summary: "Several deployments",
			says:    []string{"Name one of them with -deployment"},
		},
		{
			name:    "plan file of a pattern",
			command: "plan -out=p -deployment=*",
			summary: "Several deployments",
			says:    []string{"Name one of them with -deployment"},
		},
		{
			name:    "plan of another deployment",
			command: "apply -deployment=dev prod.plan",
			summary: "Plan of another deployment",
			says:    []string{`"prod", not for "dev"`},
		},
		{
			name:    "plan file not there",
			command: "apply .cairn/waiting/prod.plan",
			summary: "Plan file not found",
			says:    []string{"cairn plan -out=FILE"},
		},
		{
			name:    "approve when planning",
			command: "plan -approve=later",
			summary: "Unknown option",
			says:    []string{`"cairn apply" and "cairn destroy"`},
		},
		{name: "approve in some other way", command: "apply -approve=now", summary: "Invalid option", says: []string{"the only value is later"}},
		{
			name:    "approve twice",
			command: "apply -approve=later -auto-approve",
			summary: "Conflicting options",
			says:    []string{"-auto-approve", "-approve=later"},
		},
		{
			name:    "approve twice when destroying",
			command: "destroy -approve=later -auto-approve",
			summary: "Conflicting options",
			says:    []string{"-auto-approve", "-approve=later"},
		},
		{
			name:    "approve a plan file later",
			command: "apply -approve=later prod.plan",
			summary: "Conflicting options",
			says:    []string{"-approve"},
		},
		{
			name:    "approve several root modules later",
			command: "run apply -approve=later",
			summary: "Unknown option",
			says:    []string{`"cairn apply" and "cairn destroy"`},
		},
		{name: "validate one", command: "validate -deployment=dev", summary: "Unknown option", says: []string{"cairn validate -h"}},
		{
			name:    "show one that is not there",
			command: "deployment show prd",
			summary: "No such deployment",
			says:    []string{`Did you mean "prod"?`, "dev, prod"},
		},
		{name: "show none", command: "deployment show", summary: "Missing argument", says: []string{"cairn deployment show DEPLOYMENT"}},
		{name: "list one", command: "deployment list dev", summary: "Too many arguments", says: []string{"cairn deployment list -h"}},
		{name: "unknown command", command: "deployment lst", summary: "Unknown command", says: []string{`Did you mean "list"?`}},
		{
			name:    "nobody to ask",
			command: "apply -input=false -deployment=dev -var=size=3",
			locks:   true,
			code:    cmdline.ExitApproval,
			summary: "Approval needed",
			says:    []string{"-auto-approve"},
		},
		{
			name:    "nobody to ask about destroying",
			command: "destroy -input=false -deployment=dev",
			locks:   true,
			code:    cmdline.ExitApproval,
			summary: "Approval needed",
			says:    []string{"-auto-approve"},
		},
		{
			name:    "several without deployment files",
			command: "plan -deployment=a -deployment=b -var=name=x",
			files:   map[string]string{"main.tfdeploy.hcl": ""},
			summary: "No deployments declared",
			says:    []string{"only one deployment", "Name one", "*.tfdeploy.hcl"},
		},
		{
			name:    "left deployment",
			command: "plan",
			files:   map[string]string{"main.tfdeploy.hcl": "deployment \"dev\" {\n  inputs = { name = \"dev\" }\n}\n"},
			summary: "Deployment block missing",
			says:    []string{"objects of the deployment prod", "Put its block back with destroy = true", "cairn run destroy -gone -base=REF"},
		},
		{
			name:    "left deployments of several",
			command: "apply -auto-approve",
			files: map[string]string{
				"main.tfdeploy.hcl": "deployment \"a\" {\n  inputs = { name = \"a\" }\n}\ndeployment \"b\" {\n  inputs = { name = \"b\" }\n}\n",
			},
			summary: "Deployment block missing",
			says:    []string{"objects of the deployment dev, prod", "Put its block back with destroy = true", "cairn run destroy -gone -base=REF"},
		},
		{
			name:    "deployment being imported",
			command: "apply -auto-approve -deployment=x",
			files:   map[string]string{"x.tfdeploy.hcl": "deployment \"x\" {\n  inputs = { name = \"x\" }\n  import = true\n}\n"},
			summary: "Deployment being imported",
			place:   "x.tfdeploy.hcl line 1",
			says:    []string{"Remove that when it is complete"},
		},

		{name: "identity command", command: "identity jkws", summary: "Unknown command", says: []string{`Did you mean "jwks"?`}},
		{name: "key without a file", command: "identity key", summary: "Missing argument", says: []string{"cairn identity key FILE"}},
		{name: "key over a file", command: "identity key main.tfdeploy.hcl", summary: "Key file exists", says: []string{"Name a new file"}},
		{
			name:    "key in no directory",
			command: "identity key nowhere/identity.pem",
			summary: "Key not written",
			says:    []string{"no such file or directory"},
		},
		{
			name:    "key of another algorithm",
			command: "identity key -algorithm=HS256 identity.pem",
			summary: "Unknown algorithm",
			says:    []string{"RS256 or ES256"},
		},
		{
			name:    "keys without a block",
			command: "identity jwks",
			summary: "No signing key",
			says:    []string{"cairn identity key identity.pem", `identity "key" block`},
		},
		{
			name:    "keys into files without a block",
			command: "identity jwks -out=public",
			summary: "No signing key",
			says:    []string{`identity "key" block`},
		},
		{
			name: "key that is none", command: "identity jwks -out=public",
			files: map[string]string{
				"cairn.hcl":    "identity \"key\" {\n  path   = \"identity.pem\"\n  issuer = \"https://t.example\"\n}\n",
				"identity.pem": "x\n",
			},
			summary: "Unusable signing key", place: "cairn.hcl line 1",
		},
		{
			name: "key that is not there", command: "identity jwks",
			files:   map[string]string{"cairn.hcl": "identity \"key\" {\n  path   = \"identity.pem\"\n  issuer = \"https://t.example\"\n}\n"},
			summary: "Unusable signing key", place: "cairn.hcl line 1", says: []string{"identity.pem"},
		},
		{
			name:    "issuer without https",
			command: "plan -deployment=dev",
			files:   map[string]string{"cairn.hcl": "identity \"key\" {\n  path   = \"identity.pem\"\n  issuer = \"http://t.example\"\n}\n"},
			summary: "Invalid issuer",
			place:   "cairn.hcl line 3",
			says:    []string{"with https"},
		},
	})
}

// Mistakes in the places and contents of tokens, variable sets and other stacks show only when
// these are needed.
func TestDeploymentValueMistakes(t *testing.T) {
	newStack(t, mistakenStack)
	mustRunNative(t, "apply", "-auto-approve")
	const (
		token = "identity_token \"t\" {\n  audience = [\"a.example\"]\n}\ndeployment \"x\" {\n" +
			"  inputs = { name = \"x\", token = identity_token.t.jwt }\n}\n"
		store = "store \"varset\" \"s\" {\n  name     = \"set\"\n  category = \"terraform\"\n}\ndeployment \"x\" {\n" +
			"  inputs = { name = store.varset.s.stable.K }\n}\n"
		other = "upstream_input \"net\" {\n  type   = \"stack\"\n  source = \"h.example/o/p/net\"\n}\ndeployment \"x\" {\n" +
			"  inputs = { name = upstream_input.net.id }\n}\n"

		header  = "eyJhbGciOiJub25lIn0."
		expired = header + "eyJhdWQiOiJhLmV4YW1wbGUiLCJleHAiOjk0NjY4NDgwMH0." + mistakenSecret  // for a.example, of the year 2000
		foreign = header + "eyJhdWQiOiJiLmV4YW1wbGUiLCJleHAiOjQxMDI0NDQ4MDB9." + mistakenSecret // for b.example
	)
	with := func(text, settings string, more ...string) map[string]string {
		files := map[string]string{"x.tfdeploy.hcl": text, "cairn.hcl": settings}
		for i := 0; i < len(more); i += 2 {
			files[more[i]] = more[i+1]
		}
		return files
	}
	mistakes := []mistake{
		{
			name:    "no source of tokens",
			files:   with(token, ""),
			summary: "No source of tokens",
			place:   "x.tfdeploy.hcl line 5",
			says:    []string{`identity "file"`, "cairn.hcl"},
		},
		{
			name:    "file of tokens missing",
			files:   with(token, "identity \"file\" { path = \"jwt\" }\n"),
			summary: "Unreadable identity token",
			place:   "cairn.hcl line 1",
			says:    []string{"jwt", "Something else has to write it"},
		},
		{
			name:    "file with no token",
			files:   with(token, "identity \"file\" { path = \"jwt\" }\n", "jwt", mistakenSecret+"\n"),
			summary: "Unusable identity token",
			place:   "cairn.hcl line 1",
		},
		{
			name:    "token expired",
			files:   with(token, "identity \"file\" { path = \"jwt\" }\n", "jwt", expired),
			summary: "Identity token expired",
			place:   "cairn.hcl line 1",
			says:    []string{"2000-01-01"},
		},
		{
			name:    "token for another",
			files:   with(token, "identity \"file\" { path = \"jwt\" }\n", "jwt", foreign),
			summary: "Token for another audience",
			place:   "cairn.hcl line 1",
			says:    []string{"Ask for the same audience"},
		},
		{
			name:    "token of others",
			files:   with(token, "identity \"file\" { path = \"jwt\" }\n", "jwt", foreign),
			modes:   map[string]fs.FileMode{"jwt": 0o666},
			summary: "File writable by others",
			place:   "cairn.hcl line 1",
		},
		{
			name:    "failing command",
			files:   with(token, "identity \"command\" { command = [\"sh\", \"-c\", \"printenv MISTAKEN; exit 3\"] }\n"),
			summary: "Identity command failed",
			place:   "cairn.hcl line 1",
			says:    []string{"exit code 3"},
		},
		{
			name:    "command that is not there",
			files:   with(token, "identity \"command\" { command = [\"no-such-program\"] }\n"),
			summary: "Identity command failed",
			place:   "cairn.hcl line 1",
			says:    []string{"no-such-program"},
		},
		{
			name:    "command that prints no token",
			files:   with(token, "identity \"command\" { command = [\"printenv\", \"MISTAKEN\"] }\n"),
			summary: "Unusable identity token",
			place:   "cairn.hcl line 1",
		},
		{
			name:    "no token of GitHub",
			files:   with(token, "identity \"github\" {}\n"),
			summary: "No tokens of GitHub Actions",
			place:   "cairn.hcl line 1",
			says:    []string{"id-token: write"},
		},
		{
			name:    "no token of GitLab",
			files:   with(token, "identity \"gitlab\" {}\n"),
			summary: "No token in environment",
			place:   "cairn.hcl line 1",
			says:    []string{"T_ID_TOKEN"},
		},

		{
			name:    "no variable set",
			files:   with(store, ""),
			summary: "Unknown variable set",
			place:   "x.tfdeploy.hcl line 6",
			says:    []string{`varset "set"`},
		},
		{
			name:    "set of another category",
			files:   with(store, "varset \"set\" {\n  category = \"env\"\n  file     = \"v.env\"\n}\n", "v.env", "K="+mistakenSecret+"\n"),
			summary: "Unknown variable set",
			place:   "cairn.hcl line 1",
		},
		{
			name:    "set missing",
			files:   with(store, "varset \"set\" { file = \"v.json\" }\n"),
			summary: "Unreadable variable set",
			place:   "cairn.hcl line 1",
			says:    []string{"v.json"},
		},
		{
			name:    "set of another format",
			files:   with(store, "varset \"set\" { file = \"v.ini\" }\n", "v.ini", "K="+mistakenSecret),
			summary: "Unknown format of values",
			place:   "cairn.hcl line 1",
			says:    []string{".tfvars, .json"},
		},
		{
			name:    "set with wrong syntax",
			files:   with(store, "varset \"set\" { file = \"v.json\" }\n", "v.json", `{"K": "`+mistakenSecret+`"`),
			summary: "Unusable variable set",
			place:   "cairn.hcl line 1",
			says:    []string{"v.json"},
		},
		{
			name:    "set with wrong syntax in HCL",
			files:   with(store, "varset \"set\" { file = \"v.tfvars\" }\n", "v.tfvars", `K = "`+mistakenSecret+"\n"),
			summary: "Unusable variable set",
			place:   "cairn.hcl line 1",
			says:    []string{"v.tfvars"},
		},
		{
			name:    "set without the value",
			files:   with(store, "varset \"set\" { file = \"v.json\" }\n", "v.json", `{"k": "`+mistakenSecret+`"}`),
			summary: "Value missing in store",
			place:   "x.tfdeploy.hcl line 6",
			says:    []string{`"K"`, `Did you mean "k"?`},
		},
		{
			name: "value of another type",
			files: with(strings.Replace(store, "name = ", "name = \"x\", size = ", 1), "varset \"set\" { file = \"v.json\" }\n", "v.json",
				`{"K": "`+mistakenSecret+`"}`),
			summary: "Value does not fit the variable",
			place:   "x.tfdeploy.hcl line 6",
			says:    []string{"a number is required", "not shown"},
		},
		{
			name:    "sensitive is unknown",
			files:   with(store, "varset \"set\" {\n  file      = \"v.json\"\n  sensitive = [\"k\"]\n}\n", "v.json", `{"K": "`+mistakenSecret+`"}`),
			summary: "Unknown sensitive variable",
			place:   "cairn.hcl line 1",
			says:    []string{`Did you mean "K"?`},
		},
		{
			name:    "not encrypted",
			files:   with(store, "varset \"set\" { file = \"v.json.age\" }\n", "v.json.age", `{"K": "`+mistakenSecret+`"}`),
			summary: "Unusable variable set",
			place:   "cairn.hcl line 1",
			says:    []string{"Encrypt it, or rename it"},
		},
		{
			name:    "failing command of a set",
			files:   with(store, "varset \"set\" { command = [\"sh\", \"-c\", \"printenv MISTAKEN; exit 3\"] }\n"),
			summary: "Variable set command failed",
			place:   "cairn.hcl line 1",
		},
		{
			name:    "command that prints no set",
			files:   with(store, "varset \"set\" { command = [\"printenv\", \"MISTAKEN\"] }\n"),
			summary: "Unusable variable set",
			place:   "cairn.hcl line 1",
			says:    []string{"one JSON object"},
		},

		{
			name:    "stack not mapped",
			files:   with(other, ""),
			summary: "Upstream stack not mapped",
			place:   "x.tfdeploy.hcl line 6",
			says:    []string{`upstream "h.example/o/p/net"`},
		},
		{
			name:    "stack never applied",
			files:   with(other, "upstream \"h.example/o/p/net\" { stack = \"net\" }\n", "net/main.tfcomponent.hcl", "locals { x = 1 }\n"),
			summary: "Upstream stack never applied",
			place:   "x.tfdeploy.hcl line 6",
		},
		{
			name:    "no stack",
			files:   with(other, "upstream \"h.example/o/p/net\" { stack = \"nowhere\" }\n"),
			summary: "Upstream stack not found",
			place:   "cairn.hcl line 1",
			says:    []string{"nowhere", "Correct the path"},
		},
		{
			name:    "stack that publishes nothing",
			files:   with(other, "upstream \"h.example/o/p/net\" { state = \"cairn.state.db\" }\n"),
			summary: "Upstream stack never applied",
			place:   "x.tfdeploy.hcl line 6",
			says:    []string{"has published nothing", "Apply it first"},
		},
	}
	for i := range mistakes {
		mistakes[i].command = "apply -auto-approve -deployment=x"
	}
	t.Setenv("MISTAKEN", mistakenSecret)
	checkMistakes(t, mistakes)
}

// mistakenSecret is a secret that mistakes have in them.
const mistakenSecret = "pl4ntedSecretValue"

const mistakenRepository = `
-- cairn.workspace.hcl --
stack "net" {}
stack "app" {
  inputs = { name = stack.net.output.id }
}
-- modules/m/main.tf --
variable "name" { type = string }
resource "terraform_data" "x" { input = var.name }
output "id" { value = terraform_data.x.output }
-- net/main.tfcomponent.hcl --
component "m" {
  source = "../modules/m"
  inputs = { name = "net" }
}
output "id" {
  type  = string
  value = component.m.id
}
-- app/main.tfcomponent.hcl --
variable "name" { type = string }
component "m" {
  source = "../modules/m"
  inputs = { name = var.name }
}
`

// Options of commands that work on many stacks, and sets of plans that are not as they were saved.
func TestRepositoryMistakes(t *testing.T) {
	newStack(t, mistakenRepository)
	mustRunNative(t, "run", "plan", "-out=plans")
	index, err := os.ReadFile("plans/index.json")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := os.ReadFile("plans/plans/0.plan")
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(before, after string) map[string]string {
		text := strings.ReplaceAll(string(index), before, after)
		if text == string(index) {
			t.Fatalf("the index has no %s", before)
		}
		return map[string]string{"plans/index.json": text}
	}
	stale := []string{"Nothing was done", "Plan again"}
	checkMistakes(t, []mistake{
		{
			name:    "set into a directory with files",
			command: "run plan -out=net",
			summary: "Set of plans not saved",
			says:    []string{"Name a new one, or one that is empty"},
		},
		{
			name:    "set into a file",
			command: "run plan -out=cairn.workspace.hcl",
			summary: "Set of plans not saved",
			says:    []string{"not a directory"},
		},
		{
			name:    "set without planning",
			command: "run plan -out=other -dry-run",
			summary: "Conflicting options",
			says:    []string{"-dry-run", "-out"},
		},
		{name: "set of an apply", command: "run apply -out=other", summary: "Unknown option", says: []string{"cairn run apply -h"}},
		{name: "set of a destroy", command: "run destroy plans", summary: "Too many arguments", says: []string{"cairn run destroy -h"}},
		{name: "set for a plan", command: "run plan plans", summary: "Too many arguments", says: []string{"cairn run plan -h"}},
		{name: "two sets", command: "run apply plans other", summary: "Too many arguments", says: []string{"cairn run apply [DIR|run:ID]"}},
		{name: "no set", command: "run apply nowhere", summary: "No set of plans", says: []string{"no file index.json"}},
		{name: "directory without a set", command: "run apply net", summary: "No set of plans", says: []string{"no file index.json"}},
		{name: "file in a set", command: "run apply plans/index.json", summary: "Unreadable set of plans", says: []string{"Name the directory"}},
		{
			name:    "set and tags",
			command: "run apply plans -tags=x",
			summary: "Conflicting options",
			says:    []string{"Leave out options that choose stacks"},
		},
		{
			name:    "set and dependents",
			command: "run apply plans -with-dependents",
			summary: "Conflicting options",
			says:    []string{"Leave out options that choose stacks"},
		},
		{
			name:    "set and dependencies",
			command: "run apply plans -with-dependencies",
			summary: "Conflicting options",
			says:    []string{"Leave out options that choose stacks"},
		},
		{
			name:    "set and failed",
			command: "run apply plans -failed=r.json",
			summary: "Conflicting options",
			says:    []string{"Leave out options that choose stacks"},
		},
		{name: "set and ask", command: "run apply plans -ask", summary: "Conflicting options", says: []string{"-ask"}},

		{
			name:    "index cut off",
			command: "run apply plans",
			files:   map[string]string{"plans/index.json": string(index[:len(index)/2])},
			summary: "Damaged set of plans",
			says:    stale,
		},
		{
			name:    "index empty",
			command: "run apply plans",
			files:   map[string]string{"plans/index.json": "{}"},
			summary: "Damaged set of plans",
			says:    stale,
		},
		{
			name:    "index of something else",
			command: "run apply plans",
			files:   map[string]string{"plans/index.json": "[1]"},
			summary: "Damaged set of plans",
			says:    stale,
		},
		{
			name:    "index of another version",
			command: "run apply plans",
			files:   replaced(`"format_version": 1`, `"format_version": 2`),
			summary: "Set of plans from another version",
			says:    []string{"Use the version that made it"},
		},
		{
			name:    "index of another repository",
			command: "run apply plans",
			files:   replaced(`"workspace_sha256": "`, `"workspace_sha256": "0`),
			summary: "Configuration changed since planning",
			says:    stale,
		},
		{
			name:    "plan outside of the set",
			command: "run apply plans",
			files:   replaced(`"plans/0.plan"`, `"../plans/plans/0.plan"`),
			summary: "Damaged set of plans",
			says:    stale,
		},
		{
			name:    "unit of another name",
			command: "run apply plans",
			files:   replaced(`"name": "net"`, `"name": "nte"`),
			summary: "Unknown names in report",
			says:    []string{`"nte"`, "Nothing was done"},
		},
		{
			name:    "plan cut off",
			command: "run apply plans",
			files:   map[string]string{"plans/plans/0.plan": string(plan[:len(plan)/2])},
			summary: "Altered plan file",
			says:    stale,
		},
		{
			name:    "plan missing",
			command: "run apply plans",
			files:   map[string]string{"plans/plans/0.plan": ""},
			summary: "Missing plan file",
			says:    stale,
		},
		{
			name:    "progress cut off",
			command: "run apply plans",
			files:   map[string]string{"plans/progress.json": `{"net": "do`},
			summary: "Damaged set of plans",
			says:    stale,
		},
		{
			name:    "progress of something else",
			command: "run apply plans",
			files:   map[string]string{"plans/progress.json": `{"db": "done"}`},
			summary: "Damaged set of plans",
			says:    stale,
		},
		{
			name:    "progress without meaning",
			command: "run apply plans",
			files:   map[string]string{"plans/progress.json": `{"net": "almost"}`},
			summary: "Damaged set of plans",
			says:    stale,
		},
		{
			name:    "stack edited",
			command: "run apply plans",
			files:   map[string]string{"modules/m/main.tf": "variable \"name\" { type = string }\noutput \"id\" { value = var.name }\n"},
			summary: "Configuration changed since planning",
			says:    []string{"modules/m/main.tf", "make a new plan"},
		},
		{
			name:    "workspace file edited",
			command: "run apply plans",
			files:   map[string]string{"cairn.workspace.hcl": "stack \"net\" {}\n"},
			summary: "Configuration changed since planning",
			says:    stale,
		},
		{
			name:    "workspace file gone",
			command: "run apply plans",
			files:   map[string]string{"cairn.workspace.hcl": ""},
			summary: "No workspace file",
			says:    []string{"cairn.workspace.hcl"},
		},

		{
			name:    "failed without a report",
			command: "run apply -failed=nowhere.json",
			summary: "Unreadable report",
			says:    []string{"Nothing was done", "-report"},
		},
		{name: "failed of no report", command: "run apply -failed=plans/index.json", summary: "Unusable report", says: []string{"-report"}},
		{
			name:    "failed of broken JSON",
			command: "run apply -failed=r.json",
			files:   map[string]string{"r.json": "{"},
			summary: "Unusable report",
			says:    []string{"-report"},
		},
		{
			name:    "failed of Markdown",
			command: "run apply -failed=r.md",
			files:   map[string]string{"r.md": "# Plan\n"},
			summary: "Unusable report",
			says:    []string{"-report"},
		},
		{name: "why of nothing", command: "list -why", summary: "Missing required option", says: []string{"-with-dependents"}},
		{
			name:    "dependents of plugins",
			command: "run -plugins=modules -with-dependents",
			summary: "Conflicting options",
			says:    []string{"-role"},
		},
		{
			name:    "one deployment of a repository",
			command: "run plan -deployment=dev",
			summary: "Unknown option",
			says:    []string{"cairn run plan -h"},
		},
		{
			name:    "report in no directory",
			command: "run plan -report=nowhere/r.md",
			summary: "Report not written",
			says:    []string{"Nothing was run"},
		},
		{
			name:    "report of drift in no directory",
			command: "run drift -report=nowhere/r.md",
			summary: "Report not written",
			says:    []string{"Nothing was run"},
		},
		{name: "drift is not approved", command: "run drift -auto-approve", summary: "Unknown option", says: []string{"cairn run drift -h"}},
		{name: "drift is not saved", command: "run drift -out=other", summary: "Unknown option", says: []string{"cairn run drift -h"}},
		{name: "drift of an argument", command: "run drift net", summary: "Too many arguments", says: []string{"cairn run drift -h"}},
		{name: "drift of none at the same time", command: "run drift -parallel=0", summary: "Invalid option", says: []string{"from 1"}},
		{
			name:    "drift of a wrong query",
			args:    []string{"run", "drift", "-query=a and"},
			summary: "Invalid tag query (order/bad-tag-query)",
			says:    []string{"-query"},
		},
	})
}
