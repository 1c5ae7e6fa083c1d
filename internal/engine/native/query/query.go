// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package query finds existing objects by the list blocks in the query files of a component's
// module.
//
// Rules:
//
//	Q1. All blocks are checked, as far as that is possible without values, before a provider is asked
//	    for objects.
//	Q2. A block that fails does not keep others from being asked, but for those that refer to it.
//	Q3. Nothing but variables, local values and list blocks is evaluated: no object of the module has
//	    a value.
package query

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Request is a component to query, with the modules and providers that this needs.
type Request struct {
	*engine.QueryRequest

	Tree      *module.Node // with list blocks
	Providers resource.Providers
	Types     *resource.Types
	Functions func(*module.Node) *hcl.EvalContext
	RootPath  string // the value of path.root
	WorkPath  string // the value of path.cwd
	Calls     chan struct{}

	// Schema returns the schema of a provider, nil if it is not known, for a reason that is reported
	// when the provider is used.
	Schema func(addr stackaddrs.Provider) *schema.Provider
}

// Query asks the providers of a component for objects. With error diagnostics the result is nil, or
// has the objects of the blocks that did not fail.
func Query(ctx context.Context, req *Request) (*engine.QueryResult, hcl.Diagnostics) {
	if mistakes := check(ctx, req); mistakes.HasErrors() {
		return nil, mistakes
	}
	q := &querier{Request: req}
	q.eval = q.evaluation(eval.Plan, q)
	generated := ""
	_, err := promising.MainTask(ctx, func(ctx context.Context) (struct{}, error) {
		var lists promising.Group
		for _, list := range q.eval.Root().Lists() {
			lists.Go(ctx, func(ctx context.Context) { list.Value(ctx) })
		}
		lists.Wait()
		q.sort()
		if q.Generate && !q.eval.Diagnostics.HasErrors() {
			generated = q.generate(ctx)
		}
		return struct{}{}, nil
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, hcl.Diagnostics{failure.New("Interrupted query", "%s.", err)}
	}
	result := &engine.QueryResult{Generated: generated}
	for _, l := range q.mu.answered {
		result.Objects = append(result.Objects, l.found...)
	}
	return result, q.eval.Diagnostics.All()
}

// evaluation returns an evaluation of the module in a phase.
func (r *Request) evaluation(phase eval.Phase, objects eval.Objects) *eval.Evaluation {
	return eval.New(eval.Options{
		Tree: r.Tree, Phase: phase, Objects: objects, Inputs: r.Inputs, Deferral: phase == eval.Validate, Functions: r.Functions,
		RootPath: r.RootPath, WorkPath: r.WorkPath,
	})
}

// check finds mistakes without values.
func check(ctx context.Context, req *Request) hcl.Diagnostics {
	evaluation := req.evaluation(eval.Validate, noObjects{})
	_, err := promising.MainTask(ctx, func(ctx context.Context) (struct{}, error) {
		for _, list := range evaluation.Root().Lists() {
			of := list.Config.ProviderAddr
			if known := req.Schema(of); known != nil {
				l := &listing{eval: evaluation, types: req.Types, list: list, key: stackaddrs.NoKey}
				_ = l.describe(of, known) && l.evaluate(ctx)
			}
		}
		return struct{}{}, nil
	})
	if err != nil {
		evaluation.Diagnostics.Add(failure.New("Interrupted query", "%s.", err))
	}
	return evaluation.Diagnostics.All()
}

// noObjects has no value for any object (rule Q3).
type noObjects struct{}

// Object implements [eval.Objects]. Reading the query files refuses references to objects.
func (noObjects) Object(context.Context, *eval.Resource, stackaddrs.InstanceKey) (cty.Value, bool) {
	return cty.NilVal, false
}

// querier asks for the objects of one component.
type querier struct {
	*Request
	noObjects
	eval *eval.Evaluation

	mu struct {
		sync.Mutex
		answered []*listing
	}
}

var _ eval.Lists = (*querier)(nil)

// List implements [eval.Lists].
func (q *querier) List(ctx context.Context, list *eval.List, key stackaddrs.InstanceKey) (cty.Value, bool) {
	l := &listing{eval: q.eval, types: q.Types, list: list, key: key, inputs: q.Inputs}
	if !q.find(ctx, l) || !l.evaluate(ctx) || !l.settled() || !q.ask(ctx, l) {
		return cty.NilVal, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mu.answered = append(q.mu.answered, l)
	return l.value(), true
}

// find finds the provider and the types of a list block.
func (q *querier) find(ctx context.Context, l *listing) bool {
	config := l.list.Config
	p, known, ok, diags := q.Providers.Provider(ctx, config.ProviderAddr, config.Provider)
	q.eval.Diagnostics.Add(diags...)
	switch {
	case !ok:
		return false
	case !known:
		return q.eval.Diagnostics.Problem(config.ProviderRange, "Provider configuration not known", "The configuration of the provider depends "+
			"on values that are known after apply only. Apply the stack first, then query.")
	}
	l.provider = p
	return l.describe(config.ProviderAddr, p.Schema())
}

// sort sorts the instances of list blocks that were answered, when all are.
func (q *querier) sort() {
	slices.SortFunc(q.mu.answered, func(a, b *listing) int {
		return cmp.Or(cmp.Compare(a.list.Address(stackaddrs.NoKey), b.list.Address(stackaddrs.NoKey)), a.key.Compare(b.key))
	})
}
