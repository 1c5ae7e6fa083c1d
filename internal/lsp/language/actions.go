// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/lsp/language/schema"
	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/internal/nearest"
)

// Action is a change that can be made at a place.
type Action struct {
	Title string
	Fixes hcl.Range // the mistake that it fixes; zero for none
	Edits []Edit
}

// Actions returns the changes that fix mistakes in a range: missing required inputs, names that are
// not declared, arguments that do not exist. With them, whatever the range, come those that remove
// the leftovers of the stack.
func (s *Stack) Actions(path string, at hcl.Range) []Action {
	f := s.file(path)
	if f == nil || f.tree.JSON {
		return nil
	}
	a := &actor{stack: s, file: f, tables: schema.Of(f.Path)}
	for _, occurrence := range s.occurrences() {
		if occurrence.Path == path && overlap(occurrence.Range, at) {
			a.undeclared(occurrence)
		}
	}
	a.actions = append(a.actions, s.LeftOvers(path)...)
	for _, block := range f.tree.Root.Blocks {
		if overlap(headerRange(block), at) ||
			block.Body != nil && overlap(block.Range, at) && block.Body.Argument("inputs") != nil &&
				overlap(block.Body.Argument("inputs").NameRange, at) {
			a.missingInputs(block)
		}
		if overlap(block.Range, at) {
			a.mistypedArguments(block, nil, at)
		}
	}
	return a.actions
}

func overlap(a, b hcl.Range) bool {
	return a.Start.Byte <= b.End.Byte && b.Start.Byte <= a.End.Byte
}

// headerRange is that of the type and the labels of a block.
func headerRange(block *syntax.Block) hcl.Range {
	if n := len(block.Labels); n > 0 {
		return hcl.RangeBetween(block.TypeRange, block.Labels[n-1].Range)
	}
	return block.TypeRange
}

// actor collects actions for one file.
type actor struct {
	stack   *Stack
	file    *file
	tables  []schema.Block
	actions []Action
}

func (a *actor) add(title string, fixes hcl.Range, edits ...Edit) {
	a.actions = append(a.actions, Action{title, fixes, edits})
}

// undeclared offers similar names in place of one that is not declared, or to declare it.
func (a *actor) undeclared(occurrence Occurrence) {
	s := a.stack
	if occurrence.Declaration || occurrence.Former || s.exists(occurrence.Symbol) {
		return
	}
	if known := s.namesLike(occurrence.Symbol); len(known) > 0 {
		if best := nearest.Name(shortName(occurrence.Symbol), known); best != "" {
			a.add(fmt.Sprintf("Change to %q", best), occurrence.Range, Edit{a.file.Path, occurrence.Range, best})
		}
	}
	switch occurrence.Kind {
	case Variable:
		a.declareVariable(occurrence)
	case ModuleVariable:
		a.declareModuleVariable(occurrence)
	}
}

// exists reports whether a symbol is declared, or may be.
func (s *Stack) exists(symbol Symbol) bool {
	switch symbol.Kind {
	case ModuleVariable, ModuleOutput, ModuleSlot:
		return s.moduleInfo(symbol.Dir) == nil || slices.Contains(s.moduleNames(symbol), symbol.Name)
	case upstreamOutput:
		return true // who knows
	case Requirement:
		return symbol.Name == "terraform" || s.declaration(symbol) != nil
	}
	return s.dirs[symbol.Dir] == nil || s.declaration(symbol) != nil
}

func (s *Stack) moduleNames(symbol Symbol) []string {
	module := s.module(symbol.Dir)
	switch symbol.Kind {
	case ModuleVariable:
		return slices.Sorted(maps.Keys(module.Variables))
	case ModuleOutput:
		return slices.Sorted(maps.Keys(module.Outputs))
	default:
		var names []string
		for slot := range module.Slots {
			names = append(names, slot.String())
		}
		return names
	}
}

// namesLike are the names that could be written in the place of a symbol.
func (s *Stack) namesLike(symbol Symbol) []string {
	switch symbol.Kind {
	case ModuleVariable, ModuleOutput, ModuleSlot:
		return s.moduleNames(symbol)
	}
	var names []string
	local, _, _ := strings.Cut(symbol.Name, ".")
	for _, decl := range s.dirs[symbol.Dir].all(symbol.Kind) {
		if symbol.Kind != Provider || strings.HasPrefix(decl.Name, local+".") {
			names = append(names, shortName(decl.Symbol))
		}
	}
	return names
}

// declareVariable offers to declare a variable of a stack: this one or, of an input, the embedded
// one.
func (a *actor) declareVariable(occurrence Occurrence) {
	dir := a.stack.dirs[occurrence.Dir]
	into := a.file
	if len(dir.files) == 0 {
		return // there is none that could have it
	}
	if dir != a.file.dir || a.file.deploys() {
		into = dir.files[0]
	}
	if declared := dir.all(Variable); len(declared) > 0 {
		into = declared[len(declared)-1].file
	}
	if into.tree.JSON {
		return
	}
	text := fmt.Sprintf("variable %q {\n  type = %s\n}\n", occurrence.Name, a.variableType(occurrence))
	a.add(fmt.Sprintf("Declare variable %q in %s", occurrence.Name, filepath.Base(into.Path)), occurrence.Range,
		Edit{into.Path, into.at(len(into.Src)), onNewLine(into.Src) + text})
}

// declareModuleVariable offers to declare a variable in the module of a component, if that is a
// local one.
func (a *actor) declareModuleVariable(occurrence Occurrence) {
	argument := enclosing(a.file, occurrence.Range.Start.Byte).Body.Argument("source")
	module := a.stack.module(occurrence.Dir)
	if argument == nil || module == nil || len(module.Files) == 0 {
		return
	}
	if source, ok := argument.Value.Literal(); !ok || !isLocal(source.Text) {
		return
	}
	into := module.Files[0]
	for _, f := range module.Files {
		if filepath.Base(f.Path) == "variables.tf" {
			into = f
		}
	}
	if !strings.HasSuffix(into.Path, ".tf") {
		return
	}
	end := posAt(into.Src, len(into.Src))
	text := fmt.Sprintf("variable %q {\n  type = %s\n}\n", occurrence.Name, a.variableType(occurrence))
	a.add(fmt.Sprintf("Declare variable %q in the module", occurrence.Name), occurrence.Range,
		Edit{into.Path, hcl.Range{Filename: into.Name, Start: end, End: end}, onNewLine(into.Src) + text})
}

// onNewLine returns the separator between a text and a block that follows it.
func onNewLine(src []byte) string {
	switch {
	case len(src) == 0:
		return ""
	case src[len(src)-1] == '\n':
		return "\n"
	}
	return "\n\n"
}

// variableType is the type of a variable that is not declared: that of the value of an input, or
// that of the input that it is the value of.
func (a *actor) variableType(occurrence Occurrence) string {
	block := enclosing(a.file, occurrence.Range.Start.Byte)
	argument := block.Body.ArgumentAt(occurrence.Range.Start.Byte)
	if argument == nil || argument.Name != "inputs" {
		return "string"
	}
	group, ok := argument.Value.Map()
	if !ok {
		return "string"
	}
	for _, item := range group.Items {
		switch {
		case item.KeyRange == occurrence.Range:
			text := a.file.text(item.Value)
			value := &syntax.Expr{Range: item.Value}
			if ty := typeText(asList(a.stack.valueType(a.file, value))); text != "" && ty != "" && !strings.Contains(ty, "any") {
				return ty
			}
		case syntax.Contains(item.Value, occurrence.Range.Start.Byte):
			inputs := a.stack.inputs(a.file.dir, block)
			i := slices.IndexFunc(inputs, func(in input) bool { return in.Name == item.Key })
			if i >= 0 && a.file.text(item.Value) == "var."+occurrence.Name && typeText(inputs[i].Type) != "" {
				return typeText(inputs[i].Type)
			}
		}
	}
	return "string"
}

// asList returns the type of a list for the type of its literal: that of its elements, if they have
// one type.
func asList(ty cty.Type) cty.Type {
	if !ty.IsTupleType() || ty.Length() == 0 {
		return ty
	}
	elements := ty.TupleElementTypes()
	for _, element := range elements {
		if !element.Equals(elements[0]) {
			return ty
		}
	}
	return cty.List(elements[0])
}

// valueType is the type of a value that is written in a file.
func (s *Stack) valueType(f *file, value *syntax.Expr) cty.Type {
	s.types.Lock()
	defer s.types.Unlock()
	return s.inferExpr(f, value)
}

// missingInputs offers to add the required inputs that a block lacks.
func (a *actor) missingInputs(block *syntax.Block) {
	if block.Type != "component" && block.Type != "stack" && block.Type != "deployment" || block.Body == nil {
		return
	}
	argument := block.Body.Argument("inputs")
	var group *syntax.Group
	if argument != nil {
		var ok bool
		if group, ok = argument.Value.Map(); !ok {
			return // it is computed
		}
	}
	var lines, names []string
	for _, in := range a.stack.inputs(a.file.dir, block) {
		if in.Required && (group == nil || group.Item(in.Name) == nil) {
			lines = append(lines, fmt.Sprintf("    %s = %s\n", in.Name, a.firstValue(in)))
			names = append(names, in.Name)
		}
	}
	if len(lines) == 0 {
		return
	}
	title := "Add missing required inputs: " + strings.Join(names, ", ")
	if len(names) == 1 {
		title = "Add missing required input " + names[0]
	}
	a.add(title, headerRange(block), a.inputsEdit(block, group, strings.Join(lines, "")))
}

// inputsEdit adds lines to the inputs of a block.
func (a *actor) inputsEdit(block *syntax.Block, group *syntax.Group, lines string) Edit {
	if group == nil {
		at := block.Body.Range.End.Byte
		before := textOf(a.file.Src, hcl.Range{Start: block.Body.Range.Start, End: block.Body.Range.End})
		text := "  inputs = {\n" + lines + "  }\n"
		if i := strings.LastIndexByte(before, '\n'); i >= 0 && strings.TrimSpace(before[i:]) == "" {
			at = block.Body.Range.Start.Byte + i + 1
		} else {
			text = "\n" + text
		}
		return Edit{a.file.Path, a.file.at(at), text}
	}
	inside := textOf(a.file.Src, group.Range)
	kept := strings.TrimRight(inside, " \t\r\n")
	start := group.Range.Start.Byte + len(kept)
	return Edit{a.file.Path, a.file.between(start, group.Range.End.Byte), "\n" + lines + "  "}
}

// firstValue is the text inserted for an input that has no value yet.
func (a *actor) firstValue(in input) string {
	if a.file.dir.get(Variable, in.Name) != nil && !a.file.deploys() {
		return "var." + in.Name
	}
	switch ty := in.Type; {
	case ty == cty.String:
		return `""`
	case ty == cty.Number:
		return "0"
	case ty == cty.Bool:
		return "false"
	case ty.IsListType(), ty.IsSetType(), ty.IsTupleType():
		return "[]"
	case ty.IsMapType(), ty.IsObjectType():
		return "{}"
	}
	return "null"
}

// mistypedArguments offers the names that may be meant by arguments and nested blocks that there
// are not.
func (a *actor) mistypedArguments(block *syntax.Block, around []string, at hcl.Range) {
	types := append(slices.Clone(around), block.Type)
	described := schema.At(a.tables, types...)
	if len(around) == 0 && described == nil {
		a.nearestName(block.Type, block.TypeRange, schema.TypeNames(a.tables))
	}
	if described == nil || block.Body == nil || len(described.Arguments) == 0 {
		return
	}
	var names []string
	for _, argument := range described.Arguments {
		names = append(names, argument.Name)
	}
	for _, argument := range block.Body.Arguments {
		if described.Argument(argument.Name) == nil && overlap(argument.NameRange, at) {
			a.nearestName(argument.Name, argument.NameRange, names)
		}
	}
	for _, nested := range block.Body.Blocks {
		switch {
		case schema.Find(described.Blocks, nested.Type) != nil:
			a.mistypedArguments(nested, types, at)
		case overlap(nested.TypeRange, at):
			a.nearestName(nested.Type, nested.TypeRange, schema.TypeNames(described.Blocks))
		}
	}
}

func (a *actor) nearestName(given string, at hcl.Range, names []string) {
	if best := nearest.Name(given, names); best != "" {
		a.add(fmt.Sprintf("Change to %q", best), at, Edit{a.file.Path, at, best})
	}
}
