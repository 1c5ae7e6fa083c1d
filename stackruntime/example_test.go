// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// A stack of two components, one of which needs a value of the other.
var exampleFiles = map[string]string{
	"main.tfcomponent.hcl": `
variable "name" {
  type = string
}
component "network" {
  source = "./box"
  inputs = { content = "net-${var.name}" }
}
component "server" {
  source = "./box"
  inputs = { content = "in ${component.network.content}" }
}
output "server" {
  type  = string
  value = component.server.content
}
`,
	"box/README": "Module box of example_test.go.\n",
}

// box is the module in the directory box, made of Go functions.
var box = &memengine.Module{
	Variables: memengine.Variables("content"),
	Resources: []memengine.Resource{{
		Name:  "box",
		Input: func(s memengine.Scope) (cty.Value, error) { return s.Inputs["content"], nil },
	}},
	Outputs: memengine.Outputs("content"),
	Values: func(s memengine.Scope) (map[string]cty.Value, error) {
		return map[string]cty.Value{"content": s.Resources["box"].GetAttr("output")}, nil
	},
}

// recordStore keeps a state as a map from keys to bytes, as a table of a database would.
type recordStore map[string][]byte

// save writes the changed records. Plugged into an apply, it is called after each change.
func (s recordStore) save(_ context.Context, change stackruntime.StateChange) error {
	before, after := stackstate.New(), stackstate.New()
	if c := change.Before; c != nil {
		before.Components[c.Addr] = c
	}
	if c := change.After; c != nil {
		after.Components[c.Addr] = c
	}
	splitValues(change.Inputs, before.Inputs, after.Inputs)
	splitValues(change.Outputs, before.Outputs, after.Outputs)
	records, err := stackstate.Diff(before, after)
	if err != nil {
		return err
	}
	for key, value := range records {
		if value == nil {
			delete(s, key)
			continue
		}
		s[key] = value
	}
	return nil
}

// splitValues separates values that are removed from those that are set.
func splitValues(changes, gone, set map[string]cty.Value) {
	for name, value := range changes {
		if value == cty.NilVal {
			gone[name] = value
			continue
		}
		set[name] = value
	}
}

// program has the resources of an embedding program.
type program struct {
	options stackruntime.Options
	store   recordStore
	inputs  map[string]cty.Value
}

// newProgram loads the stack of the examples. The engine works in memory, without any other
// program.
func newProgram() (*program, func()) {
	dir, err := os.MkdirTemp("", "stack")
	if err != nil {
		panic(err)
	}
	for name, text := range exampleFiles {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			panic(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	config, diags := stackconfig.Load(dir)
	must(diags)
	modules := map[string]*memengine.Module{filepath.Join(dir, "box"): box}
	session, err := memengine.New(memengine.Options{Modules: modules}).Open(context.Background(), engine.SessionOptions{StackDir: dir})
	if err != nil {
		panic(err)
	}
	return &program{
		options: stackruntime.Options{Config: config, Session: session},
		store:   recordStore{},
		inputs:  map[string]cty.Value{"name": cty.StringVal("a")},
	}, func() { _ = errors.Join(session.Close(), os.RemoveAll(dir)) }
}

// must gives up on errors. A real program shows diagnostics, warnings too, and returns.
func must(diags hcl.Diagnostics) {
	if diags.HasErrors() {
		panic(diags)
	}
}

// state returns the state as it was stored last.
func (p *program) state() *stackstate.State {
	state, err := stackstate.FromRecords(p.store)
	if err != nil {
		panic(err)
	}
	return state
}

// apply carries out a plan and stores the changes.
func (p *program) apply(ctx context.Context, plan *stackplan.Plan) *stackruntime.ApplyResult {
	result, diags := stackruntime.Apply(ctx, stackruntime.ApplyRequest{
		Options: p.options,
		Plan:    plan,
		Prior:   p.state(),
		Save:    p.store.save,
	})
	must(diags)
	return result
}

// show writes a value as a person reads it.
func show(value cty.Value) string {
	if !value.IsWhollyKnown() {
		return "(known after apply)"
	}
	return string(hclwrite.TokensForValue(value).Bytes())
}

// Example validates a stack, plans it, takes the plan through a file, applies it and plans again.
func Example() {
	ctx := context.Background()
	p, remove := newProgram()
	defer remove()

	must(stackruntime.Validate(ctx, p.options))

	plan, diags := stackruntime.Plan(ctx, stackruntime.PlanRequest{Options: p.options, Inputs: p.inputs, Prior: p.state()})
	must(diags)
	for _, c := range plan.Components {
		fmt.Printf("%s: %s, content = %s\n", c.Addr, c.Action, show(c.Inputs["content"]))
	}
	fmt.Printf("%d to add, server = %s\n", plan.Counts().Add, show(plan.Outputs["server"].After))

	// A plan can wait in a file until somebody has agreed to it. Whether it still fits the stack by
	// then is for the program to say: it compares the contents of FileContext, and the engine.
	var file bytes.Buffer
	if _, err := stackplan.Write(&file, plan, stackplan.FileContext{Deployment: "default", StateSerial: 0}); err != nil {
		panic(err)
	}
	plan, made, err := stackplan.ReadFrom(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		panic(err)
	}
	if plan.Engine != p.options.Session.Info() || made.StateSerial != 0 {
		panic("the plan was made for something else")
	}

	result := p.apply(ctx, plan)
	fmt.Printf("%d added, server = %s\n", result.Counts().Add, show(result.State.Outputs["server"]))

	again, diags := stackruntime.Plan(ctx, stackruntime.PlanRequest{Options: p.options, Inputs: p.inputs, Prior: p.state()})
	must(diags)
	fmt.Printf("%d changes when planned again\n", again.Counts().Total())

	// Output:
	// component.network: create, content = "net-a"
	// component.server: create, content = (known after apply)
	// 2 to add, server = (known after apply)
	// 2 added, server = "in net-a"
	// 0 changes when planned again
}

// ExampleInspect evaluates an expression against the last applied values.
func ExampleInspect() {
	ctx := context.Background()
	p, remove := newProgram()
	defer remove()
	plan, diags := stackruntime.Plan(ctx, stackruntime.PlanRequest{Options: p.options, Inputs: p.inputs})
	must(diags)
	p.apply(ctx, plan)

	expression, diags := hclsyntax.ParseExpression([]byte(`upper(component.network.content)`), "example", hcl.InitialPos)
	must(diags)
	inspector := stackruntime.Inspect(stackruntime.InspectRequest{
		Options: p.options,
		State:   p.state(),
		Stack:   stackaddrs.RootStackInstance,
	})
	value, diags := inspector.EvalExpr(ctx, expression)
	must(diags)
	fmt.Println(show(value))

	// Output:
	// "NET-A"
}

// protectiveSession is a session of an engine of our own. It leaves the work to another one, and
// refuses plans that destroy something.
type protectiveSession struct{ engine.Session }

// Plan implements [engine.Session].
func (s protectiveSession) Plan(
	ctx context.Context, req *engine.PlanRequest, observe engine.Observer,
) (*engine.PlanResult, hcl.Diagnostics) {
	result, diags := s.Session.Plan(ctx, req, observe)
	if result == nil {
		return nil, diags
	}
	for _, change := range result.Changes {
		if change.Action == engine.ActionDelete || change.Action.Replaces() {
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Resource is protected",
				Detail:   fmt.Sprintf("%s of %s must not be destroyed.", change.Address(), req.Component),
			})
		}
	}
	return result, diags
}

// Example_engine runs a stack with an engine of its own and watches the operation.
func Example_engine() {
	ctx := context.Background()
	p, remove := newProgram()
	defer remove()
	p.options.Session = protectiveSession{p.options.Session}
	plan, diags := stackruntime.Plan(ctx, stackruntime.PlanRequest{Options: p.options, Inputs: p.inputs})
	must(diags)

	p.options.Hooks = hooks.Hooks{
		ComponentApplied: func(component stackaddrs.AbsComponentInstance, counts stackplan.Counts) {
			fmt.Printf("%s: %d added\n", component, counts.Add)
		},
	}
	p.apply(ctx, plan)

	plan, diags = stackruntime.Plan(ctx, stackruntime.PlanRequest{
		Options: p.options,
		Mode:    engine.Destroy,
		Inputs:  p.inputs,
		Prior:   p.state(),
	})
	fmt.Printf("destroy plan can be applied: %t\n", plan.Applyable)
	for _, diag := range diags {
		fmt.Printf("%s: %s\n", diag.Summary, diag.Detail)
	}

	// Output:
	// component.network: 1 added
	// component.server: 1 added
	// destroy plan can be applied: false
	// Resource is protected: terraform_data.box of component.server must not be destroyed.
}
