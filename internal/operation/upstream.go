// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// upstream returns what a stack has published that another one takes values from.
func (s *Stack) upstream(ctx context.Context, declared *deployconfig.UpstreamInput) (map[string]cty.Value, error) {
	read, err := s.Settings()
	if err != nil {
		return nil, err
	}
	source := declared.Source.String()
	mapped, ok := read.Upstreams[source]
	if !ok {
		return nil, failure.Error("Upstream stack not mapped", "Nothing says where the stack %s is kept. Write into %s: upstream %q { stack = \"DIRECTORY\" }, "+
			"or state = \"FILE\" in place of the directory.%s", source, settings.File, source, nearest.DidYouMean(source, slices.Collect(maps.Keys(read.Upstreams))))
	}
	store, err := s.upstreamStore(ctx, mapped)
	if err != nil {
		return nil, err
	}
	published, err := deployment.NewestPublished(ctx, store)
	if closeErr := store.Close(); err == nil {
		err = closeErr
	}
	switch {
	case err != nil:
		return nil, err
	case published.At.IsZero():
		return nil, failure.Error("Upstream stack never applied", "The stack %s has published nothing: it was not applied yet, or not since it has publish_output blocks. Apply it first.", source)
	}
	return published.Values, nil
}

// upstreamStore opens the store of the states of an upstream stack.
func (s *Stack) upstreamStore(ctx context.Context, mapped settings.Upstream) (statestore.Store, error) {
	if mapped.State != "" {
		return statestore.Open(ctx, s.placed(mapped.State, s.join))
	}
	upstream := s.upstreamStack(mapped)
	if cycle := upstream.upstreamCycle([]string{absolute(s.dir)}); cycle != nil {
		return nil, failure.Error("Circular upstream stacks", "These stacks take values from each other, so none of them can be the first: %s.", strings.Join(cycle, " -> "))
	}
	location, err := upstream.stateLocation()
	if err != nil {
		return nil, err
	}
	return statestore.Open(ctx, location)
}

// upstreamStack is a stack on disk from which this one takes values. What the environment says of this one is not about that.
func (s *Stack) upstreamStack(mapped settings.Upstream) *Stack {
	environ := slices.DeleteFunc(slices.Clone(s.environ), func(variable string) bool {
		return strings.HasPrefix(variable, StateVariable+"=") || strings.HasPrefix(variable, DeploymentVariable+"=")
	})
	return Open(Options{Dir: s.join(mapped.Stack), Environ: environ, Log: s.opts.Log})
}

// upstreamCycle returns directories of stacks that take values from each other, beginning and ending with the same; nil if there are none.
func (s *Stack) upstreamCycle(path []string) []string {
	dir := absolute(s.dir)
	if at := slices.Index(path, dir); at >= 0 {
		return append(slices.Clone(path[at:]), dir)
	}
	config, diags := s.Deployments()
	read, err := s.Settings()
	if config == nil || diags.HasErrors() || err != nil {
		return nil // which that stack reports
	}
	for _, name := range slices.Sorted(maps.Keys(config.Upstreams)) {
		mapped, ok := read.Upstreams[config.Upstreams[name].Source.String()]
		if !ok || mapped.Stack == "" {
			continue
		}
		if cycle := s.upstreamStack(mapped).upstreamCycle(append(slices.Clone(path), dir)); cycle != nil {
			return cycle
		}
	}
	return nil
}
