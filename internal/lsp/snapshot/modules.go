// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// checkModules is the interval for looking at the files of modules, if nobody reports changes of
// them.
const checkModules = 2 * time.Second

// renewParsed is the number of changes of modules after which all their parsed files are dropped:
// these are kept in all their versions until then.
const renewParsed = 50

// modules has the modules of a stack as they were last read.
type modules struct {
	files   *module.Files
	now     *moduleSet
	checked time.Time
	renewed int
}

// current returns the modules as they are now.
func (m *modules) current(config *stackconfig.Config, buffers map[string][]byte, opened *operation.Stack) *moduleSet {
	buffers = moduleBuffers(buffers)
	if m.now != nil && sameTexts(m.now.buffers, buffers) && m.now.hasConstants(config) {
		if time.Since(m.checked) < checkModules {
			return m.now
		}
		if m.checked = time.Now(); m.now.upToDate() {
			return m.now
		}
	}
	if m.renewed++; m.files == nil || m.renewed%renewParsed == 0 {
		m.files = &module.Files{}
	}
	m.now, m.checked = &moduleSet{buffers: buffers}, time.Now()
	m.now.mu.stamps, m.now.mu.constants = map[string]string{}, map[string]map[string]stackconfig.Constant{}
	engineName := opened.Engines().Last().Name // its version may have changed since
	options := module.OptionsOf(engine.Info{Name: engineName}, config.Root.Dir, config.Resolver).Of(config)
	options.Files, options.Buffers, options.Constants = m.files, buffers, m.now.noting(options.Constants)
	m.now.loader = module.NewLoader(options)
	return m.now
}

// moduleBuffers returns the texts that may stand for files of modules.
func moduleBuffers(buffers map[string][]byte) map[string][]byte {
	buffers = maps.Clone(buffers)
	maps.DeleteFunc(buffers, func(path string, _ []byte) bool { return !isModuleFile(path) })
	return buffers
}

// isModuleFile reports by its name whether a file may be one of a module.
func isModuleFile(path string) bool {
	suffixes := []string{".tf", ".tf.json", ".tofu", ".tofu.json"}
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(path, suffix) })
}

func sameTexts(a, b map[string][]byte) bool { return maps.EqualFunc(a, b, bytes.Equal) }

// moduleSet has modules as they were at one moment. It is safe for concurrent use.
type moduleSet struct {
	buffers map[string][]byte
	loader  *module.Loader

	mu struct {
		sync.Mutex
		stamps    map[string]string                          // of the directories that were read
		constants map[string]map[string]stackconfig.Constant // of those that have asked for them
	}
}

// noting returns a function that notes which constants the modules depend on.
func (m *moduleSet) noting(constants func(dir string) map[string]stackconfig.Constant) func(dir string) map[string]stackconfig.Constant {
	if constants == nil {
		return nil
	}
	return func(dir string) map[string]stackconfig.Constant {
		found := constants(dir)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.mu.constants[dir] = found
		return found
	}
}

// hasConstants reports whether a configuration gives the modules the constants that they had.
func (m *moduleSet) hasConstants(config *stackconfig.Config) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.mu.constants) == 0 {
		return true // as in nearly all stacks
	}
	given := config.Constants()
	for dir, known := range m.mu.constants {
		if !maps.EqualFunc(known, given[dir], stackconfig.Constant.Equal) {
			return false
		}
	}
	return true
}

// load returns the module in a directory.
func (m *moduleSet) load(dir string) (*module.Tree, hcl.Diagnostics) {
	m.stamp(dir) // before it is read
	tree, diags := m.loader.Load(dir)
	if tree != nil {
		for _, called := range tree.Directories() {
			m.stamp(called.Dir)
		}
		for _, missing := range tree.Missing {
			if missing.Directory != nil {
				m.stamp(missing.Dir)
			}
		}
	}
	return tree, diags
}

func (m *moduleSet) stamp(dir string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.mu.stamps[dir]; !known {
		m.mu.stamps[dir] = stampOf(dir)
	}
}

// upToDate reports whether the files are as they were when read, as far as that shows without
// reading.
func (m *moduleSet) upToDate() bool {
	m.mu.Lock()
	stamps := maps.Clone(m.mu.stamps)
	m.mu.Unlock()
	for dir, stamp := range stamps {
		if stampOf(dir) != stamp {
			return false
		}
	}
	return true
}

// stampOf changes when the files of a directory do.
func stampOf(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "unreadable"
	}
	var b strings.Builder
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			fmt.Fprintf(&b, "%s %d %d\x00", entry.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}
