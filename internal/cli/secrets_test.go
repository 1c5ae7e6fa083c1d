// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
)

// The secrets that are planted. Those in modules are written there backwards, so that they occur
// only as values.
const (
	sensitiveVariable = `sensvar&"x4Kq81Zt/+`
	sensitiveObject   = `sensobj&"m2Wp77Rv/+`
	sensitiveProvider = `sensprv&"t9Lc33Hb/+`
	sensitiveSchema   = "senssch-g5Nd62Yj"
	sensitiveModule   = "sensmod-v8Fs14Xo"
	sensitiveOutput   = "sensout-k3Bt95Qe"

	ephemeralToken    = `ephtok&"h7Vx20Mu/+`
	ephemeralBlock    = `ephblk&"c6Gz48Pi/+`
	ephemeralWritten  = `ephwri&"d1Jy59Sa/+`
	ephemeralLatched  = `ephlat&"u2Ko73Ew/+`
	ephemeralResource = "ephres-b4Rh86Tn"
)

// plantedStack has backwards(SECRET) where the secret stands backwards. Nothing in it gives a
// secret to an attribute that its provider repeats in another one, as terraform_data does in
// output: nobody knows then that this is a secret.
const plantedStack = `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "~> 1.0"
  }
}
variable "password" {
  type      = string
  sensitive = true
}
variable "settings" {
  type      = object({ open = string, closed = string })
  sensitive = true
}
variable "provider_secret" {
  type      = string
  sensitive = true
}
variable "token" {
  type      = string
  ephemeral = true
}
variable "block" {
  type      = string
  ephemeral = true
}
variable "written" {
  type      = string
  ephemeral = true
}
variable "written_version" {
  type    = number
  default = 1
}
variable "latched" {
  type      = string
  ephemeral = true
}
variable "fail" {
  type    = bool
  default = false
}
variable "gate" {
  type    = string
  default = null
}
locals {
  mixed = { open = "o", closed = var.settings.closed }
}
provider "fake" "main" {
  config {
    token  = var.token
    string = var.provider_secret
    single_block {
      name  = "block"
      value = var.block
    }
  }
}
component "store" {
  source    = "./store"
  providers = { fake = provider.fake.main }
  inputs = {
    password        = var.password
    mixed           = local.mixed
    written         = var.written
    written_version = var.written_version
  }
}
component "user" {
  source    = "./user"
  providers = { fake = provider.fake.main }
  inputs = {
    id      = component.store.id
    secret  = component.store.secret
    mixed   = { id = component.store.id, closed = local.mixed.closed }
    latched = "${var.latched}${component.store.id == "" ? "" : "!"}"
    fail    = var.fail
    gate    = var.gate
  }
}
stack "child" {
  source = "./child"
  inputs = { password = var.password, token = var.token }
}
output "plain" {
  type  = string
  value = component.store.id
}
output "password" {
  type  = string
  value = var.password
}
output "declared" {
  type      = string
  value     = strrev("backwards(` + sensitiveOutput + `)")
  sensitive = true
}
output "mixed" {
  type  = object({ open = string, closed = string })
  value = { open = "o", closed = component.user.secret }
}
output "child" {
  type  = string
  value = stack.child.password
}
-- child/main.tfcomponent.hcl --
variable "password" { type = string }
variable "token" {
  type      = string
  ephemeral = true
}
component "inner" {
  source = "../inner"
  inputs = { password = var.password, token = var.token }
}
output "password" {
  type  = string
  value = component.inner.password
}
output "token" {
  type      = string
  value     = var.token
  ephemeral = true
}
-- inner/main.tf --
variable "password" { type = string }
variable "token" {
  type      = string
  ephemeral = true
}
resource "terraform_data" "x" { triggers_replace = var.password }
output "password" {
  value     = var.password
  sensitive = true
}
-- store/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "password" { type = string }
variable "mixed" { type = object({ open = string, closed = string }) }
variable "written" {
  type      = string
  ephemeral = true
}
variable "written_version" { type = number }
resource "fake_everything" "x" { secret = strrev("backwards(` + sensitiveSchema + `)") }
resource "fake_resource" "password" { value = var.password }
resource "terraform_data" "mixed" { triggers_replace = var.mixed }
resource "fake_writeonly" "variable" {
  secret         = var.written
  secret_version = var.written_version
}
ephemeral "fake_ephemeral" "x" { name = strrev("backwards(` + ephemeralResource + `)") }
resource "fake_writeonly" "resource" {
  secret         = ephemeral.fake_ephemeral.x.value
  secret_version = 1
}
output "id" { value = terraform_data.mixed.id }
output "secret" {
  value     = strrev("backwards(` + sensitiveModule + `)")
  sensitive = true
}
-- user/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "id" { type = string }
variable "secret" { type = string }
variable "mixed" { type = object({ id = string, closed = string }) }
variable "latched" {
  type      = string
  ephemeral = true
}
variable "fail" { type = bool }
variable "gate" { type = string }
resource "terraform_data" "secret" { triggers_replace = [var.id, var.secret, var.mixed] }
resource "fake_writeonly" "latched" {
  secret         = var.latched
  secret_version = 1
}
resource "fake_failing" "x" {
  value      = var.mixed.closed
  fail_apply = var.fail
  depends_on = [terraform_data.secret]
}
resource "terraform_data" "checked" {
  input = var.fail
  lifecycle {
    postcondition {
      condition     = self.output == false
      error_message = "Not with ${var.mixed.closed}."
    }
  }
}
resource "fake_slow" "x" {
  value       = var.gate == null ? "quick" : var.gate
  create_gate = var.gate
  update_gate = var.gate
}
check "secret" {
  assert {
    condition     = var.secret == ""
    error_message = "The secret is ${var.secret}."
  }
}
output "secret" {
  value     = var.secret
  sensitive = true
}
-- broken/main.tfcomponent.hcl --
variable "password" {
  type      = string
  sensitive = true
  validation {
    condition     = length(var.password) > 100
    error_message = "Too short: ${var.password}."
  }
}
variable "number" {
  type      = number
  sensitive = true
}
variable "keys" {
  type      = map(number)
  sensitive = true
}
variable "token" {
  type      = list(string)
  ephemeral = true
}
locals {
  text   = upper("${var.password}") + 1
  number = parseint(var.password, 10)
  file   = file(var.password)
}
component "c" {
  for_each = toset([var.password])
  source   = "../inner"
  inputs   = { password = var.password, token = "x" }
}
output "token" {
  type  = list(string)
  value = var.token
}
`

// plantedConsole are expressions that fail because of a secret.
var plantedConsole = []string{
	`parseint(var.password, 10)`, `file(var.password)`, `jsondecode(var.password)`, `yamldecode("[${var.password}")`,
	`base64decode(var.password)`, `tonumber(var.password)`, `tobool(var.password)`, `format("%d", var.password)`,
	`regex(var.password, "(")`, `regex("(${var.password}", "x")`, `timeadd(var.password, "1h")`,
	`formatdate(var.password, "2020-01-01T00:00:00Z")`,
	`cidrhost(var.password, 1)`, `{ for x in [1, 2] : var.password => x }`, `tomap({ a = 1 })[var.password]`, `{ a = 1 }[var.password]`,
	`[1, 2][var.password]`, `var.password.x`, `var.password ? 1 : 2`, `-var.password`, `1 + var.password`, `[for x in var.password : x]`,
	`{ for k in [var.settings.closed, var.settings.closed] : k => 1 }`, `lookup({}, var.password)`, `templatefile(var.password, {})`,
	`component.store[var.password]`, `stack.child[var.settings.closed]`, `keys(var.password)`, `range(var.password)`,
	`chunklist([1], var.password)`,
	`csvdecode("a\n\"${var.password}")`, `textdecodebase64(var.password, "UTF-8")`, `rsadecrypt(var.password, var.password)`,
	`urlencode([var.password])`, `substr(var.password, "x", 1)`, `filebase64(var.password)`, `abspath([var.password])`,
	`one([var.password, var.password])`, `zipmap([var.password], [])`, `setproduct(var.password)`, `convert(var.password, number)`,
	`local.mixed.closed.x`, `local.mixed.nothing`, `sum([var.password])`, `merge(var.password)`, `timestamp(var.password)`,
	`uuidv5(var.password, "x")`,
}

// The life of a stack in which secrets are planted everywhere. They must not come out anywhere but
// where they belong.
func TestPlantedSecrets(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	for i, enginePath := range testenv.Engines(t) {
		t.Run(filepath.Base(enginePath), func(t *testing.T) {
			p := plant(t, enginePath)
			p.quietLife()
			if i == 0 { // no engine has a part in these
				p.mistakes()
			}
			p.failures()
			p.interruptedLife()
			p.run("destroy", "destroy", "-auto-approve")
			p.provedWorth()
		})
	}
}

// quietLife runs the commands of everyday work.
func (p *planted) quietLife() {
	p.run("init", "init")
	p.run("validate", "validate", "-json")
	p.run("plan", "plan")
	p.run("plan -json", "plan", "-json", "-out=p")
	p.mayHold("p")
	p.run("show plan", "show", "p")
	p.reveals("show -json plan", "show", "-json", "p")
	p.run("graph", "graph", "-format=json")
	p.run("console -plan", "console", "-plan=p", "-e", "[var.password, local.mixed, var.token, component.store]")
	p.run("apply plan", "apply", "p")
	p.mayHold("cairn.state.db")
	p.run("show", "show")
	p.reveals("show -json", "show", "-json")
	p.run("output", "output")
	p.reveals("output -json", "output", "-json")
	p.reveals("output -raw", "output", "-raw", "declared")
	p.reveals("state pull", "state", "pull")
	p.reveals("state export", "state", "export", "component.store")
	p.run("state list", "state", "list")
	p.run("state show", "state", "show", "component.store.fake_everything.x")
	p.run("state show component", "state", "show", "component.user")
	p.run("state history", "state", "history")
	p.run("console", "console", "-e",
		"[var.password, local.mixed, component.store, component.user, stack.child, nonsensitive(issensitive(var.password))]")
	p.run("refresh-only", "apply", "-auto-approve", "-json", "-refresh-only")
	p.run("version rotated", "apply", "-auto-approve", "-var=written_version=2")
	p.run("replace", "plan", "-replace=component.store.fake_everything.x")
	p.run("plan -destroy", "plan", "-destroy", "-out=d")
	p.mayHold("d")
	p.run("show destroy plan", "show", "d")
}

// mistakes are in expressions and values, whose messages could say too much.
func (p *planted) mistakes() {
	for _, expression := range plantedConsole {
		p.fails("console "+expression, "console", "-e", expression)
		ephemeral := strings.NewReplacer("var.password", "var.token", "var.settings.closed", "var.block", "local.mixed.closed",
			"var.written").Replace(expression)
		p.fails("console "+ephemeral, "console", "-e", ephemeral)
	}
	p.fails("broken plan", "-chdir=broken", "plan", "-var-file=broken.tfvars")
	p.fails("broken plan -json", "-chdir=broken", "plan", "-json", "-var-file=broken.tfvars")
	p.fails("broken variables", "-chdir=broken", "plan", "-var-file=wrong.tfvars")
	p.fails("broken variables in JSON", "-chdir=broken", "plan", "-var-file=wrong.tfvars.json")
	p.fails("broken variables file", "-chdir=broken", "plan", "-var-file=syntax.tfvars")
	p.fails("broken variables file in JSON", "-chdir=broken", "plan", "-json", "-var-file=syntax.tfvars.json")
	p.fails("broken environment", "-chdir=broken", "plan", "-var=password=x")
}

// failures are reported by toolchain.
func (p *planted) failures() {
	p.fails("failing apply", "apply", "-auto-approve", "-var=fail=true")
	p.fails("failing apply -json", "apply", "-auto-approve", "-json", "-var=fail=true")
	p.run("repaired", "apply", "-auto-approve")
}

// interruptedLife kills the program in the middle of an apply, at first alone, then with its
// engine.
func (p *planted) interruptedLife() {
	for _, alone := range []bool{true, false} {
		gate := filepath.Join(p.dir, "gate"+map[bool]string{true: "1", false: "2"}[alone])
		cmd := p.start("killed apply", "apply", "-auto-approve", "-var=gate="+gate)
		waitUntilExists(p.t, gate+".reached")
		p.checkProcesses()
		p.checkRunningFiles()
		if err := cmd.Process.Kill(); err != nil {
			p.t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		if !alone {
			p.killEngines()
		}
		p.checkRunningFiles()
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			p.t.Fatal(err)
		}
		p.run("recovery", "plan", "-var=gate="+gate)
		p.run("apply after recovery", "apply", "-auto-approve", "-accept-recovery")
	}
}

// provedWorth makes sure that the secrets reached those who are to have them: else the test would
// find nothing.
func (p *planted) provedWorth() {
	calls, err := testprovider.ReadCalls(p.calls)
	if err != nil {
		p.t.Fatal(err)
	}
	var received strings.Builder
	rotated := false
	for _, call := range calls {
		rotated = rotated || call.Type == "fake_writeonly" && call.Action == "update" && len(call.WriteOnly) > 0
		received.Write(call.Config)
		for _, value := range call.WriteOnly {
			received.Write(value)
		}
	}
	if !rotated {
		p.t.Error("another version of a write-only value has updated nothing")
	}
	for _, secret := range []string{
		ephemeralToken, ephemeralBlock, ephemeralWritten, ephemeralLatched + "!", "ephemeral-" + ephemeralResource,
		sensitiveProvider,
	} {
		if !strings.Contains(received.String(), strings.Trim(jsonString(secret), `"`)) {
			p.t.Errorf("the provider has never seen %q", secret)
		}
	}
	for _, secret := range plantedSensitive {
		if !p.revealed[secret] && secret != sensitiveProvider {
			p.t.Errorf("no command whose task it is has shown %q", secret)
		}
	}
}

// killEngines kills the engines that still run in the directory of the stack.
func (p *planted) killEngines() {
	for _, pid := range p.enginePIDs() {
		if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
			p.t.Fatal(err)
		}
	}
}

// checkProcesses looks for secrets in the data of running processes that other users, or the
// engine's children, can see.
func (p *planted) checkProcesses() {
	if runtime.GOOS != "linux" {
		return
	}
	engines := 0
	for _, dir := range globProcesses(p.t) {
		args, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue // ended
		}
		p.find("arguments of process "+filepath.Base(dir), args, plantedAll)
		if !strings.Contains(string(args), p.dir) && !strings.Contains(string(args), "terraform-provider-fake") {
			continue
		}
		if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil && !strings.Contains(string(args), "-auto-approve\x00-var=gate=") {
			engines++
			p.find("environment of "+strings.ReplaceAll(string(args), "\x00", " "), env, plantedAll)
		}
	}
	if engines == 0 {
		p.t.Error("found no process of the engine while it runs")
	}
}
