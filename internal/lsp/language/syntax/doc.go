// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package syntax reads files of the Terraform Stacks language, and of workspaces, as an editor has
// them: mostly incomplete.
//
// The HCL parser's tree of a file that is not complete ends at the mistake. This package works on
// tokens instead, and takes whatever looks like a block, an argument, a reference or a call for
// one. It reports no mistakes.
//
// The rules:
//
//	S1. A file that the HCL parser accepts has the blocks, arguments and references here that it has
//	    there.
//	S2. A quote that is still open ends with its line. A block that is still open ends where a line
//	    begins, without indentation, with one of the types of blocks that are at the top level only.
//	S3. Ranges lie inside of the file; those of names can be replaced by other names: quotes do not
//	    belong to them.
//	S4. The time is linear in the size of the file, times the number of open quotes, of which the
//	    first hundred end with their lines.
package syntax

import "github.com/hashicorp/hcl/v2"

// File is one file.
type File struct {
	Name string // in ranges
	Src  []byte
	Root *Body

	Comments []hcl.Range

	// JSON is set for files in JSON syntax. Their maps, calls and strings are those inside of the
	// templates in their strings.
	JSON bool
}

// Body is the inside of a block, or of a file.
type Body struct {
	Blocks    []*Block
	Arguments []*Argument
	Range     hcl.Range // between the braces; to the end of the file if none closes it
}

// Block is a block of which at least the type and the beginning of a label or body are written.
type Block struct {
	Type      string
	TypeRange hcl.Range
	Labels    []Label
	Body      *Body     // nil while it has none
	Range     hcl.Range // up to the closing brace
}

// Label is a label of a block.
type Label struct {
	Text  string
	Range hcl.Range // inside of the quotes
}

// Argument is an argument of a block.
type Argument struct {
	Name      string
	NameRange hcl.Range
	Value     *Expr
}

// Expr is the value of an argument, which may be empty. Parts are in the order in which they begin.
type Expr struct {
	Range   hcl.Range // from the equals sign to the end
	Groups  []*Group
	Refs    []*Ref
	Calls   []*Call
	Strings []*String
	Quotes  []hcl.Range // inside of all strings, also of those with templates
}

// GroupKind is the kind of a group's brackets.
type GroupKind int

// The kinds of groups.
const (
	MapGroup      GroupKind = iota // { key = value }
	ListGroup                      // [a, b]
	ParenGroup                     // (a)
	CallGroup                      // the arguments of a call
	IndexGroup                     // the index of a reference
	TemplateGroup                  // ${a} in a string
)

// Group is something in brackets.
type Group struct {
	Kind   GroupKind
	Range  hcl.Range // inside of the brackets
	Items  []*Item   // of a map
	Commas []int     // offsets of the commas between elements
	Call   *Call     // of a call

	parent *Group
	names  []string // that a for expression declares
	ref    *Ref     // that goes on behind an index
}

// Item is one element of a map.
type Item struct {
	Key      string // as text; "" if it is computed
	KeyRange hcl.Range
	Value    hcl.Range // from the equals sign to the end

	assigned, ended bool // while it is read
}

// Ref is a reference.
type Ref struct {
	Steps []Step
	Range hcl.Range
}

// Root is the first word of a reference.
func (r *Ref) Root() string { return r.Steps[0].Name }

// StepKind is the kind of a step of a reference.
type StepKind int

// The kinds of steps.
const (
	NameStep  StepKind = iota
	IndexStep          // ["key"]
	SplatStep          // [*] or .*
)

// Step is one step of a reference.
type Step struct {
	Kind  StepKind
	Name  string    // of an index: its key if that is a literal string; "" behind a last dot
	Range hcl.Range // of the name, or inside of the brackets
}

// Call is a call of a function, or the beginning of the longer name of one.
type Call struct {
	Name      string
	NameRange hcl.Range
	Args      *Group // nil while there is no parenthesis
}

// String is a literal string without templates in it.
type String struct {
	Text  string
	Range hcl.Range // inside of the quotes
}

// Contains reports whether an offset lies in a range or directly behind it, as the cursor behind a
// word does.
func Contains(rng hcl.Range, offset int) bool {
	return rng.Start.Byte <= offset && offset <= rng.End.Byte
}

// BlocksAt returns the blocks around an offset, the outermost first: those between whose braces it
// is.
func (f *File) BlocksAt(offset int) []*Block {
	var blocks []*Block
	for body := f.Root; body != nil; {
		var inner *Block
		for _, block := range body.Blocks {
			if block.Body != nil && Contains(block.Body.Range, offset) {
				inner = block
			}
		}
		if inner == nil {
			break
		}
		blocks = append(blocks, inner)
		body = inner.Body
	}
	return blocks
}

// ArgumentAt returns the argument whose value an offset is in, nil if there is none.
func (b *Body) ArgumentAt(offset int) *Argument {
	for _, argument := range b.Arguments {
		if Contains(argument.Value.Range, offset) {
			return argument
		}
	}
	return nil
}

// Argument returns the argument of a name, nil if there is none. b may be nil.
func (b *Body) Argument(name string) *Argument {
	if b == nil {
		return nil
	}
	for _, argument := range b.Arguments {
		if argument.Name == name {
			return argument
		}
	}
	return nil
}

// Literal returns the string that an expression consists of.
func (e *Expr) Literal() (text *String, ok bool) {
	if len(e.Strings) != 1 || len(e.Groups) > 0 || len(e.Refs) > 0 || len(e.Calls) > 0 {
		return nil, false
	}
	return e.Strings[0], true
}

// Map returns the items of an expression that is a map.
func (e *Expr) Map() (group *Group, ok bool) {
	if len(e.Groups) == 0 || e.Groups[0].Kind != MapGroup || len(e.Groups[0].names) > 0 {
		return nil, false
	}
	for _, ref := range e.Refs {
		if ref.Range.Start.Byte < e.Groups[0].Range.Start.Byte {
			return nil, false
		}
	}
	return e.Groups[0], len(e.Calls) == 0 || e.Calls[0].NameRange.Start.Byte > e.Groups[0].Range.Start.Byte
}

// GroupsAt returns the groups around an offset, the innermost first.
func (e *Expr) GroupsAt(offset int) []*Group {
	var groups []*Group
	for i := len(e.Groups) - 1; i >= 0; i-- {
		if Contains(e.Groups[i].Range, offset) {
			groups = append(groups, e.Groups[i])
		}
	}
	return groups
}

// InText reports whether an offset is in a string, but not in a template in it.
func (e *Expr) InText(offset int) bool {
	text, code := -1, -1
	for _, quote := range e.Quotes {
		if Contains(quote, offset) {
			text = max(text, quote.Start.Byte)
		}
	}
	for _, group := range e.Groups {
		if Contains(group.Range, offset) {
			code = max(code, group.Range.Start.Byte)
		}
	}
	return text > code || text >= 0 && text == code
}

// InTemplate reports whether an offset is in a template in a string.
func (e *Expr) InTemplate(offset int) bool {
	for _, group := range e.GroupsAt(offset) {
		if group.Kind == TemplateGroup {
			return true
		}
	}
	return false
}

// StringAt returns the literal string around an offset, nil if there is none.
func (e *Expr) StringAt(offset int) *String {
	for _, text := range e.Strings {
		if Contains(text.Range, offset) {
			return text
		}
	}
	return nil
}

// RefAt returns the reference at an offset, and the index of the step there; nil if there is none.
func (e *Expr) RefAt(offset int) (ref *Ref, step int) {
	for _, candidate := range e.Refs {
		for i, s := range candidate.Steps {
			if Contains(s.Range, offset) && s.Kind != IndexStep {
				ref, step = candidate, i
			}
		}
	}
	return ref, step
}

// ItemAt returns the item in whose value an offset is, nil if it is where a key could be.
func (g *Group) ItemAt(offset int) *Item {
	for _, item := range g.Items {
		if Contains(item.Value, offset) {
			return item
		}
	}
	return nil
}

// Item returns the item with a key, nil if there is none.
func (g *Group) Item(key string) *Item {
	for _, item := range g.Items {
		if item.Key == key {
			return item
		}
	}
	return nil
}

// Parent is the group around a group, nil for the outermost.
func (g *Group) Parent() *Group { return g.parent }

// ArgumentAt returns which argument of a call an offset is in.
func (g *Group) ArgumentAt(offset int) int {
	n := 0
	for _, comma := range g.Commas {
		if comma < offset {
			n++
		}
	}
	return n
}

// IsFor reports whether a group in braces or brackets is a for expression.
func (g *Group) IsFor() bool { return len(g.names) > 0 }
