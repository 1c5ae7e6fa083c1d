// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Which instances of a component are known does not depend on the stacks that
// have one instance for each of them.
func TestUnknownSetsThatDecideOnStacks(t *testing.T) {
	w := newWorld(t, `
-- main.tfcomponent.hcl --
component "source" {
  source = "./echo"
  inputs = { in = ["x", "y"] }
}
component "each" {
  for_each = toset(component.source.out)
  source   = "./echo"
}
stack "s" {
  for_each = component.each
  source   = "./s"
}
-- s/main.tfcomponent.hcl --
component "inner" { source = "../echo" }
`+echoModule)
	want := map[string]bool{"component.source": false, "component.each[*]": true, "stack.s[*].component.inner": true}
	if diff := cmp.Diff(want, deferrals(w.Plan(engine.Normal))); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
	w.applyRounds(engine.Normal)

	// An instance that a block in the stack of the component removes is not counted among those that
	// exist.
	w.rewrite("main.tfcomponent.hcl", `
component "source" {
  source = "./echo"
  inputs = { in = ["x", "z"] }
}
component "each" {
  for_each = toset(component.source.out)
  source   = "./echo"
}
removed {
  from   = component.each["y"]
  source = "./echo"
}
removed {
  for_each = toset(["x", "y"])
  from     = stack.s[each.key]
  source   = "./s"
}
`)
	plan := w.Plan(engine.Normal)
	want = map[string]bool{
		"component.source": false, `component.each["x"]`: true, `component.each["y"]`: false,
		`stack.s["x"].component.inner`: false, `stack.s["y"].component.inner`: false,
	}
	if diff := cmp.Diff(want, deferrals(plan)); diff != "" {
		t.Errorf("deferred with removals (-want +got):\n%s", diff)
	}
}

// An instance that is removed waits for the users of the component, which do not wait for it.
func TestRemovedInstanceOfAComponentThatIsUsed(t *testing.T) {
	w := newWorld(t, `
-- main.tfcomponent.hcl --
component "each" {
  for_each = toset(["x", "y"])
  source   = "./echo"
  inputs   = { in = each.key }
}
component "user" {
  source = "./echo"
  inputs = { in = [for c in component.each : c.out] }
}
`+echoModule)
	w.applyRounds(engine.Normal)
	w.engine.Forget()
	w.rewrite("main.tfcomponent.hcl", `
component "each" {
  for_each = toset(["x"])
  source   = "./echo"
  inputs   = { in = "new" }
}
component "user" {
  source = "./echo"
  inputs = { in = [for c in component.each : c.out] }
}
removed {
  from   = component.each["y"]
  source = "./echo"
}
`)
	w.applyRounds(engine.Normal)
	if diff := cmp.Diff([]string{`component.each["x"]`, "component.user", `component.each["y"]`}, applyOrder(w)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
