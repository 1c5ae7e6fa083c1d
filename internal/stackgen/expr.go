// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackgen

import (
	"maps"
	"math/rand/v2"
)

// generator has the data that the parts of one stack share.
type generator struct {
	rng        *rand.Rand
	providers  bool
	repeatable bool
	budget     int // component blocks that may still be written

	root    *stack
	stacks  []*stack // the root and those that are embedded, each after those it embeds
	modules []*module
}

// chance is true in so many of a hundred cases.
func (g *generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

func pick[T any](g *generator, list []T) T { return list[g.rng.IntN(len(list))] }

// uses are the components that a value comes from: "component.c", or
// "stack.s.component.c", and for variables of embedded stacks "var.v".
type uses map[string]bool

func (u uses) plus(other uses) uses {
	if len(other) == 0 {
		return u
	}
	sum := maps.Clone(other)
	maps.Copy(sum, u)
	return sum
}

// expr is an expression and the components that its value comes from.
type expr struct {
	text      string
	uses      uses
	sensitive bool
}

// join makes an expression of strings and expressions.
func join(parts ...any) expr {
	var e expr
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			e.text += part
		case expr:
			e.text += part.text
			e.uses = e.uses.plus(part.uses)
			e.sensitive = e.sensitive || part.sensitive
		}
	}
	return e
}

// scope has the expressions that others can refer to.
type scope struct {
	refs map[kind][]expr

	// keys are sets of strings from which nothing is removed (rule G5).
	keys []expr

	// expanded are components with for_each, which can be a for_each themselves.
	expanded []*component

	ephemeral []expr // strings
}

func newScope() *scope { return &scope{refs: map[kind][]expr{}} }

func (s *scope) add(k kind, e expr) { s.refs[k] = append(s.refs[k], e) }

// with returns a copy to which more can be added.
func (s *scope) with() *scope {
	clone := &scope{refs: map[kind][]expr{}, keys: s.keys, expanded: s.expanded, ephemeral: s.ephemeral}
	for k, refs := range s.refs {
		clone.refs[k] = refs[:len(refs):len(refs)]
	}
	return clone
}

// writer writes expressions for one place.
type writer struct {
	*generator
	*scope
	sensitive bool // whether sensitive values may be used
}

// expr writes an expression of the kind, as deep as the number says.
func (w writer) expr(k kind, depth int) expr {
	if depth > 0 && w.chance(70) {
		return w.compound(k, depth-1)
	}
	return w.leaf(k)
}

func (w writer) leaf(k kind) expr {
	refs := w.refs[k]
	for range 4 {
		if len(refs) == 0 || w.chance(10) {
			break
		}
		at := w.rng.IntN(len(refs))
		if w.chance(50) {
			at = max(at, w.rng.IntN(len(refs))) // chains get longer this way
		}
		if ref := refs[at]; w.sensitive || !ref.sensitive {
			return ref
		}
	}
	return w.literal(k)
}

func (w writer) compound(k kind, depth int) expr {
	if w.chance(10) && k != objectKind && k != objectsKind { // of which two may have no type in common
		return w.conditional(k, depth)
	}
	switch k {
	case numberKind:
		return w.number(depth)
	case boolKind:
		return w.bool(depth)
	case listKind:
		return w.list(depth)
	case setKind:
		return w.set(depth)
	case mapKind:
		return w.mapping(depth)
	case objectKind:
		return w.object(depth)
	case objectsKind:
		return w.objects(depth)
	}
	return w.text(depth)
}

// plain returns a writer without sensitive values, for operations whose result may be known
// although some operand is not: the function try does not even promise of a value that it does not
// know yet that it is sensitive, so the result would not be, either.
func (w writer) plain() writer { return writer{w.generator, w.scope, false} }

func (w writer) conditional(k kind, depth int) expr {
	w = w.plain()
	convert := k.conversion()
	return join("(", w.expr(boolKind, depth), " ? ", convert, "(", w.expr(k, depth), ") : ", convert, "(", w.expr(k, depth), "))")
}

func (w writer) text(d int) expr {
	s := func() expr { return w.expr(textKind, d) }
	// The forms differ in how unknown and marked values pass through them: templates, calls,
	// attributes, for and try.
	switch w.rng.IntN(17) {
	case 0:
		return join(`"p-${`, s(), `}"`)
	case 1:
		return join(`"${`, s(), `}/${`, w.expr(numberKind, d), `}%{ if `, w.expr(boolKind, d), ` }+%{ else }-%{ endif }"`)
	case 2:
		return join(`join(",", `, w.expr(listKind, d), `)`)
	case 3:
		return join(`lookup(`, w.expr(mapKind, d), `, "a", `, s(), `)`)
	case 4:
		return join(pick(w.generator, []string{"upper", "lower", "trimspace", "sha256", "base64encode", "core::upper"}), `(`, s(), `)`)
	case 5:
		return join(`format("%s:%v", `, s(), `, `, w.expr(numberKind, d), `)`)
	case 6:
		return join(`jsonencode(`, w.expr(w.kind(), d), `)`)
	case 7:
		return join(`(`, w.expr(objectKind, d), `).`, pick(w.generator, []string{"name", "note"}))
	case 8:
		return join(`element(concat(`, w.expr(listKind, d), `, ["x"]), 0)`)
	case 9:
		return join(`"%{ for x in `, w.expr(listKind, d), ` }<${x}>%{ endfor }"`)
	case 10:
		return join(`try((`, w.expr(mapKind, d), `)["b"], `, s(), `)`)
	case 11:
		return join(`substr(sha256(`, s(), `), 0, 8)`)
	case 12:
		return join(`replace(`, s(), `, "a", `, s(), `)`)
	case 13:
		return join(`tostring(`, w.expr(boolKind, d), `)`)
	case 14:
		return join(`coalesce(`, s(), `, "none")`)
	case 15:
		return join(`"${`, s(), `}"`)
	}
	return join(`try((`, w.expr(objectsKind, d), `)[0].name, "nobody")`)
}

func (w writer) number(d int) expr {
	n := func() expr { return w.expr(numberKind, d) }
	switch w.rng.IntN(7) {
	case 0:
		return join(`length(`, w.expr(pick(w.generator, []kind{listKind, mapKind, setKind, objectsKind}), d), `)`)
	case 1:
		return join(`(`, n(), pick(w.generator, []string{" + ", " - ", " * "}), n(), `)`)
	case 2:
		return join(pick(w.generator, []string{"max", "min"}), `(`, n(), `, `, n(), `)`)
	case 3:
		return join(pick(w.generator, []string{"abs", "floor", "ceil"}), `(`, n(), `)`)
	case 4:
		return join(`(`, w.expr(objectKind, d), `).size`)
	case 5:
		return join(`length(`, w.expr(textKind, d), `)`)
	}
	return join(`try(tonumber(`, w.expr(textKind, d), `), `, n(), `)`)
}

func (w writer) bool(d int) expr {
	b := func() expr { return w.plain().expr(boolKind, d) }
	switch w.rng.IntN(8) {
	case 0:
		return join(`(`, w.expr(textKind, d), pick(w.generator, []string{" == ", " != "}), w.expr(textKind, d), `)`)
	case 1:
		return join(`(`, w.expr(numberKind, d), pick(w.generator, []string{" > ", " <= "}), w.expr(numberKind, d), `)`)
	case 2:
		return join(`contains(`, w.expr(listKind, d), `, `, w.expr(textKind, d), `)`)
	case 3:
		return join(`!`, b())
	case 4:
		return join(`(`, b(), pick(w.generator, []string{" && ", " || "}), b(), `)`)
	case 5:
		return join(`can(tonumber(`, w.expr(textKind, d), `))`)
	case 6:
		return join(`startswith(`, w.expr(textKind, d), `, "a")`)
	}
	return join(`alltrue([for x in `, w.expr(listKind, d), ` : x != `, w.expr(textKind, d), `])`)
}

func (w writer) list(d int) expr {
	l := func() expr { return w.expr(listKind, d) }
	switch w.rng.IntN(12) {
	case 0:
		return join(`[`, w.expr(textKind, d), `, `, w.expr(textKind, d), `]`)
	case 1:
		return join(`[for x in `, l(), ` : upper(x)]`)
	case 2:
		return join(`[for k, v in `, w.expr(mapKind, d), ` : "${k}=${v}"]`)
	case 3:
		return join(`[for x in `, l(), ` : x if x != `, w.expr(textKind, d), `]`)
	case 4:
		return join(`concat(`, l(), `, `, l(), `)`)
	case 5:
		return join(`sort(tolist(`, w.expr(setKind, d), `))`)
	case 6:
		return join(pick(w.generator, []string{"distinct", "compact", "reverse", "sort"}), `(`, l(), `)`)
	case 7:
		return join(pick(w.generator, []string{"keys", "values"}), `(`, w.expr(mapKind, d), `)`)
	case 8:
		return join(`split(",", `, w.expr(textKind, d), `)`)
	case 9:
		return join(`flatten([`, l(), `, [`, w.expr(textKind, d), `]])`)
	case 10:
		return join(`(`, w.expr(objectsKind, d), `)[*].name`)
	}
	return join(`(`, w.expr(objectKind, d), `).tags`)
}

func (w writer) set(d int) expr {
	switch w.rng.IntN(4) {
	case 0:
		return join(pick(w.generator, []string{"setunion", "setsubtract", "setintersection"}), `(`, w.expr(setKind, d), `, `,
			w.expr(setKind, d), `)`)
	case 1:
		return join(`toset(keys(`, w.expr(mapKind, d), `))`)
	}
	return join(`toset(`, w.expr(listKind, d), `)`)
}

func (w writer) mapping(d int) expr {
	switch w.rng.IntN(6) {
	case 0:
		return join(`{ a = `, w.expr(textKind, d), `, "b c" = `, w.expr(textKind, d), ` }`)
	case 1:
		return join(`merge(`, w.expr(mapKind, d), `, `, w.expr(mapKind, d), `)`)
	case 2:
		return join(`{ for k, v in `, w.expr(mapKind, d), ` : k => "${v}!" }`)
	case 3:
		return join(`{ for x in `, w.expr(setKind, d), ` : x => upper(x) }`)
	case 4:
		return join(`{ for i, x in `, w.expr(listKind, d), ` : "i${i}" => x if x != "a" }`)
	}
	keys := w.leaf(setKind)
	return join(`zipmap(`, keys, `, [for k in `, keys, ` : `, w.expr(textKind, d), `])`)
}

func (w writer) object(d int) expr {
	return join(`{ name = `, w.expr(textKind, d), `, size = `, w.expr(numberKind, d), `, tags = `, w.expr(listKind, d), `, note = `,
		w.expr(textKind, d), ` }`)
}

func (w writer) objects(d int) expr {
	switch w.rng.IntN(3) {
	case 0:
		return join(`[`, w.expr(objectKind, d), `, `, w.expr(objectKind, d), `]`)
	case 1:
		return join(`[for k, v in `, w.expr(mapKind, d), ` : { name = k, size = length(v), tags = [v], note = `, w.expr(textKind, d), ` }]`)
	}
	return join(`concat(`, w.expr(objectsKind, d), `, [`, w.expr(objectKind, d), `])`)
}
