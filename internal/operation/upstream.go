// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// upstream returns the published values of a stack that another one takes values from. The error is
// [neverApplied] if it has never published anything.
func (s *Stack) upstream(ctx context.Context, declared *deployconfig.UpstreamInput) (map[string]cty.Value, error) {
	source := declared.Source.String()
	mapped, err := s.mapUpstream(source)
	if err != nil {
		return nil, err
	}
	if s.opts.Planned != nil && mapped.Stack != "" {
		values, planned, err := s.upstreamStack(mapped).publishedByPlan(ctx, s.opts.Planned)
		if planned || err != nil {
			return values, err
		}
	}
	store, location, err := s.upstreamStore(ctx, mapped)
	if err != nil {
		return nil, err
	}
	published, err := deployment.NewReadings(store, location, s.opts.Shared.ofReadings()).Published(ctx)
	if closeErr := store.Close(); err == nil {
		err = closeErr
	}
	switch {
	case err != nil:
		return nil, err
	case published.At.IsZero():
		return nil, neverApplied{failure.New("Upstream stack never applied", "The stack %s has published nothing: it was not applied yet, or not since it has publish_output blocks. Apply it first.", source)}
	}
	return published.Values, nil
}

// neverApplied says that a stack has never published anything.
type neverApplied hcl.Diagnostics

func (e neverApplied) Error() string { return hcl.Diagnostics(e).Error() }
func (e neverApplied) Unwrap() error { return hcl.Diagnostics(e) }

// mapUpstream returns where an upstream stack is kept, by the settings of this stack or by the
// workspace file. Paths are absolute.
func (s *Stack) mapUpstream(source string) (settings.Upstream, error) {
	read, err := s.Settings()
	if err != nil {
		return settings.Upstream{}, err
	}
	top := s.workspaceDir()
	var shared settings.Upstreams
	if top != "" {
		var diags hcl.Diagnostics
		if shared, diags = settings.ReadUpstreams(top, s.opts.Files); diags.HasErrors() {
			return settings.Upstream{}, diags
		}
	}
	own, isOwn := read.Upstreams[source]
	other, isShared := shared[source]
	own, other = own.Below(absolute(s.home())), other.Below(s.originalOf(absolute(top)))
	switch {
	case isOwn && isShared && !own.Same(other):
		place := other.Range.Filename
		if rel, err := filepath.Rel(absolute(s.dir), absolute(place)); err == nil {
			place = rel
		}
		diag := failure.New("Conflicting upstream mappings", "This block says that the stack %s is kept elsewhere than the block at %s:%d does. Remove one of the two.",
			source, filepath.ToSlash(place), other.Range.Start.Line)
		diag.Subject = own.Range.Ptr()
		return own, hcl.Diagnostics{diag}
	case isOwn:
		return own, nil
	case isShared:
		return other, nil
	}
	known := slices.AppendSeq(slices.Collect(maps.Keys(read.Upstreams)), maps.Keys(shared))
	return own, failure.Error("Upstream stack not mapped", "Nothing says where the stack %s is kept. Write into %s, or into %s at the top of the repository: upstream %q { stack = \"DIRECTORY\" }, "+
		"or state = \"FILE\" in place of the directory.%s", source, settings.File, settings.WorkspaceFile, source, nearest.DidYouMean(source, known))
}

// workspaceDir is where a workspace file may say where upstream stacks are kept; "" if the stack is
// in no repository.
func (s *Stack) workspaceDir() string {
	if s.opts.Workspace != "" {
		return s.opts.Workspace
	}
	for at := absolute(s.dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// originalOf returns the place that one next to a copy of the stack stands for.
func (s *Stack) originalOf(path string) string {
	rel, err := filepath.Rel(absolute(s.dir), path)
	if s.opts.Home == "" || err != nil {
		return path
	}
	return filepath.Join(absolute(s.home()), rel)
}

// upstreamStore opens the store of the states of an upstream stack, and returns its location.
func (s *Stack) upstreamStore(ctx context.Context, mapped settings.Upstream) (statestore.Store, string, error) {
	location, err := s.upstreamLocation(mapped)
	if err != nil {
		return nil, "", err
	}
	store, err := statestore.Open(ctx, location)
	return store, location, err
}

func (s *Stack) upstreamLocation(mapped settings.Upstream) (string, error) {
	if mapped.State != "" {
		return s.placed(mapped.State, s.fromHome), nil
	}
	upstream := s.upstreamStack(mapped)
	if info, err := os.Stat(upstream.dir); err != nil || !info.IsDir() {
		diag := failure.New("Upstream stack not found", "There is no directory %s, in which this block says that the stack is kept. Correct the path.", mapped.Stack)
		diag.Subject = mapped.Range.Ptr()
		return "", hcl.Diagnostics{diag}
	}
	if cycle := upstream.upstreamCycle([]string{absolute(s.dir)}); cycle != nil {
		return "", failure.Error("Circular upstream stacks", "These stacks take values from each other, so none of them can be the first: %s.", strings.Join(cycle, " -> "))
	}
	return upstream.stateLocation()
}

// upstreamStack is a stack on disk from which this one takes values. The variables of the
// environment that are about this one do not count for it.
func (s *Stack) upstreamStack(mapped settings.Upstream) *Stack {
	environ := slices.DeleteFunc(slices.Clone(s.environ), func(variable string) bool {
		return strings.HasPrefix(variable, StateVariable+"=") || strings.HasPrefix(variable, DeploymentVariable+"=")
	})
	options := Options{Dir: mapped.Stack, Environ: environ, Log: s.opts.Log, Workspace: s.opts.Workspace}
	if s.opts.Home != "" && !hasConfiguration(mapped.Stack) { // it is gone, too
		if rel, err := filepath.Rel(absolute(s.home()), mapped.Stack); err == nil {
			options.Dir, options.Home = filepath.Join(absolute(s.dir), rel), mapped.Stack
		}
	}
	return Open(options)
}

func hasConfiguration(dir string) bool { return len(filesBeside(dir, stackconfig.IsComponentFile)) > 0 }

// upstreamCycle returns directories of stacks that take values from each other, beginning and
// ending with the same; nil if there are none.
func (s *Stack) upstreamCycle(path []string) []string {
	dir := absolute(s.dir)
	if at := slices.Index(path, dir); at >= 0 {
		return append(slices.Clone(path[at:]), dir)
	}
	config, diags := s.Deployments()
	if config == nil || diags.HasErrors() {
		return nil // which that stack reports
	}
	for _, name := range slices.Sorted(maps.Keys(config.Upstreams)) {
		mapped, err := s.mapUpstream(config.Upstreams[name].Source.String())
		if err != nil || mapped.Stack == "" {
			continue // the same
		}
		if cycle := s.upstreamStack(mapped).upstreamCycle(append(slices.Clone(path), dir)); cycle != nil {
			return cycle
		}
	}
	return nil
}
