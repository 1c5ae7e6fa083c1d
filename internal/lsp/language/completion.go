// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/lsp/language/schema"
	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// CompletionKind is the kind of a completion.
type CompletionKind int

// The kinds of completions.
const (
	BlockCompletion CompletionKind = iota
	ArgumentCompletion
	ReferenceCompletion
	FunctionCompletion
	KeywordCompletion
	ValueCompletion
	PathCompletion
)

// Completion is something that can be written at a place.
type Completion struct {
	Label   string
	Kind    CompletionKind
	Detail  string // in one line, such as a type; may be empty
	Doc     string
	Replace hcl.Range // the text it replaces: the beginning of a word

	// Text is the text to insert. If Snippet is set, it has the placeholders of snippets: ${1:NAME},
	// $0.
	Text    string
	Snippet bool

	// Again is set if there is something to complete behind it.
	Again bool
}

// Complete returns the completions at an offset of a file, the most likely first. A caller that
// shows them selects those that begin with, or match, the text already in their range.
func (s *Stack) Complete(path string, offset int) []Completion {
	f := s.file(path)
	if f == nil || offset < 0 || offset > len(f.Src) || inComment(f.tree, offset) {
		return nil
	}
	c := &completer{stack: s, file: f, offset: offset, blocks: f.tree.BlocksAt(offset)}
	c.replace = f.between(wordStart(f.Src, offset), offset)
	c.complete()
	return c.found
}

func inComment(tree *syntax.File, offset int) bool {
	return slices.ContainsFunc(tree.Comments, func(comment hcl.Range) bool {
		inside := comment.Start.Byte < offset && offset < comment.End.Byte
		return inside ||
			offset == comment.End.Byte && offset == len(tree.Src) && !bytes.HasSuffix(tree.Src, []byte("*/")) &&
				!bytes.HasSuffix(tree.Src, []byte("\n"))
	})
}

// wordStart returns where the word before an offset begins.
func wordStart(src []byte, offset int) int {
	for offset > 0 && isWord(src[offset-1]) {
		offset--
	}
	return offset
}

func isWord(char byte) bool {
	return char == '_' || char == '-' || char >= '0' && char <= '9' || char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= 0x80
}

// completer finds the completions at one place.
type completer struct {
	stack   *Stack
	file    *file
	offset  int
	blocks  []*syntax.Block // around the place
	replace hcl.Range       // the beginning of the word there
	found   []Completion
}

func (c *completer) add(completion Completion) {
	if completion.Text == "" {
		completion.Text = completion.Label
	}
	if completion.Replace == (hcl.Range{}) {
		completion.Replace = c.replace
	}
	c.found = append(c.found, completion)
}

func (c *completer) complete() {
	body := c.file.tree.Root
	if len(c.blocks) > 0 {
		body = c.blocks[len(c.blocks)-1].Body
	}
	if block, label := labelAt(body, c.offset); block != nil {
		c.label(block, label)
		return
	}
	argument := body.ArgumentAt(c.offset)
	switch {
	case argument != nil && c.file.deploys():
		c.deploymentValue(argument, c.types())
	case argument != nil && c.file.isWorkspace():
		c.entryValue(argument)
	case argument != nil:
		c.value(argument)
	case c.file.tree.JSON || !c.startsItem():
	case len(c.blocks) == 0:
		c.topLevel()
	default:
		c.arguments(body)
	}
}

// startsItem reports whether a block or an argument can begin with the word at the place.
func (c *completer) startsItem() bool {
	before := bytes.TrimRight(c.file.Src[:c.replace.Start.Byte], " \t")
	return len(before) == 0 || bytes.ContainsRune([]byte("\n{}\r/"), rune(before[len(before)-1]))
}

// labelAt returns the block in one of whose labels an offset is.
func labelAt(body *syntax.Body, offset int) (block *syntax.Block, label int) {
	for _, block := range body.Blocks {
		for i, label := range block.Labels {
			if syntax.Contains(label.Range, offset) {
				return block, i
			}
		}
	}
	return nil, 0
}

// label completes labels that are not free: the local name of a provider, the type of a store.
func (c *completer) label(block *syntax.Block, label int) {
	if c.file.deploys() && block.Type == "store" && label == 0 {
		c.add(Completion{Label: "varset", Kind: ValueCompletion, Detail: "type of stores", Replace: block.Labels[0].Range})
	}
	if c.file.deploys() || block.Type != "provider" || label != 0 {
		return
	}
	for _, required := range c.file.dir.all(Requirement) {
		c.add(Completion{Label: required.Name, Kind: ReferenceCompletion, Detail: required.source(), Replace: block.Labels[0].Range})
	}
}

func (c *completer) topLevel() {
	for _, block := range schema.Of(c.file.Path) {
		if block.Once && hasBlock(c.file.dir, block.Type) || block.Type == "orchestrate" { // which is deprecated
			continue
		}
		c.block(block)
	}
	if c.file.deploys() || c.file.isWorkspace() {
		return
	}
	c.add(Completion{
		Label:  schema.Language.Name,
		Kind:   ArgumentCompletion,
		Detail: schema.Language.Type,
		Doc:    schema.Language.Doc,
		Text:   "language = TFStack2023",
	})
}

func hasBlock(dir *directory, blockType string) bool {
	for _, f := range dir.files {
		for _, block := range f.tree.Root.Blocks {
			if block.Type == blockType && block.Body != nil {
				return true
			}
		}
	}
	return false
}

// block completes a block with its labels and required arguments.
func (c *completer) block(block schema.Block) {
	label := block.Type
	for _, name := range block.Labels {
		label += ` "` + strings.ToUpper(strings.ReplaceAll(name, " ", "")) + `"`
	}
	c.add(Completion{Label: label, Kind: BlockCompletion, Detail: "block", Doc: block.Doc, Text: blockSnippet(block), Snippet: true})
}

func blockSnippet(block schema.Block) string {
	var b strings.Builder
	n := 0
	placeholder := func(text string) string {
		n++
		return "${" + string(rune('0'+n)) + ":" + text + "}"
	}
	b.WriteString(block.Type)
	for _, label := range block.Labels {
		b.WriteString(` "` + placeholder(strings.ReplaceAll(label, " ", "_")) + `"`)
	}
	b.WriteString(" {\n")
	width := 0
	for _, argument := range block.Arguments {
		if argument.Required {
			width = max(width, len(argument.Name))
		}
	}
	for _, argument := range block.Arguments {
		if argument.Required {
			b.WriteString("  " + argument.Name + strings.Repeat(" ", width-len(argument.Name)) + " = " + valueSnippet(argument, placeholder) + "\n")
		}
	}
	b.WriteString("  $0\n}")
	return b.String()
}

// valueSnippet is the first text of an argument's value.
func valueSnippet(argument schema.Argument, placeholder func(string) string) string {
	switch {
	case argument.Map:
		return "{\n  " + placeholder("") + "\n}"
	case argument.Scope == schema.Source:
		return `"` + placeholder("./") + `"`
	case argument.Scope == schema.Bool:
		return placeholder("true")
	case argument.Scope == schema.Types:
		return placeholder("string")
	case strings.HasPrefix(argument.Type, "list"):
		return "[" + placeholder("") + "]"
	case strings.HasPrefix(argument.Type, "literal string"), strings.HasPrefix(argument.Type, "string,"),
		argument.Type == "string", argument.Type == "duration":
		return `"` + placeholder("") + `"`
	default:
		return placeholder("")
	}
}

// types are the types of the blocks around the place.
func (c *completer) types() []string {
	types := make([]string, len(c.blocks))
	for i, block := range c.blocks {
		types[i] = block.Type
	}
	return types
}

// arguments completes arguments and nested blocks, those first that are required.
func (c *completer) arguments(body *syntax.Body) {
	types := c.types()
	// Files of other kinds have no such blocks, whatever somebody writes there.
	ofComponents := !c.file.deploys() && !c.file.isWorkspace()
	if ofComponents && types[0] == "provider" && len(types) > 1 && types[1] == "config" {
		c.providerArguments(body, types[2:])
		return
	}
	if ofComponents && types[0] == "required_providers" && len(types) == 1 {
		c.add(Completion{
			Label: "NAME = { source, version }", Kind: ArgumentCompletion, Doc: "A provider, by the name that it has in this stack.", Snippet: true,
			Text: "${1:aws} = {\n  source  = \"${2:hashicorp/aws}\"\n  version = \"${3:~> 1.0}\"\n}",
		})
		return
	}
	if block := schema.At(schema.Of(c.file.Path), types...); block != nil {
		c.schemaArguments(block, body)
	}
}

// fits reports whether an argument goes with those that are there: a removed component has no
// inputs, a removed stack no providers, a local source no version, and a store either an id or a
// name.
func (c *completer) fits(argument schema.Argument, body *syntax.Body) bool {
	if c.blocks[0].Type == "store" && (argument.Name == "id" || argument.Name == "name") {
		return body.Argument("id") == nil && body.Argument("name") == nil
	}
	if source := c.blocks[0].Body.Argument("source"); source != nil && argument.Name == "version" {
		text, ok := source.Value.Literal()
		return !ok || !isLocal(text.Text)
	}
	if c.blocks[0].Type != "removed" || c.blocks[0].Body.Argument("from") == nil {
		return true
	}
	stack := removesStack(c.blocks[0])
	return argument.Name != "inputs" && argument.Name != "providers" || stack == (argument.Name == "inputs")
}

func (c *completer) schemaArguments(block *schema.Block, body *syntax.Body) {
	for _, required := range []bool{true, false} {
		for _, argument := range block.Arguments {
			if argument.Required != required || body.Argument(argument.Name) != nil || !c.fits(argument, body) {
				continue
			}
			n := 0
			text := argument.Name + " = " + valueSnippet(argument, func(text string) string {
				n++
				if text == "" || text == "./" || text == "true" {
					return text + "$0"
				}
				return "${" + string(rune('0'+n)) + ":" + text + "}"
			})
			detail := argument.Type
			if required {
				detail = "required, " + detail
			}
			c.add(Completion{
				Label:   argument.Name,
				Kind:    ArgumentCompletion,
				Detail:  detail,
				Doc:     argument.Doc,
				Text:    text,
				Snippet: true,
				Again:   true,
			})
		}
	}
	for _, nested := range block.Blocks {
		there := slices.ContainsFunc(body.Blocks, func(b *syntax.Block) bool { return b.Type == nested.Type && b.Body != nil })
		if !nested.Once || !there {
			c.block(nested)
		}
	}
}

// providerArguments completes the arguments of a provider, below some nested blocks.
func (c *completer) providerArguments(body *syntax.Body, nested []string) {
	block := c.stack.providerBlock(c.file.dir, c.blocks[0], nested)
	if block == nil {
		return
	}
	for _, required := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(block.Attributes)) {
			attribute := block.Attributes[name]
			if attribute.Required != required || body.Argument(name) != nil {
				continue
			}
			detail := orAny(typeText(attribute.Type))
			if required {
				detail = "required, " + detail
			}
			c.add(Completion{Label: name, Kind: ArgumentCompletion, Detail: detail, Text: name + " = ", Again: true})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(block.Blocks)) {
		c.add(Completion{Label: name, Kind: BlockCompletion, Detail: "block", Text: name + " {\n  $0\n}", Snippet: true})
	}
}

// providerBlock returns the schema of the config block of a provider block, below some nested
// blocks; nil if it is not known.
func (s *Stack) providerBlock(dir *directory, block *syntax.Block, nested []string) *engine.Block {
	if len(block.Labels) == 0 || s.view.Schema == nil {
		return nil
	}
	provider, ok := dir.provider(block.Labels[0].Text)
	if !ok {
		return nil
	}
	known := s.view.Schema(provider)
	if known == nil {
		return nil
	}
	at := &known.Config
	for _, name := range nested {
		inner, ok := at.Blocks[name]
		if !ok {
			return nil
		}
		at = &inner.Block
	}
	return at
}

// validName reports whether a word can be the name of something.
func validName(name string) bool { return hclsyntax.ValidIdentifier(name) }
