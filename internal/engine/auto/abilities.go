// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package auto

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Abilities implements [engine.Session]: those of the native session, to which those of the binary
// are added where they are needed.
func (s *Session) Abilities() engine.Abilities {
	native := s.native.Abilities()
	abilities := engine.Abilities{Chooser: chooser{s}}
	if native.Recoverer != nil || s.opts.Left() {
		abilities.Recoverer = recoverer{s}
	}
	if native.Delegator != nil {
		abilities.Delegator = delegator{native.Delegator, s}
	}
	if native.Keeper != nil || s.opts.Left() {
		abilities.Keeper = keeper{s}
	}
	if native.Preparer != nil {
		abilities.Preparer = preparer{s}
	}
	if native.Functions != nil {
		abilities.Functions = functions{s}
	}
	if native.Types != nil {
		abilities.Types = types{s}
	}
	if native.Configs != nil {
		abilities.Configs = configValidator{s}
	}
	if native.Querier != nil {
		abilities.Querier = querier{s}
	}
	return abilities
}

// functions calls those of providers with the session that is asked about providers.
type functions struct{ *Session }

func (f functions) caller() engine.FunctionCaller {
	if caller := f.main().Abilities().Functions; caller != nil {
		return caller
	}
	return f.native.Abilities().Functions
}

// Functions implements [engine.FunctionCaller].
func (f functions) Functions(ctx context.Context, provider stackaddrs.Provider) (map[string]*engine.Function, error) {
	return f.caller().Functions(ctx, provider)
}

// CallFunction implements [engine.FunctionCaller].
func (f functions) CallFunction(ctx context.Context, provider stackaddrs.Provider, name string, args []cty.Value) (cty.Value, error) {
	return f.caller().CallFunction(ctx, provider, name, args)
}

// types describes types with the session that is asked about providers.
type types struct{ *Session }

// ResourceType implements [engine.TypeDescriber].
func (t types) ResourceType(
	ctx context.Context, provider stackaddrs.Provider, mode stackaddrs.ResourceMode, name string,
) (cty.Type, error) {
	describer := t.main().Abilities().Types
	if describer == nil {
		describer = t.native.Abilities().Types
	}
	return describer.ResourceType(ctx, provider, mode, name)
}

// configValidator asks providers with the session that is asked about providers.
type configValidator struct{ *Session }

// ValidateProviderConfig implements [engine.ConfigValidator].
func (c configValidator) ValidateProviderConfig(ctx context.Context, provider stackaddrs.Provider, config cty.Value) hcl.Diagnostics {
	if validator := c.main().Abilities().Configs; validator != nil {
		return validator.ValidateProviderConfig(ctx, provider, config)
	}
	return nil
}

// querier queries with the native session, also for components that the binary plans.
type querier struct{ *Session }

// Query implements [engine.Querier].
func (q querier) Query(ctx context.Context, req *engine.QueryRequest, observe engine.Observer) (*engine.QueryResult, hcl.Diagnostics) {
	ctx, work, passOn, err := q.begin(ctx, req.Work, observe, q.native)
	if err != nil {
		return nil, notBegun(err)
	}
	defer work.End()
	return q.native.Abilities().Querier.Query(ctx, req, passOn)
}

// preparer prepares both engines, as far as they are needed.
type preparer struct{ *Session }

// Unsupported implements [engine.Preparer].
func (p preparer) Unsupported(ctx context.Context, dirs []string) hcl.Diagnostics {
	needed, diags := p.needsBinary(ctx, dirs)
	if len(needed) > 0 {
		if binary, err := p.binary(ctx); err == nil {
			diags = diags.Extend(unsupported(ctx, binary, needed))
		}
	}
	return diags
}

// Prepare implements [engine.Preparer]. Where the binary is needed, it finds the installed
// providers of the native engine. Modules without an engine are errors, and don't keep the others
// from being prepared.
func (p preparer) Prepare(ctx context.Context, req *engine.PrepareRequest) (*engine.PrepareResult, hcl.Diagnostics) {
	p.preparing.Lock()
	p.preparing.req, p.preparing.prepared = req, false
	p.preparing.Unlock()
	needed, diags := p.needsBinary(ctx, req.Modules)
	result := &engine.PrepareResult{}
	if p.main() == p.native {
		var moreDiags hcl.Diagnostics
		if result, moreDiags = prepare(ctx, p.native, req); moreDiags.HasErrors() {
			return result, diags.Extend(moreDiags)
		}
		diags = diags.Extend(moreDiags)
		p.review(ctx, req.Modules)
		needed, _ = p.needsBinary(ctx, req.Modules) //nolint:errcheck // there are none that were not there before
	}
	if len(needed) == 0 {
		return result, diags
	}
	prepared, moreDiags := p.prepareBinary(ctx)
	result.Locked = append(result.Locked, prepared.Locked...)
	return result, diags.Extend(moreDiags)
}

func prepare(ctx context.Context, session engine.Session, req *engine.PrepareRequest) (*engine.PrepareResult, hcl.Diagnostics) {
	result := &engine.PrepareResult{}
	preparer := session.Abilities().Preparer
	if preparer == nil {
		return result, nil
	}
	prepared, diags := preparer.Prepare(ctx, req)
	if prepared != nil {
		result = prepared
	}
	return result, diags
}

// prepareBinary prepares the binary for the last request, once. The result is never nil.
func (s *Session) prepareBinary(ctx context.Context) (*engine.PrepareResult, hcl.Diagnostics) {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	if s.preparing.req == nil || s.preparing.prepared {
		return &engine.PrepareResult{}, nil
	}
	binary, err := s.binary(ctx)
	if err != nil { // it was there before
		return &engine.PrepareResult{}, hcl.Diagnostics{failure.With(faultOf(err), failure.New("Engine not found", "%s", reason(err)))}
	}
	result, diags := prepare(ctx, binary, s.preparing.req)
	s.preparing.prepared = !diags.HasErrors()
	return result, diags
}

// Locks implements [engine.Preparer].
func (p preparer) Locks(ctx context.Context) (map[stackaddrs.Provider]string, error) {
	if preparer := p.main().Abilities().Preparer; preparer != nil {
		return preparer.Locks(ctx)
	}
	return nil, nil
}

// keeper asks all engines that may keep something.
type keeper struct{ *Session }

// Kept implements [engine.Keeper].
func (k keeper) Kept(ctx context.Context, secret []byte) ([]string, error) {
	var all []string
	everybody, errs := k.everybody(ctx)
	for _, one := range everybody {
		keeper := one.Abilities().Keeper
		if keeper == nil {
			continue
		}
		kept, err := keeper.Kept(ctx, secret)
		all, errs = append(all, kept...), errors.Join(errs, err)
	}
	slices.Sort(all)
	return slices.Compact(all), errs
}

// everybody returns the sessions of all engines that may have left something behind. The error is
// the reason why there is no binary to recover its work.
func (s *Session) everybody(ctx context.Context) ([]engine.Session, error) {
	var err error
	if s.opts.Left() {
		if _, err = s.binary(ctx); err != nil {
			err = fmt.Errorf("terraform or tofu has left work behind, and cannot be used to recover it: %w", err)
		}
	}
	return s.opened(), err
}

// recoverer recovers the work of both engines.
type recoverer struct{ *Session }

// Bind implements [engine.Recoverer].
func (r recoverer) Bind(purpose engine.Purpose) {
	r.opening.Lock()
	ofBinary := purpose
	ofBinary.Recorded = nil // by the native engine
	ofBinary.Copies = nil
	r.opening.purpose = &ofBinary // also for a binary that is opened later
	opened := r.opening.binary
	r.opening.Unlock()
	bind(r.native, purpose)
	if opened != nil {
		bind(opened, ofBinary)
	}
}

// delegator delegates work to native sessions.
type delegator struct {
	engine.Delegator
	session *Session
}

// Delegate implements [engine.Delegator].
func (d delegator) Delegate(ctx context.Context, req *engine.ApplyRequest, about []byte) error {
	d.session.mu.Lock()
	d.session.mu.owners[req.Work] = d.session.native
	d.session.mu.Unlock()
	return d.Delegator.Delegate(ctx, req, about)
}

func bind(session engine.Session, purpose engine.Purpose) {
	if recoverer := session.Abilities().Recoverer; recoverer != nil {
		recoverer.Bind(purpose)
	}
}

// Record implements [engine.Recoverer]. The binary has a record of each piece of work, in a
// directory of its own.
func (r recoverer) Record(ctx context.Context, added func(context.Context, []byte) error) (string, error) {
	return r.native.Abilities().Recoverer.Record(ctx, added)
}

// Unfinished implements [engine.Recoverer].
func (r recoverer) Unfinished(ctx context.Context) ([]engine.UnfinishedWork, error) {
	var all []engine.UnfinishedWork
	everybody, errs := r.everybody(ctx)
	for _, one := range everybody {
		recoverer := one.Abilities().Recoverer
		if recoverer == nil {
			continue
		}
		found, err := recoverer.Unfinished(ctx)
		errs = errors.Join(errs, err)
		r.mu.Lock()
		for _, work := range found {
			r.mu.owners[work.Work] = one
		}
		r.mu.Unlock()
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b engine.UnfinishedWork) int { return strings.Compare(a.Component, b.Component) })
	return all, errs
}

// of returns the recoverer of a piece of work.
func (r recoverer) of(id engine.WorkID) (engine.Recoverer, error) {
	if owner := r.owner(id); owner != nil {
		if recoverer := owner.Abilities().Recoverer; recoverer != nil {
			return recoverer, nil
		}
	}
	return nil, engine.ErrUnknownWork
}

// Resume implements [engine.Recoverer].
func (r recoverer) Resume(
	ctx context.Context, id engine.WorkID, after engine.Position, observe engine.Observer,
) (*engine.Recovered, error) {
	recoverer, err := r.of(id)
	if err != nil {
		return nil, err
	}
	return recoverer.Resume(ctx, id, after, observe)
}

// MarkSeen implements [engine.Recoverer].
func (r recoverer) MarkSeen(ctx context.Context, id engine.WorkID) error {
	return r.do(id, func(of engine.Recoverer) error { return of.MarkSeen(ctx, id) })
}

// Forget implements [engine.Recoverer].
func (r recoverer) Forget(ctx context.Context, id engine.WorkID) error {
	return r.do(id, func(of engine.Recoverer) error { return of.Forget(ctx, id) })
}

// Leave implements [engine.Recoverer].
func (r recoverer) Leave(ctx context.Context, id engine.WorkID) error {
	return r.do(id, func(of engine.Recoverer) error { return of.Leave(ctx, id) })
}

func (r recoverer) do(id engine.WorkID, do func(engine.Recoverer) error) error {
	of, err := r.of(id)
	if err != nil {
		return err
	}
	return do(of)
}
