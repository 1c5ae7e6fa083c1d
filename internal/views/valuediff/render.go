// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package valuediff

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// value writes the value of a node, without the start and the end of its line.
func (w *writer) value(n node, action Action) {
	switch {
	case n.before.hidden() || n.after.hidden():
		w.b.WriteString(hiddenText(n.before, n.after))
	case action == Delete:
		w.tree(n, n.before, action)
	case action == Create || action == NoOp:
		w.tree(n, n.after, action)
	case n.before.Kind == Object && n.after.Kind == Object:
		w.open("{")
		w.parts(n, n.before, n.after)
		w.close(n.indent, "}")
	case n.before.Kind == List && n.after.Kind == List:
		w.open("[")
		w.elements(n)
		w.close(n.indent, "]")
	case n.before.Kind == String && n.after.Kind == String:
		w.stringChange(n)
	default:
		w.arrow(n)
	}
}

// arrow shows a change as two whole values.
func (w *writer) arrow(n node) {
	w.tree(n, n.before, Delete)
	w.b.WriteString(w.Style.Yellow(" -> "))
	w.tree(n, n.after, Create)
}

func hiddenText(values ...*Value) string {
	for _, v := range values {
		if v != nil && v.Sensitive {
			return "(sensitive value)"
		}
	}
	return "(ephemeral value)"
}

// tree writes a value all of which is created, deleted or unchanged.
func (w *writer) tree(n node, v *Value, action Action) {
	switch {
	case v.hidden():
		w.b.WriteString(hiddenText(v))
	case v.Kind == Null:
		w.b.WriteString(w.Style.Dim("null"))
	case v.Kind == Unknown && (w.Plain || action == Delete): // of the state: the apply is over
		w.b.WriteString(NotKnown)
	case v.Kind == Unknown:
		w.b.WriteString(KnownAfterApply)
	case v.Kind == String:
		w.stringTree(n, v.Text, action)
	case v.Kind == Object && len(v.Names) == 0:
		w.b.WriteString("{}")
	case v.Kind == List && len(v.Elements) == 0:
		w.b.WriteString("[]")
	case v.Kind == Object:
		w.open("{")
		w.objectTree(n, v, action)
		w.close(n.indent, "}")
	case v.Kind == List:
		w.open("[")
		for i, element := range v.Elements {
			child := n.child(i)
			child.element, child.tail, child.inside = true, ",", action
			w.treeLine(child, element, action)
		}
		w.close(n.indent, "]")
	default:
		w.b.WriteString(v.Text)
	}
}

func (w *writer) objectTree(n node, v *Value, action Action) {
	names := v.Names
	if n.element && n.dropNulls {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			part := v.Parts[name]
			return part.Kind == Null
		})
	}
	width := nameWidth(names, v)
	for _, name := range names {
		child := n.child(name)
		child.lead, child.inside = padded(keyText(name, v.QuoteKeys), width)+" = ", action
		w.treeLine(child, v.Parts[name], action)
	}
}

// treeLine writes the lines of a part of a tree.
func (w *writer) treeLine(n node, v *Value, action Action) {
	switch action {
	case Create:
		n.after = v
	case Delete:
		n.before = v
	default:
		n.before, n.after = v, v
	}
	w.line(n)
}

// child returns the node of a part, still without values.
func (n node) child(key any) node {
	return node{
		indent:    n.indent + step,
		path:      append(slices.Clip(n.path), key),
		dropNulls: n.dropNulls,
	}
}

// parts writes how the attributes of an object change.
func (w *writer) parts(n node, before, after *Value) {
	action := ActionOf(n.before, n.after)
	var names []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(before.Names, after.Names)))) {
		if w.unset(n, before.Parts[name]) == nil && w.unset(n, after.Parts[name]) == nil {
			continue
		}
		names = append(names, name)
	}
	width, quote := nameWidth(names, &Value{QuoteKeys: before.QuoteKeys || after.QuoteKeys}), before.QuoteKeys || after.QuoteKeys
	hidden := 0
	for _, name := range names {
		child := n.child(name)
		child.before, child.after = w.unset(n, before.Parts[name]), w.unset(n, after.Parts[name])
		if w.skip(name, child) {
			hidden++
			continue
		}
		child.lead, child.inside = padded(keyText(name, quote), width)+" = ", action
		if n.path == nil {
			child.inside = NoOp
		}
		w.line(child)
	}
	w.hiddenCount(n.indent+step, hidden, "attribute")
}

// unset returns nil for a null that means that an attribute is not set. That is
// so in a resource itself and in the elements of its lists, which mostly are
// nested blocks. Elsewhere someone wrote the null. That a sensitive attribute is
// not set is not a secret: terraform leaves it out, too.
func (w *writer) unset(n node, v *Value) *Value {
	if v != nil && v.Kind == Null && n.dropNulls && (n.path == nil || n.element) {
		return nil
	}
	return v
}

// skip reports whether an attribute is left out because it stays as it is. Attributes that identify
// an object for a reader are never left out.
func (w *writer) skip(name string, child node) bool {
	if w.Full || child.before == nil || child.after == nil || !Equal(child.before, child.after) {
		return false
	}
	if w.forcesReplacement(child.path, true) {
		return false
	}
	if child.before.hidden() || opens(child.before) {
		return true
	}
	return name != "id" && name != "name"
}

// elements writes how the elements of a list change, with one unchanged element
// around each change.
func (w *writer) elements(n node) {
	pairs := align(keys(n.before.Elements), keys(n.after.Elements), true)
	changed := func(i int) bool {
		return i >= 0 && i < len(pairs) && (pairs[i].before < 0 || pairs[i].after < 0 ||
			!Equal(n.before.Elements[pairs[i].before], n.after.Elements[pairs[i].after]))
	}
	hidden := 0
	for i, p := range pairs {
		if !w.Full && !changed(i-1) && !changed(i) && !changed(i+1) {
			hidden++
			continue
		}
		w.hiddenCount(n.indent+step, hidden, "element")
		hidden = 0
		w.element(n, p)
	}
	w.hiddenCount(n.indent+step, hidden, "element")
}

func (w *writer) element(n node, p pair) {
	child := n.child(max(p.after, p.before))
	child.element, child.tail, child.inside = true, ",", Update
	if p.before >= 0 {
		child.before = n.before.Elements[p.before]
	}
	if p.after >= 0 {
		child.after = n.after.Elements[p.after]
	}
	if child.before != nil && child.after != nil && !w.comparable(child.before, child.after) {
		gone, come := child, child
		gone.after, come.before = nil, nil
		w.line(gone)
		w.line(come)
		return
	}
	w.line(child)
}

// comparable reports whether one value can be shown as a change of the other.
func (w *writer) comparable(a, b *Value) bool {
	return a.Kind == b.Kind || a.Kind == Unknown || b.Kind == Unknown || a.hidden() || b.hidden()
}

func keys(values []*Value) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = v.key()
	}
	return list
}

// stringChange shows how a string changes: as the value it encodes, line by
// line, or as a whole.
func (w *writer) stringChange(n node) {
	before, beforeOK := decodeJSON(n.before.Text)
	after, afterOK := decodeJSON(n.after.Text)
	switch {
	case beforeOK && afterOK:
		w.jsonChange(n, before, after)
	case !beforeOK && !afterOK && canBeHeredoc(n.before.Text, n.after.Text):
		w.heredocChange(n)
	case strings.TrimSuffix(n.before.Text, "\n") == strings.TrimSuffix(n.after.Text, "\n"):
		// Line by line they would look the same.
		w.b.WriteString(Quote(n.before.Text) + w.Style.Yellow(" -> ") + Quote(n.after.Text))
	default:
		w.arrow(n)
	}
}

func (w *writer) stringTree(n node, text string, action Action) {
	if v, ok := decodeJSON(text); ok {
		w.jsonEncoded(n, "", func(inner node) {
			w.spaces(inner.indent + w.gutter())
			w.tree(inner, v, action)
		})
		return
	}
	if !strings.Contains(text, "\n") || hasControl(text) {
		w.b.WriteString(Quote(text))
		return
	}
	w.b.WriteString("<<-EOT")
	w.endLine()
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		w.spaces(n.indent + step + w.gutter())
		w.b.WriteString(line)
		w.b.WriteByte('\n')
	}
	w.close(n.indent, "EOT")
}

func (w *writer) jsonChange(n node, before, after *Value) {
	if Equal(before, after) {
		w.jsonEncoded(n, " # whitespace changes", func(inner node) {
			w.spaces(inner.indent + w.gutter())
			w.tree(inner, after, NoOp)
		})
		return
	}
	w.jsonEncoded(n, "", func(inner node) {
		inner.before, inner.after, inner.inside = before, after, Update
		w.begin(inner.indent, Update)
		w.value(inner, Update)
	})
}

// jsonEncoded writes a call of jsonencode around a value.
func (w *writer) jsonEncoded(n node, note string, argument func(node)) {
	w.b.WriteString("jsonencode(")
	w.b.WriteString(note)
	w.endLine()
	// The argument is not part of the resource for paths and nulls.
	argument(node{indent: n.indent + step, path: []any{"\x00json"}})
	w.b.WriteByte('\n')
	w.close(n.indent, ")")
}

// decodeJSON decodes a text that holds a JSON object or array with something in it.
func decodeJSON(text string) (*Value, bool) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, false
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, false
	}
	v := FromJSON(value, nil)
	return v, opens(v)
}

// canBeHeredoc reports whether a change can be shown line by line.
func canBeHeredoc(before, after string) bool {
	return (strings.Contains(before, "\n") || strings.Contains(after, "\n")) &&
		!hasControl(before) && !hasControl(after) &&
		strings.TrimSuffix(before, "\n") != strings.TrimSuffix(after, "\n")
}

// hasControl reports whether a text has characters that a terminal could obey.
func hasControl(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && !strconv.IsPrint(r)
	})
}

// contextLines is the number of unchanged lines kept around a changed one.
const contextLines = 3

func (w *writer) heredocChange(n node) {
	before := strings.Split(strings.TrimSuffix(n.before.Text, "\n"), "\n")
	after := strings.Split(strings.TrimSuffix(n.after.Text, "\n"), "\n")
	pairs := align(before, after, false)
	w.b.WriteString("<<-EOT")
	w.endLine()
	near := nearChanges(pairs, contextLines)
	hidden := 0
	for i, p := range pairs {
		if !near[i] && !w.Full {
			hidden++
			continue
		}
		w.hiddenCount(n.indent+step, hidden, "line")
		hidden = 0
		action, text := NoOp, ""
		switch {
		case p.after < 0:
			action, text = Delete, before[p.before]
		case p.before < 0:
			action, text = Create, after[p.after]
		default:
			text = after[p.after]
		}
		w.begin(n.indent+step, action)
		w.b.WriteString(text)
		w.b.WriteByte('\n')
	}
	w.hiddenCount(n.indent+step, hidden, "line")
	w.close(n.indent, "EOT")
}

// nearChanges reports for each line whether a changed one is at most distance away.
func nearChanges(pairs []pair, distance int) []bool {
	near := make([]bool, len(pairs))
	for i, p := range pairs {
		if p.before >= 0 && p.after >= 0 {
			continue
		}
		for j := max(0, i-distance); j <= min(len(pairs)-1, i+distance); j++ {
			near[j] = true
		}
	}
	return near
}

// Quote writes a text as a string of the language that stands on one line.
func Quote(text string) string {
	return strconv.Quote(text)
}

// keyText writes the name of a part, quoted where it has to be.
func keyText(name string, quote bool) string {
	if quote || !hclsyntax.ValidIdentifier(name) {
		return Quote(name)
	}
	return name
}

func nameWidth(names []string, v *Value) int {
	width := 0
	for _, name := range names {
		width = max(width, utf8.RuneCountInString(keyText(name, v.QuoteKeys)))
	}
	return width
}

func padded(name string, width int) string {
	return name + strings.Repeat(" ", max(width-utf8.RuneCountInString(name), 0))
}

// Printable reports whether a text has no characters that a terminal could obey
// or could not show. Newlines and tabs are allowed.
func Printable(text string) bool { return !hasControl(text) }
