// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package wiretest has an engine that encodes all that passes through it, and decodes it again.
package wiretest

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// New returns an engine that passes everything on to another one, as bytes and back.
func New(behind engine.Engine) engine.Engine { return encodingEngine{behind} }

type encodingEngine struct{ behind engine.Engine }

// Info implements [engine.Engine].
func (e encodingEngine) Info() engine.Info { return e.behind.Info() }

// Open implements [engine.Engine].
func (e encodingEngine) Open(ctx context.Context, opts engine.SessionOptions) (engine.Session, error) {
	opts, err := through(opts)
	if err != nil {
		return nil, err
	}
	opened, err := e.behind.Open(ctx, opts)
	if err != nil {
		return nil, overError(err)
	}
	return session{opened}, nil
}

// through encodes a value and decodes it.
func through[T any](v T) (T, error) {
	var decoded T
	text, err := wire.Encode(v)
	if err == nil {
		err = wire.Decode(text, &decoded)
	}
	if err != nil {
		return decoded, fmt.Errorf("%T: %w", v, err)
	}
	return decoded, nil
}

// session passes on all calls but those that have no data in them.
type session struct{ engine.Session }

// back returns a result with its diagnostics.
func back[T any](result T, diags hcl.Diagnostics) (T, hcl.Diagnostics) {
	decoded, err := through(result)
	decodedDiags, diagsErr := through(diags)
	return decoded, decodedDiags.Extend(failed(errors.Join(err, diagsErr)))
}

func failed(err error) hcl.Diagnostics {
	if err == nil {
		return nil
	}
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Message encoding failed", Detail: err.Error()}}
}

// observer passes on events. It panics with those that are not data: there is nobody to return an
// error to.
func observer(observe engine.Observer) engine.Observer {
	if observe == nil {
		return nil
	}
	return func(event engine.Event) {
		decoded, err := through(event)
		if err != nil {
			panic(err)
		}
		observe(decoded)
	}
}

// Module implements [engine.Session].
func (s session) Module(ctx context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	return back(s.Session.Module(ctx, dir))
}

// ValidateModule implements [engine.Session].
func (s session) ValidateModule(ctx context.Context, dir string) hcl.Diagnostics {
	diags, err := through(s.Session.ValidateModule(ctx, dir))
	return diags.Extend(failed(err))
}

// ProviderSchema implements [engine.Session].
func (s session) ProviderSchema(ctx context.Context, provider stackaddrs.Provider) (*engine.ProviderSchema, hcl.Diagnostics) {
	return back(s.Session.ProviderSchema(ctx, provider))
}

// Plan implements [engine.Session].
func (s session) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	req, err := through(req)
	if err != nil {
		return nil, failed(err)
	}
	return back(s.Session.Plan(ctx, req, observer(observe)))
}

// Apply implements [engine.Session].
func (s session) Apply(ctx context.Context, req *engine.ApplyRequest, observe engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	req, err := through(req)
	if err != nil {
		return nil, failed(err)
	}
	return back(s.Session.Apply(ctx, req, observer(observe)))
}

// Stop implements [engine.Session].
func (s session) Stop(ctx context.Context, work engine.WorkID, how engine.Urgency) error {
	how, err := through(how)
	if err != nil {
		return err
	}
	return overError(s.Session.Stop(ctx, work, how))
}

// Acknowledge implements [engine.Session].
func (s session) Acknowledge(ctx context.Context, work engine.WorkID) error {
	return overError(s.Session.Acknowledge(ctx, work))
}

// Abilities implements [engine.Session].
func (s session) Abilities() engine.Abilities {
	abilities := s.Session.Abilities()
	if abilities.Functions != nil {
		abilities.Functions = functions{abilities.Functions}
	}
	if abilities.Preparer != nil {
		abilities.Preparer = preparer{abilities.Preparer}
	}
	if abilities.Recoverer != nil {
		abilities.Recoverer = recoverer{abilities.Recoverer}
	}
	if abilities.Keeper != nil {
		abilities.Keeper = keeper{abilities.Keeper}
	}
	if abilities.Types != nil {
		abilities.Types = types{abilities.Types}
	}
	if abilities.Configs != nil {
		abilities.Configs = configValidator{abilities.Configs}
	}
	return abilities
}

// answer returns the answer of a call, with its error.
func answer[T any](result T, err error) (T, error) {
	decoded, encodeErr := through(result)
	return decoded, errors.Join(overError(err), encodeErr)
}

type functions struct{ engine.FunctionCaller }

// Functions implements [engine.FunctionCaller].
func (f functions) Functions(ctx context.Context, provider stackaddrs.Provider) (map[string]*engine.Function, error) {
	return answer(f.FunctionCaller.Functions(ctx, provider))
}

// CallFunction implements [engine.FunctionCaller].
func (f functions) CallFunction(ctx context.Context, provider stackaddrs.Provider, name string, args []cty.Value) (cty.Value, error) {
	args, err := through(args)
	if err != nil {
		return cty.NilVal, err
	}
	return answer(f.FunctionCaller.CallFunction(ctx, provider, name, args))
}

type preparer struct{ engine.Preparer }

// Unsupported implements [engine.Preparer].
func (p preparer) Unsupported(ctx context.Context, moduleDirs []string) hcl.Diagnostics {
	diags, err := through(p.Preparer.Unsupported(ctx, moduleDirs))
	return diags.Extend(failed(err))
}

// Prepare implements [engine.Preparer].
func (p preparer) Prepare(ctx context.Context, req *engine.PrepareRequest) (*engine.PrepareResult, hcl.Diagnostics) {
	req, err := through(req)
	if err != nil {
		return nil, failed(err)
	}
	return back(p.Preparer.Prepare(ctx, req))
}

// Locks implements [engine.Preparer].
func (p preparer) Locks(ctx context.Context) (map[stackaddrs.Provider]string, error) {
	return answer(p.Preparer.Locks(ctx))
}

type recoverer struct{ engine.Recoverer }

// Bind implements [engine.Recoverer]. It panics with a purpose that is not data: there is nobody to
// return an error to.
func (r recoverer) Bind(purpose engine.Purpose) {
	purpose, err := through(purpose)
	if err != nil {
		panic(err)
	}
	r.Recoverer.Bind(purpose)
}

// Record implements [engine.Recoverer].
func (r recoverer) Record(ctx context.Context, added func(context.Context, []byte) error) (string, error) {
	return answer(r.Recoverer.Record(ctx, added))
}

// Unfinished implements [engine.Recoverer].
func (r recoverer) Unfinished(ctx context.Context) ([]engine.UnfinishedWork, error) {
	return answer(r.Recoverer.Unfinished(ctx))
}

// Resume implements [engine.Recoverer].
func (r recoverer) Resume(ctx context.Context, work engine.WorkID, after engine.Position,
	observe engine.Observer,
) (*engine.Recovered, error) {
	after, err := through(after)
	if err != nil {
		return nil, err
	}
	return answer(r.Recoverer.Resume(ctx, work, after, observer(observe)))
}

// MarkSeen implements [engine.Recoverer].
func (r recoverer) MarkSeen(ctx context.Context, work engine.WorkID) error {
	return overError(r.Recoverer.MarkSeen(ctx, work))
}

// Forget implements [engine.Recoverer].
func (r recoverer) Forget(ctx context.Context, work engine.WorkID) error {
	return overError(r.Recoverer.Forget(ctx, work))
}

// Leave implements [engine.Recoverer].
func (r recoverer) Leave(ctx context.Context, work engine.WorkID) error {
	return overError(r.Recoverer.Leave(ctx, work))
}

type keeper struct{ engine.Keeper }

// Kept implements [engine.Keeper].
func (k keeper) Kept(ctx context.Context, secret []byte) ([]string, error) {
	secret, err := through(secret)
	if err != nil {
		return nil, err
	}
	return answer(k.Keeper.Kept(ctx, secret))
}

type types struct{ engine.TypeDescriber }

// ResourceType implements [engine.TypeDescriber].
func (t types) ResourceType(ctx context.Context, provider stackaddrs.Provider, mode stackaddrs.ResourceMode,
	name string,
) (cty.Type, error) {
	ty, err := t.TypeDescriber.ResourceType(ctx, provider, mode, name)
	if err != nil || ty == cty.NilType {
		return ty, overError(err)
	}
	return through(ty)
}

type configValidator struct{ engine.ConfigValidator }

// ValidateProviderConfig implements [engine.ConfigValidator].
func (c configValidator) ValidateProviderConfig(ctx context.Context, provider stackaddrs.Provider, config cty.Value) hcl.Diagnostics {
	config, err := through(config)
	if err != nil {
		return failed(err)
	}
	diags, err := through(c.ConfigValidator.ValidateProviderConfig(ctx, provider, config))
	return diags.Extend(failed(err))
}
