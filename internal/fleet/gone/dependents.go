// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gone

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/settings"
)

// sorted returns the units that exist, in the order of their names.
func (p *present) sorted() []*rollout.Unit {
	return slices.SortedFunc(maps.Values(p.units), func(a, b *rollout.Unit) int { return cmp.Compare(a.Name, b.Name) })
}

// inUse refuses a unit whose state a living unit has, or may have on another machine.
func (f *finder) inUse(u *rollout.Unit, state location) hcl.Diagnostics {
	if f.states == nil {
		f.states = map[*rollout.Unit]location{}
		for _, other := range f.living.sorted() {
			if now, diags := stateOf(other); !diags.HasErrors() { // otherwise its own plan says so
				f.states[other] = now
			}
		}
	}
	for _, other := range f.living.sorted() {
		where := ""
		switch now := f.states[other]; {
		case state.name != "" && now.name == state.name:
			where = cmp.Or(state.file, "the same place")
		case f.Elsewhere && state.key != "" && now.key == state.key:
			where = "both have the same name in their " + settings.File
		default:
			continue
		}
		return hcl.Diagnostics{failure.With(CodeNeeded, failure.New(summaryInUse,
			"%q is not there any more, and its state is that of %q: %s. The objects of that would be destroyed. "+
				"Nothing was done. Give %[2]q a state of its own.", u.Name, other.Name, where))}
	}
	return nil
}

// dependents refuses a unit that a living unit needs.
func (f *finder) dependents(u *rollout.Unit, state location) hcl.Diagnostics {
	if f.living.dirs[clean(u.Path)] != nil {
		return nil // others in the directory are still there
	}
	var diags hcl.Diagnostics
	refuse := func(by, why string, at *hcl.Range) {
		diag := failure.With(CodeNeeded, failure.New(summaryDependents,
			"%q is not there any more, and %q depends on it: %s. Nothing was done. Take that out of %[2]q and apply it first.",
			u.Name, by, why))
		diag.Subject = at
		diags = diags.Append(diag)
	}
	for _, named := range f.Named {
		if clean(named.Dir) == clean(u.Path) {
			refuse(named.By, "it has "+named.Text, named.Range.Ptr())
		}
	}
	before, _ := settings.ReadUpstreams(f.Exported, map[string]*hcl.File{}) //nolint:errcheck // mistakes in the workspace file were reported
	seen := map[string]bool{}
	for _, other := range f.living.sorted() {
		if other.Kind != rollout.Components || seen[other.Dir] {
			continue
		}
		seen[other.Dir] = true
		read, moreDiags := settings.Read(other.Dir, map[string]*hcl.File{})
		if moreDiags.HasErrors() {
			continue // its own plan says so
		}
		for _, source := range slices.Sorted(maps.Keys(read.Upstreams)) {
			if isOf(read.Upstreams[source].Below(other.Dir), u, state) {
				refuse(other.Name, "it takes values from it, by the upstream block for "+source+" in its "+settings.File, nil)
			}
		}
		for _, source := range f.stillTaken(other, read.Upstreams) {
			if isOf(before[source].Below(f.Root), u, state) || isOf(f.ownBefore(other)[source].Below(other.Dir), u, state) {
				refuse(other.Name, "its deployment files have an upstream_input block for "+source+", which it was", nil)
			}
		}
	}
	shared, _ := settings.ReadUpstreams(f.Root, map[string]*hcl.File{}) //nolint:errcheck // mistakes in the workspace file were reported
	for _, source := range slices.Sorted(maps.Keys(shared)) {
		if isOf(shared[source].Below(f.Root), u, state) {
			refuse(settings.WorkspaceFile, "it maps the upstream "+source+" to it", shared[source].Range.Ptr())
		}
	}
	return diags
}

// stillTaken returns the addresses of the stacks that a stack takes values from without settings of
// its own that say where these are.
func (f *finder) stillTaken(u *rollout.Unit, own settings.Upstreams) []string {
	config, _ := deployconfig.Load(u.Dir) //nolint:errcheck // the mistakes were reported
	if config == nil {
		return nil
	}
	shared, _ := settings.ReadUpstreams(f.Root, map[string]*hcl.File{}) //nolint:errcheck // so were these
	var sources []string
	for _, name := range slices.Sorted(maps.Keys(config.Upstreams)) {
		source := config.Upstreams[name].Source.String()
		_, isOwn := own[source]
		if _, isShared := shared[source]; !isOwn && !isShared {
			sources = append(sources, source)
		}
	}
	return sources
}

// ownBefore returns where a stack that is there has said at the base where others are.
func (f *finder) ownBefore(u *rollout.Unit) settings.Upstreams {
	rel, err := filepath.Rel(f.Root, u.Dir)
	if err != nil {
		return nil
	}
	read, _ := settings.Read(filepath.Join(f.Exported, rel), map[string]*hcl.File{}) //nolint:errcheck // it does not count any more
	return read.Upstreams
}

// isOf reports whether a place from which others take values is that of a unit. Its paths are
// absolute.
func isOf(from settings.Upstream, u *rollout.Unit, state location) bool {
	return from.Stack != "" && planfile.StatePlace(from.Stack) == planfile.StatePlace(u.Home) ||
		from.State != "" && state.file != "" && planfile.StatePlace(from.State) == state.file
}
