// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-slug/sourceaddrs"

	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// installedModules finds modules that are not in local directories where init has installed them.
type installedModules struct {
	packages string                     // directory of the packages, each in one with the name of its first call
	calls    map[string]installedModule // by the names of calls from the root module on, with dots between
}

type installedModule struct {
	Key     string `json:"Key"`
	Source  string `json:"Source"`
	Version string `json:"Version"`
	Dir     string `json:"Dir"`
}

// installedModules returns nil if init has recorded no modules.
func (w *Work) installedModules() stackconfig.Resolver { return installedIn(w.dir()) }

// installedIn returns the modules that init has recorded for a directory, nil for none.
func installedIn(dir initdir.Dir) stackconfig.Resolver {
	manifest := initdir.ManifestIn(dir.DataDir())
	text, err := os.ReadFile(manifest)
	if err != nil {
		return nil
	}
	var recorded struct{ Modules []installedModule }
	if err := json.Unmarshal(text, &recorded); err != nil {
		return nil
	}
	calls := map[string]installedModule{}
	for _, installed := range recorded.Modules {
		if !filepath.IsAbs(installed.Dir) {
			installed.Dir = filepath.Join(dir.Path, filepath.FromSlash(installed.Dir))
		}
		calls[installed.Key] = installed
	}
	return &installedModules{filepath.Dir(manifest), calls}
}

// ResolveCall implements [module.CallResolver]: a call may have another version of a module than
// others.
func (m *installedModules) ResolveCall(call string, source sourceaddrs.Source, _ string) (stackconfig.Resolved, error) {
	installed, ok := m.calls[call]
	if !ok {
		return stackconfig.Resolved{}, stackconfig.ErrNotPrepared
	}
	if addr, err := stackconfig.ParseSource(installed.Source); err != nil || addr.String() != source.String() {
		return stackconfig.Resolved{}, stackconfig.ErrNotPrepared
	}
	return stackconfig.Resolved{Dir: installed.Dir, Version: installed.Version}, nil
}

// Resolve implements [stackconfig.Resolver]. Without its call, no module can be found.
func (*installedModules) Resolve(sourceaddrs.Source, string) (stackconfig.Resolved, error) {
	return stackconfig.Resolved{}, stackconfig.ErrNotPrepared
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
