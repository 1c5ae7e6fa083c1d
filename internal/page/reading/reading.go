// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package reading finds what pages show: the units of a repository, their states, plans and
// histories. It reads anew what is asked for, but for what cannot have changed; nothing is locked
// or written.
package reading

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/overview"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/fleet/savedplan"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/blame"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/graph"
	"github.com/cairnstacks/cairn/internal/page/model"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// Options say what is read.
type Options struct {
	// List lists the units of the repository. It is called again for each look at them.
	List func(context.Context) (*fleet.Source, error)

	Stack     operation.Options // with which stacks are opened, without the one that is meant
	PlanFiles []string          // besides those that wait for approval
	Sets      []string          // absolute directories of sets of plans
}

// Repository is a repository with its units. Safe for concurrent use.
type Repository struct {
	opts   Options
	shared operation.Shared

	mu struct {
		sync.Mutex
		units    []overview.Unit
		src      *fleet.Source // nil if they could not be listed
		problems []string
		at       time.Time
		plans    map[string]*readPlan
	}
	bases baseCache
}

// New returns a repository, of which nothing was read yet.
func New(opts Options) *Repository {
	r := &Repository{opts: opts}
	r.opts.Stack.Engine = engines.Request{ChangesNothing: true}
	r.mu.plans = map[string]*readPlan{}
	return r
}

// fresh is how long a look at all units holds: that of several tabs, or of a page and its parts.
const fresh = time.Second

// Units looks at all units. Problems say why some of them could not be listed.
func (r *Repository) Units(ctx context.Context) (units []overview.Unit, problems []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.mu.at) < fresh {
		return r.mu.units, r.mu.problems
	}
	r.mu.problems, r.mu.units, r.mu.src = nil, nil, nil
	src, err := r.opts.List(ctx)
	if err == nil {
		r.mu.src = src
		for _, diag := range src.Diags {
			r.mu.problems = append(r.mu.problems, diag.Summary+": "+diag.Detail)
		}
		options := r.opts.Stack
		options.Shared = &r.shared
		r.mu.units = overview.Read(ctx, overview.Options{Units: src.Listed(), Stack: options})
	} else {
		for _, diag := range operation.Diagnostics(err) {
			r.mu.problems = append(r.mu.problems, diag.Summary+": "+diag.Detail)
		}
	}
	r.mu.at = time.Now()
	return r.mu.units, r.mu.problems
}

// look returns all units with their source, which is nil if they could not be listed.
func (r *Repository) look(ctx context.Context) ([]overview.Unit, *fleet.Source) {
	units, _ := r.Units(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	return units, r.mu.src
}

// Forget makes the next look at the units a new one.
func (r *Repository) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.at = time.Time{}
}

// ErrNotFound is of something that is not there.
var ErrNotFound = errors.New("there is no such thing here")

// Unit returns the unit with a name.
//
// Errors: [ErrNotFound].
func (r *Repository) Unit(ctx context.Context, name string) (overview.Unit, error) {
	units, _ := r.Units(ctx)
	for _, u := range units {
		if u.Name == name {
			return u, nil
		}
	}
	return overview.Unit{}, ErrNotFound
}

// Open opens the stack of a unit. The caller closes it.
func (r *Repository) Open(u overview.Unit) *operation.Stack { return operation.Open(r.options(u)) }

func (r *Repository) options(u overview.Unit) operation.Options {
	options := r.opts.Stack
	options.Shared = &r.shared
	options.Env.Dir, options.Env.Environ, options.Env.Deployment = u.Dir, u.Environ, u.Deployment
	options.Env.Files, options.Env.Notify = nil, nil // which are not for several at the same time
	return options
}

// in calls a function with the opened stack of a unit, which is one with a state.
func in[T any](r *Repository, u overview.Unit, do func(*operation.Stack) (T, error)) (T, error) {
	if u.Kind != rollout.Components {
		var none T
		return none, failure.Error("Not a stack", "The state of a root module is known to its engine only.")
	}
	stack := r.Open(u)
	defer stack.Close() //nolint:errcheck // nothing was written
	return do(stack)
}

// History returns the serials of a unit, oldest first.
func (r *Repository) History(ctx context.Context, u overview.Unit) ([]statestore.Version, error) {
	return in(r, u, func(stack *operation.Stack) ([]statestore.Version, error) {
		return stack.StateChanges().History(ctx)
	})
}

// Blame returns the past of the objects at an address.
func (r *Repository) Blame(ctx context.Context, u overview.Unit, address string) ([]blame.Object, error) {
	return in(r, u, func(stack *operation.Stack) ([]blame.Object, error) {
		return blame.Of(ctx, stack.States(), address)
	})
}

// Objects returns the page of the objects of a state.
func (r *Repository) Objects(ctx context.Context, u overview.Unit, shown model.Unit, q model.Query) (model.Objects, error) {
	return in(r, u, func(stack *operation.Stack) (model.Objects, error) {
		stored, err := stack.States().ReadToShow(ctx)
		if err != nil {
			return model.Objects{}, err
		}
		contents, err := stored.Contents("")
		return model.NewObjects(shown, contents, q), err
	})
}

// Graph returns the components of a unit: those of the plan that waits, or of the configuration, or
// if that has mistakes, of the state. Source says which, and note why it is not a better one.
func (r *Repository) Graph(ctx context.Context, u overview.Unit) (g graph.Graph, source, note string, err error) {
	if u.Waiting != nil {
		plan, planErr := r.Plan(ctx, &u, u.Waiting.File)
		if planErr == nil {
			return graph.OfPlan(plan.Plan), "the plan that waits for approval", "", nil
		}
		note = "The plan that waits cannot be read: " + failure.Reason(planErr)
	}
	g, err = in(r, u, func(stack *operation.Stack) (graph.Graph, error) {
		g, diags := stack.Graph(ctx)
		if !diags.HasErrors() {
			source = "the configuration"
			return g, nil
		}
		source, note = "the state", "The configuration has mistakes: "+firstError(diags)
		stored, err := stack.States().Read(ctx)
		if err != nil {
			return graph.Graph{}, err
		}
		return graph.OfState(stored.State), nil
	})
	return g, source, note, err
}

func firstError(diags hcl.Diagnostics) string {
	for _, diag := range diags {
		if diag.Severity == hcl.DiagError {
			return diag.Summary + ": " + diag.Detail
		}
	}
	return ""
}

// readPlan is a plan that was read from a file, as long as the file is the same.
type readPlan struct {
	savedplan.Plan

	size int64
	time time.Time
	used time.Time
}

// mostPlans is how many plans are kept: one may need much memory.
const mostPlans = 2

// Plan reads a plan file, of a unit or, with nil, of the stack in the current directory.
func (r *Repository) Plan(ctx context.Context, u *overview.Unit, file string) (*savedplan.Plan, error) {
	var of overview.Unit
	if u != nil {
		of = *u
	}
	return r.plan(r.options(of), file, func(stack *operation.Stack) (savedplan.Plan, error) {
		return savedplan.Read(ctx, stack, file)
	})
}

// plan reads a plan file with a stack of these options, or returns the plan as it was read before.
func (r *Repository) plan(
	options operation.Options, file string, read func(*operation.Stack) (savedplan.Plan, error),
) (*savedplan.Plan, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, failure.Error("Plan not found", "The plan file cannot be read: %s.", failure.Reason(err))
	}
	r.mu.Lock()
	known := r.mu.plans[file]
	if known != nil && known.size == info.Size() && known.time.Equal(info.ModTime()) {
		known.used = time.Now()
		r.mu.Unlock()
		return &known.Plan, nil
	}
	r.mu.Unlock()
	stack := operation.Open(options)
	defer stack.Close() //nolint:errcheck // nothing was written
	plan, err := read(stack)
	if err != nil {
		return nil, err
	}
	kept := &readPlan{plan, info.Size(), info.ModTime(), time.Now()}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.plans[file] = kept
	for len(r.mu.plans) > mostPlans {
		oldest := ""
		for name, plan := range r.mu.plans {
			if oldest == "" || plan.used.Before(r.mu.plans[oldest].used) {
				oldest = name
			}
		}
		delete(r.mu.plans, oldest)
	}
	return &kept.Plan, nil
}

// PlanFiles are those that were named, by numbers from 1 on.
func (r *Repository) PlanFiles() []string { return baseNames(r.opts.PlanFiles) }

func baseNames(paths []string) []string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = filepath.Base(path)
	}
	return names
}

// PlanFile is one of them.
//
// Errors: [ErrNotFound].
func (r *Repository) PlanFile(number int) (string, error) {
	if number < 1 || number > len(r.opts.PlanFiles) {
		return "", ErrNotFound
	}
	return r.opts.PlanFiles[number-1], nil
}

// Change returns the changes of a serial.
func (r *Repository) Change(ctx context.Context, u overview.Unit, serial int64) (statestore.Version, []model.Difference, error) {
	type result struct {
		version     statestore.Version
		differences []model.Difference
	}
	found, err := in(r, u, func(stack *operation.Stack) (result, error) {
		var found result
		opened, err := stack.States().Deployment(ctx)
		if err != nil {
			return found, err
		}
		after, err := opened.Store.ReadSerial(ctx, opened.Name, serial)
		if err != nil {
			return found, err
		}
		before, err := opened.Store.ReadSerial(ctx, opened.Name, max(serial-1, 0))
		if err != nil {
			return found, err
		}
		found.version = after.Version
		found.differences, err = differences(before.Records, after.Records)
		return found, err
	})
	return found.version, found.differences, err
}

// changedKeys returns the keys of the records that differ, sorted.
func changedKeys(before, after map[string][]byte) []string {
	var keys []string
	for key, value := range after {
		if old, ok := before[key]; !ok || !bytes.Equal(old, value) {
			keys = append(keys, key)
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
