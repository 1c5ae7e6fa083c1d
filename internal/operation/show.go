// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/graph"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Graph returns the components of the configuration and their requirements. The configuration has
// to be valid, as far as that shows without an engine and providers: none is looked for.
func (s *Stack) Graph(ctx context.Context) (graph.Graph, hcl.Diagnostics) {
	config, diags := s.config()
	if config == nil || len(config.Files) == 0 && diags.HasErrors() {
		return graph.Graph{}, diags
	}
	opts := stackruntime.Options{Config: config, StopNow: s.opts.StopNow}
	if s.opts.ModulesEngine == nil {
		opts.Session = s.engines.Sources(config.Resolver)
	} else {
		opened, err := s.openSession(ctx)
		if err != nil {
			return graph.Graph{}, diags.Extend(Diagnostics(err))
		}
		opts.Session = opened
	}
	if moreDiags := stackruntime.Validate(ctx, opts); diags.HasErrors() || moreDiags.HasErrors() {
		return graph.Graph{}, diags.Extend(moreDiags)
	}
	return graph.New(stackruntime.Inspect(stackruntime.InspectRequest{Options: opts}).ComponentGraph(ctx)), diags
}

// PriorState returns the state that a saved plan was made with: it has the previous outputs of
// components. It is nil if the state has moved on, or cannot be read.
func (s *Stack) PriorState(ctx context.Context, made stackplan.FileContext) *stackstate.State {
	if made.Prior != nil {
		return made.Prior
	}
	stored, err := s.ReadState(ctx)
	if err != nil || stored.Lineage != made.StateLineage || uint64(stored.Serial) != made.StateSerial {
		return nil
	}
	return stored.State
}
