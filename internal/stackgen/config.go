// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackgen

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// stack is the configuration of one stack, the root or one that is embedded.
type stack struct {
	dir        string // from the root, "" for that
	variables  []*variable
	locals     []*local
	providers  []*provider
	components []*component
	calls      []*call
	outputs    []*output
	removed    []string // blocks
	scope      *scope
	names      int // used for components
}

type variable struct {
	name       string
	kind       kind
	value      cty.Value // the default, or the value for the root
	isDefault  bool
	keys       bool
	sensitive  bool
	ephemeral  bool
	validation bool
}

type local struct {
	name  string
	value expr
}

type provider struct {
	name    string
	forEach *forEach
	config  expr
}

// forEach is an argument that decides on instances.
type forEach struct {
	expr
	literal []string // the keys, where they are written in the argument
	values  []expr   // and the values, or nil for a set
	each    map[kind][]expr
}

type input struct {
	name  string
	kind  kind
	value expr
	plain bool // takes a literal
}

type component struct {
	name      string
	module    *module
	forEach   *forEach
	inputs    []input
	slot      *expr // the provider configuration
	dependsOn []string
}

type call struct {
	name      string
	stack     *stack
	forEach   *forEach
	inputs    []input
	dependsOn []string
}

type output struct {
	name      string
	kind      kind
	value     expr
	keys      bool
	ephemeral bool
}

// uses returns all components that the block takes values from.
func (c *component) uses() uses {
	used := uses{}
	for _, in := range c.inputs {
		used = used.plus(in.value.uses)
	}
	if c.forEach != nil {
		used = used.plus(c.forEach.uses)
	}
	if c.slot != nil {
		used = used.plus(c.slot.uses)
	}
	for _, name := range c.dependsOn {
		if strings.HasPrefix(name, "component.") {
			used = used.plus(uses{name: true})
		}
	}
	return used
}

// resolve puts the sources of the variables of the stack in their place.
func (u uses) resolve(prefix string, variables map[string]uses) uses {
	resolved := uses{}
	for name := range u {
		if v, ok := strings.CutPrefix(name, "var."); ok {
			maps.Copy(resolved, variables[v])
		} else {
			resolved[prefix+name] = true
		}
	}
	return resolved
}

// requires fills in the requirements of all components from here on.
func (s *stack) requires(prefix string, variables map[string]uses, into map[string][]string) {
	for _, c := range s.components {
		into[prefix+"component."+c.name] = slices.Sorted(maps.Keys(c.uses().resolve(prefix, variables)))
	}
	for _, c := range s.calls {
		inner := map[string]uses{}
		for _, in := range c.inputs {
			inner[in.name] = in.value.uses.resolve(prefix, variables)
		}
		c.stack.requires(prefix+"stack."+c.name+".", inner, into)
	}
}

func (g *generator) version() Version {
	v := Version{Files: map[string]string{}, Inputs: map[string]cty.Value{}, Requires: map[string][]string{}}
	g.root.requires("", nil, v.Requires)
	for _, m := range g.modules {
		v.Files[m.dir+"/main.tf"] = string(hclwrite.Format([]byte(m.text)))
	}
	for _, s := range g.stacks {
		blocks := s.blocks(g.providers)
		g.rng.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
		texts := make([]string, 1+g.rng.IntN(2))
		for i, block := range blocks {
			texts[i%len(texts)] += block + "\n"
		}
		for i, text := range texts {
			name := path.Join(s.dir, []string{"main", "more"}[i]+".tfcomponent.hcl")
			v.Files[name] = string(hclwrite.Format([]byte(text)))
		}
	}
	for _, in := range g.root.variables {
		if !in.isDefault {
			v.Inputs[in.name] = in.value
		}
	}
	return v
}

func (s *stack) blocks(providers bool) []string {
	var blocks []string
	if providers {
		blocks = append(blocks, fmt.Sprintf("required_providers {\nfake = {\nsource = %q\nversion = \"1.0.0\"\n}\n}\n", Provider.String()))
	}
	for _, v := range s.variables {
		blocks = append(blocks, v.block())
	}
	for _, l := range s.locals {
		blocks = append(blocks, fmt.Sprintf("locals {\n%s = %s\n}\n", l.name, l.value.text))
	}
	for _, p := range s.providers {
		blocks = append(blocks, fmt.Sprintf("provider \"fake\" %q {\n%sconfig {\n%s\n}\n}\n", p.name, p.forEach.argument(), p.config.text))
	}
	for _, c := range s.components {
		blocks = append(blocks, c.block(s))
	}
	for _, c := range s.calls {
		blocks = append(blocks, fmt.Sprintf("stack %q {\nsource = %q\n%s%s%s}\n", c.name, s.source(c.stack.dir), c.forEach.argument(),
			inputsArgument(c.inputs), dependsOnArgument(c.dependsOn)))
	}
	for _, o := range s.outputs {
		blocks = append(blocks, o.block())
	}
	return append(blocks, s.removed...)
}

func (v *variable) block() string {
	var b strings.Builder
	fmt.Fprintf(&b, "variable %q {\ntype = %s\n", v.name, v.kind)
	if v.isDefault {
		fmt.Fprintf(&b, "default = %s\n", literal(v.value))
	}
	if v.sensitive {
		b.WriteString("sensitive = true\n")
	}
	if v.ephemeral {
		b.WriteString("ephemeral = true\n")
	}
	if v.validation {
		fmt.Fprintf(&b, "validation {\ncondition = var.%s != null\nerror_message = \"It is null.\"\n}\n", v.name)
	}
	return b.String() + "}\n"
}

func (f *forEach) argument() string {
	if f == nil {
		return ""
	}
	return "for_each = " + f.text + "\n"
}

func inputsArgument(inputs []input) string {
	if len(inputs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("inputs = {\n")
	for _, in := range inputs {
		fmt.Fprintf(&b, "%s = %s\n", in.name, in.value.text)
	}
	return b.String() + "}\n"
}

func dependsOnArgument(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "depends_on = [" + strings.Join(names, ", ") + "]\n"
}

func (c *component) block(s *stack) string {
	return fmt.Sprintf("component %q {\nsource = %q\n%s%s%s%s}\n", c.name, s.source(c.module.dir),
		c.forEach.argument(), inputsArgument(c.inputs), c.providersArgument(), dependsOnArgument(c.dependsOn))
}

func (c *component) providersArgument() string {
	if c.slot == nil {
		return ""
	}
	return "providers = {\nfake = " + c.slot.text + "\n}\n"
}

func (o *output) block() string {
	var b strings.Builder
	fmt.Fprintf(&b, "output %q {\ntype = %s\nvalue = %s\n", o.name, o.kind, o.value.text)
	if o.ephemeral {
		b.WriteString("ephemeral = true\n")
	}
	return b.String() + "}\n"
}

// source writes the source address of a directory.
func (s *stack) source(dir string) string {
	if s.dir == "" {
		return "./" + dir
	}
	return strings.Repeat("../", 1+strings.Count(s.dir, "/")) + dir
}
