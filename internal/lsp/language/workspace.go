// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/lsp/language/schema"
	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
)

// Entry is the kind of the names in a workspace file: of stacks, groups and tasks, which share
// their names.
const Entry Kind = "block"

// noEntry says that a name in a workspace file is that of no block.
const noEntry = "There is no stack, group or task %q in this file."

// entry returns the symbol that a block of a workspace file declares.
func entry(d *directory, block *syntax.Block) (symbol Symbol, ok bool) {
	described := schema.Find(schema.Workspace, block.Type)
	if described == nil || len(described.Labels) != 1 || len(block.Labels) != 1 {
		return Symbol{}, false
	}
	return Symbol{d.path, Entry, block.Labels[0].Text}, true
}

// plainName are the entries of lists that are names, and not paths, tags or patterns.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// entries adds the names in the lists of a workspace file.
func (f *finder) entries() {
	for _, block := range f.file.tree.Root.Blocks {
		if block.Body == nil {
			continue
		}
		described := schema.Find(schema.Workspace, block.Type)
		for _, argument := range block.Body.Arguments {
			if known := described.Argument(argument.Name); known == nil || known.Scope != schema.Names {
				continue
			}
			for _, text := range argument.Value.Strings {
				if plainName.MatchString(text.Text) {
					f.add(Symbol{f.file.dir.path, Entry, text.Text}, text.Range, false)
				}
			}
		}
	}
}

// pathEdits writes out the directory of a stack that has the one of its name.
func (d *declaration) pathEdits() []Edit {
	block, file := d.block, d.file
	if block.Type != "stack" || block.Body == nil || block.Body.Argument("path") != nil {
		return nil
	}
	start, end := block.Body.Range.Start.Byte, block.Body.Range.End.Byte
	inside := string(file.Src[start:end])
	path := fmt.Sprintf("\n  path = %q", d.Name)
	switch {
	case strings.TrimSpace(inside) == "":
		return []Edit{{file.Path, file.between(start, end), path + "\n"}}
	case strings.Contains(inside, "\n"):
		return []Edit{{file.Path, file.at(start), path}}
	}
	return []Edit{{file.Path, file.between(start, end), path + "\n  " + strings.TrimSpace(inside) + "\n"}}
}

// entryValue completes in the value of an argument of a workspace file.
func (c *completer) entryValue(argument *syntax.Argument) {
	known := schema.At(schema.Workspace, c.types()...).Argument(argument.Name)
	text := argument.Value.StringAt(c.offset)
	switch {
	case known == nil:
	case known.Scope == schema.Bool && text == nil:
		c.words("true", "false")
	case len(known.Words) > 0:
		c.quoted(text, known.Words)
	case known.Scope == schema.Names:
		c.entryNames(argument, text)
	case known.Scope == schema.Directory && text != nil:
		c.entryDirectories(text)
	}
}

// quoted completes words in quotes, with the quotes if there are none.
func (c *completer) quoted(text *syntax.String, words []string) {
	for _, word := range words {
		completion := Completion{Label: strings.Trim(word, `"`), Kind: ValueCompletion, Text: word}
		if text != nil {
			completion.Text, completion.Replace = completion.Label, text.Range
		}
		c.add(completion)
	}
}

// entryNames completes the names of other blocks, and tags.
func (c *completer) entryNames(argument *syntax.Argument, text *syntax.String) {
	var names []string
	for _, decl := range c.file.dir.all(Entry) {
		name := decl.Name
		own := len(c.blocks[0].Labels) == 1 && c.blocks[0].Labels[0].Text == name
		there := slices.ContainsFunc(argument.Value.Strings, func(s *syntax.String) bool { return s != text && s.Text == name })
		if !own && !there {
			names = append(names, fmt.Sprintf("%q", name))
		}
	}
	for _, tag := range c.file.dir.tags() {
		names = append(names, fmt.Sprintf("%q", "tag:"+tag))
	}
	if text == nil && len(argument.Value.Groups) == 0 {
		for i := range names {
			names[i] = "[" + names[i] + "]"
		}
	}
	before := len(c.found)
	c.quoted(text, names)
	for i := range c.found[before:] {
		found := &c.found[before+i]
		found.Label = strings.Trim(found.Label, `[]"`)
		if text != nil {
			found.Text = found.Label
		}
		if decl := c.file.dir.get(Entry, found.Label); decl != nil {
			found.Kind, found.Detail = ReferenceCompletion, decl.block.Type
		}
	}
}

// tags are those of all blocks, sorted.
func (d *directory) tags() []string {
	var tags []string
	for _, decl := range d.all(Entry) {
		if argument := decl.value("tags"); argument != nil {
			for _, text := range argument.Value.Strings {
				tags = append(tags, text.Text)
			}
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// entryDirectories completes a path from the top of the repository.
func (c *completer) entryDirectories(text *syntax.String) {
	if c.stack.view.Directories == nil {
		return
	}
	written := string(c.file.Src[text.Range.Start.Byte:c.offset])
	dir := written[:strings.LastIndexByte(written, '/')+1]
	names := slices.Sorted(slices.Values(c.stack.view.Directories(filepath.Join(filepath.Dir(c.file.Path), filepath.FromSlash(dir)))))
	for _, name := range names {
		if !strings.HasPrefix(name, ".") {
			c.add(Completion{Label: dir + name, Kind: PathCompletion, Replace: text.Range})
		}
	}
}
