// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"github.com/hashicorp/hcl/v2"
)

// Hint is text to show behind a word that does not have it.
type Hint struct {
	At   hcl.Pos
	Text string
	Doc  string // more, on demand; may be empty
}

// Hints returns the types of names in a part of a file that do not declare them: outputs of
// components and embedded stacks where they are used, local values, and outputs without a type.
func (s *Stack) Hints(path string, from, to int) []Hint {
	f := s.file(path)
	if f == nil {
		return nil
	}
	var hints []Hint
	for _, occurrence := range s.occurrences() {
		if occurrence.Path != path || occurrence.Range.Start.Byte < from || occurrence.Range.End.Byte > to || !s.isHinted(f, occurrence) {
			continue
		}
		ty := s.typeOf(occurrence.Symbol)
		if text := shortType(ty); text != "" {
			hint := Hint{At: occurrence.Range.End, Text: ": " + text}
			if full := typeText(ty); full != text {
				hint.Doc = full
			}
			hints = append(hints, hint)
		}
	}
	return hints
}

func (s *Stack) isHinted(f *file, occurrence Occurrence) bool {
	switch occurrence.Kind {
	case ModuleOutput:
		return true
	case Output:
		decl := s.declaration(occurrence.Symbol)
		return !occurrence.Declaration || decl != nil && decl.file == f && decl.value("type") == nil
	case Local:
		return occurrence.Declaration
	}
	return false
}

// Lens is the dependencies and the dependents of a component or embedded stack.
type Lens struct {
	Symbol
	Range      hcl.Range // of the name
	Requires   []Dependency
	Dependents []Dependency
}

// Dependency is another component or embedded stack of the stack.
type Dependency struct {
	Symbol
	Location
}

// Lenses returns those of the components and embedded stacks that a file declares. Dependencies are
// those of references, also by way of local values and provider configurations, and of depends_on.
func (s *Stack) Lenses(path string) []Lens {
	f := s.file(path)
	if f == nil || f.deploys() {
		return nil
	}
	uses := s.uses(f.dir)
	required := map[Symbol][]Symbol{} // the requirements of each
	dependents := map[Symbol][]Symbol{}
	for _, symbol := range f.dir.names {
		if symbol.Kind != Component && symbol.Kind != Call {
			continue
		}
		for _, other := range raise(symbol, uses) {
			required[symbol] = append(required[symbol], other)
			dependents[other] = append(dependents[other], symbol)
		}
	}
	var lenses []Lens
	for _, symbol := range f.dir.names {
		decl := f.dir.decls[symbol]
		if decl.file == f && (symbol.Kind == Component || symbol.Kind == Call) {
			lenses = append(lenses, Lens{symbol, decl.name, s.dependencies(required[symbol]), s.dependencies(dependents[symbol])})
		}
	}
	return lenses
}

func (s *Stack) dependencies(symbols []Symbol) []Dependency {
	var dependencies []Dependency
	for _, symbol := range symbols {
		for _, place := range s.declared(symbol) {
			dependencies = append(dependencies, Dependency{symbol, place})
		}
	}
	return dependencies
}

// uses returns which names of a directory each declaration in it refers to.
func (s *Stack) uses(dir *directory) map[Symbol][]Symbol {
	uses := map[Symbol][]Symbol{}
	for _, occurrence := range s.occurrences() {
		if occurrence.Dir != dir.path || occurrence.Declaration || dir.decls[occurrence.Symbol] == nil {
			continue
		}
		f := s.file(occurrence.Path)
		if f.dir != dir {
			continue
		}
		if owner, ok := ownerAt(f, occurrence.Range.Start.Byte); ok {
			uses[owner] = append(uses[owner], occurrence.Symbol)
		}
	}
	return uses
}

// ownerAt returns the symbol that the block around an offset declares.
func ownerAt(f *file, offset int) (Symbol, bool) {
	block := enclosing(f, offset)
	if block.Type == "locals" {
		if argument := block.Body.ArgumentAt(offset); argument != nil {
			return Symbol{f.dir.path, Local, argument.Name}, true
		}
	}
	return f.blockSymbol(block)
}

// raise returns the components and embedded stacks that a declaration refers to, itself or by way
// of others, in the order of the first references.
func raise(symbol Symbol, uses map[Symbol][]Symbol) []Symbol {
	var found []Symbol
	seen := map[Symbol]bool{symbol: true}
	var follow func(Symbol)
	follow = func(from Symbol) {
		for _, used := range uses[from] {
			if seen[used] {
				continue
			}
			seen[used] = true
			switch used.Kind {
			case Component, Call:
				found = append(found, used)
			case Local, Provider:
				follow(used)
			}
		}
	}
	follow(symbol)
	return found
}
