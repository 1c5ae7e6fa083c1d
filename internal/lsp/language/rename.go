// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
)

// Edit replaces a range of a file.
type Edit struct {
	Path  string
	Range hcl.Range
	Text  string
}

// Renaming is the edits that rename something in all files of a stack.
type Renaming struct {
	Edits []Edit // by file and place; they do not overlap
	Note  string // work left to do elsewhere, or ""
}

// RenameError is the reason for refusing a renaming, in a sentence for people.
type RenameError struct{ Reason string }

func (e *RenameError) Error() string { return e.Reason }

func refuse(format string, args ...any) error { return &RenameError{fmt.Sprintf(format, args...)} }

// renameable are the kinds of names that belong to the stack.
var renameable = []Kind{
	Variable, Local, Output, Component, Call, Provider, Requirement,
	Group, Rule, Token, Store, Upstream, Published, DeploymentLocal, Entry,
}

// PrepareRename returns the name at an offset, and its place.
//
// Errors: a [*RenameError].
func (s *Stack) PrepareRename(path string, offset int) (name string, at hcl.Range, err error) {
	occurrence, err := s.renamed(path, offset)
	if err != nil {
		return "", hcl.Range{}, err
	}
	return shortName(occurrence.Symbol), occurrence.Range, nil
}

// shortName is the part of the name of a symbol that is written where it is declared.
func shortName(symbol Symbol) string {
	if symbol.Kind == Provider || symbol.Kind == Store {
		_, name, _ := strings.Cut(symbol.Name, ".")
		return name
	}
	return symbol.Name
}

// renamed returns the name at an offset if it can be renamed.
func (s *Stack) renamed(path string, offset int) (Occurrence, error) {
	occurrence, ok := s.symbolAt(path, offset)
	switch {
	case !ok:
		return occurrence, refuse("There is no name here that can be changed.")
	case occurrence.Kind == Deployment:
		return occurrence, refuse("The state of a deployment has its name: " +
			"another one would be another deployment, without the existing objects.")
	case occurrence.Kind == upstreamOutput:
		return occurrence, refuse("%q belongs to the stack that publishes it. Change it there, and then here.", occurrence.Name)
	case !slices.Contains(renameable, occurrence.Kind):
		return occurrence, refuse("%q belongs to the module in %s. Change it there, and then here.", occurrence.Name, occurrence.Dir)
	case s.declaration(occurrence.Symbol) == nil && occurrence.Kind == Entry:
		return occurrence, refuse(noEntry, occurrence.Name)
	case s.declaration(occurrence.Symbol) == nil:
		return occurrence, refuse("%q is not declared in this stack.", occurrence.Name)
	}
	return occurrence, nil
}

// Rename gives another name to the declaration that the name at an offset refers to, in all files
// of the stack.
//
// State has components and embedded stacks by their names. With one of them comes a moved block, so
// that existing objects are kept; the one of an earlier renaming in the other direction is turned
// around. Targets of other moved blocks stay: moves are chained.
//
// In a workspace file, a stack without a path keeps its directory, which then is written out.
// Patterns that match the name stay as they are.
//
// Errors: a [*RenameError].
func (s *Stack) Rename(path string, offset int, name string) (*Renaming, error) {
	at, err := s.renamed(path, offset)
	if err != nil {
		return nil, err
	}
	after, err := s.newSymbol(at.Symbol, name)
	if err != nil {
		return nil, err
	}
	renaming := &Renaming{Note: renameNotes[at.Kind]}
	if after == at.Symbol {
		return renaming, nil
	}
	for _, occurrence := range s.occurrences() {
		if occurrence.Symbol == at.Symbol && !occurrence.Former {
			renaming.Edits = append(renaming.Edits, Edit{occurrence.Path, occurrence.Range, name})
		}
	}
	switch at.Kind {
	case Component, Call:
		s.move(renaming, at.Symbol, after)
	case Entry:
		renaming.Edits = append(renaming.Edits, s.declaration(at.Symbol).pathEdits()...)
	}
	slices.SortFunc(renaming.Edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte))
	})
	return renaming, nil
}

var renameNotes = map[Kind]string{
	Variable:  "If this is the root stack, the value of the variable comes from outside: change its name there, too.",
	Output:    "If other programs read this output, change its name there, too.",
	Entry:     "Globs, regular expressions and queries that matched the name are not changed.",
	Published: "Other stacks read the published output by its name: change it there, too.",
}

// newSymbol returns a symbol with another name.
func (s *Stack) newSymbol(symbol Symbol, name string) (Symbol, error) {
	if symbol.Kind == Entry && !plainName.MatchString(name) {
		return symbol, refuse("%q cannot be a name: names consist of letters, digits, underscores, dots and dashes, "+
			"and do not begin with a dot or a dash.", name)
	}
	if symbol.Kind != Entry && !validName(name) {
		return symbol, refuse("%q cannot be a name: names begin with a letter or an underscore, and go on with letters, digits, "+
			"underscores and dashes.", name)
	}
	after := symbol
	after.Name = name
	if symbol.Kind == Provider || symbol.Kind == Store {
		local, _, _ := strings.Cut(symbol.Name, ".")
		after.Name = local + "." + name
	}
	if other := s.declaration(after); other != nil && after != symbol {
		kind := string(symbol.Kind)
		if symbol.Kind == Entry {
			kind = other.block.Type
		}
		return symbol, refuse("There is already a %s %q, in line %d of %s.", kind, name, other.name.Start.Line,
			filepath.Base(other.file.Path))
	}
	return after, nil
}

// move adds the moved block by which the state follows a renaming.
func (s *Stack) move(renaming *Renaming, before, after Symbol) {
	decl := s.declaration(before)
	moved := s.movedBlocks(before.Dir)
	if i := slices.IndexFunc(moved, func(m movedBlock) bool { return m.from == after }); i >= 0 {
		if moved[i].to == before {
			renaming.Edits = append(renaming.Edits, Edit{moved[i].path, moved[i].fromRange, before.Name},
				Edit{moved[i].path, moved[i].toRange, after.Name})
			return
		}
		renaming.Edits = append(renaming.Edits, Edit{moved[i].path, moved[i].block, ""}) // moves would come back to where they begin
	}
	if decl.file.tree.JSON {
		renaming.Note = fmt.Sprintf("Add a moved block from %s to %s, so that existing objects are kept.", before.reference(), after.reference())
		return
	}
	end := hcl.Range{Filename: decl.file.Name, Start: decl.block.Range.End, End: decl.block.Range.End}
	text := fmt.Sprintf("\n\nmoved {\n  from = %s\n  to   = %s\n}", before.reference(), after.reference())
	renaming.Edits = append(renaming.Edits, Edit{decl.file.Path, end, text})
}

// movedBlock is a moved block for all instances of a component or embedded stack of the stack that
// has the block.
type movedBlock struct {
	from, to                  Symbol
	path                      string
	fromRange, toRange, block hcl.Range // the first two are of the names
}

func (s *Stack) movedBlocks(dir string) []movedBlock {
	var found []movedBlock
	for _, f := range s.dirs[dir].files {
		for _, block := range f.tree.Root.Blocks {
			if block.Type != "moved" {
				continue
			}
			from, fromRange := whole(dir, block.Body.Argument("from"))
			to, toRange := whole(dir, block.Body.Argument("to"))
			if from != (Symbol{}) && to != (Symbol{}) {
				found = append(found, movedBlock{from, to, f.Path, fromRange, toRange, block.Range})
			}
		}
	}
	return found
}

// whole returns the component or embedded stack that an argument names without an index and without
// a way to it.
func whole(dir string, argument *syntax.Argument) (Symbol, hcl.Range) {
	if argument == nil || len(argument.Value.Refs) != 1 {
		return Symbol{}, hcl.Range{}
	}
	steps := argument.Value.Refs[0].Steps
	kind, ok := map[string]Kind{"component": Component, "stack": Call}[steps[0].Name]
	if !ok || len(steps) != 2 || steps[1].Kind != syntax.NameStep {
		return Symbol{}, hcl.Range{}
	}
	return Symbol{dir, kind, steps[1].Name}, steps[1].Range
}
