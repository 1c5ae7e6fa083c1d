// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/internal/removal"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// leftOver is a component or an embedded stack that a stack has had, or instances of one, and that
// no block of it declares, removes or moves.
type leftOver struct {
	symbol Symbol
	keys   []stackaddrs.InstanceKey // of the instances; none stands for all
	was    *declaration             // that has produced it, as it is now or on the disk; nil if it is not there either
}

// LeftOvers returns the changes to a component file that remove the leftovers of its stack.
func (s *Stack) LeftOvers(path string) []Action {
	f := s.file(path)
	if f == nil || f.tree.JSON || f.deploys() || f.isWorkspace() {
		return nil
	}
	var actions []Action
	for _, left := range s.leftOvers(f.dir) {
		title, text := left.removed()
		actions = append(actions, Action{Title: title, Edits: []Edit{{f.Path, f.at(len(f.Src)), onNewLine(f.Src) + text}}})
	}
	return actions
}

// leftOvers returns the leftovers of the stack in a directory: components by name, then stacks.
func (s *Stack) leftOvers(dir *directory) []leftOver {
	saved, stored := s.saved(dir), s.stored(dir)
	names := maps.Clone(stored)
	for _, decl := range slices.Concat(saved.all(Component), saved.all(Call)) {
		names[decl.Symbol] = stored[decl.Symbol]
	}
	sorted := slices.SortedFunc(maps.Keys(names), func(a, b Symbol) int {
		return cmp.Or(strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Name, b.Name))
	})
	var all []leftOver
	for _, symbol := range sorted {
		claims, was, decl := s.claims(symbol), saved.decls[symbol], dir.decls[symbol]
		switch {
		case claims.all:
		case decl != nil:
			keys := slices.DeleteFunc(append(was.literalKeys(), names[symbol]...), func(key stackaddrs.InstanceKey) bool {
				return claims.keys[key] || decl.mayHave(key)
			})
			all = append(all, each(symbol, keys, decl)...)
		case s.wasDeclared(symbol):
		case len(claims.keys) > 0:
			keys := slices.DeleteFunc(names[symbol], func(key stackaddrs.InstanceKey) bool { return claims.keys[key] })
			all = append(all, each(symbol, keys, was)...)
		case was == nil && symbol.Kind == Call && !slices.Contains(names[symbol], stackaddrs.NoKey):
			all = append(all, leftOver{symbol: symbol, keys: unique(names[symbol])})
		default:
			all = append(all, leftOver{symbol: symbol, was: was})
		}
	}
	return all
}

// each returns a leftover for each instance.
func each(symbol Symbol, keys []stackaddrs.InstanceKey, was *declaration) []leftOver {
	var all []leftOver
	for _, key := range unique(keys) {
		all = append(all, leftOver{symbol, []stackaddrs.InstanceKey{key}, was})
	}
	return all
}

func unique(keys []stackaddrs.InstanceKey) []stackaddrs.InstanceKey {
	return slices.Compact(slices.SortedFunc(slices.Values(keys), stackaddrs.InstanceKey.Compare))
}

// mayHave reports whether a block produces the instance with a key, as far as that is written out.
func (d *declaration) mayHave(key stackaddrs.InstanceKey) bool {
	if !d.repeated() {
		return key == stackaddrs.NoKey
	}
	_, all := d.instanceKeys()
	return !all || slices.Contains(d.literalKeys(), key)
}

// literalKeys are the keys that are written out in for_each. d may be nil.
func (d *declaration) literalKeys() []stackaddrs.InstanceKey {
	if d == nil {
		return nil
	}
	written, _ := d.instanceKeys()
	var keys []stackaddrs.InstanceKey
	for _, key := range written {
		keys = append(keys, stackaddrs.StringKey(key))
	}
	return keys
}

// saved returns the declarations in a directory's files on the disk, where these differ from the
// text in the editor.
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

// stored returns the keys that the state has of the components of the stack in a directory, and of
// the stacks it embeds that no block produces any more. The state is that of the stack of the view,
// which may embed the one in the directory, and that several times.
func (s *Stack) stored(dir *directory) map[Symbol][]stackaddrs.InstanceKey {
	stored := map[Symbol][]stackaddrs.InstanceKey{}
	if s.view.Instances == nil || s.view.Config == nil || s.view.Config.Root == nil {
		return stored
	}
	for _, instance := range s.view.Instances() {
		at, symbol, key := s.dirs[s.view.Config.Root.Dir], Symbol{dir.path, Component, instance.Item.Component.Name}, instance.Item.Key
		for _, step := range instance.Stack.Path() {
			call := at.get(Call, step.Call.Name)
			if at != nil && (call == nil || !call.mayHave(step.Key)) {
				symbol, key = Symbol{dir.path, Call, step.Call.Name}, step.Key
				break
			}
			if at != nil {
				at = s.dirs[s.sourceDir(at, call.block)]
			}
		}
		if at != nil && at.path == dir.path {
			stored[symbol] = append(stored[symbol], key)
		}
	}
	return stored
}

// wasDeclared reports whether a component or an embedded stack is in the configuration, which for
// files with errors has the declarations of their last correct version.
func (s *Stack) wasDeclared(symbol Symbol) bool {
	found := false
	if s.view.Config == nil || s.view.Config.Root == nil {
		return false
	}
	s.view.Config.Walk(func(stack *stackconfig.Stack) {
		if stack.Dir == symbol.Dir {
			found = found || symbol.Kind == Component && stack.Components[symbol.Name] != nil ||
				symbol.Kind == Call && stack.Calls[symbol.Name] != nil
		}
	})
	return found
}

// claims are the instances of a component or an embedded stack that blocks remove, or give another
// name.
type claims struct {
	all  bool // or perhaps all
	keys map[stackaddrs.InstanceKey]bool
}

// claims returns those of all files.
func (s *Stack) claims(symbol Symbol) claims {
	found := claims{keys: map[stackaddrs.InstanceKey]bool{}}
	for _, f := range s.files {
		for _, block := range f.tree.Root.Blocks {
			from := block.Body.Argument("from")
			if block.Type != "removed" && block.Type != "moved" || from == nil || len(from.Value.Refs) == 0 {
				continue
			}
			steps := from.Value.Refs[0].Steps
			i := slices.Index(s.resolve(f.dir, steps, true), symbol)
			isTarget := i >= 0 && !slices.ContainsFunc(steps[i+1:], func(step syntax.Step) bool { return step.Kind == syntax.NameStep })
			if isTarget { // and not something in it
				found.add(steps[i+1:])
			}
		}
	}
	return found
}

// add adds the claim that the steps behind a name make: the instance with a literal key, or all.
func (c *claims) add(behind []syntax.Step) {
	if len(behind) == 0 || behind[0].Kind != syntax.IndexStep || behind[0].Name == "" {
		c.all = true
		return
	}
	c.keys[stackaddrs.StringKey(behind[0].Name)] = true
}

// removed returns the block that removes the leftover, and a title for it.
func (l *leftOver) removed() (title, text string) {
	left := removal.LeftOver{Kind: stackaddrs.MoveableComponent, Name: l.symbol.Name, All: len(l.keys) == 0, Was: l.was.removal()}
	if l.symbol.Kind == Call {
		left.Kind = stackaddrs.MoveableStack
	}
	title = "Add a removed block for " + left.Kind.String() + "." + left.Name
	if !left.All {
		left.Key, left.More = l.keys[0], l.keys[1:]
	}
	if len(left.More) == 0 {
		title += left.Key.String()
	}
	text, complete := left.Text()
	switch {
	case complete:
	case l.was == nil:
		title += ", with the source to be filled in"
	default:
		title += ", with values to be filled in"
	}
	return title, text
}

// setFunctions return sets, whose values are their keys.
var setFunctions = []string{"toset", "setunion", "setsubtract", "setintersection"}

// removal returns the texts of a block. d may be nil.
func (d *declaration) removal() *removal.Block {
	if d == nil {
		return nil
	}
	block := &removal.Block{Source: d.text("source"), Version: d.text("version"), ForEach: d.text("for_each"), Inputs: d.text("inputs")}
	if !d.file.tree.JSON { // where they are written in another way
		block.Providers = d.text("providers")
	}
	if forEach := d.value("for_each"); forEach != nil && len(forEach.Value.Calls) > 0 {
		first := forEach.Value.Calls[0]
		block.OfSet = slices.Contains(setFunctions, first.Name) && strings.HasPrefix(strings.TrimSpace(block.ForEach), first.Name)
	}
	return block
}
