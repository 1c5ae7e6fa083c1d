// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/graph"
	"github.com/cairnstacks/cairn/stackruntime"
)

// Graph returns the components of the configuration and their requirements. The configuration has
// to be valid, as far as that shows without an engine and providers: none is looked for.
func (s *Stack) Graph(ctx context.Context) (graph.Graph, hcl.Diagnostics) {
	config, diags := s.sources.Config()
	if config == nil || len(config.Files) == 0 && diags.HasErrors() {
		return graph.Graph{}, diags
	}
	opts := stackruntime.Options{Config: config, StopNow: s.opts.StopNow}
	if s.opts.Engine.Given == nil {
		opts.Session = s.engines.Sources(config.Resolver)
	} else {
		opened, err := s.session(ctx)
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
