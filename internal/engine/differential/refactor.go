// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// GenerateMoves returns a random case: a tree of modules that is applied, and applied again after
// blocks in it have got other names, keys and modules, with moved blocks that say so, some of them
// wrong. The same seed makes the same case.
func GenerateMoves(seed uint64) *Case {
	g := &refactoring{random: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // not for secrets
	g.module(2)
	var text strings.Builder
	//nolint:dupword // it is applied twice
	fmt.Fprintf(&text, "A random tree of modules, of the seed %d.\n-- steps --\napply\napply\nplan\n", seed)
	g.write(&text, "")
	for range 1 + g.random.IntN(5) {
		g.change()
	}
	g.write(&text, "2/")
	c, err := ParseCase([]byte(text.String()))
	if err != nil {
		panic(err) // the text is made here
	}
	return c
}

// refactoring is a tree of modules that is being made up.
type refactoring struct {
	random *rand.Rand
	dirs   []*moduleDir // the root last
	names  int
}

// moduleDir is a module, which others may call several times.
type moduleDir struct {
	name   string
	blocks []*movable
	moved  []string // blocks
}

// movable is a resource, or a call of a module.
type movable struct {
	name   string
	repeat repetition
	called *moduleDir // nil for a resource
}

func (m *movable) address() string {
	if m.called != nil {
		return "module." + m.name
	}
	return "terraform_data." + m.name
}

// keys are those of all instances, as addresses have them.
func (r repetition) keys() []string {
	switch r.argument {
	case "count":
		return []string{"[0]", "[1]", "[2]"}[:r.n]
	case "for_each":
		return []string{`["a"]`, `["b"]`, `["c"]`}[:r.n]
	default:
		return []string{""}
	}
}

func (g *refactoring) chance(percent int) bool { return g.random.IntN(100) < percent }

func (g *refactoring) name() string {
	g.names++
	return fmt.Sprintf("n%d", g.names)
}

func (g *refactoring) repetition() repetition {
	return repetition{[]string{"", "", "count", "for_each"}[g.random.IntN(4)], 1 + g.random.IntN(2)}
}

// module makes a module, with others below it that it calls.
func (g *refactoring) module(depth int) *moduleDir {
	d := &moduleDir{}
	for range 1 + g.random.IntN(2) {
		d.blocks = append(d.blocks, &movable{name: g.name(), repeat: g.repetition()})
	}
	for range min(depth, 1+g.random.IntN(2)) {
		called := g.module(depth - 1)
		for range 1 + g.random.IntN(8)/7 {
			d.blocks = append(d.blocks, &movable{name: g.name(), repeat: g.repetition(), called: called})
		}
	}
	d.name = fmt.Sprintf("m%d", len(g.dirs))
	g.dirs = append(g.dirs, d)
	return d
}

// change changes one block.
func (g *refactoring) change() {
	d := g.dirs[g.random.IntN(len(g.dirs))]
	if len(d.blocks) == 0 {
		return
	}
	m := d.blocks[g.random.IntN(len(d.blocks))]
	from := m.address()
	switch n := g.random.IntN(100); {
	case n < 30:
		m.name = g.name()
		d.move(from, m.address())
	case n < 65:
		g.repeat(d, m)
	case n < 75:
		g.into(d, m)
	case n < 85:
		g.out(d, m)
	case n < 90: // the block is removed
		d.blocks = slices.DeleteFunc(d.blocks, func(other *movable) bool { return other == m })
	default: // perhaps wrong
		other := d.blocks[g.random.IntN(len(d.blocks))]
		if (other.called == nil) == (m.called == nil) {
			d.move(g.instance(m), g.instance(other))
		}
	}
}

func (d *moduleDir) move(from, to string) {
	if from != to {
		d.moved = append(d.moved, fmt.Sprintf("moved {\n  from = %s\n  to = %s\n}\n", from, to))
	}
}

// instance returns the address of a block, or of one of its instances.
func (g *refactoring) instance(m *movable) string {
	if g.chance(30) {
		return m.address()
	}
	keys := m.repeat.keys()
	return m.address() + keys[g.random.IntN(len(keys))]
}

// repeat gives a block other instances, or only other keys.
func (g *refactoring) repeat(d *moduleDir, m *movable) {
	before := m.repeat.keys()
	m.repeat = g.repetition()
	after := m.repeat.keys()
	for i, key := range before {
		if i < len(after) && g.chance(80) {
			d.move(m.address()+key, m.address()+after[i])
		}
	}
}

// into moves a resource into a module that its own calls.
func (g *refactoring) into(d *moduleDir, m *movable) {
	i := slices.IndexFunc(d.blocks, func(other *movable) bool { return other.called != nil })
	if i < 0 || m.called != nil {
		return
	}
	target := d.blocks[i]
	keys := target.repeat.keys()
	d.blocks = slices.DeleteFunc(d.blocks, func(other *movable) bool { return other == m })
	target.called.blocks = append(target.called.blocks, m)
	d.move(m.address(), target.address()+keys[g.random.IntN(len(keys))]+"."+m.address())
}

// out moves the blocks of a called module to its caller.
func (g *refactoring) out(d *moduleDir, m *movable) {
	if m.called == nil || len(m.called.blocks) == 0 {
		return
	}
	keys := m.repeat.keys()
	inner := m.called.blocks[g.random.IntN(len(m.called.blocks))]
	m.called.blocks = slices.DeleteFunc(m.called.blocks, func(other *movable) bool { return other == inner })
	moved := &movable{g.name(), inner.repeat, inner.called}
	d.blocks = append(d.blocks, moved)
	d.move(m.address()+keys[g.random.IntN(len(keys))]+"."+inner.address(), moved.address())
}

func (g *refactoring) write(w *strings.Builder, prefix string) {
	root := g.dirs[len(g.dirs)-1]
	for _, d := range g.dirs {
		dir, up := d.name+"/", "../"
		if d == root {
			dir, up = "", "./"
		}
		fmt.Fprintf(w, "-- %s%smain.tf --\nlocals {\n  made = true\n}\n", prefix, dir)
		for _, m := range d.blocks {
			if m.called != nil {
				fmt.Fprintf(w, "module %q {\n  source = %q\n%s}\n", m.name, up+m.called.name, m.repeat.text())
			} else {
				fmt.Fprintf(w, "resource \"terraform_data\" %q {\n%s  input = %q\n}\n", m.name, m.repeat.text(), d.name)
			}
		}
		w.WriteString(strings.Join(d.moved, ""))
	}
}
