// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/providers/provider"
)

// triggering is a module whose first object triggers actions before and after it is created, and
// whose second one depends on it.
const triggering = `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "wanted" {
  default = true
}
resource "fake_thing" "first" {
  name = "first"
  lifecycle {
    action_trigger {
      events  = [before_create]
      actions = [action.fake_do.before]
    }
    action_trigger {
      events    = [after_create]
      condition = self.id == "CONDITION"
      actions   = [action.fake_do.after, action.fake_do.last]
    }
  }
}
resource "fake_thing" "second" {
  name = "second ${fake_thing.first.id}"
}
action "fake_do" "before" {
  config {
    name = "before ${BEFORE}"
  }
}
action "fake_do" "after" {
  config {
    name = "after ${fake_thing.first.id}"
  }
}
action "fake_do" "last" {
  config {
    name = "last"
  }
}
output "first" {
  value = fake_thing.first.id
}
`

// changes are the calls that do something.
func changes(fake *nativetest.Provider) []string {
	return slices.DeleteFunc(fake.Calls(), func(call string) bool {
		return !strings.HasPrefix(call, "apply ") && !strings.HasPrefix(call, "invoke ")
	})
}

func TestActions(t *testing.T) {
	for name, test := range map[string]struct {
		condition, before, fails string
		calls                    []string
		objects                  string // in the state, by their names
		diags                    string
	}{
		"in order": {
			"made", "fake_thing.first.name", "",
			[]string{
				"invoke fake_do before first", "apply fake_thing first", "invoke fake_do after made",
				"invoke fake_do last", "apply fake_thing second made",
			},
			"first second", "",
		},
		"condition does not hold": {
			"another", "1", "",
			[]string{"invoke fake_do before 1", "apply fake_thing first", "apply fake_thing second made"},
			"first second", "",
		},
		"before fails": {
			"made", "1", "before 1", []string{"invoke fake_do before 1"}, "", "error: Action failed of fake_thing.first at main.tf:26\n",
		},
		"after fails": {
			"made", "1", "after made",
			[]string{"invoke fake_do before 1", "apply fake_thing first", "invoke fake_do after made"},
			"first", "error: Action failed of fake_thing.first at main.tf:31\n",
		},
		"not known before": {
			"made", "fake_thing.first.id", "", []string{}, "", "error: Configuration contains unknown value of fake_thing.first at main.tf:26\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := nativetest.New(t, strings.NewReplacer("CONDITION", test.condition, "BEFORE", test.before).Replace(triggering))
			c.Fake.OnInvokeAction = func(_ context.Context, req provider.InvokeActionRequest) provider.Diagnostics {
				if req.Config.GetAttr("name").AsString() == test.fails {
					return provider.Errorf("Action failed", "As the name says.")
				}
				return nil
			}
			applied := c.Apply(t, c.Plan(t, nil), nil)
			if diff := cmp.Diff(test.calls, changes(c.Fake)); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if got := nativetest.ShowDiagnostics(applied.Diags); got != test.diags {
				t.Errorf("diagnostics: got %s, want %s", got, test.diags)
			}
			var objects []string
			for line := range strings.Lines(nativetest.ShowState(t, applied.State)) {
				if address, rest, _ := strings.Cut(line, " "); strings.HasPrefix(address, "fake_thing.") {
					objects = append(objects, strings.TrimPrefix(address, "fake_thing."))
					if strings.HasPrefix(rest, "tainted") {
						t.Errorf("the object is tainted: %s", line)
					}
				}
			}
			if got := strings.Join(objects, " "); got != test.objects {
				t.Errorf("objects: got %s, want %s", got, test.objects)
			}
		})
	}
}

func TestActionEvents(t *testing.T) {
	c := nativetest.New(t, strings.NewReplacer("CONDITION", "made", "BEFORE", "1").Replace(triggering))
	c.Fake.OnInvokeAction = func(_ context.Context, req provider.InvokeActionRequest) provider.Diagnostics {
		if req.Config.GetAttr("name").AsString() == "after made" {
			return provider.Errorf("Action failed", "As the name says.")
		}
		return nil
	}
	applied := c.Apply(t, c.Plan(t, nil), nil)
	var got []string
	for _, event := range applied.Events {
		if i := event.Invocation; i != nil {
			got = append(got, strings.TrimSpace(strings.Join([]string{
				string(event.Type), i.Addr.String(), string(i.Trigger.Event), event.Resource, event.Message,
			}, " ")))
		}
	}
	want := []string{
		"action_start action.fake_do.before before_create fake_thing.first",
		"action_progress action.fake_do.before before_create fake_thing.first half done",
		"action_complete action.fake_do.before before_create fake_thing.first",
		"action_start action.fake_do.after after_create fake_thing.first",
		"action_progress action.fake_do.after after_create fake_thing.first half done",
		"action_errored action.fake_do.after after_create fake_thing.first",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestActionStopped checks that an action is ended when the work is stopped, and that no later step
// is begun.
func TestActionStopped(t *testing.T) {
	c := nativetest.New(t, strings.NewReplacer("CONDITION", "made", "BEFORE", "1").Replace(triggering))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.Fake.OnInvokeAction = func(ctx context.Context, req provider.InvokeActionRequest) provider.Diagnostics {
		if req.Config.GetAttr("name").AsString() == "after made" {
			cancel()
			<-ctx.Done()
		}
		return nil
	}
	fake := &stoppable{c.Fake, make(chan struct{})}
	req := c.ApplyRequest(c.Plan(t, nil))
	req.Providers = &stoppableProviders{c, fake}
	_, diags := applying.Apply(ctx, req)
	<-fake.stopped
	if got, want := changes(c.Fake), "invoke fake_do after made"; got[len(got)-1] != want {
		t.Errorf("the last call is %s, want %s", got[len(got)-1], want)
	}
	if len(diags) != 1 || diags[0].Summary != "Apply stopped" || strings.Contains(diags[0].Detail, "create fake_thing.first") ||
		!strings.Contains(diags[0].Detail, "invoke action.fake_do.last for fake_thing.first") ||
		!strings.Contains(diags[0].Detail, "create fake_thing.second") {
		t.Errorf("diagnostics after the stop: %v", diags)
	}
}

// TestActionOfInstances checks that an action sees all instances of the block whose instances
// trigger it, without waiting for their actions.
func TestActionOfInstances(t *testing.T) {
	c := nativetest.New(t, `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_thing" "x" {
  count = 3
  lifecycle {
    action_trigger {
      events  = [before_create]
      actions = [action.fake_do.x]
    }
    action_trigger {
      events  = [after_create]
      actions = [action.fake_do.x]
    }
  }
}
action "fake_do" "x" {
  config {
    name = tostring(length(fake_thing.x))
  }
}
`)
	applied := c.Apply(t, c.Plan(t, nil), nil)
	if applied.Diags.HasErrors() {
		t.Fatal(applied.Diags)
	}
	if got := strings.Count(strings.Join(changes(c.Fake), "\n"), "invoke fake_do 3"); got != 6 {
		t.Errorf("the action was invoked %d times, want 6: %q", got, changes(c.Fake))
	}
}

// TestUnneededAction checks that nothing is invoked for an update that turns out to change nothing.
func TestUnneededAction(t *testing.T) {
	c := nativetest.New(t, `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_thing" "a" {
}
resource "fake_thing" "b" {
  name = fake_thing.a.id
  lifecycle {
    action_trigger {
      events  = [before_update, after_update]
      actions = [action.fake_do.x]
    }
  }
}
action "fake_do" "x" {}
-- prior --
fake_thing.b {"id":"1","name":"made","size":1,"force":null,"secret":null,"tags":null,"token":null}
`)
	plan := c.Plan(t, nil)
	if len(plan.Invocations) != 2 {
		t.Fatalf("the plan is %s, want two invocations", plan.Show())
	}
	applied := c.Apply(t, plan, nil)
	if got := changes(c.Fake); applied.Diags.HasErrors() || !slices.Equal(got, []string{"apply fake_thing"}) {
		t.Errorf("calls: got %q, want those for fake_thing.a only; %v", got, applied.Diags)
	}
}
