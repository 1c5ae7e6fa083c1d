// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/generated"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// QueryRequest names the component whose module has the query files.
type QueryRequest struct {
	Component stackaddrs.AbsComponentInstance
	Variables []variables.Argument

	// Generate names a new file for blocks by which the module would import the objects; empty makes
	// none.
	Generate string
}

// Queried is the result of a query.
type Queried struct {
	*engine.QueryResult      // nil if there is none
	Generated           bool // [QueryRequest.Generate] is written
}

// Query finds existing objects by the query files of a component's module. It reads the state
// beside others, and changes nothing.
func (s *Stack) Query(ctx context.Context, req QueryRequest, caller Caller) (_ Queried, diags hcl.Diagnostics) {
	ctx, end := traced(ctx, s, queryName)
	defer func() { end(diags) }()
	if req.Generate != "" {
		if err := generated.CheckPath(req.Generate); err != nil {
			return Queried{}, Diagnostics(err)
		}
	}
	r := s.newRun(task{name: planName, req: Request{Variables: req.Variables, Beside: true}, caller: caller})
	diags = r.load(ctx, planName)
	diags = diags.Extend(variables.WarnUnread(s.env.Dir, s.valueSources(req.Variables)))
	if !diags.HasErrors() {
		diags = diags.Extend(r.values.askMissing(ctx))
	}
	var err error
	if !diags.HasErrors() {
		if r.stored, err = r.stateToPlan(ctx); err == nil {
			err = r.recovery.bindRuns(ctx)
		}
	}
	if err != nil || diags.HasErrors() {
		return Queried{}, r.queryInterrupted(ctx, diags.Extend(Diagnostics(err)))
	}
	runtime := r.named()
	runtime.Hooks = tracedHooks(ctx, queryName, runtime.Hooks)
	result, moreDiags := stackruntime.Query(ctx, stackruntime.QueryRequest{
		Options: runtime, Component: req.Component, Inputs: r.values.given.Values, Prior: r.stored.State,
		Generate: req.Generate != "",
	})
	queried := Queried{QueryResult: result}
	if diags = r.queryInterrupted(ctx, diags.Extend(moreDiags)); result == nil || diags.HasErrors() || result.Generated == "" {
		return queried, diags
	}
	if err := generated.Create(req.Generate, result.Generated); err != nil {
		return queried, diags.Extend(Diagnostics(err))
	}
	queried.Generated = true
	return queried, diags
}

// queryInterrupted says so of a query that was interrupted.
func (r *run) queryInterrupted(ctx context.Context, diags hcl.Diagnostics) hcl.Diagnostics {
	if !WasInterrupted(ctx) {
		return diags
	}
	return hcl.Diagnostics{failure.New("Operation interrupted", "The query was interrupted. Nothing was changed.")}
}
