// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package valuediff

import (
	"slices"
	"strconv"
)

// Row is a part of a value that changes, for tables: the smallest one that does, or a whole part
// that comes or goes.
type Row struct {
	Path          string
	Action        Action
	Before, After string // on one line; "" where there is none
	Cut           bool   // one of them is longer than shown
	Replace       bool   // forces a replacement
}

// Symbol is that of plans for the action.
func (r Row) Symbol() string { return symbols[r.Action] }

// Rows returns how the attributes of an object change, and how many parts stay as they are. Values
// are cut after so many letters. Attributes that are null are not set.
func Rows(change Change, letters int) (rows []Row, unchanged int) {
	c := &rowCollector{writer: newWriter(change, Options{}), letters: letters}
	before, after := object(change.Before), object(change.After)
	c.parts(node{before: change.Before, after: change.After, dropNulls: true}, "", before, after)
	return c.rows, c.unchanged
}

// NamedRows is [Rows] for a value with a name.
func NamedRows(name string, change Change, letters int) []Row {
	c := &rowCollector{writer: newWriter(change, Options{}), letters: letters}
	c.add(node{before: change.Before, after: change.After}, name)
	return c.rows
}

type rowCollector struct {
	*writer

	letters   int
	rows      []Row
	unchanged int
}

func (c *rowCollector) parts(n node, path string, before, after *Value) {
	quote := before.QuoteKeys || after.QuoteKeys
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(before.Names, after.Names)))) {
		child := n.child(name)
		child.before, child.after = c.unset(n, before.Parts[name]), c.unset(n, after.Parts[name])
		c.add(child, partPath(path, name, quote))
	}
}

// partPath is the path of a part of an object.
func partPath(path, name string, quote bool) string {
	switch text := keyText(name, quote); {
	case text != name:
		return path + "[" + text + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

func (c *rowCollector) add(n node, path string) {
	action := ActionOf(n.before, n.after)
	switch {
	case n.before == nil && n.after == nil:
	case action == NoOp:
		c.unchanged++
	case n.before.hidden() || n.after.hidden():
		c.addHidden(n, path, action)
	case action == Update && n.before.Kind == Object && n.after.Kind == Object:
		c.parts(n, path, n.before, n.after)
	case action == Update && n.before.Kind == List && n.after.Kind == List:
		c.elements(n, path)
	default:
		row := Row{Path: path, Action: action, Replace: c.forcesReplacement(n.path, true)}
		var cutBefore, cutAfter bool
		row.Before, cutBefore = shortened(n.before, c.letters, NotKnown)
		row.After, cutAfter = shortened(n.after, c.letters, KnownAfterApply)
		row.Cut = cutBefore || cutAfter
		c.rows = append(c.rows, row)
	}
}

// addHidden adds a part of which no value may be shown.
func (c *rowCollector) addHidden(n node, path string, action Action) {
	row := Row{Path: path, Action: action, Replace: c.forcesReplacement(n.path, true)}
	if n.before != nil {
		row.Before = hiddenText(n.before, n.after)
	}
	if n.after != nil {
		row.After = hiddenText(n.before, n.after)
	}
	c.rows = append(c.rows, row)
}

// elements adds those of two lists that differ.
func (c *rowCollector) elements(n node, path string) {
	for _, p := range align(keys(n.before.Elements), keys(n.after.Elements), true) {
		child := n.child(max(p.after, p.before))
		child.element = true
		if p.before >= 0 {
			child.before = n.before.Elements[p.before]
		}
		if p.after >= 0 {
			child.after = n.after.Elements[p.after]
		}
		c.add(child, path+"["+strconv.Itoa(max(p.after, p.before))+"]")
	}
}

func shortened(v *Value, letters int, unknown string) (text string, cut bool) {
	if v == nil {
		return "", false
	}
	l := &line{left: letters, unknown: unknown}
	l.value(v)
	return l.text(), l.left < 0
}
