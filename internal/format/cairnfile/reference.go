// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// tagPrefix begins the references that are queries of tags.
const tagPrefix = "tag:"

// find returns the blocks that a reference in a block means, as written.
func (r *resolver) find(ref Reference, from *Block) []*Block {
	text := ref.Text
	switch {
	case strings.HasPrefix(text, tagPrefix):
		return r.byTag(ref, from)
	case len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/':
		return r.byExpression(ref, from)
	case text == "." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "/"):
		return r.byPath(ref, from)
	case glob.HasMeta(text):
		pattern, err := glob.Compile(text)
		if err != nil {
			r.problem(problem.BadValue, ref.Range, "Invalid pattern", "The %s.", err)
			return nil
		}
		match, spend := r.counting(ref, pattern.Size(), pattern.Match)
		found := r.lookup.byName(pattern.Prefix(), match)
		if !spend() {
			return nil
		}
		return r.meantOf(ref, from, found)
	}
	return r.byName(ref, from)
}

func (r *resolver) byName(ref Reference, from *Block) []*Block {
	found := r.model.blocks[ref.Text]
	if found == from {
		r.problem(problem.Self, ref.Range, "Reference to itself", "The %s %q refers to itself. Remove the entry.", from.Type, from.Name)
		return nil
	}
	if found != nil {
		return []*Block{found}
	}
	hint := r.hints.DidYouMean(ref.Text, maps.Keys(r.model.blocks))
	if strings.Contains(ref.Text, "/") {
		hint = " Paths begin with a point or a slash: \"./" + ref.Text + "\"."
	}
	r.problem(problem.UnknownRef, ref.Range, "Unknown reference", "There is no stack, group or task %q in this file.%s", ref.Text, hint)
	return nil
}

func (r *resolver) byTag(ref Reference, from *Block) []*Block {
	query, err := tagquery.Parse(strings.TrimPrefix(ref.Text, "tag:"))
	if err != nil {
		at := ref.Range
		var place *tagquery.Error
		if text := "tag:"; errors.As(err, &place) && at.Start.Line == at.End.Line && at.End.Byte-at.Start.Byte == len(ref.Text)+2 {
			// A quote is before the text, which has no escapes.
			at.Start.Byte += 1 + len(text) + place.Offset
			at.Start.Column += 1 + len(text) + place.Offset
			at.End.Byte, at.End.Column = at.Start.Byte+place.Length, at.Start.Column+place.Length
		}
		r.problem(problem.BadTagQuery, at, "Invalid tag query", "The query %q cannot be read: %s.", strings.TrimPrefix(ref.Text, "tag:"), err)
		return nil
	}
	// Tags that nothing has are not a mistake: they may be those of stacks yet to come.
	cost := r.toMean(from)
	if _, indexed := query.AnyOf(func(string) int { return 0 }); !indexed {
		cost += len(r.model.Leaves) * (perLeaf + len(ref.Text))
	}
	if !r.spend(ref.Range, cost) {
		return nil
	}
	var found []*Block
	for _, leaf := range r.lookup.byTags(query) {
		if r.meant(leaf, from) {
			found = append(found, leaf.Block)
		}
	}
	return found
}

func (r *resolver) byExpression(ref Reference, from *Block) []*Block {
	text := ref.Text[1 : len(ref.Text)-1]
	expr, size, err := glob.Expression(text)
	if err != nil {
		r.problem(problem.BadValue, ref.Range, "Invalid regular expression",
			"The text between slashes is a regular expression, and this one cannot be read: %s.", err)
		return nil
	}
	match, spend := r.counting(ref, size, expr.MatchString)
	found := r.lookup.byName(literalBeginning(text), match)
	if !spend() {
		return nil
	}
	return r.meantOf(ref, from, found)
}

// byPath means the stacks in a directory and below it.
func (r *resolver) byPath(ref Reference, from *Block) []*Block {
	dir, ok := inside(ref.Text)
	if !ok {
		r.problem(problem.BadPath, ref.Range, "Path outside of the repository",
			"The path %q must lead to a directory of the repository, seen from its root.", ref.Text)
		return nil
	}
	if glob.HasMeta(dir) {
		pattern, err := glob.Compile(dir)
		if err != nil {
			r.problem(problem.BadValue, ref.Range, "Invalid pattern", "The %s.", err)
			return nil
		}
		match, spend := r.counting(ref, pattern.Size(), pattern.Match)
		found := r.lookup.byDir(pattern.Prefix(), match)
		if !spend() {
			return nil
		}
		return r.meantOf(ref, from, found)
	}
	return r.meantOf(ref, from, r.lookup.within(dir))
}

// counting returns match with a counter of its calls. Spend is to be called after the last of them.
// The size is that of the matching expression, for each character of a text.
func (r *resolver) counting(ref Reference, size int, match func(string) bool) (counted func(string) bool, spend func() bool) {
	asked := 0
	counted = func(text string) bool {
		asked++
		return match(text)
	}
	return counted, func() bool { return r.spend(ref.Range, asked*(perLeaf+size*averageName)) }
}

// contains reports whether a path is a directory or below it.
func contains(dir, file string) bool {
	return dir == "." || file == dir || strings.HasPrefix(file, dir+"/")
}

// meantOf returns those of matching leaves that the block that refers means, and warns if nothing
// matches at all.
func (r *resolver) meantOf(ref Reference, from *Block, matched []*Leaf) []*Block {
	if !r.spend(ref.Range, r.toMean(from)) {
		return nil
	}
	var found []*Block
	for _, leaf := range matched {
		if r.meant(leaf, from) {
			found = append(found, leaf.Block)
		}
	}
	if len(matched) == 0 {
		code := problem.UnknownRef
		if ref.Text[0] == '.' || ref.Text[0] == '/' && ref.Text[len(ref.Text)-1] != '/' {
			code = problem.BadPath
		}
		r.diags = r.diags.Append(problem.Warning(code, &ref.Range, "Reference without a match",
			"No stack or task of this file matches %q, so that it has no effect.", ref.Text))
	}
	return found
}

// meant is rule W2. While members are being found no leaf has groups yet.
func (r *resolver) meant(leaf *Leaf, from *Block) bool {
	return leaf.Block != from && (from.Type != GroupType || !slices.Contains(leaf.Groups, from))
}

// toMean is the cost of calling meant for all leaves.
func (r *resolver) toMean(from *Block) int {
	if from.Type == GroupType {
		return r.memberships
	}
	return 0
}
