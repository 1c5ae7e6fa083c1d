// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
)

// The secrets that deployments get from outside, and each other.
const (
	keptByFile     = `keptfil&"a2Kq91Zt/+`
	keptByCommand  = `keptcmd&"b3Wp82Rv/+`
	keptByVariable = `keptenv&"c4Lc73Hb/+`
	keptByAge      = `keptage&"d5Nd64Yj/+`
	published      = "publish-e6Fs55Xo" // by one stack for another
	publishedInRun = "pubinrn-f7Bt46Qe" // by inputs of a workspace file

	passingByFile     = `passfil&"g8Vx37Mu/+`
	passingByCommand  = `passcmd&"h9Gz28Pi/+`
	passingByVariable = `passenv&"j1Jy19Sa/+`
	passingByAge      = `passage&"k2Ko92Ew/+`
	signatureInFile   = "sigfile-m3Rh83Tn"
	signatureByOthers = "sigcmmd-n4Td74Ub"
)

var (
	vaultKept    = []string{keptByFile, keptByCommand, keptByVariable, keptByAge, published, publishedInRun}
	vaultPassing = []string{passingByFile, passingByCommand, passingByVariable, passingByAge, signatureInFile, signatureByOthers}
)

const vaultStacks = `
-- cairn.workspace.hcl --
stack "network" {}
stack "app" {
  deployment = "prod"
  after      = ["network"]
}
stack "user" {
  inputs = { secret = stack.network.output.other }
}
-- m/main.tf --
variable "secret" {
  type      = string
  sensitive = true
}
resource "terraform_data" "x" { triggers_replace = var.secret }
output "id" { value = terraform_data.x.id }
-- user/main.tfcomponent.hcl --
variable "secret" { type = string }
component "m" {
  source = "../m"
  inputs = { secret = var.secret }
}
-- network/main.tfcomponent.hcl --
component "network" { source = "./network" }
output "key" {
  type      = string
  sensitive = true
  value     = component.network.key
}
output "other" {
  type      = string
  sensitive = true
  value     = component.network.other
}
-- network/network/main.tf --
resource "terraform_data" "x" { input = "network" }
output "key" {
  value     = strrev("backwards(` + published + `)")
  sensitive = true
}
output "other" {
  value     = strrev("backwards(` + publishedInRun + `)")
  sensitive = true
}
-- network/main.tfdeploy.hcl --
deployment "main" {
  inputs = {}
}
publish_output "key" {
  value = deployment.main.key
}
-- app/main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "~> 1.0"
  }
}
variable "tokens" {
  type      = map(string)
  ephemeral = true
}
variable "passing" {
  type      = map(string)
  ephemeral = true
}
variable "kept" { type = map(string) }
variable "key" { type = string }
variable "revision" {
  type    = number
  default = 1
}
variable "fail" {
  type    = bool
  default = false
}
variable "gate" {
  type    = string
  default = null
}
variable "number" {
  type    = number
  default = 1
}
provider "fake" "main" {
  config {
    token = join(" ", values(var.tokens))
  }
}
component "app" {
  source    = "./app"
  providers = { fake = provider.fake.main }
  inputs = {
    passing = var.passing
    revision = var.revision
    kept    = var.kept
    key     = var.key
    fail    = var.fail
    gate    = var.gate
  }
}
output "kept" {
  type  = map(string)
  value = var.kept
}
output "key" {
  type  = string
  value = component.app.key
}
-- app/app/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "passing" {
  type      = map(string)
  ephemeral = true
}
variable "revision" { type = number }
variable "kept" { type = map(string) }
variable "key" { type = string }
variable "fail" { type = bool }
variable "gate" { type = string }
resource "fake_writeonly" "x" {
  secret         = join(" ", values(var.passing))
  secret_version = var.revision
}
resource "terraform_data" "kept" { triggers_replace = var.kept }
resource "fake_resource" "key" { value = var.key }
resource "terraform_data" "checked" {
  input = var.fail
  lifecycle {
    postcondition {
      condition     = self.output == false
      error_message = "Not with ${var.key} and ${jsonencode(var.kept)}."
    }
  }
}
resource "fake_failing" "x" {
  value      = var.key
  fail_apply = var.fail
  depends_on = [terraform_data.kept]
}
resource "fake_slow" "x" {
  value       = var.gate == null ? "quick" : var.gate
  create_gate = var.gate
  update_gate = var.gate
}
output "key" {
  value     = var.key
  sensitive = true
}
-- app/main.tfdeploy.hcl --
identity_token "file" { audience = ["a.example"] }
identity_token "command" { audience = ["a.example"] }
identity_token "key" { audience = ["a.example"] }
store "varset" "file" {
  name     = "file"
  category = "terraform"
}
store "varset" "command" {
  name     = "command"
  category = "terraform"
}
store "varset" "variable" {
  name     = "variable"
  category = "env"
}
store "varset" "age" {
  name     = "age"
  category = "env"
}
upstream_input "network" {
  type   = "stack"
  source = "a.example/o/p/network"
}
locals {
  tokens  = { file = identity_token.file.jwt, command = identity_token.command.jwt, key = identity_token.key.jwt }
  passing = { file = store.varset.file.passing, command = store.varset.command.passing, variable = store.varset.variable.PASSING, age = store.varset.age.passing }
  kept = {
    file     = store.varset.file.stable.kept
    command  = store.varset.command.stable.kept
    variable = store.varset.variable.stable.KEPT
    age      = store.varset.age.stable.kept
  }
}
deployment_auto_approve "little" {
  check {
    condition = context.plan.changes.total == 0
    reason    = "${context.plan.changes.total} changes in ${local.group}: ${jsonencode(context.warnings)}"
  }
}
locals {
  group = "all"
}
deployment_group "all" {
  auto_approve_checks = [deployment_auto_approve.little]
  failure_tolerance   = 9
}
deployment "dev" {
  inputs           = { tokens = local.tokens, passing = local.passing, kept = local.kept, key = upstream_input.network.key }
  deployment_group = deployment_group.all
}
deployment "prod" {
  inputs           = { tokens = local.tokens, passing = local.passing, kept = local.kept, key = upstream_input.network.key }
  deployment_group = deployment_group.all
}
-- app/cairn.hcl --
identity "file" {
  path   = "token.jwt"
  tokens = ["file"]
}
identity "command" {
  command = ["sh", "token.sh"]
  tokens  = ["command"]
}
identity "key" {
  path   = "identity.pem"
  issuer = "https://issuer.example"
  tokens = ["key"]
}
varset "file" { file = "values.tfvars" }
varset "command" { command = ["sh", "values.sh"] }
varset "variable" { environment = "VAULT_" }
varset "age" {
  file     = "values.env.age"
  key_file = "keys.txt"
}
upstream "a.example/o/p/network" { stack = "../network" }
-- app/wrong.sh --
echo 'not with the token ` + vaultHeader + signatureByOthers + `' >&2
echo '` + vaultHeader + signatureByOthers + `'
exit 3
`

// vaultHeader is a token for a.example up to its signature, valid until the year 2100.
const vaultHeader = "eyJhbGciOiJub25lIn0.eyJhdWQiOiJhLmV4YW1wbGUiLCJleHAiOjQxMDI0NDQ4MDB9."

// vault is a repository of stacks with secrets in it, and all output of its commands.
type vault struct {
	t       *testing.T
	home    string // of the user, with everything else below
	calls   string // log of the provider's calls, outside of home
	env     []string
	written map[string]bool // files that the test has written
	shown   map[string]bool // secrets that were shown on demand
	streams [][]byte        // all output
}

func newVault(t *testing.T, engine string) *vault {
	t.Helper()
	v := &vault{t: t, home: t.TempDir(), calls: filepath.Join(t.TempDir(), "calls"), written: map[string]bool{}, shown: map[string]bool{}}
	temp := filepath.Join(v.home, "tmp")
	v.must(os.Mkdir(temp, 0o700))
	for _, file := range txtar.Parse([]byte(vaultStacks)).Files {
		v.write(file.Name, turnedBackwards(file.Data))
	}
	secrets, err := age.GenerateX25519Identity()
	v.must(err)
	var encrypted bytes.Buffer
	w, err := age.Encrypt(&encrypted, secrets.Recipient())
	v.must(err)
	_, err = fmt.Fprintf(w, "passing='%s'\nkept='%s'\n", passingByAge, keptByAge)
	v.must(err)
	v.must(w.Close())
	values := fmt.Sprintf("{\"passing\": %s, \"kept\": %s}", jsonString(passingByCommand), jsonString(keptByCommand))
	for name, content := range map[string]string{
		"keys.txt": secrets.String() + "\n", "values.env.age": encrypted.String(),
		"values.tfvars": fmt.Sprintf("passing = %s\nkept = %s\n", jsonString(passingByFile), jsonString(keptByFile)),
		"values.sh":     "cat <<'END'\n" + values + "\nEND\n",
		"token.jwt":     vaultHeader + signatureInFile + "\n",
		"token.sh":      "echo " + vaultHeader + signatureByOthers + "\n",
	} {
		v.write("app/"+name, []byte(content))
	}
	v.env = append(os.Environ(),
		"HOME="+v.home, "TMPDIR="+temp, "CHECKPOINT_DISABLE=1", "CAIRN_ENGINE="+engine,
		"TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t)),
		"CAIRN_LOG=debug", "CAIRN_LOG_PATH="+filepath.Join(v.home, "cairn.log"), "TF_LOG=debug",
		"TF_LOG_PATH="+filepath.Join(v.home, "terraform.log"),
		testprovider.CallsVariable+"="+v.calls, "VAULT_PASSING="+passingByVariable, "VAULT_KEPT="+keptByVariable,
	)
	return v
}

func (v *vault) must(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

func (v *vault) path(name string) string {
	return filepath.Join(v.home, "repository", filepath.FromSlash(name))
}

func (v *vault) write(name string, content []byte) {
	v.t.Helper()
	path := v.path(name)
	v.must(os.MkdirAll(filepath.Dir(path), 0o750))
	v.must(os.WriteFile(path, content, 0o600))
	v.written[path] = true
}

func (v *vault) command(dir string, args ...string) *exec.Cmd {
	cmd := testenv.Command(v.t, "cairn", args...)
	cmd.Dir, cmd.Env = v.path(dir), v.env
	return cmd
}

// run runs a command in a directory, which is to end with an exit code, and looks for secrets in
// all that it leaves.
func (v *vault) run(dir string, code int, args ...string) {
	v.t.Helper()
	out := v.execute(dir, code, args)
	v.find(strings.Join(args, " ")+": standard output", out, vaultKept)
}

// reveals runs a command whose task it is to show sensitive values.
func (v *vault) reveals(dir string, args ...string) {
	v.t.Helper()
	out := v.execute(dir, cmdline.ExitOK, args)
	for _, secret := range vaultKept {
		v.shown[secret] = v.shown[secret] || holds(out, secret)
	}
}

func (v *vault) execute(dir string, code int, args []string) []byte {
	v.t.Helper()
	cmd := v.command(dir, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	_ = cmd.Run() // it has an exit code
	v.ended(strings.Join(args, " "), cmd.ProcessState.ExitCode(), code, out.Bytes(), errOut.Bytes())
	return out.Bytes()
}

func (v *vault) ended(name string, code, want int, out, errOut []byte) {
	v.t.Helper()
	if code != want {
		v.t.Errorf("%s: exit code %d, want %d\n%s\n%s", name, code, want, out, errOut)
	}
	v.find(name+": standard error", errOut, slices.Concat(vaultKept, vaultPassing))
	v.find(name+": standard output", out, vaultPassing)
	v.streams = append(v.streams, out, errOut)
	v.checkFiles("after "+name, false)
}

func (v *vault) find(where string, content []byte, secrets []string) {
	v.t.Helper()
	for _, secret := range secrets {
		if holds(content, secret) {
			v.t.Errorf("%s: found %q%s", where, secret, surroundings(content, secret))
		}
	}
}

// mayKeep reports whether a file is one that keeps values: a state or a plan.
func mayKeep(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, "cairn.state.db") || strings.HasSuffix(name, ".plan")
}

// checkFiles looks for secrets in all files that the test has not written. While an engine runs,
// secrets that the state keeps may be in any file that only its owner can read.
func (v *vault) checkFiles(when string, running bool) {
	v.t.Helper()
	v.must(filepath.WalkDir(v.home, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == ".git" {
			return filepath.SkipDir // which has the files that the test has written
		}
		if err != nil || !entry.Type().IsRegular() || v.written[path] {
			return nil //nolint:nilerr // removed meanwhile
		}
		content, err := os.ReadFile(path)
		info, statErr := entry.Info()
		if err != nil || statErr != nil {
			return nil //nolint:nilerr // as above
		}
		private := info.Mode().Perm()&0o077 == 0 || running && v.isInPrivate(path)
		secrets := vaultPassing
		if running && runtime.GOOS != "linux" {
			secrets = nil
		}
		if !private || !mayKeep(path) && !running {
			secrets = slices.Concat(vaultPassing, vaultKept)
		}
		if filepath.Base(path) == "terraform.log" { // terraform writes objects of the state into its log, which the test asks for
			secrets = vaultPassing
		}
		if mayKeep(path) && !private {
			v.t.Errorf("%s has mode %o %s", path, info.Mode().Perm(), when)
		}
		for _, part := range unpacked(content) {
			v.find(path+" "+when, part, secrets)
		}
		return nil
	}))
}

// isInPrivate reports whether a directory with the file is for its owner alone: terraform gives a
// backup of its state the usual mode.
func (v *vault) isInPrivate(path string) bool {
	for dir := filepath.Dir(path); dir != v.home; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o077 == 0 {
			return true
		}
	}
	return false
}

// TestPlantedDeploymentSecrets looks for the secrets of deployments, of whatever source, where they
// do not belong.
func TestPlantedDeploymentSecrets(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	t.Run("native", func(t *testing.T) {
		v := newVault(t, testenv.NativeEngine)
		v.begin()
		v.quietLife()
		v.failures()
		v.runs()
		v.slowLife()
		v.provedWorth()
		v.gone()
	})
	t.Run("binary", func(t *testing.T) {
		v := newVault(t, testenv.Engine(t))
		v.begin()
		v.runs()
		v.slowLife()
		v.provedWorth()
	})
}

func (v *vault) begin() {
	v.run("app", 0, "identity", "key", "identity.pem")
	v.written[v.path("app/identity.pem")] = true
	v.run("app", 0, "identity", "jwks", "-out=public")
	v.run("network", 0, "apply", "-auto-approve")
	v.run("app", 0, "init")
}

// quietLife runs the commands of everyday work.
func (v *vault) quietLife() {
	v.run("app", 0, "validate")
	v.run("app", 0, "plan")
	v.run("app", 0, "plan", "-json")
	v.run("app", 0, "plan", "-deployment=dev", "-out=dev.plan")
	v.run("app", 0, "show", "dev.plan")
	v.run("app", 0, "show", "-format=markdown", "dev.plan")
	v.reveals("app", "show", "-json", "dev.plan")
	v.run("app", cmdline.ExitApproval, "apply", "-input=false")
	v.run("app", cmdline.ExitApproval, "apply", "-json", "-input=false")
	v.run("app", 0, "apply", "dev.plan")
	v.run("app", cmdline.ExitApproval, "apply", "-approve=later")
	v.run("app", 0, "apply", ".cairn/waiting/prod.plan")
	v.run("app", 0, "apply", "-auto-approve", "-var=revision=2")
	v.run("app", 0, "deployment", "list")
	v.run("app", 0, "deployment", "list", "-json")
	v.run("app", 0, "deployment", "show", "dev")
	v.run("app", 0, "deployment", "show", "dev", "-json")
	v.run("network", 0, "deployment", "show", "main")
	v.run("app", 0, "output", "-deployment=dev")
	v.reveals("app", "output", "-deployment=dev", "-json")
	v.run("app", 0, "show", "-deployment=dev")
	v.run("app", 0, "state", "list", "-deployment=dev")
	v.run("app", 0, "state", "show", "-deployment=dev", "component.app")
	v.run("app", 0, "state", "history", "-deployment=dev", "-json")
	v.reveals("app", "state", "pull", "-deployment=dev")
	v.reveals("network", "state", "pull")
	v.run("app", 0, "console", "-deployment=dev", "-e", "[var.kept, var.key, var.tokens, var.passing, component.app]")
	v.run("app", 0, "graph", "-format=json")
	v.run("app", 0, "apply", "-auto-approve", "-refresh-only", "-deployment=dev")
	v.run("app", 0, "plan", "-destroy", "-deployment=dev", "-out=destroy.plan")
	v.run("app", 0, "show", "destroy.plan")
}

// failures are of everything that a secret passes through.
func (v *vault) failures() {
	v.run("app", 1, "apply", "-auto-approve", "-var=fail=true")
	v.run("app", 1, "apply", "-auto-approve", "-json", "-var=fail=true")
	v.run("app", 0, "apply", "-auto-approve")
	edit := func(name, before, after string) (undo func()) {
		content, err := os.ReadFile(v.path(name))
		v.must(err)
		changed := bytes.Replace(content, []byte(before), []byte(after), 1)
		if bytes.Equal(content, changed) {
			v.t.Fatalf("%s has no %q", name, before)
		}
		v.must(os.WriteFile(v.path(name), changed, 0o600))
		return func() { v.must(os.WriteFile(v.path(name), content, 0o600)) }
	}
	broken := func(name, before, after string) {
		defer edit(name, before, after)()
		v.run("app", 1, "plan", "-deployment=dev")
		v.run("app", 1, "apply", "-auto-approve", "-json")
	}
	deploy := "app/main.tfdeploy.hcl"
	for _, value := range []string{
		"store.varset.file.passing", "upstream_input.network.key", "store.varset.file.stable.kept",
		"identity_token.command.jwt",
	} {
		broken(deploy, "key = upstream_input", "number = "+value+", key = upstream_input")
		broken(deploy, "kept = local.kept", "kept = "+value)
		broken(deploy, "kept = local.kept", "kept = { a = parseint("+value+", 10) }")
		broken(deploy, "kept = local.kept", "kept = { for x in [1, 2] : "+value+" => \"x\" }")
		broken(deploy, "tokens = local.tokens", "tokens = local.tokens["+value+"]")
		broken(deploy, "tokens = local.tokens", "tokens = "+value+" ? {} : {}")
	}
	for value, code := range map[string]int{
		"store.varset.file.passing":     1,
		"upstream_input.network.key":    0,
		"store.varset.file.stable.kept": 0,
		"identity_token.command.jwt":    1,
	} {
		undo := edit(deploy, "group = \"all\"", "group = \"${"+value+"}\"")
		v.run("app", code, "plan", "-var=revision=77") // a reason has it, which is shown
		undo()
	}
	broken(deploy, "passing = local.passing", "passing = { a = store.varset.file.passin }")
	broken("app/cairn.hcl", `"token.sh"`, `"wrong.sh"`)
	broken("app/cairn.hcl", `"values.sh"`, `"wrong.sh"`)
	broken("app/cairn.hcl", `"values.sh"`, `"token.sh"`)
	broken("app/cairn.hcl", `"token.sh"`, `"values.sh"`)
	broken("app/cairn.hcl", `file = "values.tfvars"`, `file = "values.sh"`)
	broken("app/cairn.hcl", `file = "values.tfvars"`, `file = "keys.txt"`)
	broken("app/cairn.hcl", `path   = "token.jwt"`, `path   = "values.tfvars"`)
	broken("app/cairn.hcl", `path   = "identity.pem"`, `path   = "token.jwt"`)
	broken("app/cairn.hcl", `key_file = "keys.txt"`, `key_file = "token.jwt"`)
	broken("app/values.tfvars", "kept = ", "kept = x") // syntax
	broken("app/values.tfvars", "keptfil", "changed")  // stable
	broken("app/token.jwt", ".eyJ", ".eyK")
}

// runs are those of several stacks.
func (v *vault) runs() {
	v.run(".", 0, "run", "plan", "-report=plan.json")
	v.run(".", 0, "run", "plan", "-report=plan.md")
	v.run(".", 0, "run", "plan", "-report=plan.xml", "-out=set")
	v.checkSet("set")
	v.run(".", 0, "run", "apply", "set", "-report=apply.md")
	v.run(".", 0, "run", "drift", "-report=drift.md")
	v.run(".", 0, "run", "drift", "-report=drift.xml")
	v.run(".", 0, "run", "drift", "-report=drift.json")
	v.run(".", 0, "run", "drift", "-json", "-parallel=4")
	v.env = append(v.env, "CAIRN_VAR_fail=true")
	v.run(".", 1, "run", "apply", "-auto-approve", "-report=failed.xml")
	v.run(".", 1, "run", "apply", "-auto-approve", "-report=failed.json", "-parallel=4")
	v.run(".", 1, "run", "apply", "-auto-approve", "-failed=failed.json", "-report=failed.md")
	v.env = slices.DeleteFunc(v.env, func(variable string) bool { return strings.HasPrefix(variable, "CAIRN_VAR_fail=") })
	v.run(".", 0, "run", "apply", "-auto-approve", "-report=apply.json")
}

// gone destroys the stack with the secrets after its files were deleted: they are read from git.
func (v *vault) gone() {
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("CI") == "" {
		testenv.RecordSkipped(v.t.Name(), "git is not on PATH")
		return
	}
	git := func(args ...string) {
		cmd := exec.CommandContext(v.t.Context(), "git", append([]string{"-c", "user.name=dev", "-c", "user.email=dev@example.com"}, args...)...)
		cmd.Dir, cmd.Env = v.path("."), v.env
		if out, err := cmd.CombinedOutput(); err != nil {
			v.t.Fatalf("git %s: %s\n%s", strings.Join(args, " "), err, out)
		}
	}
	v.write(".gitignore", []byte("*.db*\n*.plan\n.cairn/\n/set/\n/public/\n"))
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-qm", "one")
	git("rm", "-rq", "app")
	v.write("cairn.workspace.hcl", []byte("stack \"network\" {}\nstack \"user\" {\n  inputs = { secret = stack.network.output.other }\n}\n"))
	git("commit", "-qam", "two")
	v.run(".", 0, "run", "destroy", "-gone", "-base=HEAD~1", "-dry-run")
	v.run(".", 0, "run", "destroy", "-gone", "-base=HEAD~1", "-auto-approve", "-report=gone.md")
	if said := v.streams[len(v.streams)-1]; !bytes.Contains(said, []byte("1 destroyed.")) {
		v.t.Errorf("nothing was destroyed:\n%s", said)
	}
	left, err := os.ReadDir(filepath.Join(v.home, "tmp"))
	v.must(err)
	for _, entry := range left {
		v.t.Errorf("%s is left in the directory for temporary files", entry.Name())
	}
}

// checkSet looks at the files of a set of plans: all are for their owner alone.
func (v *vault) checkSet(name string) {
	v.must(filepath.WalkDir(v.path(name), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			v.t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	}))
}

// slowLife looks at processes and files in the middle of an apply.
func (v *vault) slowLife() {
	for i, command := range []struct {
		dir  string
		args []string
	}{
		{"app", []string{"apply", "-auto-approve", "-deployment=prod"}},
		{".", []string{"run", "apply", "-auto-approve"}},
	} {
		gate := v.path(fmt.Sprint("gate", i))
		v.env = append(v.env, "CAIRN_VAR_gate="+gate, "CAIRN_VAR_revision="+strconv.Itoa(i+10))
		cmd := v.command(command.dir, command.args...)
		var out, errOut bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errOut
		v.must(cmd.Start())
		waitUntilExists(v.t, gate+".reached")
		v.checkProcesses(cmd.Process.Pid)
		v.checkFiles("during "+strings.Join(command.args, " "), true)
		v.must(os.WriteFile(gate, nil, 0o600))
		_ = cmd.Wait() // it has an exit code
		v.ended(strings.Join(command.args, " "), cmd.ProcessState.ExitCode(), 0, out.Bytes(), errOut.Bytes())
	}
}

// checkProcesses looks for secrets in the arguments of all processes, and in the environment of
// those that a command has started: they have the variables of its own environment, of which stores
// may be made, too.
func (v *vault) checkProcesses(command int) {
	if runtime.GOOS != "linux" {
		return
	}
	parents := map[int]int{}
	for _, dir := range globProcesses(v.t) {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		args, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue // ended
		}
		v.find("arguments of a process", args, slices.Concat(vaultKept, vaultPassing))
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	children := 0
	for pid := range parents {
		at := parents[pid]
		for at > 1 && at != command {
			at = parents[at]
		}
		if at != command {
			continue
		}
		dir := filepath.Join("/proc", strconv.Itoa(pid))
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil {
			continue
		}
		children++
		for _, inherited := range []string{"VAULT_PASSING=" + passingByVariable, "VAULT_KEPT=" + keptByVariable} {
			env = bytes.Replace(env, []byte(inherited+"\x00"), nil, 1)
		}
		v.find("environment of "+strings.ReplaceAll(string(args), "\x00", " "), env, slices.Concat(vaultKept, vaultPassing))
	}
	if children == 0 {
		v.t.Error("no process that the command has started is there")
	}
}

// provedWorth makes sure that the secrets reached those who are to have them, and looks for the
// tokens that were signed here.
func (v *vault) provedWorth() {
	calls, err := testprovider.ReadCalls(v.calls)
	v.must(err)
	var received strings.Builder
	signed := map[string]bool{}
	for _, call := range calls {
		received.Write(call.Config)
		for _, value := range call.WriteOnly {
			received.Write(value)
		}
		var config struct{ Token string }
		if json.Unmarshal(call.Config, &config) != nil {
			continue
		}
		for token := range strings.FieldsSeq(config.Token) {
			parts := strings.Split(token, ".")
			if header, err := base64.RawURLEncoding.DecodeString(parts[0]); err == nil && len(parts) == 3 && bytes.Contains(header, []byte("kid")) {
				signed[parts[2]] = true
			}
		}
	}
	for _, secret := range vaultPassing {
		if !strings.Contains(received.String(), strings.Trim(jsonString(secret), `"`)) {
			v.t.Errorf("the provider has never seen %q", secret)
		}
	}
	if len(signed) < 2 {
		v.t.Errorf("%d tokens were signed, want another one for each operation", len(signed))
	}
	contents := slices.Clone(v.streams)
	v.must(filepath.WalkDir(v.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		contents = append(contents, unpacked(content)...)
		return err
	}))
	for signature := range signed {
		for _, content := range contents {
			if bytes.Contains(content, []byte(signature)) {
				v.t.Errorf("found a token that was signed here%s", surroundings(content, "------"+signature))
			}
		}
	}
	key, err := os.ReadFile(v.path("app/identity.pem"))
	v.must(err)
	line := strings.Split(string(key), "\n")[1]
	for _, content := range v.streams {
		if bytes.Contains(content, []byte(line)) {
			v.t.Error("the private key is in an output")
		}
	}
}
