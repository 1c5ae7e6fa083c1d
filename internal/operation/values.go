// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/deployments/deployeval"
	"github.com/cairnstacks/cairn/internal/deployments/identity"
	"github.com/cairnstacks/cairn/internal/deployments/varset"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/upstream"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// values are those of the variables of the stack in an operation on a deployment: from its block in
// the deployment files, and from all other sources.
type values struct {
	task
	stack *Stack
	block *deployconfig.Deployment // nil without deployment files

	config  *stackconfig.Config // nil if it cannot be used
	inputs  *inputs             // of the deployment in the present phase; nil without deployment files
	given   variables.Given
	answers map[string]cty.Value // values of variables that were asked for
}

// inputs are the values that deployment files give to the variables of a deployment in one phase of
// an operation.
type inputs struct {
	values    map[string]variables.Input
	ephemeral bool // some are fetched again for each phase

	stable map[string]cty.Value // stable values of stores that were used, by their references
	used   map[string]hcl.Range // where they were
	taken  map[string]cty.Value // published values of other stacks that were used, by their references
}

// Given are the inputs of a deployment that were evaluated before the operation that uses them.
type Given struct {
	deployment string
	mode       engine.Mode
	at         time.Time

	inputs *inputs
	diags  hcl.Diagnostics
}

// givenFor is how long tokens and values of stores are used again that were fetched before
// providers were installed. Some tokens are good for five minutes only.
const givenFor = 30 * time.Second

// CheckGiven finds mistakes in the values that the deployment has for a plan, without installing
// anything. The values fetched for it are for the request of the plan that follows. The caller is
// that of the plan, and is not asked yet.
func (s *Stack) CheckGiven(ctx context.Context, req Request, caller Caller) (*Given, hcl.Diagnostics) {
	r := s.newRun(task{name: planName, req: req, caller: caller})
	given, diags := r.loadGiven(ctx, planName)
	if !diags.HasErrors() {
		return given, nil // the plan has the warnings
	}
	return given, diags.Extend(r.mistakes(ctx))
}

// take evaluates the inputs for the first time in an operation, or takes those that were given with
// the request.
func (v *values) take(ctx context.Context, phase string) (*Given, hcl.Diagnostics) {
	if v.block == nil {
		return nil, nil
	}
	given := v.req.Given
	if given == nil || given.deployment != v.block.Name || given.mode != v.req.Mode || time.Since(given.at) > givenFor {
		given = &Given{deployment: v.block.Name, mode: v.req.Mode, at: time.Now()}
		given.diags = v.evaluate(ctx, phase)
		given.inputs = v.inputs
	}
	v.inputs = given.inputs
	return given, given.diags
}

// renew fetches anew the inputs that would be too old for a phase, since installing has taken long.
func (v *values) renew(ctx context.Context, given *Given, phase string) hcl.Diagnostics {
	if given == nil || time.Since(given.at) <= givenFor {
		return nil
	}
	return v.refresh(ctx, phase)
}

// refresh fetches anew the ephemeral sources of the deployment's inputs, which are not kept, for a
// phase that begins.
func (v *values) refresh(ctx context.Context, phase string) hcl.Diagnostics {
	if v.inputs == nil || !v.inputs.ephemeral {
		return nil
	}
	diags := v.evaluate(ctx, phase)
	if diags.HasErrors() {
		return diags
	}
	return diags.Extend(v.read())
}

// evaluate evaluates the inputs of the deployment for a phase, "plan" or "apply", of the operation.
func (v *values) evaluate(ctx context.Context, phase string) hcl.Diagnostics {
	if v.block == nil {
		return nil
	}
	evaluator, sources, err := v.evaluator(phase)
	if err != nil {
		return Diagnostics(err)
	}
	evaluator.Destroying = v.req.Mode == engine.Destroy
	evaluated, diags := evaluator.Inputs(ctx, v.block)
	diags = diags.Extend(sources.warnings())
	if diags.HasErrors() {
		return diags
	}
	stable, used := evaluator.Stable()
	now := &inputs{
		values: map[string]variables.Input{}, ephemeral: deployeval.Ephemeral(evaluated), taken: evaluator.Taken(),
		stable: map[string]cty.Value{}, used: map[string]hcl.Range{},
	}
	places := inputPlaces(v.block.Inputs)
	for name, value := range evaluated {
		at, ok := places[name]
		if !ok {
			at = v.block.Inputs.Range()
		}
		now.values[name] = variables.Input{Value: value, Range: at}
	}
	for key, value := range stable {
		now.stable[key.String()], now.used[key.String()] = value, used[key]
	}
	v.inputs = now
	return diags
}

// inputPlaces returns where the inputs of a deployment stand that are written one by one.
func inputPlaces(expr hcl.Expression) map[string]hcl.Range {
	places := map[string]hcl.Range{}
	pairs, diags := hcl.ExprMap(expr)
	if diags.HasErrors() {
		return places
	}
	for _, pair := range pairs {
		if name, diags := pair.Key.Value(nil); !diags.HasErrors() && name.Type() == cty.String && name.IsKnown() && !name.IsNull() {
			places[name.AsString()] = pair.Value.Range()
		}
	}
	return places
}

// read reads the values of variables, by all sources. Those that were asked for stay.
func (v *values) read() hcl.Diagnostics {
	sources := v.stack.valueSources(v.req.Variables)
	if v.inputs != nil {
		sources.Inputs = v.inputs.values
	}
	given, diags := variables.Read(v.config.Root.Variables, sources, v.stack.env.Files)
	for name, value := range v.answers {
		given.Set(name, value)
	}
	v.given = given
	return diags
}

// check reports the variables that have no value, and the values that validation rules reject.
// Those that somebody is asked for later count as given.
func (v *values) check(ctx context.Context) hcl.Diagnostics {
	if v.stack.opts.Engine.Given != nil {
		return nil // there is nothing to install before the plan, which reports the same
	}
	given := maps.Clone(v.given.Values)
	if v.caller.Value != nil {
		for _, missing := range variables.Missing(v.config.Root.Variables, v.given) {
			given[missing.Name] = cty.DynamicVal
		}
	}
	return stackruntime.CheckPlanInputs(ctx, stackruntime.PlanRequest{
		Options: v.stack.withoutProviders(v.config), Mode: v.req.Mode,
		Inputs: given,
	})
}

// ask asks for values, where there is someone to ask. Where there is nobody, the evaluator reports
// all that are missing.
func (v *values) ask(ctx context.Context, needed []*stackconfig.InputVariable, given variables.Given) hcl.Diagnostics {
	if v.caller.Value == nil {
		return nil
	}
	var diags hcl.Diagnostics
	for _, declared := range needed {
		value, moreDiags := v.caller.Value(ctx, declared)
		diags = diags.Extend(moreDiags)
		if moreDiags.HasErrors() {
			return diags
		}
		given.Set(declared.Name, value)
		v.answers[declared.Name] = value
	}
	return diags
}

// askMissing asks for the values that a plan needs.
func (v *values) askMissing(ctx context.Context) hcl.Diagnostics {
	return v.ask(ctx, variables.Missing(v.config.Root.Variables, v.given), v.given)
}

// complete asks for the values that an apply without a saved plan needs. Unknown values must be
// known before anything is planned, since a plan is applied at once. Destroying everything does not
// need them.
func (v *values) complete(ctx context.Context) hcl.Diagnostics {
	if v.req.Mode == engine.Destroy {
		return v.askMissing(ctx)
	}
	declared := v.config.Root.Variables
	needed := slices.Concat(variables.Missing(declared, v.given), variables.Unknown(declared, v.given))
	diags := v.ask(ctx, needed, v.given)
	if diags.HasErrors() {
		return diags
	}
	return diags.Extend(variables.RequireKnown(declared, v.given))
}

// checkStable fails if a stable value of a store is another one than that which the state keeps,
// and something is still made with that.
func (v *values) checkStable(stored *deployment.Stored) hcl.Diagnostics {
	if v.inputs == nil || len(stored.State.Components) == 0 {
		return nil
	}
	kept, err := stored.Stable()
	if err != nil {
		return Diagnostics(err)
	}
	var diags hcl.Diagnostics
	for _, reference := range slices.Sorted(maps.Keys(v.inputs.stable)) {
		before, ok := kept[reference]
		if !ok {
			continue
		}
		before, _ = before.UnmarkDeep()
		now, _ := v.inputs.stable[reference].UnmarkDeep()
		if !before.RawEquals(now) {
			diag := failure.New("Stable value changed", "The value of %s is another one than that with which the deployment %q was applied, and "+
				"a stable value stays as it is. Restore the former value in the set, or declare another store for the new one.", reference,
				stored.Deployment)
			at := v.inputs.used[reference]
			diag.Subject = &at
			diags = diags.Append(diag)
		}
	}
	return diags
}

// taken returns the published values of other stacks that were used, by references.
func (v *values) taken() map[string]cty.Value {
	if v.inputs == nil {
		return nil
	}
	return v.inputs.taken
}

// evaluator evaluates deployment files for a phase of the operation. Tokens and sets are fetched
// anew for each evaluator.
func (v *values) evaluator(phase string) (*deployeval.Evaluator, *inputSources, error) {
	sources, err := v.stack.inputSources(inputSources{
		deployment: v.block.Name, phase: phase, saved: v.saved, destroying: v.req.Mode == engine.Destroy, notYet: v.notYet,
	}, v.req.Upstream)
	if err != nil {
		return nil, nil, err
	}
	return deployeval.New(v.stack.sources.Declared(), v.stack.env.Dir, sources), sources, nil
}

// inputSources are where the values of inputs come from that deployment files only name. They
// implement [deployeval.Sources] for an operation on a deployment.
type inputSources struct {
	deployment string
	phase      string
	saved      string // identity of the saved plan that is applied; "" for none
	destroying bool
	notYet     bool // published values are not asked for

	stack  string // its name in tokens
	tokens identity.Source
	sets   varset.Sets
	stacks *upstream.Stacks
}

// inputSources completes the sources with those that the settings name, and with the published
// values that the request carries.
func (s *Stack) inputSources(sources inputSources, published map[string]upstream.Published) (*inputSources, error) {
	read, err := s.env.Settings()
	if err != nil {
		return nil, err
	}
	if sources.tokens, err = identity.Open(read.Identity, s.env.Environ, s.env.Dir); err != nil {
		return nil, err
	}
	if sources.sets, err = varset.Open(read.Varsets, s.env.Environ, s.env.Dir); err != nil {
		return nil, err
	}
	sources.stack = filepath.Base(env.Absolute(s.env.Dir))
	sources.stacks = upstream.Of(s.env, s.sources, &s.opts.Shared.states, published)
	return &sources, nil
}

func (s *inputSources) Token(ctx context.Context, token *deployconfig.IdentityToken) (string, error) {
	return s.tokens.Token(ctx, token.Name, identity.Claims{
		Audience: token.Audience, Stack: s.stack, Deployment: s.deployment, Operation: s.phase, PlanID: s.saved,
	})
}

func (s *inputSources) Set(ctx context.Context, store *deployconfig.Store) (map[string]varset.Value, error) {
	return s.sets.Read(ctx, store.ID, store.SetName, store.Category)
}

func (s *inputSources) Upstream(ctx context.Context, declared *deployconfig.UpstreamInput) (map[string]cty.Value, error) {
	if s.notYet {
		return nil, deployeval.ErrNotYet
	}
	values, err := s.stacks.Values(ctx, declared.Source.String())
	if _, never := errors.AsType[upstream.NeverApplied](err); never && s.destroying {
		return nil, deployeval.ErrNotYet
	}
	return values, err
}

// warnings returns the warnings of fetching values.
func (s *inputSources) warnings() hcl.Diagnostics {
	return identity.Warnings(s.tokens).Extend(varset.Warnings(s.sets))
}
