// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
)

// Occurrence is a place where a name is written.
type Occurrence struct {
	Symbol
	Path        string    // of the file
	Range       hcl.Range // of the name, without quotes
	Declaration bool

	// Former is set for the targets of moved blocks: they are names in a state, now or before.
	Former bool
}

// occurrences returns all places where names are written, by file and place (rule L3).
func (s *Stack) occurrences() []Occurrence { return s.found() }

func (s *Stack) findOccurrences() []Occurrence {
	var found []Occurrence
	for _, f := range s.files {
		found = append(found, s.occurrencesIn(f)...)
	}
	slices.SortStableFunc(found, func(a, b Occurrence) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte))
	})
	return found
}

// occurrencesIn returns the names in one file, in no order.
func (s *Stack) occurrencesIn(f *file) []Occurrence {
	finder := &finder{stack: s, file: f}
	for _, decl := range f.declarations() {
		finder.add(decl.Symbol, decl.name, true)
	}
	switch {
	case f.deploys():
		finder.deployments()
	case f.isWorkspace():
		finder.entries()
	default:
		finder.components()
	}
	return finder.found
}

// finder finds the names in a file.
type finder struct {
	stack *Stack
	file  *file
	found []Occurrence
}

func (f *finder) add(symbol Symbol, at hcl.Range, declaration bool) {
	f.found = append(f.found, Occurrence{Symbol: symbol, Path: f.file.Path, Range: at, Declaration: declaration})
}

// components adds the names that a component file refers to.
func (f *finder) components() {
	for _, block := range f.file.tree.Root.Blocks {
		if block.Type == "provider" && len(block.Labels) > 0 {
			f.add(Symbol{f.file.dir.path, Requirement, block.Labels[0].Text}, block.Labels[0].Range, false)
		}
		f.body(block.Body, []string{block.Type})
		f.keys(block)
	}
}

// body adds the names in the arguments of a block and of those in it.
func (f *finder) body(body *syntax.Body, types []string) {
	if body == nil {
		return
	}
	for _, argument := range body.Arguments {
		if len(types) == 1 && types[0] == "required_providers" {
			continue
		}
		path := len(types) == 1 && isPath(types[0], argument.Name)
		for _, ref := range argument.Value.Refs {
			f.ref(ref, path, types[0] == "moved")
		}
		for _, call := range argument.Value.Calls {
			f.call(call, argument)
		}
	}
	for _, block := range body.Blocks {
		f.body(block.Body, append(slices.Clone(types), block.Type))
	}
}

// isPath reports whether an argument has paths of components and stacks instead of references to
// their outputs.
func isPath(blockType, argument string) bool {
	return argument == "depends_on" || blockType == "removed" && argument == "from" || blockType == "moved"
}

// ref adds the names in the steps of a reference.
func (f *finder) ref(ref *syntax.Ref, path, moved bool) {
	last := len(ref.Steps) - 1
	for last > 0 && ref.Steps[last].Kind != syntax.NameStep {
		last--
	}
	for i, symbol := range f.stack.resolve(f.file.dir, ref.Steps, path) {
		if symbol == (Symbol{}) || ref.Steps[i].Name == "" {
			continue
		}
		f.found = append(f.found, Occurrence{Symbol: symbol, Path: f.file.Path, Range: ref.Steps[i].Range, Former: moved && i == last})
	}
}

// call adds the local name of a provider in a type, and in the name of a function.
func (f *finder) call(call *syntax.Call, argument *syntax.Argument) {
	if call.Name == "providerconfig" && call.Args != nil {
		for _, ref := range argument.Value.Refs {
			if len(ref.Steps) == 1 && syntax.Contains(call.Args.Range, ref.Range.Start.Byte) {
				f.add(Symbol{f.file.dir.path, Requirement, ref.Root()}, ref.Range, false)
			}
		}
	}
	if local, at, ok := providerOfFunction(call); ok {
		f.add(Symbol{f.file.dir.path, Requirement, local}, at, false)
	}
}

// keys adds the keys of inputs and providers.
func (f *finder) keys(block *syntax.Block) {
	kind, target := f.stack.inputsOf(f.file.dir, block)
	if argument := block.Body.Argument("inputs"); argument != nil && target != "" {
		f.items(argument, func(key string) Symbol { return Symbol{target, kind, key} })
	}
	if argument := block.Body.Argument("providers"); argument != nil && target != "" && kind == ModuleVariable {
		f.items(argument, func(key string) Symbol { return Symbol{target, ModuleSlot, key} })
	}
}

func (f *finder) items(argument *syntax.Argument, symbol func(key string) Symbol) {
	group, ok := argument.Value.Map()
	if !ok {
		return
	}
	for _, item := range group.Items {
		if item.Key != "" {
			f.add(symbol(item.Key), item.KeyRange, false)
		}
	}
}

// inputsOf returns the target of the inputs of a block: the kind of the variables, and their
// directory; "" if that is not known.
func (s *Stack) inputsOf(dir *directory, block *syntax.Block) (kind Kind, target string) {
	kind = ModuleVariable
	switch block.Type {
	case "component":
	case "stack":
		kind = Variable
	case "deployment":
		return Variable, dir.path
	case "removed":
		if removesStack(block) {
			kind = Variable
		}
	default:
		return "", ""
	}
	return kind, s.sourceDir(dir, block)
}

// removesStack reports whether a removed block is for an embedded stack.
func removesStack(block *syntax.Block) bool {
	from := block.Body.Argument("from")
	if from == nil || len(from.Value.Refs) == 0 {
		return false
	}
	stack := false
	for i, step := range from.Value.Refs[0].Steps {
		if step.Kind == syntax.NameStep && (i == 0 || step.Name == "component" || step.Name == "stack") {
			stack = step.Name == "stack"
		}
	}
	return stack
}

// resolve returns the symbol of each step of a reference; the zero value for steps that name
// nothing that is known. In a path, stacks are followed by their components and embedded stacks,
// otherwise by their outputs.
func (s *Stack) resolve(dir *directory, steps []syntax.Step, path bool) []Symbol {
	symbols := make([]Symbol, len(steps))
	if len(steps) < 2 || steps[1].Kind != syntax.NameStep {
		return symbols
	}
	name := steps[1].Name
	switch root := steps[0].Name; {
	case root == "var" && !path:
		symbols[1] = Symbol{dir.path, Variable, name}
	case root == "local" && !path:
		symbols[1] = Symbol{dir.path, Local, name}
	case root == "provider" && !path:
		symbols[1] = Symbol{dir.path, Requirement, name}
		if len(steps) > 2 && steps[2].Kind == syntax.NameStep {
			symbols[2] = Symbol{dir.path, Provider, name + "." + steps[2].Name}
		}
	case root == "component":
		symbols[1] = Symbol{dir.path, Component, name}
		s.resolveOutput(dir, steps, symbols, path)
	case root == "stack":
		symbols[1] = Symbol{dir.path, Call, name}
		s.resolveOutput(dir, steps, symbols, path)
	}
	return symbols
}

// resolveOutput finds the symbols of the steps behind a component or an embedded stack.
func (s *Stack) resolveOutput(dir *directory, steps []syntax.Step, symbols []Symbol, path bool) {
	decl := dir.decls[symbols[1]]
	if decl == nil {
		return
	}
	next := s.outputStep(decl, steps)
	if next >= len(steps) || steps[next].Kind != syntax.NameStep {
		return
	}
	target := s.sourceDir(dir, decl.block)
	switch {
	case target == "":
	case path && symbols[1].Kind == Call && s.dirs[target] != nil:
		copy(symbols[next:], s.resolve(s.dirs[target], steps[next:], true))
	case path:
	case symbols[1].Kind == Call:
		symbols[next] = Symbol{target, Output, steps[next].Name}
	default:
		symbols[next] = Symbol{target, ModuleOutput, steps[next].Name}
	}
}

// outputStep returns which step of a reference to a component or embedded stack is the one behind
// its instance.
func (s *Stack) outputStep(_ *declaration, steps []syntax.Step) int {
	if len(steps) > 2 && steps[2].Kind != syntax.NameStep {
		return 3
	}
	return 2
}
