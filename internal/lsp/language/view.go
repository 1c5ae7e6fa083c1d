// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/lsp/snapshot"
)

// ViewOf returns the view of a stack that a snapshot allows, without the schemas of providers and
// the list of directories.
func ViewOf(snap *snapshot.Snapshot) View {
	view := View{Config: snap.Declared, Functions: snap.Functions()}
	for _, path := range snap.Paths() {
		file := snap.File(path)
		view.Files = append(view.Files, File{Path: path, Name: file.Name, Src: file.Text.Bytes()})
	}
	view.Module = func(dir string) *Module {
		tree := snap.ModuleTree(dir)
		if tree == nil {
			return nil
		}
		module := &Module{Module: tree.Module}
		for _, file := range tree.Root.Files {
			module.Files = append(module.Files, File{Path: filepath.Join(tree.Root.Dir, file.Name), Name: file.Display, Src: file.Source})
		}
		return module
	}
	view.Instances, view.Providers = snap.Instances, snap.KnownProviders
	view.Saved = func() []File {
		var saved []File
		for path, text := range snap.Saved() {
			saved = append(saved, File{Path: path, Name: snap.File(path).Name, Src: text})
		}
		return saved
	}
	return view
}
