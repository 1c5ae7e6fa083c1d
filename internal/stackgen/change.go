// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackgen

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// change makes another version of the generated stack.
func (g *generator) change() {
	g.changeInputs()
	for _, s := range g.stacks {
		g.changeExpressions(s)
		if s == g.root {
			s.outputs = slices.DeleteFunc(s.outputs, func(*output) bool { return g.chance(40) })
		}
		g.removeCalls(s)
		g.removeComponents(s)
		g.removeKeys(s)
		if g.chance(40) {
			g.component(s)
		}
	}
}

func (g *generator) changeInputs() {
	for _, v := range g.root.variables {
		switch {
		case v.ephemeral:
			v.value = cty.StringVal("another")
		case v.keys && g.chance(40):
			v.value = cty.SetVal(append(v.value.AsValueSlice(), cty.StringVal("new")))
		case !v.keys && g.chance(40):
			v.value = g.value(v.kind)
		}
	}
}

func (g *generator) changeExpressions(s *stack) {
	change := func(inputs []input) {
		for i := range inputs {
			if in := &inputs[i]; in.plain && g.chance(10) {
				in.value = g.literal(in.kind)
			}
		}
	}
	for _, c := range s.components {
		change(c.inputs)
	}
	for _, c := range s.calls {
		change(c.inputs)
	}
}

// used reports whether any other block of the stack refers to the component or call.
func (s *stack) used(name string) bool {
	word := regexp.MustCompile(regexp.QuoteMeta(name) + `\b`)
	return slices.ContainsFunc(s.blocks(false), word.MatchString)
}

func (g *generator) removeComponents(s *stack) {
	for _, c := range slices.Backward(slices.Clone(s.components)) {
		if !g.chance(30) || s.used("component."+c.name) {
			continue
		}
		s.components = slices.DeleteFunc(s.components, func(other *component) bool { return other == c })
		s.forget(c)
		switch {
		case c.forEach != nil:
			s.removed = append(s.removed,
				g.removal("component."+c.name+"[each.key]", s.source(c.module.dir), c.forEach.argument()+c.providersArgument()))
		case s != g.root && c.slot == nil && g.chance(40):
			g.removeFromOutside(s, c)
		default:
			s.removed = append(s.removed, g.removal("component."+c.name, s.source(c.module.dir), c.providersArgument()))
		}
	}
}

// removeFromOutside has the stacks that call this one remove a component of it.
func (g *generator) removeFromOutside(s *stack, c *component) {
	for _, caller := range g.stacks {
		for _, call := range caller.calls {
			if call.stack != s {
				continue
			}
			from := "stack." + call.name
			if call.forEach != nil {
				from += "[each.key]"
			}
			caller.removed = append(caller.removed, g.removal(from+".component."+c.name, caller.source(c.module.dir), call.forEach.argument()))
		}
	}
}

// forget takes the references to a removed component out of the scope.
func (s *stack) forget(c *component) {
	name := "component." + c.name
	gone := func(e expr) bool { return e.uses[name] }
	for k := range s.scope.refs {
		s.scope.refs[k] = slices.DeleteFunc(s.scope.refs[k], gone)
	}
	s.scope.keys = slices.DeleteFunc(s.scope.keys, gone)
	s.scope.expanded = slices.DeleteFunc(s.scope.expanded, func(other *component) bool { return other == c })
}

func (g *generator) removeCalls(s *stack) {
	for _, c := range slices.Backward(slices.Clone(s.calls)) {
		name := "stack." + c.name
		if !g.chance(30) || s.used(name) {
			continue
		}
		s.calls = slices.DeleteFunc(s.calls, func(other *call) bool { return other == c })
		gone := func(e expr) bool { return regexp.MustCompile(regexp.QuoteMeta(name) + `\b`).MatchString(e.text) }
		for k := range s.scope.refs {
			s.scope.refs[k] = slices.DeleteFunc(s.scope.refs[k], gone)
		}
		s.scope.keys = slices.DeleteFunc(s.scope.keys, gone)
		s.scope.ephemeral = slices.DeleteFunc(s.scope.ephemeral, gone)
		from := name
		if c.forEach != nil {
			from += "[each.key]"
		}
		s.removed = append(s.removed, g.removal(from, s.source(c.stack.dir), c.forEach.argument()+inputsArgument(c.inputs)))
	}
}

// removeKeys takes an instance away from components that nothing refers to.
func (g *generator) removeKeys(s *stack) {
	for _, c := range s.components {
		f := c.forEach
		if f == nil || f.literal == nil || !g.chance(40) || s.used("component."+c.name) {
			continue
		}
		at := len(f.literal) - 1
		if f.values != nil && len(f.values[at].uses) > 0 {
			continue // inputs with each.value would not come from as much as before
		}
		key := quote(f.literal[at])
		f.literal = f.literal[:at]
		f.write()
		argument := c.providersArgument()
		if c.slot != nil && strings.Contains(c.slot.text, "each.") {
			argument = "providers = {\nfake = provider.fake.main\n}\n"
		}
		others := slices.DeleteFunc(slices.Clone(s.scope.keys), func(e expr) bool { return e.uses["component."+c.name] })
		if len(others) > 0 && g.chance(50) { // no set of keys is empty
			argument += fmt.Sprintf("for_each = toset([for k in %s : %s])\n", pick(g, others).text, key)
			key = "each.key"
		}
		s.removed = append(s.removed, g.removal("component."+c.name+"["+key+"]", s.source(c.module.dir), argument))
	}
}

func (g *generator) removal(from, source, arguments string) string {
	lifecycle := ""
	if g.chance(25) {
		lifecycle = "lifecycle {\ndestroy = false\n}\n"
	}
	return fmt.Sprintf("removed {\nfrom = %s\nsource = %q\n%s%s}\n", from, source, arguments, lifecycle)
}

// Break breaks a version in a way that must be found when it is planned, and describes it. The seed
// decides on the way; "" means that this version has nothing to break in that way.
func Break(opts Options, seed uint64) (v Version, what string) {
	g := newGenerator(opts).generate()
	g.rng = rand.New(rand.NewPCG(opts.Seed, 1+seed))
	what = g.breakOne()
	return g.version(), what
}

func (g *generator) breakOne() string {
	s := pick(g, g.stacks)
	if len(s.components) == 0 {
		return ""
	}
	c := pick(g, s.components)
	where := " in " + s.dir + "/"
	bad := func(value string) string {
		if len(c.inputs) == 0 {
			return ""
		}
		in := &c.inputs[g.rng.IntN(len(c.inputs))]
		in.value = expr{text: value}
		return fmt.Sprintf("input %s of component.%s is %s%s", in.name, c.name, value, where)
	}
	// Each case breaks a rule that the language has planning check; a mistake that only a provider or
	// an apply finds is none of them.
	switch g.rng.IntN(12) {
	case 0:
		return bad("var.not_declared")
	case 1:
		return bad("upper(component.not_declared.x)")
	case 2:
		return bad("component." + c.name)
	case 3:
		return bad(`not_a_function("x")`)
	case 4:
		return g.wrongType(c)
	case 5:
		return g.cycle(s)
	case 6:
		c.forEach = &forEach{expr: expr{text: pick(g, []string{"null", `["a"]`, "3", `sensitive(toset(["a"]))`, "toset([1])"})}}
		return "for_each of component." + c.name + " is " + c.forEach.text + where
	case 7:
		c.module = &module{dir: "modules/missing"}
		return "the module of component." + c.name + " is missing" + where
	case 8:
		s.components = append(s.components, &component{name: c.name, module: c.module, inputs: c.inputs})
		return "component." + c.name + " is declared twice" + where
	case 9:
		for i, in := range c.inputs {
			if at := slices.IndexFunc(c.module.variables, func(v *moduleVariable) bool { return v.name == in.name && !v.optional }); at >= 0 {
				c.inputs = slices.Delete(slices.Clone(c.inputs), i, i+1)
				return "input " + in.name + " of component." + c.name + " is missing" + where
			}
		}
	case 10:
		s.locals = append(s.locals, &local{"x1", expr{text: "[local.x2]"}}, &local{"x2", expr{text: "upper(local.x1)"}})
		return "two locals use each other" + where
	case 11:
		s.outputs = append(s.outputs, &output{name: "wrong", kind: numberKind, value: expr{text: `"no number"`}})
		return "output wrong is not a number" + where
	}
	return ""
}

func (g *generator) wrongType(c *component) string {
	for i, in := range c.inputs {
		if in.kind == textKind {
			continue
		}
		c.inputs[i].value = expr{text: `"neither number nor list"`}
		return fmt.Sprintf("input %s of component.%s is a string", in.name, c.name)
	}
	return ""
}

// cycle makes a component use one that uses it.
func (g *generator) cycle(s *stack) string {
	for _, later := range s.components {
		for _, name := range slices.Sorted(maps.Keys(later.uses())) {
			at := slices.IndexFunc(s.components, func(c *component) bool { return "component."+c.name == name && len(c.inputs) > 0 })
			if at < 0 {
				continue
			}
			in := &s.components[at].inputs[0]
			in.value = join("try(component." + later.name + ", " + in.value.text + ")")
			return fmt.Sprintf("%s uses component.%s, which uses it", name, later.name)
		}
	}
	return ""
}
