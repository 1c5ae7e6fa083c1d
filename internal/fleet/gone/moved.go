// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gone

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
)

// movedTo returns the unit that one that is gone has become, nil if there is none: in the directory
// to which git says that at least half of its files were renamed, be it listed or not, or with its
// name in a directory that nothing was in.
func (f *finder) movedTo(u *rollout.Unit) *rollout.Unit {
	if f.living.dirs[clean(u.Path)] != nil {
		return nil // the directory is where it was
	}
	files := configFiles(u.Dir)
	to := f.renamed(u, files)
	var best string
	for dir, moved := range to {
		if 2*moved >= len(files) && (best == "" || moved > to[best] || moved == to[best] && dir < best) {
			best = dir
		}
	}
	if best != "" {
		return f.unitIn(best, u)
	}
	for i := range f.livingUnits() {
		other := &f.Living.Units[i]
		if other.Name == u.Name && other.Kind == u.Kind &&
			!slices.ContainsFunc(f.work.Units, func(before rollout.Unit) bool { return clean(before.Path) == clean(other.Path) }) {
			return f.unitIn(clean(other.Path), u)
		}
	}
	return nil
}

func (f *finder) livingUnits() []rollout.Unit {
	if f.Living == nil {
		return nil
	}
	return f.Living.Units
}

// renamed counts files of a unit that are in other directories with a configuration of its kind
// now, by these directories.
func (f *finder) renamed(u *rollout.Unit, files []string) map[string]int {
	to := map[string]int{}
	prefix, err := f.Diff.Prefix(f.Root)
	if err != nil {
		return to
	}
	count := func(dir string) {
		now := f.living.dirs[dir]
		if now == nil {
			now = lookAt(filepath.Join(f.Root, filepath.FromSlash(dir)))
		}
		if now.kind == u.Kind {
			to[dir]++
		}
	}
	for _, name := range files {
		from := path.Join(prefix, clean(u.Path), name)
		for _, file := range f.Diff.Files {
			if file.From == from {
				count(f.dirOf(prefix, file.Path))
				break
			}
		}
	}
	for _, file := range f.Diff.Files { // git finds no renames among untracked files
		dir := f.dirOf(prefix, file.Path)
		if !file.Untracked {
			continue
		}
		now, err := os.ReadFile(filepath.Join(f.Root, filepath.FromSlash(dir), path.Base(file.Path)))
		if err != nil {
			continue
		}
		if slices.ContainsFunc(files, func(name string) bool {
			before, err := os.ReadFile(filepath.Join(u.Dir, name))
			return err == nil && bytes.Equal(before, now)
		}) {
			count(dir)
		}
	}
	return to
}

// dirOf returns the directory of a file from the root, by its path from the top of the repository.
func (f *finder) dirOf(prefix, file string) string {
	rel, err := filepath.Rel(filepath.FromSlash(prefix), filepath.FromSlash(path.Dir(file)))
	if err != nil {
		return ""
	}
	return clean(rel)
}

// unitIn returns the unit in a directory that is most like another one.
func (f *finder) unitIn(dir string, like *rollout.Unit) *rollout.Unit {
	at := keyOf(like)
	at.dir = dir
	if same := f.living.units[at]; same != nil {
		return same
	}
	var first *rollout.Unit
	for k, unit := range f.living.units {
		if k.dir == dir && (first == nil || unit.Name < first.Name) {
			first = unit
		}
	}
	if first == nil { // nothing lists it
		first = &rollout.Unit{
			Name: strings.TrimPrefix(dir, "/"),
			Kind: like.Kind,
			Dir:  filepath.Join(f.Root, filepath.FromSlash(dir)),
			Path: strings.TrimPrefix(dir, "/"),
		}
	}
	return first
}

// moved reports a unit that has become another one, with advice about its state.
func (f *finder) moved(u *rollout.Unit, state location, to *rollout.Unit) (warning, errs hcl.Diagnostics) {
	now, errs := stateOf(to)
	if errs.HasErrors() {
		return nil, errs
	}
	todo := ""
	switch {
	case state.name == now.name && state.name != "":
		todo = "Its state is where it was, so that nothing is left to do."
	case state.file == "" || f.Elsewhere:
		todo = "If its state is kept in another place now, move it there."
	case !exists(state.file) && now.file != "" && exists(now.file):
		todo = "Its state is in " + now.file + ", so that nothing is left to do."
	case !exists(state.file):
		todo = "There is no state in " + state.file + " any more."
	case now.file == "":
		todo = "Its state is still in " + state.file + ": move it to where that of " + quoted(to) + " is."
	case !exists(now.file):
		todo = "Its state is still in " + state.file + ": move that file to " + now.file + " before anything is planned there."
	default:
		todo = "Its state is still in " + state.file + ", and there is another one in " + now.file +
			": look at both, and move the missing objects there."
	}
	return hcl.Diagnostics{failure.Warning(summaryMoved,
		"%q is now %q in %s. %s If that is something else, destroy its objects from a checkout of %s.",
		u.Name, to.Name, to.Path, todo, f.Diff.Base)}, nil
}
