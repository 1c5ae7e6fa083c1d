// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"path"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/problem"
)

// FromDirs makes a workspace file of a tree of stack directories, which must have an order.
func FromDirs(tree *terramate.Tree) Result {
	c := &fromDirs{writer: newWriter(), tree: tree, names: make([]string, len(tree.Stacks)), entries: map[int][]terramate.Resolved{}}
	for _, entry := range tree.Resolved() {
		c.entries[entry.Stack] = append(c.entries[entry.Stack], entry)
	}
	if len(tree.Stacks) > 1 {
		c.settings().text("ties", string(cairnfile.TiesByDirectory))
	}
	c.nameAll()
	for i := range tree.Stacks {
		if c.names[i] != "" {
			c.stack(i)
		}
	}
	return c.result()
}

type fromDirs struct {
	*writer
	tree    *terramate.Tree
	names   []string // "" for a stack that cannot be written
	entries map[int][]terramate.Resolved
}

func (c *fromDirs) nameAll() {
	taken := names{}
	for i, s := range c.tree.Stacks {
		at := problem.PlaceOf(s.Range)
		switch {
		case !writable(s.Path):
			c.loseOrder(at, "The stack %s: a workspace file cannot name its directory", s.Path)
		case validName.MatchString(s.Name):
			c.names[i] = c.name(taken, "stack", s.Name, at)
		default:
			c.names[i] = c.nameOfDir(taken, "stack", s.Path, at)
		}
	}
}

func (c *fromDirs) stack(i int) {
	s := c.tree.Stacks[i]
	at := problem.PlaceOf(s.Range)
	b := c.block(cairnfile.StackType, c.names[i], at)
	b.text("path", dirOf(s))
	description := s.Description
	if s.Name != "" && !validName.MatchString(s.Name) {
		if description == "" {
			description = s.Name
		} else {
			c.lose(at, "The name %q of %s, which is called %q", s.Name, s.Path, c.names[i])
		}
	}
	b.text("description", description)
	b.list("tags", s.Tags)
	after := c.references(i, "after")
	if above, ok := c.tree.Owner(path.Dir(s.Path)); ok && s.Path != "/" && c.names[above] != "" {
		after = append(after, c.names[above]) // which the tree implies
	}
	b.list("after", unique(after))
	b.list("before", c.references(i, "before"))
	b.list("wants", c.references(i, "wants"))
	b.list("wanted_by", c.references(i, "wanted_by"))
	var watch []string
	for _, ref := range s.Watch {
		file := strings.TrimPrefix(absolute(s.Path, ref.Text), "/")
		if !writable(file) {
			c.lose(problem.PlaceOf(ref.Range), "That %s watches %q, which a workspace file cannot name", s.Path, file)
			continue
		}
		watch = append(watch, watching(file)...)
	}
	b.list("watch", watch)
	if s.ID != "" {
		c.lose(at, "The id %q of %s", s.ID, s.Path)
	}
}

func dirOf(s *terramate.Stack) string {
	if s.Path == "/" {
		return "."
	}
	return strings.TrimPrefix(s.Path, "/")
}

func absolute(from, text string) string {
	if strings.HasPrefix(text, "/") {
		return path.Clean(text)
	}
	return path.Join(from, text)
}

// references translates the entries of an attribute.
func (c *fromDirs) references(i int, attribute string) []string {
	var texts []string
	for _, entry := range c.entries[i] {
		if entry.Attribute == attribute {
			texts = append(texts, c.reference(i, entry)...)
		}
	}
	return unique(texts)
}

func (c *fromDirs) reference(i int, entry terramate.Resolved) []string {
	query, isQuery := strings.CutPrefix(entry.Text, "tag:")
	if isQuery && slices.Equal(entry.Means, entry.Named) {
		return []string{"tag:" + tagQuery(query)}
	}
	s := c.tree.Stacks[i]
	means := slices.DeleteFunc(slices.Clone(entry.Means), func(other int) bool { return other == i })
	if len(means) == 0 {
		if len(entry.Means) == 0 {
			c.lose(problem.PlaceOf(entry.Range), "That %s names %q in %s, where there is no stack", s.Path, entry.Text, entry.Attribute)
		}
		return nil
	}
	dir := absolute(s.Path, entry.Text)
	if !isQuery && !glob.HasMeta(dir) && writable(dir) && slices.Equal(means, c.within(dir, i)) {
		if dir == "/" {
			return []string{"."}
		}
		return []string{"." + dir}
	}
	var named []string
	for _, other := range means {
		if c.names[other] != "" {
			named = append(named, c.names[other])
		}
	}
	return named
}

// within returns the meaning of a path in a workspace file to one of the stacks.
func (c *fromDirs) within(dir string, of int) []int {
	var found []int
	for i, s := range c.tree.Stacks {
		if i != of && c.names[i] != "" && (dir == "/" || s.Path == dir || strings.HasPrefix(s.Path, dir+"/")) {
			found = append(found, i)
		}
	}
	return found
}

// tagQuery translates a query, whose tags have no characters that would have to be quoted.
func tagQuery(text string) string {
	alternatives := strings.Split(text, ",")
	for i, all := range alternatives {
		tags := strings.Split(all, ":")
		for n, tag := range tags {
			switch strings.ToLower(tag) {
			case "and", "or", "not", "in":
				tags[n] = `"` + tag + `"`
			}
		}
		alternatives[i] = strings.Join(tags, " and ")
	}
	return strings.Join(alternatives, " or ")
}
