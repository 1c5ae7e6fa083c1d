// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/declared"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/gitignore"
	"github.com/cairnstacks/cairn/internal/operation/statechange"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// CodeInterrupted is of applies that were cut off, for which a caller may know a remedy of its own.
const CodeInterrupted fault.Code = "operation/interrupted-apply"

// runsDir is where the engine keeps the changes of the deployment's applies until they are in the
// state. Where it is not known which deployment is meant, nothing can be applied, and any will do:
// that of an operation on the configuration alone.
func (s *Stack) runsDir() (string, error) {
	name, err := s.deploymentName()
	if err != nil && s.namedDeployment() == "" {
		name, err = settings.DefaultDeployment, nil
	}
	switch {
	case err != nil:
		return "", err
	case name == settings.DefaultDeployment:
		return filepath.Join(s.work, "runs"), nil
	}
	return filepath.Join(s.work, "deployments", name, "runs"), nil
}

// openDeployment returns where the state is.
func (s *Stack) openDeployment(ctx context.Context) (*deployment.Deployment, error) {
	if s.deployment != nil {
		return s.deployment, nil
	}
	name, err := s.deploymentName()
	if err != nil {
		return nil, err
	}
	store, err := s.openStore(ctx)
	if err != nil {
		return nil, err
	}
	config := s.deploymentConfig()
	declared := config != nil && config.Deployments[name] != nil
	s.deployment = &deployment.Deployment{Name: name, Store: store, LockTimeout: s.opts.LockTimeout, Notify: s.opts.Notify, Declared: declared}
	return s.deployment, nil
}

// openStore returns the store of the states of all deployments.
func (s *Stack) openStore(ctx context.Context) (statestore.Store, error) {
	if s.store != nil {
		return s.store, nil
	}
	location, err := s.stateLocation()
	if err != nil {
		return nil, err
	}
	var shared *statestore.Shared
	if s.opts.Shared != nil {
		shared = &s.opts.Shared.stores
	}
	s.store, err = statestore.OpenWith(ctx, location, shared)
	return s.store, err
}

// sqliteScheme begins the location of a state that is in a file.
const sqliteScheme = "sqlite://"

// stateLocation is where the state is, as a path or URL.
func (s *Stack) stateLocation() (string, error) {
	read, err := s.Settings()
	if err != nil {
		return "", err
	}
	if s.opts.State != "" {
		return s.opts.State, nil // by someone in the current directory
	}
	if named := s.getenv(StateVariable); named != "" {
		return s.placed(named, s.fromEnviron), nil
	}
	return s.placed(cmp.Or(read.State, DefaultState), s.fromHome), nil
}

// placed makes the location of a state that is in a file one that is not relative to the stack.
func (s *Stack) placed(location string, join func(string) string) string {
	path, isFile := strings.CutPrefix(location, sqliteScheme)
	if !isFile && strings.Contains(path, "://") {
		return location
	}
	return join(path)
}

// stateFile is the path of the state, whether it exists or not.
func (s *Stack) stateFile() (string, error) {
	location, err := s.stateLocation()
	return strings.TrimPrefix(location, sqliteScheme), err
}

// StateFile returns the path of the file that the state is in, whether it exists or not; "" if it
// is in none, or if it is not known where it is.
func (s *Stack) StateFile() string {
	path, err := s.stateFile()
	if err != nil || strings.Contains(path, "://") {
		return ""
	}
	return path
}

// PeekInstances returns the component instances that the state has, sorted. It takes no lock,
// starts no process, and leaves no trace on the disk. A state that is in no file, and one that is
// being written to, it cannot read.
func (s *Stack) PeekInstances(ctx context.Context) ([]stackaddrs.AbsComponentInstance, error) {
	name, err := s.deploymentName()
	if err != nil {
		return nil, err
	}
	path, err := s.stateFile()
	if err != nil {
		return nil, err
	}
	return deployment.PeekInstances(ctx, path, name)
}

// ignoreRules are git's rules for the files next to the stack.
func (s *Stack) ignoreRules() gitignore.Rules {
	return gitignore.Rules{Dir: absolute(s.dir), Notify: s.opts.Notify}
}

// ReadState reads the state without locking it.
func (s *Stack) ReadState(ctx context.Context) (*deployment.Stored, error) {
	opened, err := s.openDeployment(ctx)
	if err != nil {
		return nil, err
	}
	return opened.Read(ctx)
}

// ReadToShow is [Stack.ReadState] for commands that only show the state. It fails if the deployment
// files have none of the name that was given. Without such files, any name may be one that nothing
// was applied for yet, and reading notifies of that.
func (s *Stack) ReadToShow(ctx context.Context) (*deployment.Stored, error) {
	stored, err := s.ReadState(ctx)
	if err != nil || stored.Serial != 0 || s.deploymentConfig() == nil {
		return stored, err
	}
	return stored, s.checkListed(ctx, stored.Deployment)
}

// openExisting is openDeployment for operations that make no state; see [Stack.ReadToShow].
func (s *Stack) openExisting(ctx context.Context) (*deployment.Deployment, error) {
	opened, err := s.openDeployment(ctx)
	if err != nil || opened.Declared || s.deploymentConfig() == nil {
		return opened, err
	}
	return opened, s.checkListed(ctx, opened.Name)
}

// checkListed fails if a name was given and there are deployments, but none of that name: a
// mistyped name must not look like a deployment that nothing was applied for.
func (s *Stack) checkListed(ctx context.Context, name string) error {
	if s.namedDeployment() == "" {
		return nil
	}
	listed, diags := s.DeploymentStates(ctx)
	if diags.HasErrors() || len(listed) == 0 {
		return nil
	}
	_, err := declared.Find(listed, name)
	return err
}

// StateChanges are the changes of the state that are made by hand.
func (s *Stack) StateChanges() *statechange.State {
	return &statechange.State{Open: s.openExisting, Lock: s.lockState, CheckInterrupted: s.checkNothingInterrupted, Config: s.config}
}

// lockState locks and reads the state, for an operation that changes it. The caller unlocks it.
func (s *Stack) lockState(ctx context.Context, request statestore.LockRequest) (*deployment.Stored, error) {
	opened, err := s.openDeployment(ctx)
	if err != nil {
		return nil, err
	}
	path, err := s.stateFile()
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	stored, err := opened.Lock(ctx, request)
	if err == nil && isNew {
		s.ignoreRules().AddState(ctx, path)
	}
	return stored, err
}

// lockToPlan is lockState for an operation that changes nothing, which does without the lock if it
// must.
func (s *Stack) lockToPlan(ctx context.Context) (*deployment.Stored, error) {
	opened, err := s.openDeployment(ctx)
	if err != nil {
		return nil, err
	}
	return opened.LockToPlan(ctx)
}

// readBeside reads the state for an operation that neither waits for others nor keeps them from
// anything.
func (s *Stack) readBeside(ctx context.Context) (*deployment.Stored, error) {
	opened, err := s.openDeployment(ctx)
	if err != nil {
		return nil, err
	}
	return opened.ReadBeside(ctx)
}

// checkNothingInterrupted fails if an apply was cut off of which the result is not in the state
// yet, and whose secret is not the given one. It would be recovered into the state regardless of
// later changes: for the address that its component had then, and over later contents of that. To
// be called with the state locked.
func (s *Stack) checkNothingInterrupted(ctx context.Context, stored *deployment.Stored, except []byte) error {
	secret, err := stored.Secret(ctx)
	if err != nil || secret == nil || string(secret) == string(except) {
		return err
	}
	session, err := s.openIdle(ctx)
	if err != nil {
		return err
	}
	components, err := keptApplies(ctx, session, secret)
	if err != nil {
		return err
	}
	if s.opts.ModulesEngine == nil { // the session may be of another engine than the apply
		native, err := s.engines.KeptByNative(ctx, secret)
		if err != nil {
			return err
		}
		components = append(components, native...)
		slices.Sort(components)
		components = slices.Compact(components)
	}
	if len(components) == 0 && stored.Journal == "" {
		return nil
	}
	if len(components) == 0 {
		components = []string{"the stack"}
	}
	return hcl.Diagnostics{failure.WithCode(CodeInterrupted, failure.New("Interrupted apply not recovered",
		"An earlier apply was cut off, and what it did with %s is not in the state yet. Planning recovers that.", strings.Join(components, ", ")))}
}

// Diagnostics returns the diagnostics of an error of this package, errors of the state store
// explained.
func Diagnostics(err error) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if errors.As(err, &diags) {
		return diags
	}
	if diag := deployment.StoreProblem(err); diag != nil {
		return hcl.Diagnostics{diag}
	}
	return failure.Diagnostics(err)
}
