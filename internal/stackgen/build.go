// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackgen

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

const deepest = 2 // levels of stacks below the root

func (g *generator) generate() *generator {
	g.root = g.stack("", 0, g.budget)
	return g
}

// stack writes a stack with so many components, those in embedded ones included.
func (g *generator) stack(dir string, depth, components int) *stack {
	s := &stack{dir: dir, scope: newScope()}
	g.declareVariables(s, depth)
	if g.providers {
		g.provider(s, "main", nil)
	}
	for components > 0 {
		switch n := g.rng.IntN(10); {
		case n == 0:
			g.local(s)
		case n < 3 && depth < deepest && components > 1:
			components -= g.call(s, depth, components)
		default:
			g.component(s)
			components--
		}
	}
	if g.providers && g.chance(30) {
		g.provider(s, "each", nil)
	}
	for range 1 + g.rng.IntN(4) {
		g.output(s, depth)
	}
	g.stacks = append(g.stacks, s)
	return s
}

func (g *generator) declareVariables(s *stack, depth int) {
	for i := range g.rng.IntN(5) {
		v := &variable{name: fmt.Sprintf("v%d", i+1), kind: g.kind(), isDefault: g.chance(40), sensitive: g.chance(15), validation: g.chance(20)}
		v.value = g.value(v.kind)
		g.declare(s, v, depth)
	}
	if g.chance(60) {
		v := &variable{name: "keys", kind: setKind, isDefault: g.chance(40), keys: true, value: cty.SetVal(g.keys())}
		g.declare(s, v, depth)
	}
	if g.chance(20) {
		g.declare(s, &variable{name: "token", kind: textKind, value: cty.StringVal("t0k3n"), ephemeral: true}, depth)
	}
}

func (g *generator) declare(s *stack, v *variable, depth int) {
	s.variables = append(s.variables, v)
	e := expr{text: "var." + v.name, sensitive: v.sensitive}
	if depth > 0 {
		e.uses = uses{e.text: true}
	}
	switch {
	case v.ephemeral:
		s.scope.ephemeral = append(s.scope.ephemeral, e)
	case v.keys:
		s.scope.keys = append(s.scope.keys, e)
		fallthrough
	default:
		s.scope.add(v.kind, e)
	}
}

func (g *generator) keys() []cty.Value {
	keys := []cty.Value{cty.StringVal("a"), cty.StringVal("b"), cty.StringVal(`"q" ${x}`), cty.StringVal("1"), cty.StringVal("é")}
	g.rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys[:1+g.rng.IntN(3)]
}

func (g *generator) local(s *stack) {
	l := &local{name: fmt.Sprintf("l%d", len(s.locals)+1)}
	k := g.kind()
	l.value = writer{g, s.scope, g.chance(20)}.expr(k, 2)
	s.locals = append(s.locals, l)
	s.scope.add(k, expr{"local." + l.name, l.value.uses, l.value.sensitive})
}

// keySet writes a set of strings from which nothing is removed.
func (g *generator) keySet(s *scope) expr {
	set := expr{text: `toset(["a", "b"])`}
	if len(s.keys) > 0 {
		set = pick(g, s.keys)
	}
	switch g.rng.IntN(6) {
	case 0:
		return join(`setunion(`, set, `, ["z"])`)
	case 1:
		return join(`toset([for k in `, set, ` : "${k}-x"])`)
	}
	return set
}

// forEach writes a for_each. In a stack that is expanded itself sets stay small.
func (g *generator) forEach(s *scope) *forEach {
	f := &forEach{each: map[kind][]expr{textKind: {{text: "each.key"}}}}
	w := writer{g, s, false}
	switch g.rng.IntN(6) {
	case 0:
		f.literal = []string{"a", "b"}
		f.expr = expr{text: `toset(["a", "b"])`}
	case 1:
		f.literal = []string{"a", "k-2", "3"}
		for range f.literal {
			f.values = append(f.values, w.expr(textKind, 1))
		}
		f.each[textKind] = append(f.each[textKind], expr{text: "each.value"})
	case 2:
		set := g.keySet(s)
		f.expr = join(`{ for k in `, set, ` : k => `, w.expr(numberKind, 1), ` }`)
		f.each[numberKind] = []expr{{text: "each.value"}}
	case 3:
		if c, ok := last(s.expanded); ok && !c.module.secret {
			f.expr = expr{text: "component." + c.name, uses: uses{"component." + c.name: true}}
			for _, o := range c.module.outputs {
				f.each[o.kind] = append(f.each[o.kind], expr{text: "each.value." + o.name})
			}
			break
		}
		fallthrough
	default:
		f.expr = g.keySet(s)
		f.each[textKind] = append(f.each[textKind], expr{text: "each.value"})
	}
	f.write()
	for k := range f.each {
		for i := range f.each[k] {
			f.each[k][i].uses = f.uses
		}
	}
	return f
}

// write writes the argument again if keys are written in it.
func (f *forEach) write() {
	switch {
	case f.literal == nil:
	case f.values == nil:
		f.text = "toset(["
		for _, key := range f.literal {
			f.text += quote(key) + ", "
		}
		f.text += "])"
	default:
		parts := []any{"{\n"}
		for i, key := range f.literal {
			parts = append(parts, quote(key), " = ", f.values[i], "\n")
		}
		f.expr = join(append(parts, "}")...)
	}
}

func last[T any](list []T) (item T, ok bool) {
	if len(list) == 0 {
		return item, false
	}
	return list[len(list)-1], true
}

// inside returns the scope of a block with for_each.
func (f *forEach) inside(s *scope) *scope {
	if f == nil {
		return s
	}
	inner := s.with()
	for _, k := range slices.Sorted(maps.Keys(f.each)) {
		for _, e := range f.each[k] {
			inner.add(k, e)
		}
	}
	return inner
}

// provider writes a provider configuration, with for_each unless it is the main one.
func (g *generator) provider(s *stack, name string, f *forEach) {
	p := &provider{name: name, forEach: f}
	if name != "main" {
		p.forEach = g.forEach(s.scope)
	}
	w := writer{g, p.forEach.inside(s.scope), true}
	token := w.expr(textKind, 1)
	if len(s.scope.ephemeral) > 0 {
		token = pick(g, s.scope.ephemeral)
	}
	p.config = join("region = ", w.expr(textKind, 1), "\ntoken = ", token)
	s.providers = append(s.providers, p)
}

func (g *generator) component(s *stack) {
	s.names++
	c := &component{name: fmt.Sprintf("c%d", s.names), module: g.module()}
	if g.chance(40) {
		c.forEach = g.forEach(s.scope)
	}
	inner := c.forEach.inside(s.scope)
	for _, v := range c.module.variables {
		if v.optional && g.chance(50) {
			continue
		}
		in := input{name: v.name, kind: v.kind}
		switch {
		case v.ephemeral && len(inner.ephemeral) > 0:
			in.value = join(`"${`, pick(g, inner.ephemeral), `}!"`)
		case c.module.keys:
			in.value = g.keySet(inner)
		default:
			in.value, in.plain = writer{g, inner, c.module.secret}.expr(v.kind, 2), true
		}
		c.inputs = append(c.inputs, in)
	}
	if c.module.slot {
		g.fillSlot(s, c)
	}
	for _, other := range s.components {
		if g.chance(4) {
			c.dependsOn = append(c.dependsOn, "component."+other.name)
		}
	}
	for _, other := range s.calls {
		if g.chance(4) {
			c.dependsOn = append(c.dependsOn, "stack."+other.name)
		}
	}
	s.components = append(s.components, c)
	g.addResults(s, c)
}

// fillSlot gives the component the main configuration, or one for each of its instances.
func (g *generator) fillSlot(s *stack, c *component) {
	p := s.providers[0]
	text := "provider.fake.main"
	if c.forEach != nil && g.chance(40) {
		p = &provider{name: "for_" + c.name, forEach: c.forEach}
		p.config = join(`region = each.key`)
		s.providers = append(s.providers, p)
		text = "provider.fake." + p.name + "[each.key]"
	}
	used := p.config.uses
	if p.forEach != nil {
		used = used.plus(p.forEach.uses)
	}
	c.slot = &expr{text: text, uses: used}
}

// addResults adds the results of a component to the scope.
func (g *generator) addResults(s *stack, c *component) {
	base := expr{text: "component." + c.name, uses: uses{"component." + c.name: true}, sensitive: c.module.secret}
	if c.forEach == nil {
		for _, o := range c.module.outputs {
			e := join(base, "."+o.name)
			s.scope.add(o.kind, e)
			if c.module.keys && o.kind == setKind {
				s.scope.keys = append(s.scope.keys, e)
			}
		}
		return
	}
	s.scope.expanded = append(s.scope.expanded, c)
	s.scope.add(numberKind, expr{text: "length(" + base.text + ")", uses: base.uses})
	keys := expr{text: "toset(keys(" + base.text + "))", uses: base.uses}
	s.scope.add(setKind, keys)
	s.scope.keys = append(s.scope.keys, keys)
	for _, o := range c.module.outputs {
		g.addExpanded(s, base, o.name, o.kind)
	}
}

// addExpanded adds the expressions that can be made of one result of each instance.
func (g *generator) addExpanded(s *stack, base expr, name string, k kind) {
	switch k {
	case textKind:
		s.scope.add(listKind, join("[for k, v in ", base, " : v."+name+"]"))
		s.scope.add(listKind, join("tolist(values(", base, ")[*]."+name+")"))
		s.scope.add(mapKind, join("{ for k, v in ", base, " : k => v."+name+" }"))
	case objectKind:
		s.scope.add(objectsKind, join("[for v in values(", base, ") : v."+name+"]"))
	}
	s.scope.add(k, join("try(values(", base, ")[0]."+name+", ", g.literal(k), ")"))
	s.scope.add(k, join("try(", base, `["a"].`+name+", ", g.literal(k), ")"))
}

// call writes an embedded stack and its call, or calls one that there is, and
// returns how many components that adds.
func (g *generator) call(s *stack, depth, components int) int {
	c := &call{name: fmt.Sprintf("s%d", len(s.calls)+1)}
	limit := []int{0, 6, 3}[depth+1]
	cost := 1
	if n := len(s.calls); n > 0 && g.chance(30) {
		c.stack = s.calls[g.rng.IntN(n)].stack
	} else {
		cost = 1 + g.rng.IntN(min(limit, components-1))
		dir := fmt.Sprintf("stacks/%s", c.name)
		if s.dir != "" {
			dir = s.dir + "-" + c.name
		}
		c.stack = g.stack(dir, depth+1, cost)
	}
	if g.chance(50) {
		c.forEach = g.forEach(s.scope)
	}
	inner := c.forEach.inside(s.scope)
	for _, v := range c.stack.variables {
		if v.isDefault && g.chance(50) {
			continue
		}
		in := input{name: v.name, kind: v.kind}
		switch {
		case v.ephemeral && len(inner.ephemeral) > 0:
			in.value = pick(g, inner.ephemeral)
		case v.keys:
			in.value = g.keySet(inner)
		default:
			in.value, in.plain = writer{g, inner, v.sensitive}.expr(v.kind, 2), true
		}
		c.inputs = append(c.inputs, in)
	}
	for _, other := range s.components {
		if g.chance(4) {
			c.dependsOn = append(c.dependsOn, "component."+other.name)
		}
	}
	s.calls = append(s.calls, c)
	g.addCall(s, c)
	return cost
}

// addCall adds the outputs of an embedded stack to the scope.
func (g *generator) addCall(s *stack, c *call) {
	variables := map[string]uses{}
	for _, in := range c.inputs {
		variables[in.name] = in.value.uses
	}
	for _, o := range c.stack.outputs {
		used := uses{}
		for name := range o.value.uses.resolve("stack."+c.name+".", nil) {
			used[name] = true
		}
		for name := range o.value.uses {
			if len(name) > 4 && name[:4] == "var." {
				used = used.plus(variables[name[4:]])
			}
		}
		if c.forEach != nil {
			used = used.plus(c.forEach.uses)
		}
		base := expr{text: "stack." + c.name, uses: used, sensitive: o.value.sensitive}
		switch one := join(base, "."+o.name); {
		case o.ephemeral && c.forEach == nil:
			s.scope.ephemeral = append(s.scope.ephemeral, one)
		case o.ephemeral:
		case c.forEach != nil:
			g.addExpanded(s, base, o.name, o.kind)
		default:
			s.scope.add(o.kind, one)
			if o.keys {
				s.scope.keys = append(s.scope.keys, one)
			}
		}
	}
}

func (g *generator) output(s *stack, depth int) {
	o := &output{name: fmt.Sprintf("o%d", len(s.outputs)+1), kind: g.kind()}
	switch {
	case depth > 0 && len(s.scope.ephemeral) > 0 && g.chance(30):
		o.kind, o.ephemeral = textKind, true
		o.value = pick(g, s.scope.ephemeral)
	case depth > 0 && g.chance(30):
		o.kind, o.keys = setKind, true
		o.value = g.keySet(s.scope)
	default:
		o.value = writer{g, s.scope, true}.expr(o.kind, 2)
	}
	s.outputs = append(s.outputs, o)
}
