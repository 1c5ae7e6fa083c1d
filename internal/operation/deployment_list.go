// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// DeploymentState is a deployment with what its state has.
type DeploymentState struct {
	Name      string
	Declared  *deployconfig.Deployment // nil for one that only has a state
	Automatic bool                     // its group is declared nowhere

	Last       statestore.Version // that has changed the state; zero without one
	Components int
	Objects    int
	Published  deployment.Published // by the stack when it was applied last
}

// DeploymentStates returns the deployments that are declared, in the order of their blocks, and then those that only have a state, sorted by name.
func (s *Stack) DeploymentStates(ctx context.Context) ([]DeploymentState, hcl.Diagnostics) {
	config, diags := s.Deployments()
	if diags.HasErrors() {
		return nil, diags
	}
	store, err := s.openStore(ctx)
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	stored, err := store.Deployments(ctx)
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	var names []string
	if config != nil {
		names = slices.Clone(config.Order)
	}
	for _, name := range slices.Sorted(slices.Values(stored)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var states []DeploymentState
	for _, name := range names {
		state := DeploymentState{Name: name}
		if slices.Contains(stored, name) {
			if state, err = readDeploymentState(ctx, store, name); err != nil {
				return nil, diags.Extend(Diagnostics(err))
			}
		}
		if config != nil && config.Deployments[name] != nil {
			state.Declared = config.Deployments[name]
			group := config.Groups[state.Declared.Group]
			state.Automatic = group == nil || group.Automatic
		}
		states = append(states, state)
	}
	return states, diags
}

func readDeploymentState(ctx context.Context, store statestore.Store, name string) (DeploymentState, error) {
	state := DeploymentState{Name: name}
	stored, err := (&deployment.Deployment{Name: name, Store: store}).Read(ctx)
	if err != nil {
		return state, err
	}
	contents, err := stored.Contents("")
	if err != nil {
		return state, err
	}
	for _, component := range contents {
		state.Components++
		state.Objects += len(component.Objects)
	}
	state.Last = stored.Version
	state.Published, err = stored.Published()
	return state, err
}

// DeploymentState returns one of [Stack.DeploymentStates].
func (s *Stack) DeploymentState(ctx context.Context, name string) (DeploymentState, hcl.Diagnostics) {
	states, diags := s.DeploymentStates(ctx)
	if diags.HasErrors() {
		return DeploymentState{}, diags
	}
	var names []string
	for _, state := range states {
		if state.Name == name {
			return state, diags
		}
		names = append(names, state.Name)
	}
	if len(names) == 0 {
		return DeploymentState{}, diags.Append(failure.New("No such deployment", "There is no deployment %q: none is declared, and nothing was applied.", name))
	}
	return DeploymentState{}, diags.Append(failure.New("No such deployment", "There is no deployment %q.%s The deployments are: %s.",
		name, nearest.DidYouMean(name, names), strings.Join(names, ", ")))
}
