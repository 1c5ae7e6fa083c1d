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
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// inputs are the values that deployment files give to the variables of a deployment in one phase of
// an operation.
type inputs struct {
	block     *deployconfig.Deployment
	values    map[string]variables.Input
	ephemeral bool // some are fetched again for each phase

	stable map[string]cty.Value // stable values of stores that were used, by their references
	used   map[string]hcl.Range // where they were
}

// fetched are inputs that were evaluated before the operation that uses them, or their diagnostics.
type fetched struct {
	deployment string
	mode       engine.Mode
	at         time.Time

	inputs *inputs
	taken  map[string]cty.Value
	diags  hcl.Diagnostics
}

// fetchedFor is how long tokens and values of stores are used again that were fetched before
// providers were installed. Some tokens are good for five minutes only.
const fetchedFor = 30 * time.Second

// loadDeployment finds the block of the deployment, and makes the operation the one that it asks
// for.
func (r *run) loadDeployment(ctx context.Context) hcl.Diagnostics {
	name, err := r.deploymentName()
	if err != nil {
		return Diagnostics(err)
	}
	if config, diags := r.Deployments(); config == nil {
		return diags
	}
	block, diags := r.deploymentBlock(name)
	if block == nil {
		return diags
	}
	if r.runtime.Config != nil {
		diags = diags.Extend(r.declared.CheckStack(r.runtime.Config))
	}
	if block.Import {
		diag := failure.New("Deployment being imported", "The state of the deployment %q is still being moved here, as import = true in its block says. Remove that when it is complete.", name)
		diag.Subject = block.Range.Ptr()
		diags = diags.Append(diag)
	}
	if block.Destroy && r.req.Mode == engine.Normal {
		r.req.Mode = engine.Destroy
		if r.name == applyName {
			r.name = destroyName
		}
	}
	if r.namedDeployment() == "" {
		diags = diags.Extend(r.CheckLeftDeployments(ctx))
	}
	r.inputs = &inputs{block: block}
	return diags
}

// takeInputs is evaluateInputs for the first time in an operation, or takes the inputs that were
// fetched just before it.
func (r *run) takeInputs(ctx context.Context, phase string) hcl.Diagnostics {
	if r.inputs == nil {
		return nil
	}
	name, before := r.inputs.block.Name, r.fetched
	if before == nil || before.deployment != name || before.mode != r.req.Mode || time.Since(before.at) > fetchedFor {
		before = &fetched{deployment: name, mode: r.req.Mode, at: time.Now()}
		before.diags = r.evaluateInputs(ctx, phase)
		before.inputs, before.taken = r.inputs, r.taken
	}
	r.fetched, r.inputs, r.taken = before, before.inputs, before.taken
	return before.diags
}

// renewInputs fetches anew the inputs that would be too old for a phase, since installing has taken
// long.
func (r *run) renewInputs(ctx context.Context, phase string) hcl.Diagnostics {
	before := r.fetched
	if r.fetched = nil; before == nil || time.Since(before.at) <= fetchedFor {
		return nil
	}
	return r.refreshInputs(ctx, phase)
}

// evaluateInputs evaluates the inputs of the deployment for a phase, "plan" or "apply", of the
// operation.
func (r *run) evaluateInputs(ctx context.Context, phase string) hcl.Diagnostics {
	if r.inputs == nil {
		return nil
	}
	config := r.deploymentConfig()
	sources, err := r.inputSources(phase)
	if err != nil {
		return Diagnostics(err)
	}
	evaluator := deployeval.New(config, r.dir, sources)
	evaluator.Destroying = r.req.Mode == engine.Destroy
	values, diags := evaluator.Inputs(ctx, r.inputs.block)
	diags = diags.Extend(sources.warnings())
	if diags.HasErrors() {
		return diags
	}
	r.taken = evaluator.Taken()
	stable, used := evaluator.Stable()
	r.inputs.values, r.inputs.ephemeral = map[string]variables.Input{}, deployeval.Ephemeral(values)
	r.inputs.stable, r.inputs.used = map[string]cty.Value{}, map[string]hcl.Range{}
	places := inputPlaces(r.inputs.block.Inputs)
	for name, value := range values {
		at, ok := places[name]
		if !ok {
			at = r.inputs.block.Inputs.Range()
		}
		r.inputs.values[name] = variables.Input{Value: value, Range: at}
	}
	for key, value := range stable {
		r.inputs.stable[key.String()], r.inputs.used[key.String()] = value, used[key]
	}
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

// refreshInputs fetches anew the ephemeral sources of the deployment's inputs, which are not kept,
// for a phase that begins.
func (r *run) refreshInputs(ctx context.Context, phase string) hcl.Diagnostics {
	if r.inputs == nil || !r.inputs.ephemeral {
		return nil
	}
	diags := r.evaluateInputs(ctx, phase)
	if diags.HasErrors() {
		return diags
	}
	return diags.Extend(r.readValues())
}

// checkStable fails if a stable value of a store is another one than that which the state keeps,
// and something is still made with that.
func (r *run) checkStable() hcl.Diagnostics {
	if r.inputs == nil || len(r.stored.State.Components) == 0 {
		return nil
	}
	kept, err := r.stored.Stable()
	if err != nil {
		return Diagnostics(err)
	}
	var diags hcl.Diagnostics
	for _, reference := range slices.Sorted(maps.Keys(r.inputs.stable)) {
		before, ok := kept[reference]
		if !ok {
			continue
		}
		before, _ = before.UnmarkDeep()
		now, _ := r.inputs.stable[reference].UnmarkDeep()
		if !before.RawEquals(now) {
			diag := failure.New("Stable value changed", "The value of %s is another one than that with which the deployment %q was applied, and a stable value stays as it is. "+
				"Restore the former value in the set, or declare another store for the new one.", reference, r.stored.Deployment)
			at := r.inputs.used[reference]
			diag.Subject = &at
			diags = diags.Append(diag)
		}
	}
	return diags
}

// keptRecords returns the changes of records of the deployment's state besides those of components:
// stable values of stores, and published values of the stack.
func (r *run) keptRecords(ctx context.Context, state *stackstate.State) (map[string][]byte, hcl.Diagnostics) {
	if r.inputs == nil {
		return nil, nil
	}
	records, err := r.stored.StableRecords(r.inputs.stable)
	if err != nil {
		return nil, Diagnostics(err)
	}
	published, diags := r.publish(ctx, deployment.Outputs(state))
	maps.Copy(records, published)
	return records, diags
}

// inputSources are where the values of inputs come from that deployment files only name. Tokens and
// sets are fetched anew with each call.
func (r *run) inputSources(phase string) (*inputSources, error) {
	read, err := r.Settings()
	if err != nil {
		return nil, err
	}
	tokens, err := identity.Open(read.Identity, r.environ, r.dir)
	if err != nil {
		return nil, err
	}
	sets, err := varset.Open(read.Varsets, r.environ, r.dir)
	if err != nil {
		return nil, err
	}
	return &inputSources{run: r, phase: phase, tokens: tokens, sets: sets}, nil
}

// inputSources implements [deployeval.Sources] for an operation on a deployment.
type inputSources struct {
	run    *run
	phase  string
	tokens identity.Source
	sets   varset.Sets
}

func (s *inputSources) Token(ctx context.Context, token *deployconfig.IdentityToken) (string, error) {
	return s.tokens.Token(ctx, token.Name, identity.Claims{
		Audience: token.Audience, Stack: filepath.Base(absolute(s.run.dir)), Deployment: s.run.inputs.block.Name, Operation: s.phase, PlanID: s.run.saved,
	})
}

func (s *inputSources) Set(ctx context.Context, store *deployconfig.Store) (map[string]varset.Value, error) {
	return s.sets.Read(ctx, store.ID, store.SetName, store.Category)
}

func (s *inputSources) Upstream(ctx context.Context, upstream *deployconfig.UpstreamInput) (map[string]cty.Value, error) {
	if s.run.notYet {
		return nil, deployeval.ErrNotYet
	}
	values, err := s.run.upstream(ctx, upstream)
	if _, never := errors.AsType[neverApplied](err); never && s.run.req.Mode == engine.Destroy {
		return nil, deployeval.ErrNotYet
	}
	return values, err
}

// warnings returns the warnings of fetching values.
func (s *inputSources) warnings() hcl.Diagnostics {
	return identity.Warnings(s.tokens).Extend(varset.Warnings(s.sets))
}
