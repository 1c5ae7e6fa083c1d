// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package upstream finds the values that other stacks publish for one stack: those of their last
// applies, by their states, unless the caller knows newer ones.
package upstream

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/operation/states"
	"github.com/cairnstacks/cairn/internal/settings"
)

// Published are the values that a stack publishes when plans of its deployments are applied, or the
// reason why they cannot be known.
//
// Unknown: in whole or in part, where it is not known before the apply.
type Published struct {
	Values map[string]cty.Value
	Err    error
}

// Stacks are those that a stack takes values from.
type Stacks struct {
	env     *env.Env
	sources *sources.Sources
	shared  *states.Shared
	planned map[string]Published // by absolute directory of a stack
}

// Of returns the stacks that a stack takes values from. Those that have planned values, by their
// absolute directories, publish these in place of the values of their last applies.
func Of(e *env.Env, files *sources.Sources, shared *states.Shared, planned map[string]Published) *Stacks {
	return &Stacks{e, files, shared, planned}
}

// Values returns the published values of a stack. The error is [NeverApplied] if it has never
// published anything.
func (s *Stacks) Values(ctx context.Context, source string) (map[string]cty.Value, error) {
	mapped, err := s.find(source)
	if err != nil {
		return nil, err
	}
	if mapped.Stack != "" {
		if published, planned := s.planned[env.Absolute(mapped.Stack)]; planned {
			return published.Values, published.Err
		}
	}
	place, err := s.place(mapped)
	if err != nil {
		return nil, err
	}
	store, err := place.Open(ctx)
	if err != nil {
		return nil, err
	}
	published, err := place.Readings(store).Published(ctx)
	if closeErr := store.Close(); err == nil {
		err = closeErr
	}
	switch {
	case err != nil:
		return nil, err
	case published.At.IsZero():
		return nil, NeverApplied{failure.New("Upstream stack never applied", "The stack %s has published nothing: it was not applied yet, or "+
			"not since it has publish_output blocks. Apply it first.", source)}
	}
	return published.Values, nil
}

// NeverApplied says that a stack has never published anything.
type NeverApplied hcl.Diagnostics

func (e NeverApplied) Error() string { return hcl.Diagnostics(e).Error() }
func (e NeverApplied) Unwrap() error { return hcl.Diagnostics(e) }

// find returns where an upstream stack is kept, by the settings of this stack or by the
// workspace file. Paths are absolute.
func (s *Stacks) find(source string) (settings.Upstream, error) {
	read, err := s.env.Settings()
	if err != nil {
		return settings.Upstream{}, err
	}
	top := s.env.WorkspaceDir()
	var shared settings.Upstreams
	if top != "" {
		var diags hcl.Diagnostics
		if shared, diags = settings.ReadUpstreams(top, s.env.Files); diags.HasErrors() {
			return settings.Upstream{}, diags
		}
	}
	own, isOwn := read.Upstreams[source]
	other, isShared := shared[source]
	own, other = own.Below(env.Absolute(s.env.Home)), other.Below(s.env.OriginalOf(env.Absolute(top)))
	switch {
	case isOwn && isShared && !own.Same(other):
		place := other.Range.Filename
		if rel, err := filepath.Rel(env.Absolute(s.env.Dir), env.Absolute(place)); err == nil {
			place = rel
		}
		diag := failure.New("Conflicting upstream mappings", "This block says that the stack %s is kept elsewhere than the block at %s:%d "+
			"does. Remove one of the two.",
			source, filepath.ToSlash(place), other.Range.Start.Line)
		diag.Subject = own.Range.Ptr()
		return own, hcl.Diagnostics{diag}
	case isOwn:
		return own, nil
	case isShared:
		return other, nil
	}
	known := slices.AppendSeq(slices.Collect(maps.Keys(read.Upstreams)), maps.Keys(shared))
	return own, failure.Error("Upstream stack not mapped", "Nothing says where the stack %s is kept. Write into %s, or into %s at the top "+
		"of the repository: upstream %q { stack = \"DIRECTORY\" }, or state = \"FILE\" in place of the directory.%s", source, settings.File,
		settings.WorkspaceFile, source, nearest.DidYouMean(source, known))
}

// place returns where the states of a stack are.
func (s *Stacks) place(mapped settings.Upstream) (states.Place, error) {
	if mapped.State != "" {
		return states.At(settings.PlaceState(mapped.State, s.env.FromHome), s.env, s.shared)
	}
	upstream := s.stack(mapped)
	if info, err := os.Stat(upstream.env.Dir); err != nil || !info.IsDir() {
		diag := failure.New("Upstream stack not found", "There is no directory %s, in which this block says that the stack is kept. Correct "+
			"the path.", mapped.Stack)
		diag.Subject = mapped.Range.Ptr()
		return states.Place{}, hcl.Diagnostics{diag}
	}
	if cycle := upstream.cycle([]string{env.Absolute(s.env.Dir)}); cycle != nil {
		return states.Place{}, failure.Error("Circular upstream stacks",
			"These stacks take values from each other, so none of them can be the first: %s.", strings.Join(cycle, " -> "))
	}
	return states.Of(upstream.env, s.shared)
}

// stack is a stack on disk from which this one takes values. The variables of the environment that
// are about this one do not count for it.
func (s *Stacks) stack(mapped settings.Upstream) *Stacks {
	options := env.Options{Dir: mapped.Stack, Environ: s.env.WithoutOwn(), Log: s.env.Log, Workspace: s.env.Workspace}
	if s.env.IsCopy() && !sources.HasConfiguration(mapped.Stack) { // it is gone, too
		if rel, err := filepath.Rel(env.Absolute(s.env.Home), mapped.Stack); err == nil {
			options.Dir, options.Home = filepath.Join(env.Absolute(s.env.Dir), rel), mapped.Stack
		}
	}
	upstream := env.Open(options)
	return &Stacks{env: upstream, sources: sources.Open(upstream, sources.Options{Shared: &sources.Shared{}})}
}

// cycle returns directories of stacks that take values from each other, beginning and
// ending with the same; nil if there are none.
func (s *Stacks) cycle(path []string) []string {
	dir := env.Absolute(s.env.Dir)
	if at := slices.Index(path, dir); at >= 0 {
		return append(slices.Clone(path[at:]), dir)
	}
	config, diags := s.sources.Deployments()
	if config == nil || diags.HasErrors() {
		return nil // which that stack reports
	}
	for _, name := range slices.Sorted(maps.Keys(config.Upstreams)) {
		mapped, err := s.find(config.Upstreams[name].Source.String())
		if err != nil || mapped.Stack == "" {
			continue // the same
		}
		if cycle := s.stack(mapped).cycle(append(slices.Clone(path), dir)); cycle != nil {
			return cycle
		}
	}
	return nil
}
