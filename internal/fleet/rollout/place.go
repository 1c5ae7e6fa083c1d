// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"cmp"
	"fmt"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/settings"
)

// StackState says where the state of a unit is that is a stack.
type StackState struct {
	Name string // that only the same state has; "" if it is not known
	File string // absolute path; "" if it is in none

	// Key is the key of the state in a store that has those of many stacks, if settings name it; ""
	// otherwise. Other machines may have such a store where this one has files.
	Key string
}

// StateOf returns where the state of a stack is on this machine.
//
// Errors: those of its settings.
func StateOf(u *Unit) (StackState, error) { return stateIn(u, Environment(u)) }

func stateIn(u *Unit, environment []string) (StackState, error) {
	stack := operation.Open(operation.Options{
		Env: env.Options{Dir: u.Dir, Home: u.Home, Environ: environment}, Engine: engines.Request{ChangesNothing: true},
	})
	defer stack.Close() //nolint:errcheck // nothing was opened
	read, err := stack.Env().Settings()
	if err != nil {
		return StackState{}, fmt.Errorf("the settings of %s: %w", u.Name, err)
	}
	deployment := cmp.Or(u.Deployment, settings.DefaultDeployment)
	found := StackState{}
	if read.Name != "" {
		found.Key = read.Name + " " + deployment
	}
	place, err := stack.States().Place()
	if err != nil {
		return found, nil // the mistake is reported by the work that opens it
	}
	where := place.String()
	if found.File = place.File(); found.File != "" {
		found.File = planfile.StatePlace(found.File)
		where = found.File
	}
	found.Name = "stack " + where + " " + deployment
	return found, nil
}

// SharingState returns two chosen units that have one state: one of them would change the state
// that the other one has planned for. If other machines do the work, the environment of this one
// says nothing of places, and a stack without a block about its state may have it in a store of
// theirs.
func (w *Work) SharingState(elsewhere bool) (one, other *Unit) {
	units := map[string]*Unit{}
	for _, n := range w.Chosen() {
		u := &w.Units[n]
		for _, name := range statesOf(u, elsewhere) {
			if first := units[name]; first != nil {
				return first, u
			}
			units[name] = u
		}
	}
	return nil, nil
}

// statesOf returns names of the state of a unit. Equal ones are of the same state.
func statesOf(u *Unit, elsewhere bool) []string {
	switch u.Kind {
	case Root:
		return []string{fmt.Sprintf("root %q %s", u.Dir, u.Workspace)}
	case Components:
	default:
		return nil
	}
	names := []string{fmt.Sprintf("directory %q %s", u.Dir, cmp.Or(u.Deployment, settings.DefaultDeployment))}
	environment := Environment(u)
	if elsewhere {
		environment = environ.Without(environment, env.StateVariable)
	}
	state, err := stateIn(u, environment)
	if err != nil {
		return names // the work on it reports the mistake
	}
	if state.Name != "" {
		names = append(names, state.Name)
	}
	if elsewhere && state.File != "" && state.Key != "" {
		names = append(names, "key "+state.Key)
	}
	return names
}
