// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// requestable is a module with two objects and actions that are asked for.
const requestable = `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "token" {
  type      = string
  ephemeral = true
}
resource "fake_thing" "a" {
  count = 2
  name  = "changed ${count.index}"
  lifecycle {
    action_trigger {
      events    = [after_update]
      condition = false
      actions   = [action.fake_do.each[count.index]]
    }
  }
}
action "fake_do" "token" {
  config {
    name  = fake_thing.a[0].name
    token = var.token
  }
}
action "fake_do" "each" {
  count = 2
  config {
    name = "${caller.name} ${self.id}"
  }
}
-- prior --
fake_thing.a[0] {"id":"1","name":"first","size":1,"force":null,"secret":null,"tags":null,"token":null}
fake_thing.a[1] {"id":"2","name":"second","size":1,"force":null,"secret":null,"tags":null,"token":null}
`

// asking makes a plan of the actions at these addresses.
func asking(t *testing.T, addresses ...string) func(*planning.Request) {
	t.Helper()
	return func(req *planning.Request) {
		req.Mode, req.Inputs = engine.Invoke, map[string]cty.Value{"token": cty.StringVal("t").Mark(marks.Ephemeral)}
		for _, address := range addresses {
			addr, err := stackaddrs.ParsePartialActionInstance(address)
			if err != nil {
				t.Fatal(err)
			}
			req.Requested.Actions = append(req.Requested.Actions, addr)
		}
	}
}

// with gives an apply the token.
func with(token string) func(*applying.Request) {
	return func(req *applying.Request) { req.Inputs["token"] = cty.StringVal(token).Mark(marks.Ephemeral) }
}

// TestRequestedActions checks that actions are invoked in the order in which they were asked for,
// for their callers, with ephemeral values as they are while applying, and that nothing is changed.
func TestRequestedActions(t *testing.T) {
	c := nativetest.New(t, requestable)
	plan := c.Plan(t, asking(t, "action.fake_do.token", "action.fake_do.each"))
	var tokens []string
	c.Fake.OnInvokeAction = func(_ context.Context, req provider.InvokeActionRequest) provider.Diagnostics {
		if token := req.Config.GetAttr("token"); !token.IsNull() {
			tokens = append(tokens, token.AsString())
		}
		return nil
	}
	applied := c.Apply(t, plan, with("another"))
	if applied.Diags.HasErrors() {
		t.Fatal(applied.Diags)
	}
	want := []string{"invoke fake_do first", "invoke fake_do first 1", "invoke fake_do second 2"}
	if diff := cmp.Diff(want, changes(c.Fake)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := strings.Join(tokens, " "); got != "another" {
		t.Errorf("tokens: %s", got)
	}
	if diff := cmp.Diff(nativetest.ShowState(t, plan.RefreshedState), nativetest.ShowState(t, c.Prior)); diff != "" {
		t.Errorf("the state changes (-planned +applied):\n%s", diff)
	}
}

// TestRequestedActionStopped checks that an action is ended when the work is stopped, and that the
// others are named.
func TestRequestedActionStopped(t *testing.T) {
	c := nativetest.New(t, requestable)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.Fake.OnInvokeAction = func(ctx context.Context, _ provider.InvokeActionRequest) provider.Diagnostics {
		cancel()
		<-ctx.Done()
		return nil
	}
	fake := &stoppable{c.Fake, make(chan struct{})}
	req := c.ApplyRequest(c.Plan(t, asking(t, "action.fake_do.each", "action.fake_do.token")))
	with("t")(req)
	req.Providers = &stoppableProviders{c, fake}
	_, diags := applying.Apply(ctx, req)
	<-fake.stopped
	if diff := cmp.Diff([]string{"invoke fake_do first 1"}, changes(c.Fake)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	want := "The work was stopped. These actions were not invoked:\n\n  - action.fake_do.each[1] for fake_thing.a[1]\n  - action.fake_do.token"
	if len(diags) != 1 || diags[0].Summary != "Actions not invoked" || diags[0].Detail != want {
		t.Errorf("diagnostics after the stop: %v", diags)
	}
}
