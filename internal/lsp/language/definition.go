// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
)

// Location is a place in a file.
type Location struct {
	Path  string    // of the file; of a directory if Range is zero
	Range hcl.Range // of a name
	Block hcl.Range // around it, zero if that is not known
}

// symbolAt returns the name at an offset.
func (s *Stack) symbolAt(path string, offset int) (found Occurrence, ok bool) {
	for _, occurrence := range s.occurrences() {
		if occurrence.Path == path && syntax.Contains(occurrence.Range, offset) {
			return occurrence, true
		}
	}
	return Occurrence{}, false
}

// Definition returns where the name at an offset is declared; for the source of a component or
// embedded stack, where that is.
func (s *Stack) Definition(path string, offset int) []Location {
	if occurrence, ok := s.symbolAt(path, offset); ok {
		return s.declared(occurrence.Symbol)
	}
	f := s.file(path)
	if f == nil {
		return nil
	}
	blocks := f.tree.BlocksAt(offset)
	if len(blocks) != 1 {
		return nil
	}
	argument := blocks[0].Body.ArgumentAt(offset)
	if argument == nil || argument.Name != "source" || argument.Value.StringAt(offset) == nil {
		return nil
	}
	return s.sourceLocation(f.dir, blocks[0])
}

// declared returns where a symbol is declared.
func (s *Stack) declared(symbol Symbol) []Location {
	if decl := s.declaration(symbol); decl != nil {
		block := decl.block.Range
		if decl.argument != nil {
			block = hcl.RangeBetween(decl.name, decl.argument.Value.Range)
		}
		return []Location{{Path: decl.file.Path, Range: decl.name, Block: block}}
	}
	info := s.moduleInfo(symbol.Dir)
	if info == nil {
		return nil
	}
	found, ok := moduleBlock{}, false
	switch symbol.Kind {
	case ModuleVariable:
		found, ok = info.variables[symbol.Name]
	case ModuleOutput:
		found, ok = info.outputs[symbol.Name]
	}
	if !ok {
		return nil
	}
	return []Location{{Path: found.path, Range: found.name, Block: found.block}}
}

// sourceLocation returns the first file of the directory that the source of a block names: the one
// called main, if there is one.
func (s *Stack) sourceLocation(dir *directory, block *syntax.Block) []Location {
	target := s.sourceDir(dir, block)
	var files []File
	if module := s.module(target); module != nil {
		files = module.Files
	}
	if embedded := s.dirs[target]; embedded != nil {
		for _, f := range embedded.files {
			files = append(files, f.File)
		}
	}
	if len(files) == 0 {
		return nil
	}
	first := files[0]
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f.Path), "main.") {
			first = f
		}
	}
	start := hcl.Range{Filename: first.Name, Start: hcl.InitialPos, End: hcl.InitialPos}
	return []Location{{Path: first.Path, Range: start}}
}

// References returns where the name at an offset is written, in all files of the stack.
func (s *Stack) References(path string, offset int, withDeclaration bool) []Location {
	at, ok := s.symbolAt(path, offset)
	if !ok {
		return nil
	}
	var found []Location
	for _, occurrence := range s.occurrences() {
		if occurrence.Symbol == at.Symbol && (withDeclaration || !occurrence.Declaration) {
			found = append(found, Location{Path: occurrence.Path, Range: occurrence.Range})
		}
	}
	return found
}

// Highlights returns where the name at an offset is written in the same file, its declaration too.
func (s *Stack) Highlights(path string, offset int) []Location {
	var found []Location
	for _, location := range s.References(path, offset, true) {
		if location.Path == path {
			found = append(found, location)
		}
	}
	return found
}
