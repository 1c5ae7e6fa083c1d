// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package marks

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/ctymarks"
)

// Split takes v apart into the bare value and the paths of its sensitive and ephemeral parts.
//
// A path of length zero stands for v itself. Both lists follow rule M3 and are nil when empty. A
// mark that is not ours stays on the value, so that storing it fails instead of losing the mark.
func Split(v cty.Value) (unmarked cty.Value, sensitive, ephemeral []cty.Path) {
	if v == cty.NilVal || !v.ContainsMarked() {
		return v, nil, nil
	}
	unmarked = infallible(v.WrangleMarksDeep(func(found any, path cty.Path) (ctymarks.WrangleAction, error) {
		switch found {
		case Sensitive:
			sensitive = append(sensitive, path.Copy())
		case Ephemeral:
			ephemeral = append(ephemeral, path.Copy())
		default:
			return nil, nil
		}
		return ctymarks.WrangleDrop, nil
	}))
	return unmarked, SortPaths(sensitive), SortPaths(ephemeral)
}

// Join puts a value together that [Split] has taken apart.
func Join(v cty.Value, sensitive, ephemeral []cty.Path) cty.Value {
	return MarkPaths(MarkPaths(v, Sensitive, sensitive), Ephemeral, ephemeral)
}

// Paths returns where v carries the mark, following rule M3. It is nil when v carries it nowhere.
func Paths(v cty.Value, mark Mark) []cty.Path {
	if !Contains(v, mark) {
		return nil
	}
	var paths []cty.Path
	// The callback keeps every mark, so the value that comes back is v again.
	infallible(v.WrangleMarksDeep(func(found any, path cty.Path) (ctymarks.WrangleAction, error) {
		if found == mark {
			paths = append(paths, path.Copy())
		}
		return nil, nil
	}))
	return SortPaths(paths)
}

// MarkPaths returns v with the mark put on the part at each path.
//
// A path that leads into an unknown value marks that whole value: a part that becomes known there
// must not appear unmarked. A path that leads nowhere in a known value is ignored.
func MarkPaths(v cty.Value, mark Mark, paths []cty.Path) cty.Value {
	if len(paths) == 0 {
		return v
	}
	wanted := cty.NewPathSet()
	for _, path := range paths {
		wanted.Add(path[:knownLength(v, path)])
	}
	return infallible(cty.Transform(v, func(path cty.Path, part cty.Value) (cty.Value, error) {
		if wanted.Has(path) {
			return part.Mark(mark), nil
		}
		return part, nil
	}))
}

// knownLength returns how many steps of the path can be taken before an unknown value is reached,
// or all of them if none is.
func knownLength(v cty.Value, path cty.Path) int {
	for i, step := range path {
		v, _ = v.Unmark()
		if !v.IsKnown() {
			return i
		}
		if v.Type().IsSetType() {
			return len(path) // a step into a set names the element itself
		}
		next, err := step.Apply(v)
		if err != nil {
			return len(path)
		}
		v = next
	}
	return len(path)
}

// SortPaths sorts the paths in place by [ComparePaths], drops repeats, and returns the result.
func SortPaths(paths []cty.Path) []cty.Path {
	slices.SortFunc(paths, ComparePaths)
	return slices.CompactFunc(paths, func(a, b cty.Path) bool { return ComparePaths(a, b) == 0 })
}

// EqualPaths reports whether two lists that follow rule M3 hold the same paths.
func EqualPaths(a, b []cty.Path) bool {
	return slices.EqualFunc(a, b, func(a, b cty.Path) bool { return ComparePaths(a, b) == 0 })
}

// ComparePaths orders paths step by step, a prefix before its continuations: attributes by name
// first, then numeric keys, then string keys, then the elements of sets.
func ComparePaths(a, b cty.Path) int {
	return slices.CompareFunc(a, b, compareSteps)
}

func compareSteps(a, b cty.PathStep) int {
	if order := cmp.Compare(stepRank(a), stepRank(b)); order != 0 {
		return order
	}
	switch a := a.(type) {
	case cty.GetAttrStep:
		return cmp.Compare(a.Name, b.(cty.GetAttrStep).Name)
	case cty.IndexStep:
		return compareKeys(a.Key, b.(cty.IndexStep).Key)
	}
	return 0
}

func compareKeys(a, b cty.Value) int {
	a, _ = a.Unmark()
	b, _ = b.Unmark()
	switch keyRank(a) {
	case rankNumber:
		return a.AsBigFloat().Cmp(b.AsBigFloat())
	case rankString:
		return cmp.Compare(a.AsString(), b.AsString())
	}
	return cmp.Compare(fmt.Sprintf("%#v", a), fmt.Sprintf("%#v", b))
}

const (
	rankAttribute = iota
	rankNumber
	rankString
	rankOther
)

func stepRank(step cty.PathStep) int {
	if index, ok := step.(cty.IndexStep); ok {
		key, _ := index.Key.Unmark()
		return keyRank(key)
	}
	return rankAttribute
}

func keyRank(key cty.Value) int {
	switch {
	case key.IsNull() || !key.IsKnown():
		return rankOther
	case key.Type() == cty.Number:
		return rankNumber
	case key.Type() == cty.String:
		return rankString
	}
	return rankOther
}

// DescribePath writes a path as users would: attr.list[0]["key"].
func DescribePath(path cty.Path) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step.Name)
		case cty.IndexStep:
			key, _ := step.Key.Unmark()
			switch {
			case !key.IsKnown() || key.IsNull():
				b.WriteString("[...]")
			case key.Type() == cty.String:
				b.WriteString("[" + strconv.Quote(key.AsString()) + "]")
			case key.Type() == cty.Number:
				b.WriteString("[" + key.AsBigFloat().Text('f', -1) + "]")
			default:
				b.WriteString("[...]")
			}
		}
	}
	return b.String()
}

// DescribeError returns the message of an error about a value after the path that it is about, as
// in "tags[0]: string required". Of a marked value, it names neither keys nor attributes.
func DescribeError(value cty.Value, err error) string {
	text := err.Error()
	if at, ok := errors.AsType[cty.PathError](err); ok && len(at.Path) > 0 {
		text = DescribePath(at.Path) + ": " + text
	}
	if Hidden(value) && strings.ContainsAny(text, "\"[.") {
		return "a part of it has the wrong type; which one is not shown, because the value is sensitive or ephemeral"
	}
	return text
}
