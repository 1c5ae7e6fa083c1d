// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package declared

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
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Deployment is a deployment with a summary of its state.
type Deployment struct {
	Name      string
	Declared  *deployconfig.Deployment // nil for one that only has a state
	Automatic bool                     // its group is declared nowhere

	Last       statestore.Version // that has changed the state; zero without one
	Components int
	Objects    int
	Published  deployment.Published // by the stack with its applies
}

// List returns the deployments that are declared, in the order of their blocks, and then those that
// only have a state, sorted by name. The configuration may be nil.
func List(ctx context.Context, config *deployconfig.Config, store statestore.Store) ([]Deployment, error) {
	stored, err := store.Deployments(ctx)
	if err != nil {
		return nil, err
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
	var all []Deployment
	for _, name := range names {
		state := Deployment{Name: name}
		if slices.Contains(stored, name) {
			if state, err = readState(ctx, store, name); err != nil {
				return nil, err
			}
		}
		if config != nil && config.Deployments[name] != nil {
			state.Declared = config.Deployments[name]
			group := config.Groups[state.Declared.Group]
			state.Automatic = group == nil || group.Automatic
		}
		all = append(all, state)
	}
	return all, nil
}

func readState(ctx context.Context, store statestore.Store, name string) (Deployment, error) {
	state := Deployment{Name: name}
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

// CodeUnknown is of a deployment that there is not.
const CodeUnknown fault.Code = "deployment/unknown"

func unknown(detail string, args ...any) error {
	return hcl.Diagnostics{failure.With(CodeUnknown, failure.New("No such deployment", detail, args...))}
}

// Find returns the one of listed deployments that has a name.
func Find(listed []Deployment, name string) (Deployment, error) {
	var names []string
	for _, one := range listed {
		if one.Name == name {
			return one, nil
		}
		names = append(names, one.Name)
	}
	if len(names) == 0 {
		return Deployment{}, unknown("There is no deployment %q: none is declared, and nothing was applied.", name)
	}
	return Deployment{}, unknown("There is no deployment %q.%s The deployments are: %s.",
		name, nearest.DidYouMean(name, names), strings.Join(names, ", "))
}

// Left returns the deployments, sorted by name, that have objects in a store, and no block in the
// files.
func Left(ctx context.Context, config *deployconfig.Config, store statestore.Store) ([]string, error) {
	names, err := store.Deployments(ctx)
	if err != nil {
		return nil, err
	}
	var left []string
	for _, name := range names {
		if config.Deployments[name] != nil {
			continue
		}
		snapshot, err := store.Read(ctx, name)
		if err != nil {
			return nil, err
		}
		state, err := deployment.Decode(snapshot.Records)
		if err != nil {
			return nil, err
		}
		if len(state.Components) > 0 {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	return left, nil
}
