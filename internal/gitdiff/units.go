// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/localsource"
)

// Kind says how a change concerns a unit.
type Kind string

// The kinds of reasons.
const (
	InDirectory Kind = "directory"
	InModule    Kind = "module" // also an embedded stack
	Watched     Kind = "watch"
	Included    Kind = "include" // a file that its terragrunt.hcl includes or reads
	Triggered   Kind = "trigger" // a file that says that it is to count as changed
	Renamed     Kind = "renamed" // the whole stack
	Inputs      Kind = "inputs"  // of its run, by the workspace file

	ModifiedBy Kind = "modified_by" // another one, by the workspace file
	GoesAlong  Kind = "task"        // with another one: a task of the workspace file
	Gate       Kind = "gate"        // by a configuration of gates
)

// Reason is why a stack counts as changed.
type Reason struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"` // a sentence without a full stop
	File string `json:"file"` // that has changed, from the top of the repository

	// Modules are the directories that lead from the stack to the module, from the top of the
	// repository.
	Modules []string `json:"modules,omitempty"`
}

// Gone is a stack that there was, and is not any more.
type Gone struct {
	Path      string `json:"path"`
	Name      string `json:"name,omitempty"`       // in a workspace file
	RenamedTo string `json:"renamed_to,omitempty"` // another path; in a workspace file another name
}

// Unit is a directory of which a format asks whether it has changed: that of a stack or of a root
// module.
type Unit struct {
	Path string // of the directory, from the root of all units, with slashes and one at the beginning

	// Sources are directories of modules that it uses besides those that its configuration names, from
	// the root, with slashes.
	Sources []string

	// Includes and Watches are files and directories that belong to it wherever they are.
	Includes, Watches []Watch
}

// Watch is a file or directory, and how it is written.
type Watch struct {
	Path string // from the root, with slashes
	Text string
}

// Units are the directories whose changes are asked for: sorted by path, each path once.
type Units struct {
	Root  string // directory, as it was given
	Units []Unit

	// Ignored reports whether a file is of no unit although it is in the directory of one, by its path
	// from the root. It may be nil.
	Ignored func(file string) bool
}

// owner returns the unit in whose directory a path is: of several the innermost.
func (u *Units) owner(dir string) (int, bool) {
	for {
		i, ok := slices.BinarySearchFunc(u.Units, dir, func(unit Unit, path string) int { return cmp.Compare(unit.Path, path) })
		if ok || dir == "/" {
			return i, ok
		}
		dir = path.Dir(dir)
	}
}

// Reasons returns why units have changed, by their numbers; those that have not are not in it. The
// reasons of each are changes of its directory, of files that it includes, of modules that it uses
// at any depth, and of files that it watches, in this order.
func (d *Diff) Reasons(units Units) (map[int][]Reason, error) {
	root, err := localsource.RealPath(units.Root)
	if err != nil {
		return nil, err
	}
	f := &finder{
		Units: units, diff: d, root: root, places: newPathIndex(d.Files),
		calls: localsource.NewCalls(d.repository.Dir), inModules: map[string][]changedIn{}, reasons: map[int][]Reason{},
	}
	if f.prefix, err = d.Prefix(root); err != nil {
		return nil, err
	}
	f.directories()
	for i, unit := range units.Units {
		for _, dir := range unit.Sources {
			f.calls.Add(f.dir(i), filepath.Join(root, filepath.FromSlash(dir)))
		}
		f.watched(i, unit.Includes, Included, "includes")
	}
	for i, unit := range units.Units {
		f.modules(i)
		f.watched(i, unit.Watches, Watched, "watches")
	}
	return f.reasons, nil
}

type finder struct {
	Units
	diff   *Diff
	root   string // absolute directory of the units, without links
	prefix string // the same from the top of the repository
	places pathIndex
	calls  *localsource.Calls

	inModules map[string][]changedIn // by directory, from the top of the repository
	reasons   map[int][]Reason
}

// dir is the directory of a unit.
func (f *finder) dir(unit int) string {
	return filepath.Join(f.root, filepath.FromSlash(f.Units.Units[unit].Path))
}

// changedIn is a change in a module.
type changedIn struct {
	file  *File
	path  string // the one that is in the module
	owner int    // the unit in whose directory that is; -1 for none
}

// FromRoot returns the path from a directory, with a slash at the beginning, of a file of the diff:
// both are paths from the top of the repository. It is not ok for a file outside of the directory.
func FromRoot(prefix, file string) (inside string, ok bool) {
	rel, err := filepath.Rel(filepath.FromSlash(prefix), filepath.FromSlash(file))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return path.Join("/", filepath.ToSlash(rel)), true
}

func (f *finder) add(unit int, reason Reason) { f.reasons[unit] = append(f.reasons[unit], reason) }

// directories finds the units in whose directories files have changed. A file that has left a unit
// has changed it, too.
func (f *finder) directories() {
	for _, file := range f.diff.Files {
		if i, ok := f.owner(file.Path); ok {
			f.add(i, Reason{Kind: InDirectory, File: file.Path, Text: fmt.Sprintf("%s %s", file.Path, file.What())})
		}
		if file.From == "" {
			continue
		}
		left, ok := f.owner(file.From)
		if into, same := f.owner(file.Path); ok && (!same || into != left) {
			f.add(left, Reason{Kind: InDirectory, File: file.From, Text: fmt.Sprintf("%s was renamed to %s", file.From, file.Path)})
		}
	}
}

// owner returns the unit that a file of the diff is in.
func (f *finder) owner(file string) (int, bool) {
	dir, ok := FromRoot(f.prefix, path.Dir(file))
	if !ok || f.Ignored != nil && f.Ignored(path.Join(dir, path.Base(file))) {
		return 0, false
	}
	return f.Units.owner(dir)
}

// modules finds changes in the modules of a unit, of each module the first one that is not in the
// directory of the unit anyway.
func (f *finder) modules(unit int) {
	for use := range f.calls.Uses(f.dir(unit)) {
		changed := f.changedIn(use.Rel)
		i := slices.IndexFunc(changed, func(c changedIn) bool { return c.owner != unit })
		if i < 0 {
			continue
		}
		modules := use.Chain()
		f.add(unit, Reason{
			Kind: InModule, File: changed[i].path, Modules: modules,
			Text: fmt.Sprintf("module %s changed: %s %s", strings.Join(modules, " → "), changed[i].file.Path, changed[i].file.What()),
		})
	}
}

// changedIn returns the changes in a module, in the order of the diff, without those in the
// directories of other units than the one that the module itself may be in.
func (f *finder) changedIn(dir string) []changedIn {
	changed, known := f.inModules[dir]
	if known {
		return changed
	}
	moduleOwner, moduleOwned := f.owner(path.Join(dir, "x"))
	for _, place := range inOrder(f.places.below(dir)) {
		owner, owned := f.owner(place.path)
		switch {
		case !owned:
			owner = -1
		case !moduleOwned || owner != moduleOwner:
			continue
		}
		changed = append(changed, changedIn{&f.diff.Files[place.file], place.path, owner})
	}
	f.inModules[dir] = changed
	return changed
}

// watched finds changes of files and directories that belong to a unit wherever they are.
func (f *finder) watched(unit int, watches []Watch, kind Kind, does string) {
	for _, watch := range watches {
		if file := f.firstAt(path.Join(f.prefix, watch.Path)); file != nil {
			f.add(unit, Reason{Kind: kind, File: file.Path, Text: fmt.Sprintf("it %s %s: %s %s", does, watch.Text, file.Path, file.What())})
		}
	}
}

// firstAt returns the first file that is, or was, at a path or is below it; nil if there is none.
func (f *finder) firstAt(path string) *File {
	first := len(f.diff.Files)
	for _, place := range f.places.at(path) {
		first = min(first, place.file)
	}
	for _, place := range f.places.below(path) {
		if !place.from {
			first = min(first, place.file)
		}
	}
	if first == len(f.diff.Files) {
		return nil
	}
	return &f.diff.Files[first]
}
