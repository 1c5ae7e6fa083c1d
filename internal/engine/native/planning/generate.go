// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Generate imports the objects that import blocks of the root module name and that it has no blocks
// for, and returns blocks for them, sorted by address. Besides these, only the objects are planned
// that the import blocks refer to.
func Generate(ctx context.Context, req *Request) ([]engine.Generated, hcl.Diagnostics) {
	prior, err := state.Read(req.PriorState)
	if err != nil {
		return nil, unreadable(err)
	}
	p := newPlanner(req, prior)
	undeclared := req.Tree.Undeclared()
	blocks := make([]engine.Generated, len(undeclared))
	_, err = promising.MainTask(ctx, func(ctx context.Context) (struct{}, error) {
		defer p.rt.CloseEphemerals(ctx)
		if !p.move(prior) {
			return struct{}{}, nil
		}
		p.findImports(p.Tree, stackaddrs.RootModuleInstance)
		var all promising.Group
		for i, config := range undeclared {
			all.Go(ctx, func(ctx context.Context) {
				blocks[i] = engine.Generated{ModuleDir: req.ModuleDir, Addr: config.Block, Text: p.generate(ctx, config)}
			})
		}
		all.Wait()
		return struct{}{}, nil
	})
	if err != nil {
		p.eval.Diagnostics.Add(interrupted(err))
	}
	slices.SortFunc(blocks, func(a, b engine.Generated) int { return a.Addr.Compare(b.Addr) })
	return blocks, p.eval.Diagnostics.All()
}

// generate returns a block for the object that an import block names. It is empty after an error.
func (p *planner) generate(ctx context.Context, config *module.Import) string {
	t, ok := p.rt.ImportTarget(ctx, p.Tree, config)
	if !ok {
		return ""
	}
	block := p.importBlock(config, p.eval.Root())
	targets, ok := block.find(ctx, p)
	if !ok {
		return ""
	}
	named, known, ok := p.importName(ctx, t, block, targets[t.Addr])
	switch {
	case !ok:
		return ""
	case !known:
		p.notGenerated(config, "its ID or identity is known")
		return ""
	case !t.Known:
		p.notGenerated(config, "the configuration of its provider is known")
		return ""
	}
	object, _, ok := p.rt.Import(ctx, t, named)
	switch {
	case !ok:
		return ""
	case object == nil:
		p.notGenerated(config, "its provider does not defer reading it any more")
		return ""
	}
	text, _ := p.rt.Generate(ctx, t, object)
	return text
}

// notGenerated reports that an object cannot be read yet.
func (p *planner) notGenerated(config *module.Import, until string) {
	p.eval.Diagnostics.Add(failure.At(config.To.Range(), "Configuration not generated",
		"The object that is to become %s cannot be read before %s. Write a block for it, or import it later.", config.Block, until))
}
