// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// QueryRequest is a request to find existing objects by the query files of a component's module.
type QueryRequest struct {
	Options

	// Component is the instance whose inputs and provider configurations the query has.
	Component stackaddrs.AbsComponentInstance

	// Inputs are as in [PlanRequest].
	Inputs map[string]cty.Value

	// Generate is set if configuration for the objects is wanted.
	Generate bool

	// Prior has the results of the other components; nil means an empty state.
	Prior *stackstate.State
}

// Query finds existing objects, and plans nothing. The inputs and the provider configurations of
// the component are those of a plan for which all other components stay as they are.
//
// With errors the result may be nil.
func Query(ctx context.Context, req QueryRequest) (*engine.QueryResult, hcl.Diagnostics) {
	options := planOptions(PlanRequest{Inputs: req.Inputs, Prior: req.Prior})
	return stackeval.NewForQuerying(stackeval.Options(req.Options), options).QueryComponent(ctx, req.Component, req.Generate)
}
