// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/lsp/language/schema"
	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Hover is the information about a word.
type Hover struct {
	Text  string // Markdown
	Range hcl.Range
}

// Hover returns the information about the word at an offset, nil if there is none.
func (s *Stack) Hover(path string, offset int) *Hover {
	f := s.file(path)
	if f == nil || inComment(f.tree, offset) {
		return nil
	}
	blocks := f.tree.BlocksAt(offset)
	body := f.tree.Root
	if len(blocks) > 0 {
		body = blocks[len(blocks)-1].Body
	}
	argument := body.ArgumentAt(offset)
	if argument != nil && !f.isWorkspace() {
		if hover := s.hoverCall(f, argument.Value, offset); hover != nil {
			return hover
		}
	}
	if occurrence, ok := s.symbolAt(path, offset); ok {
		return &Hover{Text: s.describe(occurrence.Symbol), Range: occurrence.Range}
	}
	if argument != nil && !f.isWorkspace() {
		return s.hoverValue(f, argument, offset)
	}
	return s.hoverSchema(f, blocks, body, offset)
}

// code puts text into a block of code.
func code(text string) string { return "```hcl\n" + text + "\n```" }

func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n\n")
}

// hoverCall describes the function whose name is at an offset.
func (s *Stack) hoverCall(f *file, expr *syntax.Expr, offset int) *Hover {
	for _, call := range expr.Calls {
		if !syntax.Contains(call.NameRange, offset) {
			continue
		}
		if signature, ok := s.signature(f.dir, call.Name); ok {
			label, _ := signature.Label()
			return &Hover{Text: paragraphs(code(label), sentence(signature.Doc), deprecation(signature)), Range: call.NameRange}
		}
		if word := keyword(schema.TypeWords, call.Name); word != nil {
			return &Hover{Text: paragraphs(code(call.Name), word.Doc), Range: call.NameRange}
		}
	}
	return nil
}

func deprecation(f Signature) string {
	if f.Deprecated == "" {
		return ""
	}
	return "Deprecated: " + f.Deprecated
}

// sentence makes a sentence of a text in a table.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func keyword(words []schema.Keyword, name string) *schema.Keyword {
	for i, word := range words {
		if base, _, _ := strings.Cut(word.Name, "("); base == name {
			return &words[i]
		}
	}
	return nil
}

// hoverValue describes a word in a value that is not the name of anything declared.
func (s *Stack) hoverValue(f *file, argument *syntax.Argument, offset int) *Hover {
	if argument.Name == "source" {
		if text := argument.Value.StringAt(offset); text != nil {
			if target := s.sourceDir(f.dir, enclosing(f, offset)); target != "" {
				return &Hover{Text: code(text.Text) + "\n\nLeads to " + target + ".", Range: text.Range}
			}
		}
	}
	if block := enclosing(f, offset); block.Type == schema.Requirement.Type {
		return hoverRequirement(argument, offset)
	}
	ref, step := argument.Value.RefAt(offset)
	if ref == nil {
		return nil
	}
	at := ref.Steps[step]
	var word *schema.Keyword
	// Deployment files have roots of their own, but types are the same words in all files.
	switch {
	case step == 0 && f.deploys() && argument.Name != "type":
		word = keyword(schema.DeployRoots, at.Name)
	case step > 0 && f.deploys():
		return hoverDeploymentMember(ref, step)
	case step == 0 && argument.Name == "type":
		word = keyword(schema.TypeWords, at.Name)
	case step == 0:
		word = keyword(schema.Roots, at.Name)
	case step == 1:
		word = keyword(schema.Attributes[ref.Root()], at.Name)
	}
	if word != nil {
		return &Hover{Text: word.Doc, Range: at.Range}
	}
	ty := typeText(s.stepsType(f.dir, ref.Steps[:step+1]))
	if ref.Root() == "each" && step > 1 && ref.Steps[1].Name == "value" {
		// No declaration has its type: it is that of the elements of this block's for_each.
		ty = typeText(stepped(s.eachType(f, enclosing(f, offset)), ref.Steps[2:step+1]))
	}
	if step > 1 && ty != "" {
		return &Hover{Text: code(at.Name + ": " + ty), Range: at.Range}
	}
	return nil
}

// hoverRequirement describes an argument of an entry of required_providers.
func hoverRequirement(entry *syntax.Argument, offset int) *Hover {
	group, ok := entry.Value.Map()
	if !ok {
		return nil
	}
	for _, item := range group.Items {
		if described := schema.Requirement.Argument(item.Key); described != nil && syntax.Contains(item.KeyRange, offset) {
			return &Hover{Text: describeArgument(*described), Range: item.KeyRange}
		}
	}
	return nil
}

// hoverDeploymentMember describes a word behind the first one of a reference in a deployment file.
func hoverDeploymentMember(ref *syntax.Ref, step int) *Hover {
	at, word := ref.Steps[step], schema.Keyword{}
	switch {
	case ref.Root() == "context":
		if ty := typeText(stepped(deployconfig.ContextType(), ref.Steps[1:step+1])); ty != "" {
			return &Hover{Text: code(at.Name + ": " + ty), Range: at.Range}
		}
		return nil
	case ref.Root() == "identity_token" && step == 2:
		word = schema.Token
	case ref.Root() == "store" && step == 3:
		word = schema.Stable
	}
	if word.Name == "" || word.Name != at.Name {
		return nil
	}
	return &Hover{Text: word.Doc, Range: at.Range}
}

// enclosing returns the outermost block around an offset; an empty one if there is none.
func enclosing(f *file, offset int) *syntax.Block {
	if blocks := f.tree.BlocksAt(offset); len(blocks) > 0 {
		return blocks[0]
	}
	return &syntax.Block{}
}

// hoverSchema describes the type of a block or the name of an argument.
func (s *Stack) hoverSchema(f *file, blocks []*syntax.Block, body *syntax.Body, offset int) *Hover {
	types := make([]string, 0, len(blocks)+1)
	for _, block := range blocks {
		types = append(types, block.Type)
	}
	for _, block := range body.Blocks {
		if !syntax.Contains(block.TypeRange, offset) {
			continue
		}
		if described := schema.At(schema.Of(f.Path), append(types, block.Type)...); described != nil {
			return &Hover{Text: described.Doc, Range: block.TypeRange}
		}
	}
	for _, argument := range body.Arguments {
		if syntax.Contains(argument.NameRange, offset) {
			return s.hoverArgument(f, blocks, types, argument)
		}
	}
	return nil
}

func (s *Stack) hoverArgument(f *file, blocks []*syntax.Block, types []string, argument *syntax.Argument) *Hover {
	if len(types) == 0 && argument.Name == schema.Language.Name {
		return &Hover{Text: describeArgument(schema.Language), Range: argument.NameRange}
	}
	if len(types) > 1 && types[0] == "provider" {
		block := s.providerBlock(f.dir, blocks[0], types[2:])
		if block == nil {
			return nil
		}
		if attribute, ok := block.Attributes[argument.Name]; ok {
			return &Hover{Text: describeAttribute(argument.Name, attribute), Range: argument.NameRange}
		}
		return nil
	}
	if described := schema.At(schema.Of(f.Path), types...).Argument(argument.Name); described != nil {
		return &Hover{Text: describeArgument(*described), Range: argument.NameRange}
	}
	return nil
}

func describeArgument(argument schema.Argument) string {
	required := ""
	if argument.Required {
		required = ", required"
	}
	return fmt.Sprintf("`%s`: %s%s\n\n%s", argument.Name, argument.Type, required, argument.Doc)
}

func describeAttribute(name string, attribute engine.Attribute) string {
	required := ""
	if attribute.Required {
		required = ", required"
	}
	return fmt.Sprintf("`%s`: %s%s, an argument of the provider", name, orAny(typeText(attribute.Type)), required)
}

// describe describes the declaration of a symbol.
func (s *Stack) describe(symbol Symbol) string {
	decl := s.declaration(symbol)
	switch symbol.Kind {
	case ModuleVariable, ModuleOutput, ModuleSlot:
		return s.describeInModule(symbol)
	}
	switch {
	case decl == nil && symbol.Kind == Entry:
		return fmt.Sprintf(noEntry, symbol.Name)
	case decl == nil:
		return fmt.Sprintf("%s is not declared in this stack.", strings.ToUpper(string(symbol.Kind[:1]))+string(symbol.Kind[1:])+" "+symbol.Name)
	}
	return paragraphs(code(s.header(decl)), decl.description(), s.remarks(decl), declaredAt(decl))
}

// header writes a declaration in short.
func (s *Stack) header(decl *declaration) string {
	ty := typeText(s.typeOf(decl.Symbol))
	switch decl.Kind {
	case Variable, Output:
		return fmt.Sprintf("%s %q: %s", decl.block.Type, decl.Name, orAny(firstOf(ty, decl.text("type"))))
	case Local:
		if ty == "" {
			return "local." + decl.Name
		}
		return "local." + decl.Name + ": " + ty
	case Component, Call:
		text := fmt.Sprintf("%s %q", decl.block.Type, decl.Name)
		if source := decl.text("source"); source != "" {
			text += " {\n  source = " + source + "\n}"
		}
		return text
	case Provider:
		local, name, _ := strings.Cut(decl.Name, ".")
		return fmt.Sprintf("provider %q %q", local, name)
	case Deployment, Group, Rule, Token, Store, Upstream, Published, Entry:
		return blockHeader(decl)
	default:
		return decl.Name + " = " + decl.file.text(decl.argument.Value.Range)
	}
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// remarks are further facts about a declaration: its default, its marks, its repetition.
func (s *Stack) remarks(decl *declaration) string {
	var remarks []string
	add := func(format string, args ...any) { remarks = append(remarks, fmt.Sprintf(format, args...)) }
	if decl.Kind == Variable {
		if text := decl.text("default"); text == "" {
			add("Required.")
		} else if !strings.Contains(text, "\n") {
			add("Default: `%s`.", text)
		}
	}
	for _, mark := range []string{"sensitive", "ephemeral"} {
		if decl.text(mark) == "true" {
			add("%s%s.", strings.ToUpper(mark[:1]), mark[1:])
		}
	}
	if text := decl.text("for_each"); text != "" && !strings.Contains(text, "\n") {
		add("An instance for each of `%s`.", text)
	}
	if decl.Kind == Component || decl.Kind == Call {
		if outputs := s.outputsOf(decl); len(outputs) > 0 {
			names := make([]string, len(outputs))
			for i, output := range outputs {
				names[i] = "`" + output.Name + "`"
			}
			add("Outputs: %s.", strings.Join(names, ", "))
		}
	}
	if provider, ok := decl.file.dir.provider(strings.Split(decl.Name, ".")[0]); ok && decl.Kind == Provider {
		add("Of provider %s.", provider)
	}
	return strings.Join(remarks, " ")
}

func declaredAt(decl *declaration) string {
	return fmt.Sprintf("Declared in %s, line %d.", filepath.Base(decl.file.Path), decl.name.Start.Line)
}

// describeInModule describes a variable, output or provider of a module.
func (s *Stack) describeInModule(symbol Symbol) string {
	module := s.module(symbol.Dir)
	if module == nil {
		return "The module is not available."
	}
	at := ""
	if places := s.declared(symbol); len(places) > 0 {
		at = fmt.Sprintf("Declared in %s, line %d.", places[0].Range.Filename, places[0].Range.Start.Line)
	}
	switch symbol.Kind {
	case ModuleVariable:
		variable := module.Variables[symbol.Name]
		if variable == nil {
			return fmt.Sprintf("The module has no variable %q.", symbol.Name)
		}
		return paragraphs(code(fmt.Sprintf("variable %q: %s", symbol.Name, orAny(typeText(variable.Type)))), s.moduleDescription(symbol),
			variableRemarks(variable), at)
	case ModuleOutput:
		output := module.Outputs[symbol.Name]
		if output == nil {
			return fmt.Sprintf("The module has no output %q.", symbol.Name)
		}
		return paragraphs(code(fmt.Sprintf("output %q: %s", symbol.Name, orAny(typeText(s.typeOf(symbol))))), s.moduleDescription(symbol),
			marks(output.Sensitive, output.Ephemeral), at)
	default:
		for slot, taken := range module.Slots {
			if slot.String() == symbol.Name {
				return fmt.Sprintf("The module takes a configuration of provider %s.", taken.Provider)
			}
		}
		return fmt.Sprintf("The module takes no provider configuration %q.", symbol.Name)
	}
}

func variableRemarks(variable *engine.Variable) string {
	text := "Required."
	if !variable.Required() {
		text = "Optional."
		if value := variable.Default; value.IsWhollyKnown() && !value.IsNull() && value.Type() == cty.String && !variable.Sensitive {
			text = fmt.Sprintf("Default: `%q`.", value.AsString())
		}
	}
	return strings.TrimSpace(text + " " + marks(variable.Sensitive, variable.Ephemeral))
}

func marks(sensitive, ephemeral bool) string {
	var words []string
	if sensitive {
		words = append(words, "Sensitive.")
	}
	if ephemeral {
		words = append(words, "Ephemeral.")
	}
	return strings.Join(words, " ")
}
