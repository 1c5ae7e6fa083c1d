// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// stack makes the snapshots of one stack.
type stack struct {
	dir  string
	opts Options
	open *openFiles // of the workspace

	// Both are guarded by the lock of the workspace.
	change int             // the last one that may concern the stack
	dirs   map[string]bool // that it consisted of when it was last looked at

	sound soundness
	asked asked

	checkModules atomic.Bool // set if files of modules may have changed on the disk

	build struct {
		sync.Mutex // for as long as a snapshot is made
		last       *Snapshot
		change     int
		parsed     map[fileID]*parsedFile
		modules    modules
		providers  providers
		state      state
	}
}

func newStack(dir string, opts Options, open *openFiles) *stack {
	s := &stack{dir: dir, opts: opts, open: open, dirs: map[string]bool{dir: true}}
	s.build.parsed = map[fileID]*parsedFile{}
	return s
}

// concerns reports whether a file or directory at a path may be part of the stack. The empty path
// stands for all.
func (s *stack) concerns(path string) bool {
	return path == "" || path == s.dir || s.dirs[filepath.Dir(path)] || isModuleFile(path) // modules call others, which are not in dirs
}

// at returns the stack as it is after a change. It is nil if the directory cannot be read.
func (s *stack) at(change int, buffers map[string][]byte, folders []string) *Snapshot {
	s.build.Lock()
	defer s.build.Unlock()
	if s.build.last != nil && s.build.change >= change {
		return s.build.last
	}
	s.build.last, s.build.change = s.load(buffers, folders), change
	return s.build.last
}

// load makes a snapshot. Files in an editor may be untrusted: expressions read no file outside of
// the folders.
func (s *stack) load(buffers map[string][]byte, folders []string) *Snapshot {
	within := append(folders, s.dir)
	opened := operation.Open(operation.Options{Env: env.Options{Dir: s.dir, Environ: s.opts.Environ}})
	resolver := opened.Sources().Resolver()
	parser := &parser{before: s.build.parsed, now: map[fileID]*parsedFile{}, buffers: buffers, open: s.open}
	config, diags := stackconfig.LoadWith(s.dir, stackconfig.LoadOptions{
		Resolver: resolver, Buffers: buffers, Parse: parser.parse, FilesWithin: within,
	})
	if config == nil {
		return nil
	}
	snap := &Snapshot{
		Dir: s.dir, Config: config, Declared: config, LoadDiagnostics: diags, buffers: buffers, Files: map[string]*File{}, sound: &s.sound,
	}
	if parser.broken {
		options := stackconfig.LoadOptions{Resolver: resolver, Buffers: buffers, Parse: parser.declared, FilesWithin: within}
		declared, _ := stackconfig.LoadWith(s.dir, options) //nolint:errcheck // diagnostics are those of config
		if declared != nil {
			snap.Declared = declared
		}
	}
	snap.Deployments, snap.deployDiagnostics = deployconfig.LoadWith(s.dir, deployconfig.LoadOptions{
		Buffers: buffers, Parse: parser.parse, FilesWithin: within,
	})
	s.build.parsed = parser.now
	for id, parsed := range parser.now {
		_, open := buffers[id.path]
		snap.Files[id.path] = parsed.file(id, open)
	}
	snap.dirs = directories(config, snap.Declared)
	if s.checkModules.Swap(false) {
		s.build.modules.checked, s.build.providers.checked = time.Time{}, time.Time{}
	}
	snap.modules = s.build.modules.current(config, buffers, opened)
	snap.providers = s.build.providers.current(opened)
	snap.asked = s.asked.now()
	snap.state = s.build.state.current(opened)
	snap.saved = sync.OnceValue(func() map[string][]byte { return savedTexts(snap.Files) })
	return snap
}

// directories returns those that configurations consist of, with the modules of components as far
// as they are named.
func directories(configs ...*stackconfig.Config) map[string]bool {
	dirs := map[string]bool{}
	for _, config := range configs {
		config.Walk(func(stack *stackconfig.Stack) {
			dirs[stack.Dir] = true
			for _, component := range stack.Components {
				dirs[component.Source.Dir] = true
			}
			for _, call := range stack.Calls {
				dirs[call.Source.Dir] = true
			}
		})
	}
	delete(dirs, "")
	return dirs
}
