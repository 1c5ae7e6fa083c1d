// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language/schema"
	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/internal/nearest"
)

// Entry is the kind of the names in a workspace file: of stacks, groups and tasks, which share
// their names.
const Entry Kind = "block"

// Workspace answers questions about a workspace file. It is safe for concurrent use.
type Workspace struct {
	file        *file
	directories func(dir string) []string
	decls       map[string]*syntax.Block // by name
	names       []string                 // in order
	found       []Occurrence             // in order
}

// NewWorkspace returns answers about a workspace file. Directories returns the names of the
// directories in one; it may be nil.
func NewWorkspace(source File, directories func(dir string) []string) *Workspace {
	tree := syntax.ParseNative(source.Name, source.Src, schema.TypeNames(schema.Workspace))
	w := &Workspace{file: &file{File: source, tree: tree}, directories: directories, decls: map[string]*syntax.Block{}}
	for _, block := range tree.Root.Blocks {
		described := schema.Find(schema.Workspace, block.Type)
		if described == nil {
			continue
		}
		if len(described.Labels) == 1 && len(block.Labels) == 1 {
			w.declare(block)
		}
		w.uses(block, described)
	}
	slices.SortStableFunc(w.found, func(a, b Occurrence) int { return cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte) })
	return w
}

func (w *Workspace) symbol(name string) Symbol { return Symbol{filepath.Dir(w.file.Path), Entry, name} }

func (w *Workspace) declare(block *syntax.Block) {
	label := block.Labels[0]
	w.found = append(w.found, Occurrence{Symbol: w.symbol(label.Text), Path: w.file.Path, Range: label.Range, Declaration: true})
	if w.decls[label.Text] == nil {
		w.decls[label.Text] = block
		w.names = append(w.names, label.Text)
	}
}

// plainName are the entries of lists that are names, and not paths, tags or patterns.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// uses adds the names in the lists of a block.
func (w *Workspace) uses(block *syntax.Block, described *schema.Block) {
	if block.Body == nil {
		return
	}
	for _, argument := range block.Body.Arguments {
		if known := described.Argument(argument.Name); known == nil || known.Scope != schema.Names {
			continue
		}
		for _, text := range argument.Value.Strings {
			if plainName.MatchString(text.Text) {
				w.found = append(w.found, Occurrence{Symbol: w.symbol(text.Text), Path: w.file.Path, Range: text.Range})
			}
		}
	}
}

func (w *Workspace) symbolAt(offset int) (Occurrence, bool) {
	for _, occurrence := range w.found {
		if syntax.Contains(occurrence.Range, offset) {
			return occurrence, true
		}
	}
	return Occurrence{}, false
}

// Definition returns the block whose name is at an offset.
func (w *Workspace) Definition(offset int) []Location {
	at, ok := w.symbolAt(offset)
	if !ok || w.decls[at.Name] == nil {
		return nil
	}
	return []Location{w.location(w.decls[at.Name])}
}

func (w *Workspace) location(block *syntax.Block) Location {
	return Location{Path: w.file.Path, Range: block.Labels[0].Range, Block: block.Range}
}

// References returns where the name at an offset is written.
func (w *Workspace) References(offset int, withDeclaration bool) []Location {
	at, ok := w.symbolAt(offset)
	if !ok {
		return nil
	}
	var found []Location
	for _, occurrence := range w.found {
		if occurrence.Symbol == at.Symbol && (withDeclaration || !occurrence.Declaration) {
			found = append(found, Location{Path: occurrence.Path, Range: occurrence.Range})
		}
	}
	return found
}

// Symbols returns the blocks whose names have the letters of a query in their order.
func (w *Workspace) Symbols(query string) []SymbolInfo {
	var found []SymbolInfo
	for _, name := range w.names {
		if matches(name, query) {
			found = append(found, SymbolInfo{w.symbol(name), w.decls[name].Type + " " + name, w.location(w.decls[name])})
		}
	}
	return found
}

// Hover returns the information about the word at an offset, nil if there is none.
func (w *Workspace) Hover(offset int) *Hover {
	if inComment(w.file.tree, offset) {
		return nil
	}
	if at, ok := w.symbolAt(offset); ok {
		return &Hover{Text: w.describe(at.Name), Range: at.Range}
	}
	blocks := w.file.tree.BlocksAt(offset)
	body, types := w.file.tree.Root, []string{}
	for _, block := range blocks {
		body, types = block.Body, append(types, block.Type)
	}
	for _, block := range body.Blocks {
		if described := schema.At(schema.Workspace, append(types, block.Type)...); described != nil && syntax.Contains(block.TypeRange, offset) {
			return &Hover{Text: described.Doc, Range: block.TypeRange}
		}
	}
	for _, argument := range body.Arguments {
		if described := schema.At(schema.Workspace, types...).Argument(argument.Name); described != nil &&
			syntax.Contains(argument.NameRange, offset) {
			return &Hover{Text: describeArgument(*described), Range: argument.NameRange}
		}
	}
	return nil
}

// describe describes the block of a name.
func (w *Workspace) describe(name string) string {
	block := w.decls[name]
	if block == nil {
		return fmt.Sprintf("There is no stack, group or task %q in this file.", name)
	}
	var lines []string
	for _, argument := range []string{"path", "kind", "deployment", "workspace", "members", "command"} {
		if written := block.Body.Argument(argument); written != nil && !strings.Contains(w.file.text(written.Value.Range), "\n") {
			lines = append(lines, fmt.Sprintf("  %s = %s\n", argument, w.file.text(written.Value.Range)))
		}
	}
	description := ""
	if argument := block.Body.Argument("description"); argument != nil {
		if text, ok := argument.Value.Literal(); ok {
			description = text.Text
		}
	}
	header := fmt.Sprintf("%s %q {\n%s}", block.Type, name, strings.Join(lines, ""))
	return paragraphs(code(header), description, fmt.Sprintf("Declared in line %d.", block.Range.Start.Line))
}

// PrepareRename returns the name at an offset, and its place.
//
// Errors: a [*RenameError].
func (w *Workspace) PrepareRename(offset int) (name string, at hcl.Range, err error) {
	occurrence, ok := w.symbolAt(offset)
	switch {
	case !ok:
		return "", at, refuse("There is no name here that can be changed.")
	case w.decls[occurrence.Name] == nil:
		return "", at, refuse("There is no stack, group or task %q.", occurrence.Name)
	}
	return occurrence.Name, occurrence.Range, nil
}

// Rename gives the block whose name is at an offset another name. A stack without a path keeps its
// directory, which then is written out. Patterns that match the name stay as they are.
//
// Errors: a [*RenameError].
func (w *Workspace) Rename(offset int, name string) (*Renaming, error) {
	before, _, err := w.PrepareRename(offset)
	switch {
	case err != nil:
		return nil, err
	case !plainName.MatchString(name):
		return nil, refuse("%q cannot be a name: names consist of letters, digits, underscores, dots and dashes, "+
			"and do not begin with a dot or a dash.", name)
	case name == before:
		return &Renaming{}, nil
	case w.decls[name] != nil:
		return nil, refuse("There is already a %s %q, in line %d.", w.decls[name].Type, name, w.decls[name].Range.Start.Line)
	}
	renaming := &Renaming{Note: "Globs, regular expressions and queries that matched the name are not changed."}
	for _, occurrence := range w.found {
		if occurrence.Name == before {
			renaming.Edits = append(renaming.Edits, Edit{w.file.Path, occurrence.Range, name})
		}
	}
	renaming.Edits = append(renaming.Edits, w.pathEdits(before)...)
	slices.SortFunc(renaming.Edits, func(a, b Edit) int { return cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte) })
	return renaming, nil
}

// pathEdits writes out the directory of a stack that has the one of its name.
func (w *Workspace) pathEdits(name string) []Edit {
	block := w.decls[name]
	if block.Type != "stack" || block.Body == nil || block.Body.Argument("path") != nil {
		return nil
	}
	start, end := block.Body.Range.Start.Byte, block.Body.Range.End.Byte
	inside := string(w.file.Src[start:end])
	path := fmt.Sprintf("\n  path = %q", name)
	switch {
	case strings.TrimSpace(inside) == "":
		return []Edit{{w.file.Path, w.file.between(start, end), path + "\n"}}
	case strings.Contains(inside, "\n"):
		return []Edit{{w.file.Path, w.file.at(start), path}}
	}
	return []Edit{{w.file.Path, w.file.between(start, end), path + "\n  " + strings.TrimSpace(inside) + "\n"}}
}

// Actions returns the changes that fix mistakes in a range: names that nothing has, arguments that
// do not exist.
func (w *Workspace) Actions(at hcl.Range) []Action {
	a := &actor{file: w.file, tables: schema.Workspace}
	for _, occurrence := range w.found {
		if overlap(occurrence.Range, at) && w.decls[occurrence.Name] == nil {
			if best := nearest.Name(occurrence.Name, w.names); best != "" {
				a.add(fmt.Sprintf("Change to %q", best), occurrence.Range, Edit{w.file.Path, occurrence.Range, best})
			}
		}
	}
	for _, block := range w.file.tree.Root.Blocks {
		if overlap(block.Range, at) {
			a.mistypedArguments(block, nil, at)
		}
	}
	return a.actions
}

// Complete returns the completions at an offset, the most likely first.
func (w *Workspace) Complete(offset int) []Completion {
	if offset < 0 || offset > len(w.file.Src) || inComment(w.file.tree, offset) {
		return nil
	}
	c := &completer{file: w.file, offset: offset, blocks: w.file.tree.BlocksAt(offset)}
	c.replace = w.file.between(wordStart(w.file.Src, offset), offset)
	body := w.file.tree.Root
	if len(c.blocks) > 0 {
		body = c.blocks[len(c.blocks)-1].Body
	}
	if block, _ := labelAt(body, offset); block != nil {
		return nil
	}
	described := schema.At(schema.Workspace, c.types()...)
	argument := body.ArgumentAt(offset)
	switch {
	case argument != nil:
		if known := described.Argument(argument.Name); known != nil {
			w.completeValue(c, argument, *known)
		}
	case !c.startsItem():
	case len(c.blocks) == 0:
		for _, block := range schema.Workspace {
			there := slices.ContainsFunc(body.Blocks, func(b *syntax.Block) bool { return b.Type == block.Type && b.Body != nil })
			if !block.Once || !there {
				c.block(block)
			}
		}
	case described != nil:
		c.schemaArguments(described, body, func(schema.Argument) bool { return true })
	}
	return c.found
}

// completeValue completes the value of an argument.
func (w *Workspace) completeValue(c *completer, argument *syntax.Argument, known schema.Argument) {
	text := argument.Value.StringAt(c.offset)
	switch {
	case known.Scope == schema.Bool && text == nil:
		c.words("true", "false")
	case len(known.Words) > 0:
		w.quoted(c, text, known.Words)
	case known.Scope == schema.Names:
		w.completeNames(c, argument, text)
	case known.Scope == schema.Directory && text != nil:
		w.completeDirectories(c, text)
	}
}

// quoted completes words in quotes, with the quotes if there are none.
func (w *Workspace) quoted(c *completer, text *syntax.String, words []string) {
	for _, word := range words {
		completion := Completion{Label: strings.Trim(word, `"`), Kind: ValueCompletion, Text: word}
		if text != nil {
			completion.Text, completion.Replace = completion.Label, text.Range
		}
		c.add(completion)
	}
}

// completeNames completes the names of other blocks, and tags.
func (w *Workspace) completeNames(c *completer, argument *syntax.Argument, text *syntax.String) {
	var names []string
	for _, name := range w.names {
		own := len(c.blocks[0].Labels) == 1 && c.blocks[0].Labels[0].Text == name
		there := slices.ContainsFunc(argument.Value.Strings, func(s *syntax.String) bool { return s != text && s.Text == name })
		if !own && !there {
			names = append(names, fmt.Sprintf("%q", name))
		}
	}
	for _, tag := range w.tags() {
		names = append(names, fmt.Sprintf("%q", "tag:"+tag))
	}
	if text == nil && len(argument.Value.Groups) == 0 {
		for i := range names {
			names[i] = "[" + names[i] + "]"
		}
	}
	before := len(c.found)
	w.quoted(c, text, names)
	for i := range c.found[before:] {
		found := &c.found[before+i]
		found.Label = strings.Trim(found.Label, `[]"`)
		if text != nil {
			found.Text = found.Label
		}
		if block := w.decls[found.Label]; block != nil {
			found.Kind, found.Detail = ReferenceCompletion, block.Type
		}
	}
}

// tags are those of all blocks, sorted.
func (w *Workspace) tags() []string {
	var tags []string
	for _, name := range w.names {
		if argument := w.decls[name].Body.Argument("tags"); argument != nil {
			for _, text := range argument.Value.Strings {
				tags = append(tags, text.Text)
			}
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// completeDirectories completes a path from the top of the repository.
func (w *Workspace) completeDirectories(c *completer, text *syntax.String) {
	if w.directories == nil {
		return
	}
	written := string(w.file.Src[text.Range.Start.Byte:c.offset])
	dir := written[:strings.LastIndexByte(written, '/')+1]
	names := slices.Sorted(slices.Values(w.directories(filepath.Join(filepath.Dir(w.file.Path), filepath.FromSlash(dir)))))
	for _, name := range names {
		if !strings.HasPrefix(name, ".") {
			c.add(Completion{Label: dir + name, Kind: PathCompletion, Replace: text.Range})
		}
	}
}
