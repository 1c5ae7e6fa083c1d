// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/applying"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// killedChain is a stack of so many components, each of which needs the one before it.
func killedChain(length int) string {
	var b strings.Builder
	b.WriteString("-- main.tfcomponent.hcl --\nvariable \"generation\" { type = string }\n")
	after := `"start"`
	for i := range length {
		fmt.Fprintf(&b, "component \"c%d\" {\n  source = \"./mod\"\n  inputs = {\n    generation = var.generation\n    after = %s\n  }\n}\n",
			i, after)
		after = fmt.Sprintf("component.c%d.id", i)
	}
	fmt.Fprintf(&b, "output \"last\" {\n  type  = string\n  value = %s\n}\n", after)
	b.WriteString(`-- mod/main.tf --
variable "generation" { type = string }
variable "after" { type = string }
resource "terraform_data" "updated" { input = "${var.generation} ${var.after}" }
resource "terraform_data" "replaced" {
  input            = terraform_data.updated.output
  triggers_replace = var.generation
}
resource "terraform_data" "passing" {
  for_each = toset([var.generation])
  input    = terraform_data.replaced.output
}
output "id" { value = terraform_data.replaced.id }
`)
	return b.String()
}

// errKilled is why nothing goes on after a kill.
var errKilled = errors.New("killed")

// killed is a program that ends in the middle of an apply: from one moment on it begins nothing and
// saves nothing any more. Its saved changes stay, and so do the states that the engine has kept.
// The moments are those right after a change of an object, and before something is saved.
type killed struct {
	engine.Session

	mu struct {
		sync.Mutex
		left     int // moments until the kill; negative for never
		made     []string
		kept     map[stackaddrs.AbsComponentInstance]engine.State
		works    map[engine.WorkID]stackaddrs.AbsComponentInstance
		records  map[string][]byte
		progress stackplan.Progress
	}
}

// moment reports whether the program is alive.
func (k *killed) moment() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.left > 0 {
		k.mu.left--
	}
	return k.mu.left != 0
}

// Apply implements [engine.Session].
func (k *killed) Apply(ctx context.Context, req *engine.ApplyRequest, observe engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	ctx, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	objects := applying.Objects{Before: req.PriorState}
	keep := func(event engine.Event) {
		if event.Type == engine.ObjectChanged {
			objects.Change(event.Object)
			state, err := objects.State()
			if err != nil {
				panic(err)
			}
			k.mu.Lock()
			k.mu.kept[req.Component] = state
			k.mu.made = append(k.mu.made, fmt.Sprint(req.Component, ".", event.Object.Addr, " ", len(event.Object.Entry) > 0))
			k.mu.Unlock()
			if !k.moment() {
				kill(errKilled)
			}
		}
		observe(event)
	}
	k.mu.Lock()
	k.mu.works[req.Work] = req.Component
	if k.mu.left == 0 {
		kill(errKilled)
	}
	k.mu.Unlock()
	return k.Session.Apply(ctx, req, keep)
}

// Acknowledge implements [engine.Session].
func (k *killed) Acknowledge(_ context.Context, work engine.WorkID) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.mu.kept, k.mu.works[work])
	return nil
}

func (k *killed) save(_ context.Context, change stackruntime.StateChange) error {
	if !k.moment() {
		return errKilled
	}
	records, err := change.Records()
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, value := range records {
		if value == nil {
			delete(k.mu.records, key)
		} else {
			k.mu.records[key] = value
		}
	}
	switch {
	case change.Stage == "":
	case change.After != nil:
		k.mu.progress[change.After.Addr] = change.Stage
	default:
		k.mu.progress[change.Before.Addr] = change.Stage
	}
	return nil
}

// recover returns the state and the progress that are known after a kill.
func (k *killed) recover(t *testing.T) (*stackstate.State, stackplan.Progress) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	state, err := stackstate.FromRecords(maps.Clone(k.mu.records))
	if err != nil {
		t.Fatal(err)
	}
	for addr, module := range k.mu.kept {
		component := stackstate.Component{Addr: addr}
		if known := state.Components[addr]; known != nil {
			component = *known
		}
		component.Module = module
		state.Components[addr] = &component
		if k.mu.progress[addr] == "" {
			k.mu.progress[addr] = stackplan.Begun
		}
	}
	if k.mu.records, err = state.Records(); err != nil {
		t.Fatal(err)
	}
	k.mu.kept = map[stackaddrs.AbsComponentInstance]engine.State{}
	return state, maps.Clone(k.mu.progress) // the resumed apply saves meanwhile
}

// begin starts from a state, and kills at a moment.
func (k *killed) begin(t *testing.T, state *stackstate.State, moment int) {
	t.Helper()
	records, err := state.Records()
	if err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.left, k.mu.made, k.mu.records = moment, nil, records
	k.mu.kept, k.mu.progress = map[stackaddrs.AbsComponentInstance]engine.State{}, stackplan.Progress{}
	k.mu.works = map[engine.WorkID]stackaddrs.AbsComponentInstance{}
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]+){4}`)

// stateWithoutIDs describes a state but for ids, which come from the objects that are replaced, as
// far as these are still there.
func stateWithoutIDs(state *stackstate.State) string {
	return anyID.ReplaceAllString(stacktest.StateText(state), "ID")
}

// newKilled returns a program that works on a stack.
func newKilled(t *testing.T, files string) (*killed, *stacktest.Stack) {
	t.Helper()
	program := &killed{}
	s := stacktest.InMemory(t, files)
	s.Parallelism = 2
	s.Engine = enginetest.Replaced{Engine: s.Engine, Session: func(session engine.Session) engine.Session {
		program.Session = session
		return program
	}}
	program.begin(t, s.State, -1)
	return program, s
}

// killAtEachMoment applies a plan to the state of the stack, killed at each moment that there is
// and again at a later one. It compares the outcome of going on with that of an apply that nobody
// kills, leaves the stack as the latter does, and returns the number of moments.
func (k *killed) killAtEachMoment(t *testing.T, s *stacktest.Stack, plan *stackplan.Plan) (moments int) {
	t.Helper()
	apply := func(progress stackplan.Progress) hcl.Diagnostics {
		_, diags := s.TryApply(plan, func(req *stackruntime.ApplyRequest) { req.Save, req.Progress = k.save, progress })
		return diags
	}
	counts := func(made []string) map[string]int {
		n := map[string]int{}
		for _, one := range made {
			n[one]++
		}
		return n
	}
	before := s.State
	k.begin(t, before, -1)
	if diags := apply(nil); diags.HasErrors() {
		t.Fatal(stacktest.Explain(diags))
	}
	want, wantState := counts(k.mu.made), stateWithoutIDs(s.State)
	after := s.State
	for moment := 1; ; moment++ {
		s.State = before
		k.begin(t, before, moment)
		if !apply(nil).HasErrors() {
			s.State = after
			return moments // it came to its end before
		}
		moments++
		var progress stackplan.Progress
		s.State, progress = k.recover(t)
		k.mu.left = 1 + moment%9 // the resumed apply is killed, too
		if apply(progress).HasErrors() {
			s.State, progress = k.recover(t)
			k.mu.left = -1
			if diags := apply(progress); diags.HasErrors() {
				t.Fatalf("killed at moment %d and again: %s", moment, stacktest.Explain(diags))
			}
		}
		if diff := cmp.Diff(want, counts(k.mu.made)); diff != "" {
			t.Fatalf("killed at moment %d: changes of objects (-want +got):\n%s", moment, diff)
		}
		if diff := cmp.Diff(wantState, stateWithoutIDs(s.State)); diff != "" {
			t.Fatalf("killed at moment %d: state (-want +got):\n%s", moment, diff)
		}
	}
}

// Whatever the moment of a kill, the same plan applied again does the rest, and nothing twice.
func TestResumeAfterKill(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	t.Parallel()
	program, s := newKilled(t, killedChain(10))
	for _, step := range []struct {
		name string
		mode engine.Mode
	}{{"created", engine.Normal}, {"changed", engine.Normal}, {"destroyed", engine.Destroy}} {
		if step.mode == engine.Normal {
			s.Inputs["generation"] = cty.StringVal(step.name)
		}
		plan := s.Plan(step.mode)
		t.Log(step.name)
		if moments := program.killAtEachMoment(t, s, plan); moments < 20 {
			t.Errorf("%s: only %d moments", step.name, moments)
		}
	}
}

// The same holds for objects that are replaced because that was asked for, which their arguments do
// not say.
func TestResumeRequestedReplacements(t *testing.T) {
	t.Parallel()
	program, s := newKilled(t, `
-- main.tfcomponent.hcl --
component "a" {
  source = "./mod"
  inputs = { after = "start" }
}
component "b" {
  source = "./mod"
  inputs = { after = component.a.id }
}
-- mod/main.tf --
variable "after" { type = string }
resource "terraform_data" "first" { input = var.after }
resource "terraform_data" "each" {
  for_each = toset(["x", "y"])
  input    = terraform_data.first.id
}
output "id" { value = terraform_data.each["x"].id }
`)
	s.Converge()
	replace := map[stackaddrs.AbsComponentInstance][]string{}
	for addr := range s.State.Components {
		replace[addr] = []string{"terraform_data.first", `terraform_data.each["x"]`}
	}
	replaceAll := func(req *stackruntime.PlanRequest) { req.Replace = replace }
	plan := s.Plan(engine.Normal, replaceAll)
	if moments := program.killAtEachMoment(t, s, plan); moments < 10 {
		t.Errorf("only %d moments", moments)
	}
}

// The rest of a component instance that was begun is done only if the plan has it.
func TestResumeWithAnotherRest(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, killedChain(2))
	s.Inputs["generation"] = cty.StringVal("one")
	s.Converge()
	s.Inputs["generation"] = cty.StringVal("two")
	plan := s.Plan(engine.Normal)
	first := plan.Components[0].Addr

	component := *s.State.Components[first]
	component.Module = nil // as if all of it had been lost
	s.State.Components[first] = &component
	result, diags := s.TryApply(plan, func(req *stackruntime.ApplyRequest) {
		req.Progress = stackplan.Progress{first: stackplan.Begun}
	})
	const want = "Stale plan"
	if len(diags) != 1 || diags[0].Summary != want || engine.FaultOf(diags[0]) != fault.StalePlan ||
		!strings.Contains(diags[0].Detail, `terraform_data.passing["two"]`) &&
			!strings.Contains(diags[0].Detail, "terraform_data.replaced") && !strings.Contains(diags[0].Detail, "terraform_data.updated") {
		t.Errorf("got %s\nwant only %q about one of the resources", stacktest.Explain(diags), want)
	}
	for addr, outcome := range result.Components {
		want := hooks.Skipped
		if addr == first {
			want = hooks.Failed
		}
		if outcome.Status != want {
			t.Errorf("%s is %s, want %s", addr, outcome.Status, want)
		}
	}
}
