// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-slug/sourceaddrs"

	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// installedModules finds modules that are not in local directories where init has installed them.
type installedModules struct {
	packages string // directory of the packages, each in one with the name of its first call
	modules  []installedModule
}

type installedModule struct {
	Source  string `json:"Source"`
	Version string `json:"Version"`
	Dir     string `json:"Dir"`
}

// installedModules returns nil if init has recorded no modules.
func (w *rootWork) installedModules() stackconfig.Resolver {
	packages := filepath.Join(w.dataDir(), "modules")
	text, err := os.ReadFile(filepath.Join(packages, "modules.json"))
	if err != nil {
		return nil
	}
	var recorded struct{ Modules []installedModule }
	if err := json.Unmarshal(text, &recorded); err != nil {
		return nil
	}
	for i, installed := range recorded.Modules {
		if !filepath.IsAbs(installed.Dir) {
			recorded.Modules[i].Dir = filepath.Join(w.opts.Dir, filepath.FromSlash(installed.Dir))
		}
	}
	return &installedModules{packages, recorded.Modules}
}

// Resolve implements [stackconfig.Resolver]. It does not know which call asks, so that a source of which there are several versions has none.
func (m *installedModules) Resolve(source sourceaddrs.Source, _ string) (stackconfig.Resolved, error) {
	var found *stackconfig.Resolved
	for _, installed := range m.modules {
		addr, err := stackconfig.ParseSource(installed.Source)
		if err != nil || addr.String() != source.String() {
			continue
		}
		if found != nil && found.Version != installed.Version {
			return stackconfig.Resolved{}, stackconfig.ErrNotPrepared
		}
		if found == nil {
			found = &stackconfig.Resolved{Dir: installed.Dir, Version: installed.Version}
		}
	}
	if found == nil {
		return stackconfig.Resolved{}, stackconfig.ErrNotPrepared
	}
	return *found, nil
}

// Locate implements [stackconfig.Resolver].
func (m *installedModules) Locate(path string) (stackconfig.Place, bool) {
	rel, err := filepath.Rel(m.packages, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return stackconfig.Place{}, false
	}
	name, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return stackconfig.Place{Package: filepath.Join(m.packages, name), Address: filepath.ToSlash(rel)}, true
}
