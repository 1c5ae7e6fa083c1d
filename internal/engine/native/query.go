// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/query"
	"github.com/cairnstacks/cairn/internal/engine/withheld"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var _ engine.Querier = (*Session)(nil)

// Query implements [engine.Querier].
func (s *Session) Query(
	ctx context.Context, req *engine.QueryRequest, observe engine.Observer,
) (_ *engine.QueryResult, diags hcl.Diagnostics) {
	ctx, work, err := s.works.Begin(ctx, req.Work, observe)
	if err != nil {
		return nil, hcl.Diagnostics{stopped("Interrupted query", err)}
	}
	defer work.End()
	l := s.load(req.ModuleDir)
	if invalid := s.validate(ctx, l); l.tree == nil || invalid.HasErrors() {
		return nil, invalid
	}
	tree, diags := s.modules.Query(l.read)
	if diags.HasErrors() {
		return nil, diags
	}
	dir, moreDiags := s.newDirectory(l, req.Component.String(), req.Inputs)
	defer func() { diags = append(diags, dir.Close()...) }()
	if moreDiags.HasErrors() {
		return nil, append(diags, moreDiags...)
	}
	providers := s.slots(l, dir, req.Providers, "plan")
	defer providers.Release()
	result, moreDiags := query.Query(ctx, &query.Request{
		QueryRequest: req, Tree: tree, Providers: providers, Types: &s.opts.Shared.Types, Schema: schemas{ctx, s}.Schema,
		Functions: s.functions(ctx, dir, dir.Root(), functionsKey{}), RootPath: rootPath, WorkPath: s.workPath(), Calls: s.calls,
	})
	secrets := withheld.NewFilter(tree, req.Inputs, req.Providers, nil)
	return result, append(diags, secrets.Diagnostics(moreDiags, nil)...)
}
