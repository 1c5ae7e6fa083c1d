// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackcheck checks the rules for every valid stack, with any engine.
//
// Of each version of a generated stack, planned one after the other:
//
//   - C1. It validates and plans without errors, and the plan does not depend on
//     parallelism: neither the file that it is written to nor the diagnostics.
//   - C2. A plan that was written and read is the same plan.
//   - C3. Rounds of plan and apply come to an end.
//   - C4. A value that was known while planning is so after the apply, and one that was not known
//     has the type that was promised.
//   - C5. A component is applied after those it requires, and destroyed before
//     them: the state says about each component which ones depend on it.
//   - C6. After that, plans in every mode but destroy find nothing to do.
//   - C7. When some of the work fails, the same work fails under any parallelism,
//     and the next rounds get to the state that there is without failures.
//   - C8. Destroying leaves nothing in the state.
//   - C9. An apply writes no records of components but those that the plan and the state announce.
package stackcheck

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/stackgen"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Subject is a stack and the engine to check it with.
type Subject struct {
	Stack *stackgen.Stack
	Dir   string // where the files go

	// Engine returns a new engine for the configuration in the directory. The apply of a component
	// instance for which fail returns an error fails before anything is done; fail may be nil.
	Engine func(t testing.TB, config *stackconfig.Config, fail func(component string) error) engine.Engine

	// Real says that the engine starts processes: its plans are never the same bytes, rule C7 does not
	// apply since nothing fails on demand, and only the first plan is made twice. Otherwise the stack
	// is repeatable.
	Real bool
}

// Check checks both versions of a stack.
func Check(t testing.TB, s Subject) {
	t.Helper()
	check := &check{TB: t, Subject: s, state: stackstate.New()}
	check.version(s.Stack.First)
	check.version(s.Stack.Second)
	check.destroy()
}

// check is the state of checking one stack.
type check struct {
	testing.TB
	Subject
	config *stackconfig.Config
	engine engine.Engine
	now    stackgen.Version
	state  *stackstate.State
	order  map[string][]string // the components that were required when it was applied

	planned bool // there was a plan
}

// timestamp is that of all plans, so that they can be compared.
var timestamp = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (c *check) version(v stackgen.Version) {
	c.Helper()
	c.now = v
	c.write(v)
	config, diags := stackconfig.Load(c.Dir)
	c.config = config
	c.mustBeClean("load", diags)
	c.engine = c.Engine(c, config, nil)
	c.mustBeClean("validate", stackruntime.Validate(c.Context(), c.options(c.engine, 4)))

	before := c.state
	first := c.converge(engine.Normal)
	c.compareWithState("first plan", first, true) // rule C4, over all rounds
	c.checkDependents()
	c.nothingLeftToDo()
	after := c.state
	if !c.Real {
		c.recover(before, after)
	}
	c.state, c.order = after, v.Requires
}

func (c *check) destroy() {
	c.Helper()
	c.converge(engine.Destroy)
	if len(c.state.Components) > 0 || len(c.state.Inputs) > 0 || len(c.state.Outputs) > 0 {
		c.Errorf("left after destroy: %s", cmp.Diff(map[string]string{}, content(c, c.state)))
	}
}

func (c *check) options(e engine.Engine, parallelism int) stackruntime.Options {
	return stackruntime.Options{Config: c.config, Session: open(c, e, c.config, parallelism)}
}

func open(t testing.TB, e engine.Engine, config *stackconfig.Config, parallelism int) engine.Session {
	t.Helper()
	return enginetest.Open(t, e, engine.SessionOptions{StackDir: config.Root.Dir, Parallelism: parallelism})
}

// converge plans and applies until nothing is deferred, and returns the first plan.
func (c *check) converge(mode engine.Mode) *stackplan.Plan {
	c.Helper()
	var first *stackplan.Plan
	limit := 2 + len(c.now.Requires)
	for round := 0; ; round++ {
		plan := c.plan(mode)
		if first == nil {
			first = plan
		}
		c.apply(plan, mode)
		c.compareWithState(fmt.Sprintf("%s plan of round %d", mode, round+1), plan, false)
		if plan.Complete {
			return first
		}
		if round == limit {
			c.Fatalf("rule C3: still deferred after %d rounds:\n%s", round, describePlan(plan))
		}
	}
}

func (c *check) plan(mode engine.Mode) *stackplan.Plan {
	c.Helper()
	plan, diags := c.planWith(mode, 1)
	c.mustBeClean(mode.String()+" plan", diags)
	file := c.encode(plan)
	if !c.Real || !c.planned {
		other, otherDiags := c.planWith(mode, 16)
		if !bytes.Equal(file, c.encode(other)) && (!c.Real || describePlan(plan) != describePlan(other)) {
			c.Fatalf("rule C1: parallelism changes the %s plan: %s", mode, cmp.Diff(describePlan(plan), describePlan(other)))
		}
		if diff := cmp.Diff(Describe(diags), Describe(otherDiags)); diff != "" {
			c.Fatalf("rule C1: parallelism changes diagnostics: %s", diff)
		}
	}
	c.planned = true
	read, _, err := stackplan.ReadFrom(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		c.Fatalf("rule C2: %v", err)
	}
	if !bytes.Equal(file, c.encode(read)) {
		c.Fatalf("rule C2: the plan that was read is another: %s", cmp.Diff(describePlan(plan), describePlan(read)))
	}
	return read
}

func (c *check) planWith(mode engine.Mode, parallelism int) (*stackplan.Plan, hcl.Diagnostics) {
	return stackruntime.Plan(c.Context(), stackruntime.PlanRequest{
		Options: c.options(c.engine, parallelism), Mode: mode, Inputs: c.now.Inputs, Prior: c.state, Timestamp: timestamp,
	})
}

func (c *check) encode(plan *stackplan.Plan) []byte {
	c.Helper()
	var b bytes.Buffer
	if _, err := stackplan.Write(&b, plan, stackplan.FileContext{Stack: "generated"}); err != nil {
		c.Fatal(err)
	}
	return b.Bytes()
}

func (c *check) apply(plan *stackplan.Plan, mode engine.Mode) {
	c.Helper()
	watch := &watch{}
	opts := c.options(c.engine, 16)
	opts.Hooks = watch.hooks()
	result, diags := c.applyWith(opts, plan)
	c.state = result.State
	c.mustBeClean(mode.String()+" apply", diags)
	watch.check(c, plan)
}

func (c *check) applyWith(opts stackruntime.Options, plan *stackplan.Plan) (*stackruntime.ApplyResult, hcl.Diagnostics) {
	inputs := selectKeys(c.now.Inputs, func(name string) bool { return plan.Inputs[name] != nil && plan.Inputs[name].RequiredOnApply })
	return stackruntime.Apply(c.Context(), stackruntime.ApplyRequest{
		Options: opts, Plan: plan, Prior: c.state, Inputs: inputs, Save: c.announced(plan),
	})
}

// announced returns a function that checks rule C9 of all that an apply saves.
func (c *check) announced(plan *stackplan.Plan) func(context.Context, stackruntime.StateChange) error {
	if len(plan.Moved) > 0 {
		return func(context.Context, stackruntime.StateChange) error { return nil }
	}
	written := map[stackaddrs.AbsComponentInstance]bool{}
	for _, addr := range stackruntime.Writes(plan, c.state) {
		written[addr] = true
	}
	return func(_ context.Context, change stackruntime.StateChange) error {
		for _, component := range []*stackstate.Component{change.Before, change.After} {
			if component == nil || written[component.Addr] {
				continue
			}
			if records, err := change.Records(); err != nil || len(records) > 0 {
				c.Errorf("rule C9: the apply writes %d records of %s, which was not announced: %v", len(records), component.Addr, err)
			}
		}
		return nil
	}
}

// nothingLeftToDo checks rule C6.
func (c *check) nothingLeftToDo() {
	c.Helper()
	for _, mode := range []engine.Mode{engine.Normal, engine.RefreshOnly} {
		plan := c.plan(mode)
		if n := plan.Counts().Total(); n > 0 || !plan.Complete {
			c.Errorf("rule C6: the %s plan after the apply changes %d, complete %v:\n%s", mode, n, plan.Complete, describePlan(plan))
		}
		for _, component := range plan.Components {
			if component.Action != stackplan.NoOp || len(component.Drift) > 0 {
				c.Errorf("rule C6: %s has action %s in the %s plan after the apply, and %d resources drifted", component.Addr, component.Action, mode,
					len(component.Drift))
			}
		}
		for name, out := range plan.Outputs {
			if out.Action != stackplan.NoOp {
				c.Errorf("rule C6: output %s has action %s in the %s plan after the apply:\n%#v\n%#v", name, out.Action, mode, out.Before, out.After)
			}
		}
		for name, in := range plan.Inputs {
			if in.Action != stackplan.NoOp && !in.RequiredOnApply {
				c.Errorf("rule C6: variable %s has action %s in the %s plan after the apply", name, in.Action, mode)
			}
		}
	}
}

// recover checks rule C7, from one state to another.
func (c *check) recover(before, after *stackstate.State) {
	c.Helper()
	c.state = before
	healthy := c.engine
	defer func() { c.engine = healthy }()
	for round := range uint32(3) {
		plan := c.plan(engine.Normal)
		chosen := func(name string) bool {
			h := fnv.New32a()
			fmt.Fprint(h, round, name)
			return h.Sum32()%100 < 15
		}
		fail := func(component string) error {
			if chosen(component) {
				return fmt.Errorf("%s is to fail", component)
			}
			return nil
		}
		c.write(c.failing(chosen))
		one, oneDiags := c.applyWith(c.options(c.Engine(c, c.config, fail), 1), plan)
		two, twoDiags := c.applyWith(c.options(c.Engine(c, c.config, fail), 16), plan)
		if diff := cmp.Diff(Describe(oneDiags), Describe(twoDiags)); diff != "" {
			c.Errorf("rule C7: parallelism changes diagnostics: %s", diff)
		}
		if diff := cmp.Diff(content(c, one.State), content(c, two.State)); diff != "" {
			c.Errorf("rule C7: parallelism changes the state after failures: %s", diff)
		}
		for addr, outcome := range one.Components {
			if two.Components[addr] != outcome {
				c.Errorf("rule C7: parallelism changes the outcome of %s: %v, %v", addr, outcome, two.Components[addr])
			}
		}
		c.state = one.State
		c.write(c.now)
	}
	c.converge(engine.Normal)
	c.checkDependents()
	c.nothingLeftToDo()
	if diff := cmp.Diff(content(c, after), content(c, c.state)); diff != "" {
		c.Errorf("rule C7: the state after failures and recovery (-without, +with): %s", diff)
	}
}

// resourceBlock is the first line of a resource in the module of a generated stack.
var resourceBlock = regexp.MustCompile(`(?m)^resource "terraform_data" "\w+" \{\n`)

// failing returns the version with conditions in the chosen resources of its modules, which are
// unknown while planning and do not hold when applied.
func (c *check) failing(chosen func(resource string) bool) stackgen.Version {
	c.Helper()
	const condition = "  lifecycle {\n    precondition {\n" +
		"      condition     = path.module == timestamp()\n      error_message = \"This is to fail.\"\n    }\n  }\n"
	v := c.now
	v.Files = maps.Clone(v.Files)
	for name, text := range v.Files {
		if strings.Contains(text, "terraform_data.") && !resourceBlock.MatchString(text) {
			c.Fatalf("%s: its resources are not found", name)
		}
		v.Files[name] = resourceBlock.ReplaceAllStringFunc(text, func(line string) string {
			if chosen(name + line) {
				return line + condition
			}
			return line
		})
	}
	return v
}

func (c *check) write(v stackgen.Version) {
	c.Helper()
	if err := v.Write(c.Dir); err != nil {
		c.Fatal(err)
	}
}

func (c *check) mustBeClean(what string, diags hcl.Diagnostics) {
	c.Helper()
	if diags.HasErrors() {
		c.Fatalf("%s has errors: %s", what, Describe(diags))
	}
}

// Describe prints diagnostics for people who look at a failed test.
func Describe(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		place := "-"
		if d.Subject != nil {
			place = d.Subject.String()
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", place, d.Summary, d.Detail)
	}
	return b.String()
}

// CheckBroken checks that a broken version leads to diagnostics, from loading,
// validating or planning it, and that each says something.
func CheckBroken(t testing.TB, v stackgen.Version, dir string, newEngine func(config *stackconfig.Config) engine.Engine) hcl.Diagnostics {
	t.Helper()
	if err := v.Write(dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errHang)
	defer cancel()
	config, diags := stackconfig.Load(dir)
	if !diags.HasErrors() {
		opts := stackruntime.Options{Config: config, Session: open(t, newEngine(config), config, 4)}
		diags = diags.Extend(stackruntime.Validate(ctx, opts))
		plan, moreDiags := stackruntime.Plan(ctx, stackruntime.PlanRequest{Options: opts, Inputs: v.Inputs, Timestamp: timestamp})
		if diags.HasErrors() && !moreDiags.HasErrors() {
			t.Errorf("validate has errors and plan has none: %s", Describe(diags))
		}
		if plan == nil || plan.Applyable == moreDiags.HasErrors() {
			t.Errorf("the plan is applyable although there are errors, or the other way round: %s", Describe(moreDiags))
		}
		diags = diags.Extend(moreDiags)
	}
	if context.Cause(ctx) != nil {
		t.Error(context.Cause(ctx))
	}
	for _, d := range diags {
		if d.Summary == "" || d.Detail == "" || strings.Contains(d.Detail, "bug in cairn") {
			t.Errorf("a diagnostic that does not help: %q: %q", d.Summary, d.Detail)
		}
		if d.Severity == hcl.DiagError && d.Subject == nil {
			t.Errorf("an error without a place: %s: %s", d.Summary, d.Detail)
		}
	}
	return diags
}
