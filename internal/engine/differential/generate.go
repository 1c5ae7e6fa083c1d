// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Generate returns a random case: a module that is applied, changed and applied again, planned once
// more, and destroyed. The same seed makes the same case. With failures, some of its objects cannot
// be made, changed or destroyed.
func Generate(seed uint64, failures bool) *Case {
	g := &generator{random: rand.New(rand.NewPCG(seed, 0)), failures: failures} //nolint:gosec // not for secrets
	for i := range 2 + g.random.IntN(5) {
		g.resources = append(g.resources, g.resource(fmt.Sprintf("r%d", i), g.resources))
	}
	if g.chance(60) {
		g.child = &child{repeat: g.repetition(), text: g.reference(g.resources)}
		for i := range 1 + g.random.IntN(2) {
			g.child.resources = append(g.child.resources, g.resource(fmt.Sprintf("c%d", i), g.child.resources))
		}
	}
	g.after = g.resource("after", g.resources)

	var text strings.Builder
	//nolint:dupword // it is applied twice
	fmt.Fprintf(&text, "A random module, of the seed %d.\n-- steps --\napply\napply\nplan\napply destroy\n", seed)
	g.write(&text, "")
	g.change()
	g.write(&text, "2/")
	c, err := ParseCase([]byte(text.String()))
	if err != nil {
		panic(err) // the text is made here
	}
	return c
}

// GenerateReplacements returns a random case: a graph of resources, many of which are created
// before their predecessors are destroyed or replaced when others change. It is applied, and twice
// applied again after some of them are gone or have changed.
func GenerateReplacements(seed uint64) *Case {
	g := &generator{random: rand.New(rand.NewPCG(seed, 2)), dense: true} //nolint:gosec // not for secrets
	for i := range 4 + g.random.IntN(6) {
		g.resources = append(g.resources, g.resource(fmt.Sprintf("r%d", i), g.resources))
	}
	g.after = g.resource("after", g.resources)
	var text strings.Builder
	//nolint:dupword // it is applied three times
	fmt.Fprintf(&text, "A random graph, of the seed %d.\n-- steps --\napply\napply\napply\nplan\n", seed)
	g.write(&text, "")
	for step := range 2 {
		g.change()
		g.remove()
		g.write(&text, fmt.Sprintf("%d/", step+2))
	}
	c, err := ParseCase([]byte(text.String()))
	if err != nil {
		panic(err) // the text is made here
	}
	return c
}

// remove removes some resources with all that refer to them, and gives others another order of
// replacement.
func (g *generator) remove() {
	gone := map[string]bool{}
	all := append(append([]*genResource{}, g.resources[1:]...), g.after)
	for _, r := range all {
		if g.chance(30) {
			r.createFirst = !r.createFirst
		}
		refers := func(text string) bool {
			for address := range gone {
				if strings.Contains(text, address) {
					return true
				}
			}
			return false
		}
		if g.chance(20) {
			gone[r.address()], r.gone = true, true
			continue
		}
		r.refs = slices.DeleteFunc(r.refs, refers)
		r.depends = slices.DeleteFunc(r.depends, refers)
		r.triggers = slices.DeleteFunc(r.triggers, refers)
	}
	g.resources = slices.DeleteFunc(g.resources, func(r *genResource) bool { return r.gone })
}

// generator is a module that is being made up.
type generator struct {
	random    *rand.Rand
	failures  bool
	dense     bool // many references, triggers and orders of replacement
	resources []*genResource
	child     *child
	after     *genResource // refers to the child, too
}

// genResource is a resource of a generated module.
type genResource struct {
	kind, name  string
	repeat      repetition
	text        string   // part of the value
	refs        []string // expressions that the value refers to
	depends     []string
	triggers    []string
	createFirst bool
	replaceOn   int
	failure     string // argument that makes something fail
	gone        bool
}

// repetition is count, for_each or neither.
type repetition struct {
	argument string // "", "count" or "for_each"
	n        int
}

type child struct {
	repeat    repetition
	text      string
	resources []*genResource
	gone      bool
}

func (g *generator) chance(percent int) bool { return g.random.IntN(100) < percent }

func (g *generator) pick(options ...string) string { return options[g.random.IntN(len(options))] }

func (g *generator) repetition() repetition {
	return repetition{g.pick("", "", "count", "for_each"), 1 + g.random.IntN(3)}
}

func (g *generator) resource(name string, before []*genResource) *genResource {
	r := &genResource{
		kind: g.pick("fake_resource", "fake_computed", "fake_computed", "terraform_data", "fake_scripted"), name: name, repeat: g.repetition(),
		text: name, createFirst: g.chance(25) || g.dense && g.chance(20),
	}
	if g.dense {
		r.kind = g.pick("fake_computed", "fake_computed", "fake_computed", "terraform_data", "fake_resource")
	}
	for range g.random.IntN(3) {
		if ref := g.reference(before); ref != "" {
			r.refs = append(r.refs, ref)
		}
	}
	if len(before) > 0 && g.chance(20) {
		r.depends = append(r.depends, before[g.random.IntN(len(before))].address())
	}
	if len(before) > 0 && (g.chance(15) || g.dense && g.chance(20)) {
		r.triggers = append(r.triggers, before[g.random.IntN(len(before))].address())
	}
	if g.failures && g.chance(25) {
		r.kind = "fake_scripted"
		r.failure = g.pick(`apply_error = "no"`, "apply_error = \"no\"\n  apply_null = true", "delete_error = \"no\"\n  delete_keeps = true")
	}
	return r
}

func (r *genResource) address() string { return r.kind + "." + r.name }

// reference returns an expression of one of some resources, or "" without any.
func (g *generator) reference(before []*genResource) string {
	if len(before) == 0 {
		return ""
	}
	r := before[g.random.IntN(len(before))]
	attribute := r.stable()
	switch {
	case r.kind == "fake_computed" && g.chance(50):
		attribute = "result"
	case r.kind != "terraform_data" && g.chance(30):
		attribute = "value"
	}
	return r.all(attribute)
}

// stable is an attribute that is the same in each run.
func (r *genResource) stable() string {
	if r.kind == "terraform_data" {
		return "output"
	}
	return "id"
}

// all returns an expression of an attribute of all instances.
func (r *genResource) all(attribute string) string {
	switch r.repeat.argument {
	case "count":
		return fmt.Sprintf(`join(",", %s[*].%s)`, r.address(), attribute)
	case "for_each":
		return fmt.Sprintf(`join(",", values(%s)[*].%s)`, r.address(), attribute)
	default:
		return r.address() + "." + attribute
	}
}

// change changes the module: the arguments of its resources, their number, and whether they are
// there at all.
func (g *generator) change() {
	all := append(append([]*genResource{}, g.resources...), g.after)
	if g.child != nil {
		all = append(all, g.child.resources...)
		g.child.repeat.n = 1 + g.random.IntN(3)
		g.child.gone = g.chance(20)
	}
	for _, r := range all {
		if g.chance(30) {
			r.text += "x"
		}
		if g.chance(30) {
			r.replaceOn++
		}
		if g.chance(30) {
			r.repeat.n = 1 + g.random.IntN(3)
		}
		if g.chance(50) {
			r.failure = ""
		}
	}
	if g.chance(30) { // nothing refers to it
		g.after.gone = true
	}
}

func (g *generator) write(w *strings.Builder, prefix string) {
	fmt.Fprintf(w, "-- %smain.tf --\nlocals {\n  made = true\n}\n", prefix)
	for _, r := range g.resources {
		g.writeResource(w, r, `""`)
	}
	text := `""`
	if c := g.child; c != nil && !c.gone {
		fmt.Fprintf(w, "module \"m\" {\n  source = \"./m\"\n%s  text = %s\n}\n", c.repeat.text(), quotedText(c.repeat.key(), c.text))
		text = "module.m.text"
		switch c.repeat.argument {
		case "count":
			text = `join(",", module.m[*].text)`
		case "for_each":
			text = `join(",", [for m in module.m : m.text])`
		}
	}
	if !g.after.gone {
		g.writeResource(w, g.after, text)
		fmt.Fprintf(w, "output \"after\" { value = %s }\n", g.after.all(g.after.stable()))
	}
	fmt.Fprintf(w, "output \"child\" { value = %s }\noutput \"first\" { value = %s }\n", text, g.resources[0].all(g.resources[0].stable()))
	if g.child == nil {
		return
	}
	fmt.Fprintf(w, "-- %sm/main.tf --\nvariable \"text\" { type = string }\n", prefix)
	for _, r := range g.child.resources {
		g.writeResource(w, r, "var.text")
	}
	var refs []string // all, since terraform lets users of a module wait for everything in it
	for _, r := range g.child.resources {
		refs = append(refs, r.all(r.stable()))
	}
	fmt.Fprintf(w, "output \"text\" { value = %s }\n", quotedText("all", refs...))
}

func (r repetition) text() string {
	switch r.argument {
	case "count":
		return fmt.Sprintf("  count = %d\n", r.n)
	case "for_each":
		return fmt.Sprintf("  for_each = toset(slice([\"a\", \"b\", \"c\"], 0, %d))\n", r.n)
	default:
		return ""
	}
}

// key is the expression that tells the instances apart.
func (r repetition) key() string {
	switch r.argument {
	case "count":
		return "${count.index}"
	case "for_each":
		return "${each.key}"
	default:
		return ""
	}
}

// quotedText returns a text that is short whatever it is made of, and differs where that does.
func quotedText(text string, refs ...string) string {
	for _, ref := range refs {
		if ref != "" {
			text += "-${substr(md5(" + ref + "), 0, 4)}"
		}
	}
	return `"` + text + `"`
}

// writeResource writes a resource block. The argument of a module is in all of its values, so that
// no two objects have the same.
func (g *generator) writeResource(w *strings.Builder, r *genResource, given string) {
	fmt.Fprintf(w, "resource %q %q {\n%s", r.kind, r.name, r.repeat.text())
	value := quotedText(r.text+r.repeat.key(), append([]string{given}, r.refs...)...)
	switch r.kind {
	case "terraform_data":
		fmt.Fprintf(w, "  input = %s\n  triggers_replace = %d\n", value, r.replaceOn)
	case "fake_computed":
		fmt.Fprintf(w, "  value = %s\n  replace_on = \"%d\"\n", value, r.replaceOn)
	default:
		fmt.Fprintf(w, "  value = %s\n", value)
	}
	if r.failure != "" {
		fmt.Fprintf(w, "  %s\n", r.failure)
	}
	if len(r.depends) > 0 {
		fmt.Fprintf(w, "  depends_on = [%s]\n", strings.Join(r.depends, ", "))
	}
	fmt.Fprintf(w, "  lifecycle {\n    create_before_destroy = %t\n", r.createFirst)
	if len(r.triggers) > 0 {
		fmt.Fprintf(w, "    replace_triggered_by = [%s]\n", strings.Join(r.triggers, ", "))
	}
	w.WriteString("  }\n}\n")
}
