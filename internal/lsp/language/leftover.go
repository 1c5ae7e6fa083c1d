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

	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// leftOver is a component that a stack has had, and that no block of it declares, removes or moves.
type leftOver struct {
	name string
	key  stackaddrs.InstanceKey // of an instance, if blocks remove or move others; NoKey stands for all
	was  *declaration           // on the disk; nil if it is not there either
}

// leftOvers offers to remove each component that is left over of the stack that the file belongs to.
func (a *actor) leftOvers() {
	end := len(a.file.Src)
	for _, left := range a.stack.leftOvers(a.file.dir) {
		title := fmt.Sprintf("Add a removed block for component.%s%s", left.name, left.key)
		if left.was == nil {
			title += ", with the source to be filled in"
		}
		a.add(title, hcl.Range{}, Edit{a.file.Path, a.file.at(end), onNewLine(a.file.Src) + left.removed()})
	}
}

// leftOvers returns what is left over of the stack in a directory, by name.
func (s *Stack) leftOvers(dir *directory) []leftOver {
	saved, stored := s.saved(dir), s.stored(dir)
	names := maps.Clone(stored)
	for _, decl := range saved.all(Component) {
		names[decl.Name] = stored[decl.Name]
	}
	var all []leftOver
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if dir.get(Component, name) != nil || s.wasDeclared(dir, name) {
			continue
		}
		claims := s.claims(Symbol{dir.path, Component, name})
		switch {
		case claims.all:
		case len(claims.keys) == 0:
			all = append(all, leftOver{name: name, was: saved.get(Component, name)})
		default:
			for _, key := range names[name] {
				if !claims.keys[key] {
					all = append(all, leftOver{name, key, saved.get(Component, name)})
				}
			}
		}
	}
	return all
}

// saved returns what the files of a directory declare on the disk, where that is not what is in the editor.
func (s *Stack) saved(dir *directory) *directory {
	saved := &directory{path: dir.path, decls: map[Symbol]*declaration{}}
	if s.view.Saved == nil {
		return saved
	}
	for _, source := range s.view.Saved() {
		if filepath.Dir(source.Path) == dir.path && stackconfig.IsComponentFile(source.Path) {
			saved.declare(&file{File: source, tree: parse(source), dir: saved})
		}
	}
	return saved
}

// stored returns the keys of the component instances in the state, by component: of those in the stack itself, if it is that of the directory.
func (s *Stack) stored(dir *directory) map[string][]stackaddrs.InstanceKey {
	stored := map[string][]stackaddrs.InstanceKey{}
	if s.view.Instances == nil || s.view.Config == nil || s.view.Config.Root == nil || s.view.Config.Root.Dir != dir.path {
		return stored
	}
	for _, instance := range s.view.Instances() {
		if instance.Stack.IsRoot() {
			name := instance.Item.Component.Name
			stored[name] = append(stored[name], instance.Item.Key)
		}
	}
	return stored
}

// wasDeclared reports whether a component is in the configuration, which has what files with errors declared when they were last right.
func (s *Stack) wasDeclared(dir *directory, name string) bool {
	found := false
	if s.view.Config == nil || s.view.Config.Root == nil {
		return false
	}
	s.view.Config.Walk(func(stack *stackconfig.Stack) {
		found = found || stack.Dir == dir.path && stack.Components[name] != nil
	})
	return found
}

// claims are the instances of a component that blocks remove, or give another name.
type claims struct {
	all  bool // or perhaps all
	keys map[stackaddrs.InstanceKey]bool
}

// claims returns those of all files, about a component.
func (s *Stack) claims(component Symbol) claims {
	found := claims{keys: map[stackaddrs.InstanceKey]bool{}}
	for _, f := range s.files {
		for _, block := range f.tree.Root.Blocks {
			from := block.Body.Argument("from")
			if block.Type != "removed" && block.Type != "moved" || from == nil || len(from.Value.Refs) == 0 {
				continue
			}
			steps := from.Value.Refs[0].Steps
			if i := slices.Index(s.resolve(f.dir, steps, true), component); i >= 0 {
				found.add(steps[i+1:])
			}
		}
	}
	return found
}

// add adds what the steps behind a component mean: the instance with a literal key, or all.
func (c *claims) add(behind []syntax.Step) {
	if len(behind) == 0 || behind[0].Kind != syntax.IndexStep || behind[0].Name == "" {
		c.all = true
		return
	}
	c.keys[stackaddrs.StringKey(behind[0].Name)] = true
}

// unknownSource stands for a source that is not known. There is no such directory, which validation reports.
const unknownSource = `"./SOURCE-OF-THE-MODULE"`

// removed returns the block that removes what is left over.
func (l *leftOver) removed() string {
	text := fmt.Sprintf("removed {\nfrom = component.%s%s\n", l.name, l.key)
	if l.was == nil {
		return formatted(text + "source = " + unknownSource + "\n}\n")
	}
	providers := l.was.text("providers")
	if l.was.file.tree.JSON {
		providers = "" // they are written in another way
	}
	if providers != "" && l.key == stackaddrs.NoKey && l.was.usesEach("providers") {
		text = fmt.Sprintf("removed {\nfrom = component.%s[each.key]\nfor_each = %s\n", l.name, l.was.text("for_each"))
	}
	for _, argument := range []struct{ name, text string }{
		{"source", l.was.text("source")}, {"version", l.was.text("version")}, {"providers", providers},
	} {
		if argument.text != "" {
			text += argument.name + " = " + argument.text + "\n"
		}
	}
	return formatted(text + "}\n")
}

// usesEach reports whether an argument refers to the key or value of an instance.
func (d *declaration) usesEach(name string) bool {
	argument := d.value(name)
	return argument != nil && slices.ContainsFunc(argument.Value.Refs, func(ref *syntax.Ref) bool { return ref.Root() == "each" })
}

// formatted returns a text in its canonical form, or as it is if it has errors.
func formatted(text string) string {
	formatted, _, diags := safehcl.Format([]byte(text), "")
	if diags.HasErrors() {
		return text
	}
	return strings.TrimLeft(string(formatted), "\n")
}
