// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stored has the states of the deployments of one stack: they are opened by the door of
// package states, listed beside the deployment files, read, and locked.
package stored

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/encryption/encryptedstore"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/declared"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/gitignore"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/operation/states"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// The codes of failures about deployments for which a caller may know a remedy of its own.
const (
	// CodeLeftDeployment is of states of deployments of which the files have no block.
	CodeLeftDeployment fault.Code = "operation/left-deployment"

	// CodeLeftDefault is the same of a state from before there were deployment files.
	CodeLeftDefault fault.Code = "operation/left-default-deployment"
)

// States are those of a stack, of which an operation is about one. They are used by one goroutine
// at a time.
type States struct {
	env         *env.Env
	sources     *sources.Sources
	shared      *states.Shared
	lockTimeout time.Duration // how long to wait for somebody else's lock
	mode        encryptedstore.Mode
	opened      *opened
}

// opened is open until the states are closed.
type opened struct {
	store      statestore.Store                  // nil until it is needed
	deployment map[string]*deployment.Deployment // by name
}

// Of returns the states of a stack. Nothing is opened yet.
func Of(e *env.Env, files *sources.Sources, shared *states.Shared, lockTimeout time.Duration) *States {
	return &States{e, files, shared, lockTimeout, encryptedstore.Usual, newOpened()}
}

func newOpened() *opened { return &opened{deployment: map[string]*deployment.Deployment{}} }

// Rekeying returns the same states for changing how they are encrypted. The caller closes them.
func (s *States) Rekeying(mode encryptedstore.Mode) *States {
	other := *s
	other.mode, other.opened = mode, newOpened()
	return &other
}

// For returns the same states for an operation on another deployment.
func (s *States) For(e *env.Env, files *sources.Sources) *States {
	other := *s
	other.env, other.sources = e, files
	return &other
}

// Of returns the same states for another deployment.
func (s *States) Of(deployment string) *States {
	e := s.env.For(deployment)
	return s.For(e, s.sources.For(e))
}

// Named returns the name of the deployment that was given, or else those of all that have a state,
// sorted.
func (s *States) Named(ctx context.Context) ([]string, error) {
	if name := s.env.NamedDeployment(); name != "" {
		return []string{name}, nil
	}
	store, err := s.Store(ctx)
	if err != nil {
		return nil, err
	}
	return store.Deployments(ctx)
}

// Close closes the store, if it was opened.
func (s *States) Close() error {
	if s.opened.store == nil {
		return nil
	}
	return s.opened.store.Close()
}

// Deployment returns where the state is that the operation is about.
func (s *States) Deployment(ctx context.Context) (*deployment.Deployment, error) {
	name, err := s.sources.Deployment()
	if err != nil {
		return nil, err
	}
	if opened := s.opened.deployment[name]; opened != nil {
		return opened, nil
	}
	store, err := s.Store(ctx)
	if err != nil {
		return nil, err
	}
	config := s.sources.Declared()
	declared := config != nil && config.Deployments[name] != nil
	s.opened.deployment[name] = &deployment.Deployment{
		Name: name, Store: store, LockTimeout: s.lockTimeout, Notify: s.env.Notify,
		Declared: declared,
	}
	return s.opened.deployment[name], nil
}

// Existing is [States.Deployment] for operations that make no state; see [States.ReadToShow].
func (s *States) Existing(ctx context.Context) (*deployment.Deployment, error) {
	opened, err := s.Deployment(ctx)
	if err != nil || opened.Declared || s.sources.Declared() == nil {
		return opened, err
	}
	return opened, s.checkListed(ctx, opened.Name)
}

// Store returns the store of the states of all deployments.
func (s *States) Store(context.Context) (statestore.Store, error) {
	if s.opened.store != nil {
		return s.opened.store, nil
	}
	place, err := s.Place()
	if err != nil {
		return nil, err
	}
	s.opened.store, err = place.OpenAs(s.mode)
	return s.opened.store, err
}

// Place returns where the states are.
func (s *States) Place() (states.Place, error) { return states.Of(s.env, s.shared) }

// Readings are those of the states of all deployments.
func (s *States) Readings(ctx context.Context) (*deployment.Readings, error) {
	place, err := s.Place()
	if err != nil {
		return nil, err
	}
	store, err := s.Store(ctx)
	if err != nil {
		return nil, err
	}
	return place.Readings(store), nil
}

// File returns the path of the file that the states are in, whether it exists or not; "" if they
// are in none, or if it is not known where they are.
func (s *States) File() string {
	place, err := s.Place()
	if err != nil {
		return ""
	}
	return place.File()
}

// Instances returns the component instances that the state has, sorted, by [states.Place.Peek].
func (s *States) Instances(ctx context.Context) ([]stackaddrs.AbsComponentInstance, error) {
	name, err := s.sources.Deployment()
	if err != nil {
		return nil, err
	}
	place, err := s.Place()
	if err != nil {
		return nil, err
	}
	snapshot, err := place.Peek(ctx, name)
	if err != nil {
		return nil, err
	}
	return deployment.Instances(snapshot), nil
}

// Read reads the state without locking it.
func (s *States) Read(ctx context.Context) (*deployment.Stored, error) {
	opened, err := s.Deployment(ctx)
	if err != nil {
		return nil, err
	}
	return opened.Read(ctx)
}

// ReadToShow is [States.Read] for operations that only show the state. It fails if the deployment
// files have none of the name that was given. Without such files, any name may be one that nothing
// was applied for yet, and reading notifies of that.
func (s *States) ReadToShow(ctx context.Context) (*deployment.Stored, error) {
	stored, err := s.Read(ctx)
	if err != nil || stored.Serial != 0 || s.sources.Declared() == nil {
		return stored, err
	}
	return stored, s.checkListed(ctx, stored.Deployment)
}

// Prior returns the state that a saved plan was made with: it has the previous outputs of
// components. It is nil if the state has moved on, or cannot be read.
func (s *States) Prior(ctx context.Context, made stackplan.FileContext) *stackstate.State {
	if made.Prior != nil {
		return made.Prior
	}
	stored, err := s.Read(ctx)
	if err != nil || stored.Lineage != made.StateLineage || uint64(stored.Serial) != made.StateSerial {
		return nil
	}
	return stored.State
}

// Outputs returns the outputs of the last apply, by name.
//
// Unknown: in whole or in part, where that apply failed or deferred a change that a value depends
// on. Marks: sensitive ones are kept.
func (s *States) Outputs(ctx context.Context) (map[string]cty.Value, error) {
	stored, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	if len(stored.State.Outputs) == 0 {
		if err := s.checkListed(ctx, stored.Deployment); err != nil {
			return nil, err
		}
	}
	return stored.State.Outputs, nil
}

// Output is one of [States.Outputs].
func (s *States) Output(ctx context.Context, name string) (cty.Value, error) {
	outputs, err := s.Outputs(ctx)
	if err != nil {
		return cty.NilVal, err
	}
	value, ok := outputs[name]
	if !ok {
		return cty.NilVal, failure.Error("No such output", "The state has no output %q.%s Outputs appear in the state with the next apply "+
			"after they were declared.",
			name, nearest.DidYouMean(name, slices.Collect(maps.Keys(outputs))))
	}
	return value, nil
}

// Lock locks and reads the state, for an operation that changes it. The caller unlocks it.
func (s *States) Lock(ctx context.Context, request statestore.LockRequest) (*deployment.Stored, error) {
	opened, err := s.Deployment(ctx)
	if err != nil {
		return nil, err
	}
	path := s.File()
	_, err = os.Stat(path)
	isNew := path != "" && errors.Is(err, fs.ErrNotExist)
	stored, err := opened.Lock(ctx, request)
	if err == nil && isNew {
		s.Ignored().AddState(ctx, path)
	}
	return stored, err
}

// Ignored are git's rules for the files next to the stack.
func (s *States) Ignored() gitignore.Rules {
	return gitignore.Rules{Dir: env.Absolute(s.env.Dir), Notify: s.env.Notify}
}

// checkListed fails if a name was given and there are deployments, but none of that name: a
// mistyped name must not look like a deployment that nothing was applied for.
func (s *States) checkListed(ctx context.Context, name string) error {
	if s.env.NamedDeployment() == "" {
		return nil
	}
	listed, diags := s.List(ctx)
	if diags.HasErrors() || len(listed) == 0 {
		return nil
	}
	_, err := declared.Find(listed, name)
	return err
}

// List returns the deployments that are declared, in the order of their blocks, and then those that
// only have a state, sorted by name.
func (s *States) List(ctx context.Context) ([]declared.Deployment, hcl.Diagnostics) {
	config, diags := s.sources.Deployments()
	if diags.HasErrors() {
		return nil, diags
	}
	store, err := s.Store(ctx)
	if err != nil {
		return nil, diags.Extend(deployment.Diagnostics(err))
	}
	listed, err := declared.List(ctx, config, store)
	return listed, diags.Extend(deployment.Diagnostics(err))
}

// Find returns one of [States.List].
func (s *States) Find(ctx context.Context, name string) (declared.Deployment, hcl.Diagnostics) {
	listed, diags := s.List(ctx)
	if diags.HasErrors() {
		return declared.Deployment{}, diags
	}
	found, err := declared.Find(listed, name)
	return found, diags.Extend(deployment.Diagnostics(err))
}

// CheckLeft fails if the store has objects of deployments of which the deployment files have no
// block, as of one whose block was deleted before its objects were destroyed.
func (s *States) CheckLeft(ctx context.Context) hcl.Diagnostics {
	config, diags := s.sources.Deployments()
	if config == nil || diags.HasErrors() {
		return nil // which is reported elsewhere
	}
	store, err := s.Store(ctx)
	if err != nil {
		return deployment.Diagnostics(err)
	}
	left, err := declared.Left(ctx, config, store)
	if err != nil {
		return deployment.Diagnostics(err)
	}
	if len(left) == 0 {
		return nil
	}
	remedy := "Put its block back with destroy = true and its inputs, apply, and delete it then."
	code := CodeLeftDeployment
	if slices.Equal(left, []string{settings.DefaultDeployment}) {
		code, remedy = CodeLeftDefault, "It is the state of applies before there were deployment files: declare a deployment of this name, or "+
			"give another one that state."
	}
	return hcl.Diagnostics{failure.With(code, failure.New("Deployment block missing",
		"The state has objects of the deployment %s, of which no block is there. %s", strings.Join(left, ", "), remedy))}
}
