// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// provisioned reads the lines that provisioners wrote into the file "out" of the stack's directory.
func (f *feature) provisioned() []string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.opts.Config.Root.Dir, "out"))
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	return strings.Fields(string(data))
}

func (f *feature) wantProvisioned(want string) {
	f.t.Helper()
	if got := strings.Join(f.provisioned(), " "); got != want {
		f.t.Errorf("provisioners wrote %q, want %q", got, want)
	}
}

// provisionerEvents returns the types of the events about provisioners, and their texts.
func (f *feature) provisionerEvents() (types []string, text string) {
	var b strings.Builder
	for _, event := range f.events {
		if !strings.HasPrefix(string(event.Type), "provision_") {
			continue
		}
		if n := len(types); n == 0 || types[n-1] != string(event.Type) {
			types = append(types, string(event.Type))
		}
		b.WriteString(event.Message + "\n" + string(event.Raw) + "\n")
	}
	return types, b.String()
}

// Provisioners run on creation and destruction, and see the object as self.
func TestProvisioners(t *testing.T) {
	f := newFeature(t, "name = var.name, later = component.up.later", `
-- mod/main.tf --
`+fakeModule+`
variable "name" { type = string }
variable "later" { type = string }
resource "fake_resource" "a" {
  id    = "a-${var.name}"
  value = var.later
  provisioner "local-exec" {
    command = "echo said-${self.value}; echo created-${self.id}-${var.later} >> ${path.cwd}/out"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo destroyed-${self.id} >> ${path.cwd}/out"
  }
}
`)
	plan := f.plan(engine.Normal)
	f.wantProvisioned("")
	f.apply(plan)
	f.wantProvisioned("created-a-name-later-name")
	types, text := f.provisionerEvents()
	if got := strings.Join(types, " "); got != "provision_start provision_progress provision_complete" {
		t.Errorf("events: %s", got)
	}
	wantText(t, text, "fake_resource.a", "local-exec", "said-later-name")
	f.settled()
	f.destroyed()
	f.wantProvisioned("created-a-name-later-name destroyed-a-name")
}

// An object whose provisioner fails is tainted, and made anew.
func TestProvisionerThatFails(t *testing.T) {
	module := func(command string) string {
		return `
-- mod/main.tf --
` + fakeModule + `
resource "fake_resource" "a" {
  value = "v"
  provisioner "local-exec" {
    command = "` + command + `"
  }
}
`
	}
	f := newFeature(t, "", module("echo reason >&2; exit 3"))
	result, diags := f.tryApply(f.plan(engine.Normal))
	wantDiagnostic(t, diags, hcl.DiagError, "local-exec provisioner error")
	wantDiagnostic(t, diags, hcl.DiagError, "exit status 3")
	if o := outcome(t, result); o.Status != hooks.Failed {
		t.Errorf("status %s, want %s", o.Status, hooks.Failed)
	}
	types, _ := f.provisionerEvents()
	if got := strings.Join(types, " "); got != "provision_start provision_progress provision_errored" {
		t.Errorf("events: %s", got)
	}
	objects, err := tfstate.ParseObjects(f.component().Module)
	if err != nil || len(objects) != 1 || !objects[0].Tainted {
		t.Errorf("objects %+v, %v, want a tainted one", objects, err)
	}

	f.write(module("true"))
	plan := f.plan(engine.Normal)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Add: 1, Remove: 1})
	wantText(t, f.text(plan), "fake_resource.a is tainted, so must be replaced")
	f.apply(plan)
	f.settled()
}

func TestProvisionerThatMayFail(t *testing.T) {
	f := newFeature(t, "", `
-- mod/main.tf --
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command    = "exit 1"
    on_failure = continue
  }
  provisioner "local-exec" {
    command = "echo second >> ${path.cwd}/out"
  }
}
`)
	f.run()
	f.wantProvisioned("second")
	f.settled()
}

// The output of a provisioner with a secret among its arguments is not shown.
func TestProvisionerWithSecret(t *testing.T) {
	f := newFeature(t, `secret = "hush-hush"`, `
-- mod/main.tf --
variable "secret" {
  type      = string
  sensitive = true
}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command     = "echo it is $SECRET; echo $SECRET > ${path.cwd}/out; exit $STATUS"
    environment = { SECRET = var.secret, STATUS = fileexists("${path.module}/fail") ? 1 : 0 }
  }
}
`)
	hidden := func(diags hcl.Diagnostics) {
		t.Helper()
		events, err := json.Marshal(f.events)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(events)+explain(diags), "hush-hush") {
			t.Errorf("the secret is in %s\n%s", events, explain(diags))
		}
	}
	_, diags := f.tryApply(f.plan(engine.Normal))
	noDiagnostics(t, "Apply", diags)
	hidden(diags)
	f.wantProvisioned("hush-hush")
	f.destroyed()
	f.write("\n-- mod/fail --\n")
	_, diags = f.tryApply(f.plan(engine.Normal))
	wantDiagnostic(t, diags, hcl.DiagError, "local-exec provisioner error")
	hidden(diags)

	// The command is an argument, too.
	f.write(strings.Replace(secretCommand, "MORE", "", 1))
	f.apply(f.plan(engine.Destroy))
	for _, quiet := range []string{"", "quiet = true"} {
		f.write(strings.Replace(secretCommand, "MORE", quiet, 1))
		_, diags = f.tryApply(f.plan(engine.Normal))
		wantDiagnostic(t, diags, hcl.DiagError, "exit status 7")
		hidden(diags)
	}
}

const secretCommand = `
-- mod/main.tf --
variable "secret" {
  type      = string
  sensitive = true
}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "test ${var.secret} = nothing || exit 7"
    MORE
  }
}
`

// A removed block in a module may have provisioners of its own.
func TestProvisionerOfRemovedBlock(t *testing.T) {
	f := newFeature(t, "", goneModule)
	f.run()
	f.write(`
-- mod/main.tf --
` + fakeModule + `
removed {
  from = fake_resource.gone
  lifecycle {
    destroy = true
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo removed-${self.id} >> ${path.cwd}/out"
  }
}
`)
	f.run()
	f.wantProvisioned("removed-x")
	f.wantObjects()
	f.settled()
}
