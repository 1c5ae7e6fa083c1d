// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package auto_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

const circleModule = `
variable "text" { type = string }

variable "secret" {
  type      = string
  sensitive = true
}

resource "terraform_data" "x" {
  input            = { text = var.text, secret = var.secret, list = [1.5, null, true] }
  triggers_replace = [var.secret]
}

resource "terraform_data" "many" {
  for_each = toset(["a", "b"])
  input    = "${each.key} ${terraform_data.x.id}"

  lifecycle {
    create_before_destroy = true
  }
}

output "text" { value = terraform_data.x.output.text }
`

// TestStateMovesBetweenEngines checks that each engine finds nothing to do where another one has
// applied, and can go on from there.
func TestStateMovesBetweenEngines(t *testing.T) {
	dir := t.TempDir()
	module := filepath.Join(dir, "m")
	if err := errors.Join(os.Mkdir(module, 0o700), os.WriteFile(filepath.Join(module, "main.tf"), []byte(circleModule), 0o600)); err != nil {
		t.Fatal(err)
	}
	testenv.CLIConfig(t, "")
	engines := map[string]engine.Session{}
	for _, path := range testenv.Engines(t) {
		found, err := binary.New(t.Context(), binary.Options{Binary: path, WorkDir: t.TempDir(), Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		engines[found.Info().Name] = enginetest.Open(t, found, engine.SessionOptions{StackDir: dir})
	}
	own, err := native.New(native.Options{WorkDir: t.TempDir(), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	engines[native.Name] = enginetest.Open(t, own, engine.SessionOptions{StackDir: dir})

	c := &circle{t: t, module: module}
	for from, first := range engines {
		for to, second := range engines {
			if from == to {
				continue
			}
			c.state = nil
			c.apply(from+" creates", first, "one", engine.Normal)
			c.wantNothing(from+", then "+to, second, "one")
			c.apply(to+" updates what "+from+" has created", second, "two", engine.Normal)
			c.wantNothing(to+", then "+from, first, "two")
			c.apply(from+" destroys", first, "two", engine.Destroy)
		}
	}
	c.round(engines)
}

// round applies with each engine in turn, in both directions, so that each goes on from the states
// of two others.
func (c *circle) round(engines map[string]engine.Session) {
	names := slices.Sorted(maps.Keys(engines))
	for range 2 {
		c.state = nil
		for i, name := range append(names, names[0]) {
			text := fmt.Sprintf("round %d", i)
			c.apply(name+" applies in the round", engines[name], text, engine.Normal)
			for other, session := range engines {
				c.wantNothing(other+" after "+name+" in the round", session, text)
			}
		}
		c.apply(names[0]+" destroys", engines[names[0]], "done", engine.Destroy)
		slices.Reverse(names)
	}
}

// circle is a component whose state goes from engine to engine.
type circle struct {
	t      *testing.T
	module string
	state  engine.State
	works  int
}

func (c *circle) inputs(text string) map[string]cty.Value {
	return map[string]cty.Value{"text": cty.StringVal(text), "secret": cty.StringVal("s")}
}

func (c *circle) work() engine.WorkID {
	c.works++
	return engine.WorkID(fmt.Sprintf("work-%d", c.works))
}

func (c *circle) plan(what string, session engine.Session, text string, mode engine.Mode) *engine.PlanResult {
	c.t.Helper()
	plan, diags := session.Plan(c.t.Context(), &engine.PlanRequest{
		Work: c.work(), ModuleDir: c.module, Mode: mode, Inputs: c.inputs(text), PriorState: c.state, Timestamp: time.Unix(1, 0),
	}, nil)
	if diags.HasErrors() {
		c.t.Fatalf("%s: %v", what, diags)
	}
	return plan
}

func (c *circle) apply(what string, session engine.Session, text string, mode engine.Mode) {
	c.t.Helper()
	plan := c.plan(what, session, text, mode)
	id := c.work()
	result, diags := session.Apply(c.t.Context(), &engine.ApplyRequest{
		Work: id, ModuleDir: c.module, Mode: mode, Planned: plan, PlannedInputs: c.inputs(text), Inputs: c.inputs(text), PriorState: c.state,
	}, nil)
	if diags.HasErrors() {
		c.t.Fatalf("%s: %v", what, diags)
	}
	c.state = result.State
	if err := session.Acknowledge(c.t.Context(), id); err != nil {
		c.t.Errorf("%s: %v", what, err)
	}
}

// wantNothing checks that an engine finds nothing to do.
func (c *circle) wantNothing(what string, session engine.Session, text string) {
	c.t.Helper()
	plan := c.plan(what, session, text, engine.Normal)
	for _, change := range plan.Changes {
		if change.Action != engine.ActionNoOp {
			c.t.Errorf("%s: %s is planned for %s", what, change.Action, change.Address())
		}
	}
	for _, change := range plan.Drift {
		c.t.Errorf("%s: %s has changed outside", what, change.Address())
	}
	if len(plan.Changes) != 3 {
		c.t.Errorf("%s: there are %d changes, want 3", what, len(plan.Changes))
	}
}
