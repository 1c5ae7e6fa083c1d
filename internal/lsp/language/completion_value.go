// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/lsp/language/schema"
	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
)

// value completes in the value of an argument.
func (c *completer) value(argument *syntax.Argument) {
	described := c.described(argument)
	expr := argument.Value
	if text := expr.StringAt(c.offset); text != nil && described.Scope == schema.Source {
		c.directories(c.file.dir.path, text)
		return
	}
	if text := expr.StringAt(c.offset); text != nil && c.blocks[len(c.blocks)-1].Type == schema.Requirement.Type {
		c.requirement(argument, text)
		return
	}
	if expr.InText(c.offset) || c.file.tree.JSON && !expr.InTemplate(c.offset) {
		return
	}
	ref, step := expr.RefAt(c.offset)
	if ref != nil && step > 0 {
		c.members(ref.Steps[:step], described.Scope&schema.Path != 0)
		return
	}
	if c.key(argument, described) {
		return
	}
	switch {
	case described.Scope == schema.Bool:
		c.words("true", "false")
	case described.Scope == schema.Types:
		c.typeWords(expr)
	case len(described.Words) > 0:
		c.words(described.Words...)
	default:
		c.roots(described.Scope)
	}
}

// described returns the description of an argument around the place.
func (c *completer) described(argument *syntax.Argument) schema.Argument {
	types := c.types()
	switch {
	case len(types) == 0 && argument.Name == schema.Language.Name:
		return schema.Language
	case len(types) == 0:
	case types[0] == "locals":
		return schema.Argument{Name: argument.Name, Scope: schema.Values | schema.Components | schema.Providers}
	case types[0] == "required_providers":
		return schema.Argument{Name: argument.Name, Map: true}
	case types[0] == "provider" && len(types) > 1:
		return schema.Argument{Name: argument.Name, Scope: c.withEach(schema.Values | schema.Components | schema.Each)}
	}
	if found := schema.At(schema.Stack, types...).Argument(argument.Name); found != nil {
		described := *found
		described.Scope = c.withEach(described.Scope)
		return described
	}
	return schema.Argument{Name: argument.Name}
}

// withEach takes each out of a scope where the block around has no for_each.
func (c *completer) withEach(scope schema.Scope) schema.Scope {
	if c.blocks[0].Body.Argument("for_each") == nil {
		scope &^= schema.Each
	}
	return scope
}

func (c *completer) words(words ...string) {
	for _, word := range words {
		c.add(Completion{Label: word, Kind: ValueCompletion})
	}
}

// key completes a key of a map, and reports whether the place is for one.
func (c *completer) key(argument *syntax.Argument, described schema.Argument) bool {
	groups := argument.Value.GroupsAt(c.offset)
	if c.file.tree.JSON || len(groups) == 0 || groups[0].Kind != syntax.MapGroup || groups[0].IsFor() || groups[0].ItemAt(c.offset) != nil {
		return false
	}
	if described.Scope == schema.Types {
		return true
	}
	var around []string // the keys that lead to the map, the innermost first
	for _, group := range groups[1:] {
		item := group.ItemAt(c.offset)
		if group.Kind != syntax.MapGroup || item == nil {
			return true
		}
		around = append(around, item.Key)
	}
	slices.Reverse(around)
	c.keys(argument, groups[0], around)
	return true
}

// keys completes keys of a map that some keys lead to from the value of an argument.
func (c *completer) keys(argument *syntax.Argument, group *syntax.Group, around []string) {
	block := c.blocks[len(c.blocks)-1]
	switch {
	case block.Type == "required_providers" && len(around) == 0:
		for _, entry := range schema.Requirement.Arguments {
			if group.Item(entry.Name) == nil {
				c.add(Completion{
					Label:   entry.Name,
					Kind:    ArgumentCompletion,
					Detail:  entry.Type,
					Doc:     entry.Doc,
					Text:    entry.Name + ` = "$0"`,
					Snippet: true,
				})
			}
		}
	case argument.Name == "providers" && len(around) == 0:
		c.slots(block, group)
	case argument.Name == "inputs":
		c.inputs(block, group, around)
	}
}

// slots completes the names by which a module takes provider configurations.
func (c *completer) slots(block *syntax.Block, group *syntax.Group) {
	module := c.stack.module(c.stack.sourceDir(c.file.dir, block))
	if module == nil {
		return
	}
	names := map[string]string{}
	for slot, taken := range module.Slots {
		names[slot.String()] = taken.Provider.String()
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if group.Item(name) == nil {
			c.add(Completion{Label: name, Kind: ArgumentCompletion, Detail: names[name], Text: name + " = ", Again: true})
		}
	}
}

// inputs completes variables, or below keys attributes of their types.
func (c *completer) inputs(block *syntax.Block, group *syntax.Group, around []string) {
	inputs := c.stack.inputs(c.file.dir, block)
	if len(around) > 0 {
		i := slices.IndexFunc(inputs, func(in input) bool { return in.Name == around[0] })
		if i < 0 {
			return
		}
		c.attributes(elementType(inputs[i].Type, around[1:]), group)
		return
	}
	for _, required := range []bool{true, false} {
		for _, in := range inputs {
			if in.Required != required || group.Item(in.Name) != nil {
				continue
			}
			detail := orAny(shortType(in.Type))
			if required {
				detail = "required, " + detail
			}
			c.add(Completion{Label: in.Name, Kind: ArgumentCompletion, Detail: detail, Doc: in.Doc, Text: in.Name + " = ", Again: true})
		}
	}
}

// elementType is the type that some keys lead to.
func elementType(ty cty.Type, keys []string) cty.Type {
	for _, key := range keys {
		switch {
		case ty.IsObjectType() && ty.HasAttribute(key):
			ty = ty.AttributeType(key)
		case ty.IsMapType():
			ty = ty.ElementType()
		default:
			return cty.DynamicPseudoType
		}
	}
	return ty
}

func (c *completer) attributes(ty cty.Type, group *syntax.Group) {
	if !ty.IsObjectType() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(ty.AttributeTypes())) {
		if group.Item(name) == nil {
			detail := orAny(shortType(ty.AttributeType(name)))
			if !ty.AttributeOptional(name) {
				detail = "required, " + detail
			}
			c.add(Completion{Label: name, Kind: ArgumentCompletion, Detail: detail, Text: name + " = ", Again: true})
		}
	}
}

// input is a variable of a module or an embedded stack.
type input struct {
	Symbol
	Type     cty.Type
	Required bool
	Doc      string
}

// inputs returns the variables for which the inputs of a block have values, sorted.
func (s *Stack) inputs(dir *directory, block *syntax.Block) []input {
	kind, target := s.inputsOf(dir, block)
	var inputs []input
	switch {
	case kind == Variable && s.dirs[target] != nil:
		for _, decl := range s.dirs[target].all(Variable) {
			inputs = append(inputs, input{decl.Symbol, s.typeOf(decl.Symbol), decl.value("default") == nil, decl.description()})
		}
	case kind == ModuleVariable:
		module := s.module(target)
		if module == nil {
			return nil
		}
		for name, variable := range module.Variables {
			symbol := Symbol{target, ModuleVariable, name}
			inputs = append(inputs, input{symbol, variable.Type, variable.Required(), s.moduleDescription(symbol)})
		}
	}
	slices.SortFunc(inputs, func(a, b input) int { return strings.Compare(a.Name, b.Name) })
	return inputs
}

// directories completes a local source.
func (c *completer) directories(base string, text *syntax.String) {
	if c.stack.view.Directories == nil {
		return
	}
	written := textOf(c.file.Src, hcl.Range{Start: text.Range.Start, End: hcl.Pos{Byte: c.offset}})
	if !strings.HasPrefix(written, "./") && !strings.HasPrefix(written, "../") {
		c.add(Completion{Label: "./", Kind: PathCompletion, Replace: text.Range, Again: true})
		c.add(Completion{Label: "../", Kind: PathCompletion, Replace: text.Range, Again: true})
		if written != "" {
			return
		}
		written = "./"
	}
	dir, _ := path.Split(written)
	names := c.stack.view.Directories(filepath.Join(base, filepath.FromSlash(dir)))
	slices.Sort(names)
	for _, name := range names {
		c.add(Completion{Label: dir + name, Kind: PathCompletion, Replace: text.Range})
	}
	if strings.Trim(dir, "./") == "" && dir != "./" {
		c.add(Completion{Label: dir + "../", Kind: PathCompletion, Replace: text.Range, Again: true})
	}
}

// typeWords completes a type.
func (c *completer) typeWords(expr *syntax.Expr) {
	for _, call := range expr.Calls {
		if call.Name == "providerconfig" && call.Args != nil && syntax.Contains(call.Args.Range, c.offset) {
			for _, required := range c.file.dir.all(Requirement) {
				c.add(Completion{Label: required.Name, Kind: ReferenceCompletion, Detail: required.source()})
			}
			return
		}
	}
	for _, word := range schema.TypeWords {
		name, _, _ := strings.Cut(word.Name, "(")
		c.add(Completion{
			Label: name, Kind: KeywordCompletion, Detail: "type", Doc: word.Doc,
			Text: strings.Replace(word.Name, "$", "$0", 1), Snippet: strings.Contains(word.Name, "$"), Again: strings.Contains(word.Name, "$"),
		})
	}
}

// roots completes the first word of a reference, and functions.
func (c *completer) roots(scope schema.Scope) {
	for _, root := range schema.Roots {
		if root.Scope&scope == 0 || !c.hasAny(root.Name, scope) {
			continue
		}
		c.add(Completion{Label: root.Name, Kind: KeywordCompletion, Doc: root.Doc, Text: root.Name + ".", Again: true})
	}
	if scope&(schema.Values|schema.Own) == 0 {
		return
	}
	for _, name := range c.stack.functionNames(c.file.dir) {
		f, ok := c.stack.signature(c.file.dir, name)
		if !ok {
			continue
		}
		label, _ := f.Label()
		c.add(Completion{
			Label: name, Kind: FunctionCompletion, Detail: label, Doc: f.Doc, Text: name + "($0)", Snippet: true, Again: true,
			Replace: c.functionRange(),
		})
	}
}

// functionRange is the beginning of the name of a function at the place, with the words of longer
// names.
func (c *completer) functionRange() hcl.Range {
	start := c.offset
	for start > 0 && (isWord(c.file.Src[start-1]) || c.file.Src[start-1] == ':') {
		start--
	}
	return hcl.Range{Filename: c.file.Name, Start: posAt(c.file.Src, start), End: c.replace.End}
}

// hasAny reports whether there is anything that a word can be followed by.
func (c *completer) hasAny(root string, scope schema.Scope) bool {
	if kind, ok := rootKinds[root]; ok && scope&schema.Path == 0 {
		return len(c.file.dir.all(kind)) > 0
	}
	return true
}

var rootKinds = map[string]Kind{"var": Variable, "local": Local, "component": Component, "stack": Call, "provider": Provider}

// members completes the name after some steps of a reference.
func (c *completer) members(steps []syntax.Step, isPath bool) {
	root := steps[0].Name
	switch {
	case len(steps) == 1 && schema.Attributes[root] != nil:
		for _, attribute := range schema.Attributes[root] {
			c.add(Completion{Label: attribute.Name, Kind: KeywordCompletion, Doc: attribute.Doc})
		}
	case len(steps) == 1 && root == "provider":
		c.localNames()
	case len(steps) == 1:
		c.declared(root, isPath)
	case len(steps) == 2 && root == "provider":
		for _, decl := range c.file.dir.all(Provider) {
			if name, ok := strings.CutPrefix(decl.Name, steps[1].Name+"."); ok {
				c.add(Completion{Label: name, Kind: ReferenceCompletion, Detail: string(Provider)})
			}
		}
	case isPath:
		c.pathMembers(steps)
	default:
		c.results(steps)
	}
}

func (c *completer) localNames() {
	var names []string
	for _, decl := range c.file.dir.all(Provider) {
		local, _, _ := strings.Cut(decl.Name, ".")
		names = append(names, local)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		c.add(Completion{Label: name, Kind: ReferenceCompletion, Detail: "provider", Text: name + ".", Again: true})
	}
}

// declared completes the names that can follow var, local, component or stack.
func (c *completer) declared(root string, isPath bool) {
	kind, ok := rootKinds[root]
	if !ok {
		return
	}
	own := c.own(kind, isPath)
	for _, decl := range c.file.dir.all(kind) {
		if decl == own {
			continue
		}
		c.add(Completion{Label: decl.Name, Kind: ReferenceCompletion, Detail: c.stack.detail(decl), Doc: decl.description()})
	}
}

// own is the declaration around the place, which cannot refer to itself.
func (c *completer) own(kind Kind, isPath bool) *declaration {
	if len(c.blocks) == 0 || len(c.blocks[0].Labels) != 1 || blockKinds[c.blocks[0].Type] != kind || kind == Variable ||
		isPath && c.blocks[0].Type == "removed" {
		return nil
	}
	return c.file.dir.get(kind, c.blocks[0].Labels[0].Text)
}

// detail is the summary of a declaration in one line.
func (s *Stack) detail(decl *declaration) string {
	switch decl.Kind {
	case Component, Call:
		detail := string(decl.Kind)
		if source := decl.text("source"); source != "" {
			detail += " from " + strings.Trim(source, `"`)
		}
		if decl.repeated() {
			detail += ", for_each"
		}
		return detail
	case Requirement:
		return decl.source()
	default:
		return shortType(s.typeOf(decl.Symbol))
	}
}

// source is the address of a required provider.
func (d *declaration) source() string {
	if provider, ok := d.file.dir.provider(d.Name); ok {
		return provider.String()
	}
	return ""
}

// pathMembers completes a path through embedded stacks.
func (c *completer) pathMembers(steps []syntax.Step) {
	symbols := c.stack.resolve(c.file.dir, steps, true)
	last := len(steps) - 1
	for last > 0 && steps[last].Kind != syntax.NameStep {
		last--
	}
	if symbol := symbols[last]; symbol.Kind == Call {
		c.add(Completion{Label: "component", Kind: KeywordCompletion, Text: "component.", Again: true})
		c.add(Completion{Label: "stack", Kind: KeywordCompletion, Text: "stack.", Again: true})
		return
	}
	if steps[last].Name != "component" && steps[last].Name != "stack" {
		return
	}
	before := last - 1
	for before > 0 && steps[before].Kind != syntax.NameStep {
		before--
	}
	call := c.stack.declaration(symbols[before])
	if call == nil {
		return
	}
	child := c.stack.dirs[c.stack.sourceDir(call.file.dir, call.block)]
	for _, decl := range child.all(rootKinds[steps[last].Name]) {
		c.add(Completion{Label: decl.Name, Kind: ReferenceCompletion, Detail: c.stack.detail(decl)})
	}
}

// results completes the name after that of a component, an embedded stack or a value.
func (c *completer) results(steps []syntax.Step) {
	if steps[0].Name == "each" && steps[1].Name == "value" {
		c.attributesOf(stepped(c.stack.eachType(c.file, c.blocks[0]), steps[2:]))
		return
	}
	decl := c.stack.declaration(c.stack.resolve(c.file.dir, steps, false)[1])
	if decl == nil {
		return
	}
	isObject := decl.Kind == Component || decl.Kind == Call
	if isObject && decl.repeated() && len(steps) == 2 {
		c.instances(decl, steps)
		return
	}
	if isObject && len(steps) <= 3 && c.stack.outputStep(decl, steps) == len(steps) || isObject && len(steps) == 2 {
		c.outputs(decl)
		return
	}
	c.attributesOf(c.stack.stepsType(c.file.dir, steps))
}

// attributesOf completes the attributes of a value.
func (c *completer) attributesOf(ty cty.Type) {
	if !ty.IsObjectType() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(ty.AttributeTypes())) {
		c.add(Completion{Label: name, Kind: ReferenceCompletion, Detail: orAny(shortType(ty.AttributeType(name)))})
	}
}

// eachType returns the type of each.value in a block.
func (s *Stack) eachType(f *file, block *syntax.Block) cty.Type {
	argument := block.Body.Argument("for_each")
	if argument == nil {
		return cty.DynamicPseudoType
	}
	ty := s.valueType(f, argument.Value)
	switch {
	case ty.IsMapType(), ty.IsSetType():
		return ty.ElementType()
	case ty.IsObjectType():
		var common cty.Type
		for _, attribute := range ty.AttributeTypes() {
			if common != cty.NilType && !attribute.Equals(common) {
				return cty.DynamicPseudoType
			}
			common = attribute
		}
		if common != cty.NilType {
			return common
		}
	}
	return cty.DynamicPseudoType
}

// instances completes an index where an instance has to be chosen. It takes the place of the dot.
func (c *completer) instances(decl *declaration, steps []syntax.Step) {
	replace := hcl.Range{Filename: c.file.Name, Start: steps[1].Range.End, End: c.replace.End}
	keys, _ := decl.instanceKeys()
	for _, key := range keys {
		c.add(Completion{Label: `["` + key + `"]`, Kind: ValueCompletion, Detail: "instance of " + decl.reference(), Replace: replace})
	}
	c.add(Completion{
		Label:   "[each.key]",
		Kind:    ValueCompletion,
		Detail:  "instance of " + decl.reference(),
		Text:    "[${1:each.key}]",
		Snippet: true,
		Replace: replace,
	})
}

// instanceKeys are the keys that are written out in for_each: those of a map, or the strings in a
// set. It reports whether there are no others.
func (d *declaration) instanceKeys() (keys []string, all bool) {
	argument := d.value("for_each")
	if argument == nil {
		return nil, false
	}
	text := strings.TrimSpace(d.text("for_each"))
	if group, ok := argument.Value.Map(); ok {
		all = strings.TrimSpace(d.file.text(hcl.Range{Start: group.Range.End, End: argument.Value.Range.End})) == "}"
		for _, item := range group.Items {
			if item.Key == "" {
				all = false
			} else {
				keys = append(keys, item.Key)
			}
		}
		return keys, all
	}
	if calls := argument.Value.Calls; len(calls) == 1 && calls[0].Name == "toset" && len(argument.Value.Refs) == 0 {
		isTemplate := func(group *syntax.Group) bool { return group.Kind == syntax.TemplateGroup }
		all = strings.HasPrefix(text, "toset(") && strings.HasSuffix(text, "])") && !slices.ContainsFunc(argument.Value.Groups, isTemplate)
		for _, one := range argument.Value.Strings {
			keys = append(keys, one.Text)
		}
	}
	return keys, all
}

// outputs completes the outputs of a component or embedded stack.
func (c *completer) outputs(decl *declaration) {
	for _, output := range c.stack.outputsOf(decl) {
		c.add(Completion{Label: output.Name, Kind: ReferenceCompletion, Detail: shortType(output.Type), Doc: output.Doc})
	}
}

// outputsOf returns the outputs of a component or embedded stack, sorted.
func (s *Stack) outputsOf(decl *declaration) []input {
	target := s.sourceDir(decl.file.dir, decl.block)
	var outputs []input
	if decl.Kind == Call {
		for _, output := range s.dirs[target].all(Output) {
			outputs = append(outputs, input{Symbol: output.Symbol, Type: s.typeOf(output.Symbol), Doc: output.description()})
		}
	} else if module := s.module(target); module != nil {
		for name := range module.Outputs {
			symbol := Symbol{target, ModuleOutput, name}
			outputs = append(outputs, input{Symbol: symbol, Type: s.typeOf(symbol), Doc: s.moduleDescription(symbol)})
		}
	}
	slices.SortFunc(outputs, func(a, b input) int { return strings.Compare(a.Name, b.Name) })
	return outputs
}

// stepsType returns the type of the target of some steps of a reference.
func (s *Stack) stepsType(dir *directory, steps []syntax.Step) cty.Type {
	symbols := s.resolve(dir, steps, false)
	last := len(steps) - 1
	for last > 0 && symbols[last] == (Symbol{}) {
		last--
	}
	ty := s.typeOf(symbols[last])
	if decl := s.declaration(symbols[last]); decl != nil && decl.repeated() && (decl.Kind == Component || decl.Kind == Call) &&
		last+1 < len(steps) {
		last++ // the instance
	}
	return stepped(ty, steps[last+1:])
}

// stepped returns the type that some steps lead to from a value.
func stepped(ty cty.Type, steps []syntax.Step) cty.Type {
	for _, step := range steps {
		switch {
		case step.Kind == syntax.NameStep && ty.IsObjectType() && ty.HasAttribute(step.Name):
			ty = ty.AttributeType(step.Name)
		case ty.IsMapType(), ty.IsListType():
			ty = ty.ElementType()
		default:
			return cty.DynamicPseudoType
		}
	}
	return ty
}
