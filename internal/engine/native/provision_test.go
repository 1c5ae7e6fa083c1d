// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package native_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// component is a module that is planned and applied by a session of its own.
type component struct {
	t       *testing.T
	dir     string
	session engine.Session
	state   engine.State
	works   int

	messages []string // of provisioners, in the last apply
}

func newComponent(t *testing.T, source string) *component {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := native.New(native.Options{WorkDir: filepath.Join(dir, ".cairn")})
	if err != nil {
		t.Fatal(err)
	}
	session, err := e.Open(t.Context(), engine.SessionOptions{StackDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return &component{t: t, dir: dir, session: session}
}

// apply plans and applies, and returns the diagnostics of applying.
func (c *component) apply(mode engine.Mode, inputs map[string]cty.Value) hcl.Diagnostics {
	c.t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance("component.c")
	if err != nil {
		c.t.Fatal(err)
	}
	c.works++
	work := engine.WorkID(strings.Repeat("w", c.works))
	plan, diags := c.session.Plan(c.t.Context(), &engine.PlanRequest{
		Work: work + "p", Component: addr, ModuleDir: c.dir, Mode: mode, Inputs: inputs, PriorState: c.state, Timestamp: time.Now(),
	}, nil)
	if diags.HasErrors() {
		c.t.Fatalf("Plan: %v", diags)
	}
	c.messages = nil
	result, diags := c.session.Apply(c.t.Context(), &engine.ApplyRequest{
		Work: work + "a", Component: addr, ModuleDir: c.dir, Mode: mode, Planned: plan, PlannedInputs: inputs, Inputs: inputs,
		PriorState: c.state,
	}, func(ev engine.Event) {
		if ev.Type == engine.ProvisionProgress {
			c.messages = append(c.messages, ev.Message)
		}
	})
	c.state = result.State
	if err := c.session.Acknowledge(c.t.Context(), work+"a"); err != nil {
		c.t.Fatal(err)
	}
	return diags
}

func (c *component) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// file returns a file that the component has written for itself.
func (c *component) file(name string) string {
	kept, err := filepath.Glob(filepath.Join(c.dir, ".cairn", "written", "*", name))
	if err != nil || len(kept) != 1 {
		return ""
	}
	text, err := os.ReadFile(kept[0])
	if err != nil {
		return ""
	}
	return string(text)
}

// Commands run after an object is created and before it is destroyed, where relative paths start
// from the directory of the component.
func TestLocalExec(t *testing.T) {
	c := newComponent(t, `
resource "terraform_data" "x" {
  input = "v"
  provisioner "local-exec" {
    command     = "echo $WHO ${self.input} >> log; echo shown"
    environment = { WHO = "created", NOT = null }
  }
  provisioner "local-exec" {
    when        = destroy
    command     = "sys.stdout"
    interpreter = ["/bin/sh", "-c", "echo destroyed \"$0\" >> log"]
  }
}
`)
	if diags := c.apply(engine.Normal, nil); diags.HasErrors() {
		t.Fatal(diags)
	}
	if got, want := c.file("log"), "created v\n"; got != want {
		t.Errorf("after creating: got %q, want %q", got, want)
	}
	if got := strings.Join(c.messages, "\n"); !strings.HasSuffix(got, "terraform_data.x: (local-exec): shown") ||
		!strings.Contains(got, "Executing: ") {
		t.Errorf("messages: got %q", got)
	}
	if diags := c.apply(engine.Destroy, nil); diags.HasErrors() {
		t.Fatal(diags)
	}
	if got, want := c.file("log"), "created v\ndestroyed sys.stdout\n"; got != want {
		t.Errorf("after destroying: got %q, want %q", got, want)
	}
}

// An object whose provisioner fails is tainted, and made again by the next apply.
func TestLocalExecFails(t *testing.T) {
	c := newComponent(t, `
resource "terraform_data" "x" {
  provisioner "local-exec" {
    command    = "exit 4"
    on_failure = continue
  }
  provisioner "local-exec" {
    command = "test -e ok || { echo no ok; exit 3; }"
  }
}
`)
	diags := c.apply(engine.Normal, nil)
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "no ok") || diags[0].Subject == nil || diags[0].Subject.Start.Line != 7 {
		t.Fatalf("got %v, want one error at line 7 with the output", diags)
	}
	if !strings.Contains(string(c.state), `"tainted"`) {
		t.Errorf("the object is not tainted: %s", c.state)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "ok"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if diags := c.apply(engine.Normal, nil); diags.HasErrors() || strings.Contains(string(c.state), `"tainted"`) {
		t.Errorf("once more: got %v and %s", diags, c.state)
	}
}

// Nothing is shown of a command with a secret in its arguments.
func TestLocalExecHidesSecrets(t *testing.T) {
	c := newComponent(t, `
variable "secret" {
  type      = string
  sensitive = true
}
resource "terraform_data" "x" {
  provisioner "local-exec" {
    command     = "echo $S; exit 1"
    environment = { S = var.secret }
  }
}
`)
	diags := c.apply(engine.Normal, map[string]cty.Value{"secret": cty.StringVal("hush-hush").Mark(marks.Sensitive)})
	if !diags.HasErrors() {
		t.Fatal("got no error")
	}
	for _, text := range append(c.messages, diags[0].Detail) {
		if strings.Contains(text, "hush-hush") || strings.Contains(text, "echo") {
			t.Errorf("shown: %q", text)
		}
	}
	if len(c.messages) != 1 {
		t.Errorf("messages: got %q, want one", c.messages)
	}
}

// Destroy-time provisioners also run for objects that no instance of their module declares any
// more, and, by removed blocks, for objects whose blocks are gone.
func TestProvisionersOfRemoved(t *testing.T) {
	const module = `
resource "terraform_data" "x" {
  for_each = toset(["k"])
  input    = "v"
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${path.module} ${self.input} ${each.key} >> log"
  }
}
`
	before := newComponent(t, `
variable "n" {
  type = number
}
module "m" {
  source = "./m"
  count  = var.n
}
resource "terraform_data" "gone" {
  count = 1
  input = "v"
}
resource "terraform_data" "kept" {}
`)
	before.write("m/main.tf", module)
	for _, n := range []int64{2, 1} {
		if diags := before.apply(engine.Normal, map[string]cty.Value{"n": cty.NumberIntVal(n)}); diags.HasErrors() {
			t.Fatal(diags)
		}
	}
	if got, want := before.file("log"), "m v k\n"; got != want {
		t.Errorf("after one module is gone: got %q, want %q", got, want)
	}
	const source = `
resource "terraform_data" "kept" {}
removed {
  from = module.m.terraform_data.x
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${path.module} ${self.input} ${each.key} >> log"
  }
}
removed {
  from = terraform_data.gone
  provisioner "local-exec" {
    when    = destroy
    command = "test -e ok || exit 1; echo gone ${count.index} >> log"
  }
}
`
	for _, mode := range []engine.Mode{engine.Normal, engine.Destroy} {
		after := newComponent(t, source)
		after.state = before.state
		diags := after.apply(mode, nil)
		if len(diags) != 1 || diags[0].Subject == nil || diags[0].Subject.Start.Line != 12 || !strings.Contains(string(after.state), `"gone"`) {
			t.Errorf("%s: got %v and %s, want an error and the object kept", mode, diags, after.state)
		}
		after.write("ok", "")
		if diags := after.apply(mode, nil); diags.HasErrors() {
			t.Error(diags)
		}
		if got, want := after.file("log"), ". v k\ngone 0\n"; got != want {
			t.Errorf("%s: got %q, want %q", mode, got, want)
		}
	}
}
