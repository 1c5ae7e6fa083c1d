// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Options are the parameters of [NewWorkspace].
type Options struct {
	// Environ is the environment in which stacks would be operated on: it may say where sources are
	// kept. Nil stands for that of this program.
	Environ []string
}

// Workspace has the files that are open in an editor, and the stacks in its folders. It is safe for
// concurrent use.
type Workspace struct {
	opts   Options
	parsed openFiles

	mu struct {
		sync.Mutex
		folders []string
		found   []string // stacks in the folders; nil if they are to be looked for
		buffers map[string][]byte
		stacks  map[string]*stack // by directory
		changes int               // how often anything has changed
	}
}

// NewWorkspace returns a workspace without folders in which nothing is open.
func NewWorkspace(opts Options) *Workspace {
	w := &Workspace{opts: opts}
	w.parsed.parsed = map[fileID]*parsedFile{}
	w.mu.buffers, w.mu.stacks = map[string][]byte{}, map[string]*stack{}
	return w
}

// Path returns the path by which a workspace knows a file (rule 4). The path of a missing file
// stays as it is.
func (w *Workspace) Path(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// AddFolder adds a directory in which there may be stacks.
func (w *Workspace) AddFolder(dir string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.mu.folders, dir) {
		w.mu.folders = append(w.mu.folders, dir)
		w.changed("")
	}
	w.mu.found = nil
}

// RemoveFolder takes back a directory.
func (w *Workspace) RemoveFolder(dir string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.folders = slices.DeleteFunc(w.mu.folders, func(folder string) bool { return folder == dir })
	w.mu.found = nil
	w.changed("")
}

// Folders returns the directories in which there may be stacks.
func (w *Workspace) Folders() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.mu.folders)
}

// Edit sets the text of an open file. The caller must not change it any more.
func (w *Workspace) Edit(path string, text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, open := w.mu.buffers[path]
	w.mu.buffers[path] = text
	if !open || !bytes.Equal(before, text) {
		w.changed(path)
	}
	if !open {
		w.mu.found = nil
	}
}

// Close forgets the text of an open file: that on the disk counts again.
func (w *Workspace) Close(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parsed.close(path)
	if _, open := w.mu.buffers[path]; open {
		delete(w.mu.buffers, path)
		w.mu.found = nil
		w.changed(path)
	}
	w.forget()
}

// Changed says that files or directories on the disk were made, changed or removed.
func (w *Workspace) Changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.found = nil
	w.changed("")
	for _, stack := range w.mu.stacks {
		stack.checkModules.Store(true)
	}
	w.forget()
}

// changed marks the stacks that a file or directory at a path may be part of.
func (w *Workspace) changed(path string) {
	w.mu.changes++
	for _, stack := range w.mu.stacks {
		if stack.concerns(path) {
			stack.change = w.mu.changes
		}
	}
}

// forget drops stacks that are not there any more.
func (w *Workspace) forget() {
	open := map[string]bool{}
	for path := range w.mu.buffers {
		open[filepath.Dir(path)] = true
	}
	for dir := range w.mu.stacks {
		if info, err := os.Stat(dir); !open[dir] && (err != nil || !info.IsDir()) {
			delete(w.mu.stacks, dir)
		}
	}
}

// Open returns the paths of open files, sorted.
func (w *Workspace) Open() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.mu.buffers))
}

// IsOpen reports whether a file is open.
func (w *Workspace) IsOpen(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, open := w.mu.buffers[path]
	return open
}

// Text returns the text of a file, be it open or not.
func (w *Workspace) Text(path string) ([]byte, error) {
	w.mu.Lock()
	text, open := w.mu.buffers[path]
	w.mu.Unlock()
	if open {
		return text, nil
	}
	return os.ReadFile(path)
}

// OpenFile returns a component file or a deployment file that is open, parsed, and nil for any
// other. Ranges name it as a snapshot of its own stack does.
func (w *Workspace) OpenFile(path string) *File {
	w.mu.Lock()
	text, open := w.mu.buffers[path]
	w.mu.Unlock()
	if !open || (!stackconfig.IsComponentFile(path) && !deployconfig.IsDeployFile(path)) {
		return nil
	}
	id := fileID{path, filepath.Base(path)}
	return w.parsed.parse(id, text, nil).file(id, true)
}

// Stacks returns the directories of all stacks: those in the folders, and those of which a file is
// open. They are sorted.
//
// Directories whose names begin with a dot are left out, and links are not followed.
func (w *Workspace) Stacks() []string {
	w.mu.Lock()
	found, folders := w.mu.found, slices.Clone(w.mu.folders)
	changes := w.mu.changes
	dirs := map[string]bool{}
	for path := range w.mu.buffers {
		if stackconfig.IsComponentFile(path) {
			dirs[filepath.Dir(path)] = true
		}
	}
	w.mu.Unlock()
	if found == nil {
		found = findStacks(folders)
		w.mu.Lock()
		if w.mu.changes == changes && slices.Equal(w.mu.folders, folders) {
			w.mu.found = found
		}
		w.mu.Unlock()
	}
	for _, dir := range found {
		dirs[dir] = true
	}
	return slices.Sorted(maps.Keys(dirs))
}

// findStacks returns the directories with component files below some folders.
func findStacks(folders []string) []string {
	found := []string{}
	for _, folder := range folders {
		//nolint:errcheck // unreadable directories have no stacks
		_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // the rest is looked at
			case entry.IsDir() && path != folder && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
				return filepath.SkipDir
			case !entry.IsDir() && stackconfig.IsComponentFile(entry.Name()):
				found = append(found, filepath.Dir(path))
			}
			return nil
		})
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Stack returns the stack that a file belongs to, or the stack in a directory, as it is now. It is
// nil for a file that is none of a stack, and for a directory without any.
func (w *Workspace) Stack(path string) *Snapshot {
	dir := path
	if stackconfig.IsComponentFile(path) || deployconfig.IsDeployFile(path) {
		dir = filepath.Dir(path)
	}
	w.mu.Lock()
	s := w.mu.stacks[dir]
	if s == nil {
		s = newStack(dir, w.opts, &w.parsed)
		w.mu.stacks[dir] = s
	}
	change, buffers, folders := s.change, maps.Clone(w.mu.buffers), slices.Clone(w.mu.folders)
	w.mu.Unlock()

	snap := s.at(change, buffers, folders)
	if snap == nil || len(snap.Files) == 0 {
		w.mu.Lock()
		if w.mu.stacks[dir] == s {
			delete(w.mu.stacks, dir)
		}
		w.mu.Unlock()
		return nil
	}
	w.mu.Lock()
	s.dirs = snap.dirs
	w.mu.Unlock()
	return snap
}
