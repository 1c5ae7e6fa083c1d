// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package overview looks at the states of many units at once: when each was applied last and by
// whom, what it has, who works on it, and what waits to be looked at.
//
// Rules:
//
//   - V1. Nothing is written, locked, or run, but for a program that unwraps the key of a state.
//   - V2. A unit whose state cannot be read has its error, and is no reason for another to be left
//     out.
//   - V3. No value of a state is part of the result.
package overview

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// Options say what is looked at.
type Options struct {
	Units []*fleet.Unit // tasks among them are left out

	// Stack are the options with which all stacks are opened, without the one that is meant.
	Stack operation.Options

	// Parallel is how many states are read at the same time; 0 stands for a few.
	Parallel int
}

// usualParallel is enough to hide the time that a database or object storage takes to answer.
const usualParallel = 8

// Unit is a deployment of a stack, or a root module in one of its workspaces.
type Unit struct {
	Name       string
	Kind       rollout.Kind
	Path       string // from the root, with slashes
	Directory  string // as users see it
	Dir        string
	Deployment string   // of a stack, "default" for the unnamed one
	Workspace  string   // of a root module, "" for the default one
	Environ    []string // with which it is worked on
	Group      string   // of deployments, as the deployment files say it; "" for none
	Groups     []string
	Tags       []string

	Declared bool // false for a deployment that only has a state
	Destroy  bool // the next apply destroys it

	Place string // where its state is, without credentials
	State State
	Drift *driver.LastDrift // nil if it was not looked for

	// Waiting is the plan that waits for approval, nil if there is none.
	Waiting *Waiting

	Err error // why the state, or a part of what is here, is not known
}

// State is the state of a unit in short.
type State struct {
	Known bool // false if nothing was read, for the reason in Unread if there is no error

	// Unread says why the state of a root module is not read, "" for any other.
	Unread string

	// Lineage is that of the state of a root module, "" for any other.
	Lineage string

	Last statestore.Version // zero if nothing was applied; of a root module its serial and the time of its file

	deployment.Summary

	Holders []statestore.LockInfo
}

// Waiting is a plan that was saved until somebody approves it.
type Waiting struct {
	File  string
	Saved time.Time
}

// Running reports whether somebody holds a lock with which the state is changed.
func (s *State) Running() bool {
	return slices.ContainsFunc(s.Holders, func(h statestore.LockInfo) bool {
		return h.Operation != deployment.Plan && h.Process() != statestore.ProcessGone
	})
}

// CutOff reports whether the last operation has not come to its end, and nobody is at it.
func (s *State) CutOff() bool {
	return (s.Last.Unfinished() || s.Applies > 0) && !s.Running()
}

// Outdated reports whether something was applied after drift was looked for.
func (u *Unit) Outdated() bool { return u.Drift != nil && u.State.Last.Started.After(u.Drift.At) }

// Read looks at the units, and returns them in their order. Deployments of their stacks of which
// there is only a state come after those of the same stack.
func Read(ctx context.Context, o Options) []Unit {
	if o.Stack.Shared == nil {
		o.Stack.Shared = &operation.Shared{} // so that a store of many stacks is opened once
	}
	o.Stack.Engine = engines.Request{ChangesNothing: true}
	stacks := stacksOf(o.Units)
	parallel := cmp.Or(o.Parallel, usualParallel)
	opened, turns := make(chan struct{}, parallel), make(chan struct{}, parallel)
	read := make([][]Unit, len(stacks))
	var wait sync.WaitGroup
	for i, s := range stacks {
		wait.Go(func() {
			read[i] = during(opened, func() []Unit { return s.read(ctx, o.Stack, turns) }) // so many files are open at once
		})
	}
	wait.Wait()
	return slices.Concat(read...)
}

// group are the units in one directory with one environment: the deployments of a stack, or a root
// module.
type group struct {
	units []*fleet.Unit
}

// stacksOf puts units that have a store in common together, in the order of their first ones.
func stacksOf(units []*fleet.Unit) []*group {
	var groups []*group
	byDir := map[string]*group{}
	for _, unit := range units {
		switch {
		case unit.Task != nil:
		case unit.Kind == rollout.Root:
			groups = append(groups, &group{[]*fleet.Unit{unit}})
		case byDir[unit.Dir] != nil && slices.Equal(byDir[unit.Dir].units[0].Env, unit.Env):
			byDir[unit.Dir].units = append(byDir[unit.Dir].units, unit)
		default:
			byDir[unit.Dir] = &group{[]*fleet.Unit{unit}}
			groups = append(groups, byDir[unit.Dir])
		}
	}
	return groups
}

func (g *group) read(ctx context.Context, options operation.Options, turns chan struct{}) []Unit {
	first := g.units[0]
	if first.Kind == rollout.Root {
		return []Unit{readRoot(first)}
	}
	options.Env.Dir, options.Env.Environ = first.Dir, environment(first)
	options.Env.Files, options.Env.Notify = nil, nil // which are not for several at the same time
	stack := operation.Open(options)
	defer stack.Close() //nolint:errcheck // nothing was written
	opened := open(ctx, stack)
	units := g.list(opened)
	var wait sync.WaitGroup
	for i := range units {
		wait.Go(func() {
			units[i] = during(turns, func() Unit { return opened.look(ctx, units[i]) })
		})
	}
	wait.Wait()
	return units
}

// during does something in one of the turns.
func during[T any](turns chan struct{}, do func() T) T {
	turns <- struct{}{}
	defer func() { <-turns }()
	return do()
}

func environment(u *fleet.Unit) []string {
	return rollout.Environment(&rollout.Unit{Env: u.Env, Workspace: u.Workspace})
}

// openStack is a stack with the store of its deployments.
type openStack struct {
	env     *env.Env
	config  *deployconfig.Config // nil without deployment files
	store   statestore.Store     // nil if it cannot be opened
	place   string
	stored  []string // deployments that have a state
	holders map[string][]statestore.LockInfo
	err     error
}

// open opens the store and asks it what it has of all deployments.
func open(ctx context.Context, stack *operation.Stack) *openStack {
	o := &openStack{env: stack.Env(), holders: map[string][]statestore.LockInfo{}}
	config, diags := stack.Sources().Deployments()
	o.config = config
	if diags.HasErrors() {
		o.err = diags
	}
	place, err := stack.States().Place()
	if err == nil {
		o.place = place.String()
		o.store, err = stack.States().Store(ctx)
	}
	if err == nil {
		o.stored, err = o.store.Deployments(ctx)
	}
	var locks []statestore.LockInfo
	if err == nil {
		locks, err = o.store.Locks(ctx)
	}
	if err != nil {
		o.store, o.err = nil, err
		return o
	}
	for _, lock := range locks {
		o.holders[lock.Deployment] = append(o.holders[lock.Deployment], lock)
	}
	return o
}

// list returns the units of a stack, of which no state was looked at: one that names no deployment
// stands for all.
func (g *group) list(o *openStack) []Unit {
	var units []Unit
	named := map[string]bool{}
	for _, unit := range g.units {
		if unit.Deployment != "" {
			units = append(units, newUnit(unit, nameOf(unit), unit.Deployment))
			named[unit.Deployment] = true
		}
	}
	first := g.units[0]
	stack := stackName(first)
	var all []string
	if first.Deployment == "" && o.config != nil {
		all = slices.Clone(o.config.Order)
	}
	for _, name := range o.stored {
		isDeclared := o.config != nil && o.config.Deployments[name] != nil
		if !named[name] && !slices.Contains(all, name) && !isDeclared {
			all = append(all, name)
		}
	}
	if len(all)+len(units) == 0 {
		all = []string{settings.DefaultDeployment}
	}
	for _, name := range all {
		shown := deployconfig.NodeName(stack, name)
		if len(all) == 1 && len(named) == 0 {
			shown = stack
		}
		units = append(units, newUnit(first, shown, name))
	}
	for i := range units {
		units[i].declare(o.config)
	}
	return units
}

// nameOf is the name of a unit. Where directories name stacks, the one in the current directory is
// named by itself, as "." says nothing.
func nameOf(u *fleet.Unit) string {
	const here = "."
	switch own := filepath.Base(env.Absolute(u.Dir)); u.Name {
	case here:
		return own
	case deployconfig.NodeName(here, u.Deployment):
		return deployconfig.NodeName(own, u.Deployment)
	}
	return u.Name
}

// stackName is the name of the stack of a unit, which may be a deployment of it.
func stackName(u *fleet.Unit) string {
	name := nameOf(u)
	if suffix := deployconfig.NodeName("", u.Deployment); u.Deployment != "" && len(name) > len(suffix) {
		return name[:len(name)-len(suffix)]
	}
	return name
}

func newUnit(u *fleet.Unit, name, deployment string) Unit {
	return Unit{
		Name: name, Kind: cmp.Or(u.Kind, rollout.Components), Path: u.Path, Directory: u.Directory, Dir: u.Dir,
		Deployment: deployment, Workspace: u.Workspace, Environ: environment(u), Groups: u.Groups, Tags: u.Tags,
	}
}

// declare adds what the deployment files say. Without such files each deployment is a declared one.
func (u *Unit) declare(config *deployconfig.Config) {
	if config == nil {
		u.Declared = true
		return
	}
	block := config.Deployments[u.Deployment]
	if block == nil {
		return
	}
	u.Declared, u.Destroy = true, block.Destroy
	if group := config.Groups[block.Group]; group != nil && !group.Automatic {
		u.Group = block.Group
	}
}

// look adds the state, and the files beside it.
func (o *openStack) look(ctx context.Context, u Unit) Unit {
	u.Place, u.Err = o.place, o.err
	file := o.env.WaitingPlan(u.Deployment)
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
		u.Waiting = &Waiting{file, info.ModTime()}
	}
	var err error
	if u.Drift, err = driver.ReadLastDrift(o.env, u.Deployment); err != nil && u.Err == nil {
		u.Err = err
	}
	if o.store == nil {
		return u
	}
	u.State.Holders = o.holders[u.Deployment]
	if !slices.Contains(o.stored, u.Deployment) {
		u.State.Known = true
		return u
	}
	snapshot, err := o.store.Read(ctx, u.Deployment)
	if err == nil {
		u.State.Last = snapshot.Version
		u.State.Summary, err = deployment.Summarize(snapshot.Records)
	}
	u.State.Known = err == nil
	if err != nil {
		u.Err = err
	}
	return u
}

// Problem is the error of a unit with the explanation that commands give, nil if there is none.
func (u *Unit) Problem() *hcl.Diagnostic {
	for _, diag := range operation.Diagnostics(u.Err) {
		if diag.Severity == hcl.DiagError {
			return diag
		}
	}
	return nil
}
