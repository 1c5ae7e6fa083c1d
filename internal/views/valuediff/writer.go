// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package valuediff

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// step is the indentation of the contents of an object behind its name.
const step = 4

// Change is a change to show: a value that comes, goes, changes or stays.
type Change struct {
	Before, After *Value // nil where there is none

	// Replace has the paths to the values that force a replacement.
	Replace []cty.Path
}

// Options say how values are written.
type Options struct {
	Style textstyle.Style

	// Indent is the column of the symbols, or of the names where there are none.
	Indent int

	// Plain leaves out the column of symbols, for values that do not change.
	Plain bool

	// Full shows also unchanged values.
	Full bool

	// Concise leaves out how much does not change.
	Concise bool
}

// Attributes shows the attributes of a resource, each in lines of its own.
// Attributes that are null are not set and are left out.
func Attributes(change Change, options Options) string {
	w := newWriter(change, options)
	before, after := object(change.Before), object(change.After)
	top := node{before: change.Before, after: change.After, indent: options.Indent - step, dropNulls: true}
	top.inside = NoOp
	w.parts(top, before, after)
	return w.b.String()
}

// Named shows one value under a name that is padded to width, in lines of its own.
func Named(name string, width int, change Change, options Options) string {
	w := newWriter(change, options)
	w.line(node{
		before: change.Before, after: change.After, indent: options.Indent,
		lead: padded(name, width) + " = ",
	})
	return w.b.String()
}

func newWriter(change Change, options Options) *writer {
	w := &writer{Options: options}
	for _, path := range change.Replace {
		steps := make([]string, len(path))
		for i, step := range path {
			steps[i] = stepText(step)
		}
		w.replace = append(w.replace, steps)
	}
	return w
}

// stepText returns the name or the index that a step selects. No part of a value has the one of a
// step into a set.
func stepText(step cty.PathStep) string {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return step.Name
	case cty.IndexStep:
		if key := fromBareCty(step.Key, false); key.Kind == String || key.Kind == Number {
			return key.Text
		}
	}
	return "\x00"
}

// object returns v if it is an object that may be taken apart.
func object(v *Value) *Value {
	if v == nil || v.Kind != Object {
		return &Value{Kind: Object}
	}
	return v
}

// Action is the change of a value.
type Action uint8

// The actions on values.
const (
	NoOp Action = iota
	Create
	Update
	Delete
)

// ActionOf compares two values, nil for none.
func ActionOf(before, after *Value) Action {
	switch {
	case before == nil && after == nil:
		return NoOp
	case before == nil:
		return Create
	case after == nil:
		return Delete
	case Equal(before, after):
		return NoOp
	}
	return Update
}

var symbols = [...]string{NoOp: " ", Create: "+", Update: "~", Delete: "-"}

type writer struct {
	Options
	b       strings.Builder
	replace [][]string
	note    string // due at the end of the current line
}

// node is a value at a place.
type node struct {
	before, after *Value
	indent        int    // column of the symbol
	lead          string // text before the value: its name, or nothing in a list
	tail          string // text after it: a comma in a list
	path          []any
	inside        Action // action on the value around it
	element       bool   // of a list
	dropNulls     bool   // its parts that are null are not set
}

// gutter is the width of a symbol with its space.
func (w *writer) gutter() int {
	if w.Plain {
		return 0
	}
	return 2
}

func (w *writer) spaces(n int) { w.b.WriteString(strings.Repeat(" ", max(n, 0))) }

// begin starts a line.
func (w *writer) begin(indent int, action Action) {
	w.spaces(indent)
	if !w.Plain {
		w.b.WriteString(w.Style.Symbol(symbols[action]))
		w.b.WriteByte(' ')
	}
}

// close ends the lines of a value with its bracket.
func (w *writer) close(indent int, bracket string) {
	w.spaces(indent + w.gutter())
	w.b.WriteString(bracket)
}

// comment writes a line of its own.
func (w *writer) comment(indent int, text string) {
	w.spaces(indent + w.gutter())
	w.b.WriteString(w.Style.Dim("# " + text))
	w.b.WriteByte('\n')
}

// hiddenCount writes the number of things that were left out.
func (w *writer) hiddenCount(indent, n int, what string) {
	switch {
	case w.Concise:
	case n == 1:
		w.comment(indent, fmt.Sprintf("(1 unchanged %s hidden)", what))
	case n > 1:
		w.comment(indent, fmt.Sprintf("(%d unchanged %ss hidden)", n, what))
	}
}

// line writes the lines of one value.
func (w *writer) line(n node) {
	action := ActionOf(n.before, n.after)
	if n.before != nil && n.after != nil && n.before.hidden() != n.after.hidden() {
		action = Update
		w.sensitivityComment(n)
	}
	w.begin(n.indent, action)
	w.b.WriteString(n.lead)
	w.note = ""
	if w.forcesReplacement(n.path, w.isLeaf(n, action)) {
		w.note = w.Style.Red(" # forces replacement")
	}
	w.value(n, action)
	if action == Delete && !n.element && n.inside != Delete && !w.Plain {
		w.b.WriteString(" -> null")
	}
	w.b.WriteString(n.tail)
	w.endLine()
}

// endLine ends a line with the note that is due, at the first end of a value's lines.
func (w *writer) endLine() {
	w.b.WriteString(w.note)
	w.note = ""
	w.b.WriteByte('\n')
}

func (w *writer) sensitivityComment(n node) {
	text := "becomes sensitive, and is hidden from now on"
	if n.before.hidden() {
		text = "is no longer sensitive, and is shown after applying"
	}
	if equalWhenShown(n.before, n.after) {
		text += "; the value does not change"
	}
	w.comment(n.indent, "("+text+")")
}

// isLeaf reports whether the parts of a value are not shown one by one.
func (w *writer) isLeaf(n node, action Action) bool {
	if n.before.hidden() || n.after.hidden() {
		return true
	}
	return !opens(n.before) && (action == Delete || action == NoOp || !opens(n.after))
}

// opens reports whether a value begins with a bracket at the end of a line.
func opens(v *Value) bool {
	if v == nil {
		return false
	}
	switch v.Kind {
	case List:
		return len(v.Elements) > 0
	case Object:
		return len(v.Names) > 0
	}
	return false
}

func (w *writer) open(bracket string) {
	w.b.WriteString(bracket)
	w.endLine()
}

// forcesReplacement reports whether path is one of those that force a replacement.
// With below set, those that lead on from it count too.
func (w *writer) forcesReplacement(path []any, below bool) bool {
	for _, steps := range w.replace {
		if len(path) == 0 || len(steps) < len(path) || len(steps) > len(path) && !below {
			continue
		}
		matches := true
		for i := range path {
			matches = matches && fmt.Sprint(path[i]) == steps[i]
		}
		if matches {
			return true
		}
	}
	return false
}
