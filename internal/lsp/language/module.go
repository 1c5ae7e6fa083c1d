// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
)

// moduleLocal is the kind of local values of modules, which are asked for their types only.
const moduleLocal Kind = "local value of a module"

// moduleTypes are the types of blocks at the top level of modules, as far as others could not be
// nested in them.
var moduleTypes = []string{"variable", "output", "locals", "resource", "terraform", "module", "moved", "removed", "import"}

// moduleInfo is the information in the files of a module that the engine does not need.
type moduleInfo struct {
	variables, outputs map[string]moduleBlock
	locals             map[string]string // source text of each
}

// moduleBlock is the block of a variable or output.
type moduleBlock struct {
	description string
	value       string    // source text
	name        hcl.Range // without quotes
	block       hcl.Range
	path        string // of the file
}

// moduleInfo returns the information in the files of the module in a directory, nil if there is
// none.
func (s *Stack) moduleInfo(dir string) *moduleInfo {
	module := s.module(dir)
	if module == nil {
		return nil
	}
	s.modules.Lock()
	defer s.modules.Unlock()
	info := s.modules.known[dir]
	if info == nil {
		info = &moduleInfo{variables: map[string]moduleBlock{}, outputs: map[string]moduleBlock{}, locals: map[string]string{}}
		for _, source := range module.Files {
			info.read(source)
		}
		s.modules.known[dir] = info
	}
	return info
}

func (m *moduleInfo) read(source File) {
	tree := syntax.ParseNative(source.Name, source.Src, moduleTypes)
	for _, block := range tree.Root.Blocks {
		switch {
		case block.Type == "locals" && block.Body != nil:
			for _, argument := range block.Body.Arguments {
				m.locals[argument.Name] = textOf(source.Src, argument.Value.Range)
			}
		case len(block.Labels) != 1:
		case block.Type == "variable":
			m.variables[block.Labels[0].Text] = readModuleBlock(source, block)
		case block.Type == "output":
			m.outputs[block.Labels[0].Text] = readModuleBlock(source, block)
		}
	}
}

func readModuleBlock(source File, block *syntax.Block) moduleBlock {
	m := moduleBlock{name: block.Labels[0].Range, block: block.Range, path: source.Path}
	if argument := block.Body.Argument("description"); argument != nil {
		if text, ok := argument.Value.Literal(); ok {
			m.description = text.Text
		}
	}
	if argument := block.Body.Argument("value"); argument != nil {
		m.value = textOf(source.Src, argument.Value.Range)
	}
	return m
}

func textOf(src []byte, rng hcl.Range) string {
	if rng.Start.Byte > rng.End.Byte || rng.End.Byte > len(src) {
		return ""
	}
	return string(src[rng.Start.Byte:rng.End.Byte])
}

// text returns the text in a range, without space around it.
func (f *file) text(rng hcl.Range) string { return strings.TrimSpace(textOf(f.Src, rng)) }

// moduleDescription returns the description that a module gives one of its variables or outputs.
func (s *Stack) moduleDescription(symbol Symbol) string {
	info := s.moduleInfo(symbol.Dir)
	switch {
	case info == nil:
		return ""
	case symbol.Kind == ModuleVariable:
		return info.variables[symbol.Name].description
	default:
		return info.outputs[symbol.Name].description
	}
}
