// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package moves_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// resourceType is the type of all resources of tests.
const resourceType = "terraform_data"

// tree is the configuration of a test. It implements [moves.Declared].
type tree struct {
	*module.Node
	counts map[string]int // by address of a block, of those with a count
}

// load makes a configuration of statements, one a line or behind a semicolon:
//
//	resource NAME [count=N | for_each=KEY], data NAME
//	module NAME SOURCE [count=N]
//	moved FROM TO
//	removed FROM DESTROY
func load(t *testing.T, files string) *tree {
	t.Helper()
	root := &tree{counts: map[string]int{}}
	root.Node = root.load(t, sections(files), "", "")
	return root
}

// sections returns the statements of each module, that of the root by "".
func sections(files string) map[string][][]string {
	modules, name := map[string][][]string{"": nil}, ""
	for line := range strings.Lines(files) {
		if head, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok {
			name = strings.TrimSuffix(head, " --")
			modules[name] = nil
			continue
		}
		for statement := range strings.SplitSeq(line, ";") {
			if fields := strings.Fields(statement); len(fields) > 0 {
				modules[name] = append(modules[name], fields)
			}
		}
	}
	return modules
}

func (root *tree) load(t *testing.T, modules map[string][][]string, name, path string) *module.Node {
	loaded := &module.Node{
		Directory: &module.Directory{Calls: map[string]*module.Call{}, Resources: map[stackaddrs.Resource]*module.Resource{}},
		Children:  map[string]*module.Node{},
	}
	for i, fields := range modules[name] {
		at := hcl.Range{Filename: name, Start: hcl.Pos{Line: i + 1}}
		switch fields[0] {
		case "resource", "data":
			r := &module.Resource{Addr: resourceAddr(t, fields[1]).Resource, Range: at}
			if fields[0] == "data" {
				r.Addr.Mode = stackaddrs.DataResource
			}
			r.Repeat = root.repeat(t, path+r.Addr.String(), fields[2:])
			loaded.Resources[r.Addr] = r
		case "module":
			loaded.Calls[fields[1]] = &module.Call{
				Name:   fields[1],
				Repeat: root.repeat(t, path+"module."+fields[1], fields[3:]),
			}
			called := root.load(t, modules, fields[2], path+"module."+fields[1]+".")
			if strings.Contains(fields[2], ":") {
				called.Mount = fields[1] // of another source package
			}
			loaded.Children[fields[1]] = called
		case "moved":
			loaded.Moved = append(loaded.Moved, &module.Moved{From: end(t, fields[1]), To: end(t, fields[2]), Range: at})
		case "removed":
			loaded.Removed = append(loaded.Removed, &module.Removed{From: end(t, fields[1]), Destroy: fields[2] == "true", Range: at})
		}
	}
	return loaded
}

// source returns the source argument for the name of a module.
func source(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return "./" + name
}

// repeat returns the count or for_each of a block.
func (root *tree) repeat(t *testing.T, addr string, fields []string) module.Repeat {
	if len(fields) == 0 {
		return module.Repeat{}
	}
	name, value, _ := strings.Cut(fields[0], "=")
	parsed, diags := hclsyntax.ParseExpression([]byte(fmt.Sprintf("%q", value)), "", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if name == "for_each" {
		return module.Repeat{ForEach: &module.Expr{Expression: parsed}}
	}
	if _, err := fmt.Sscan(value, new(int)); err != nil {
		t.Fatal(err)
	}
	var count int
	fmt.Sscan(value, &count) //nolint:errcheck // as before
	root.counts[addr] = count
	return module.Repeat{Count: &module.Expr{Expression: parsed}}
}

// resourceAddr parses an address of a test.
func resourceAddr(t *testing.T, text string) stackaddrs.ResourceInstance {
	t.Helper()
	steps := strings.Split(text, ".")
	steps[len(steps)-1] = resourceType + "." + steps[len(steps)-1]
	addr, err := stackaddrs.ParseResourceInstance(strings.Join(steps, "."))
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// end parses an end of a moved block.
func end(t *testing.T, text string) module.MoveEnd {
	t.Helper()
	steps := strings.Split(text, ".")
	isModule := len(steps)%2 == 0 && steps[len(steps)-2] == "module"
	if isModule {
		instance, err := stackaddrs.ParseModuleInstance(text)
		if err != nil {
			t.Fatal(err)
		}
		return module.MoveEnd{Module: moveSteps(instance)}
	}
	addr := resourceAddr(t, text)
	return module.MoveEnd{Module: moveSteps(addr.Module), Resource: &addr.Resource, Key: addr.Key}
}

func moveSteps(instance stackaddrs.ModuleInstance) []module.MoveStep {
	var steps []module.MoveStep
	for _, call := range instance.Path() {
		steps = append(steps, module.MoveStep{Name: call.Name, Key: call.Key})
	}
	return steps
}

// endString is the reverse of end.
func endString(e module.MoveEnd) string {
	instance := stackaddrs.RootModuleInstance
	for _, step := range e.Module {
		instance = instance.Child(step.Name, step.Key)
	}
	if e.Resource == nil {
		return instance.String()
	}
	return stackaddrs.ResourceInstance{Module: instance, Resource: *e.Resource, Key: e.Key}.String()
}

// keys returns the keys that a block has instances with.
func (root *tree) keys(addr string, repeat module.Repeat) []stackaddrs.InstanceKey {
	switch {
	case repeat.Count != nil:
		var keys []stackaddrs.InstanceKey
		for n := range root.counts[addr] {
			keys = append(keys, stackaddrs.IntKey(int64(n)))
		}
		return keys
	case repeat.ForEach != nil:
		value, _ := repeat.ForEach.Value(nil)
		return []stackaddrs.InstanceKey{stackaddrs.StringKey(value.AsString())}
	default:
		return []stackaddrs.InstanceKey{stackaddrs.NoKey}
	}
}

func (root *tree) ModuleInstances(path []string) []stackaddrs.ModuleInstance {
	instances, at, addr := []stackaddrs.ModuleInstance{stackaddrs.RootModuleInstance}, root.Node, ""
	for _, name := range path {
		call := at.Calls[name]
		if call == nil {
			return nil
		}
		var called []stackaddrs.ModuleInstance
		for _, instance := range instances {
			for _, key := range root.keys(addr+"module."+name, call.Repeat) {
				called = append(called, instance.Child(name, key))
			}
		}
		instances, at, addr = called, at.Children[name], addr+"module."+name+"."
	}
	return instances
}

func (root *tree) HasModule(m stackaddrs.ModuleInstance) bool {
	var path []string
	for _, call := range m.Path() {
		path = append(path, call.Name)
	}
	return slices.Contains(root.ModuleInstances(path), m)
}

func (root *tree) HasInstance(addr stackaddrs.ResourceInstance) bool {
	if !root.HasModule(addr.Module) {
		return false
	}
	at, prefix := root.Node, ""
	for _, call := range addr.Module.Path() {
		at, prefix = at.Children[call.Name], prefix+"module."+call.Name+"."
	}
	block := at.Resources[addr.Resource]
	return block != nil && slices.Contains(root.keys(prefix+block.Addr.String(), block.Repeat), addr.Key)
}

// write returns the files of a configuration as terraform reads them, by name.
func write(files string) map[string]string {
	written := map[string]string{}
	for name, statements := range sections(files) {
		var b strings.Builder
		for _, fields := range statements {
			writeStatement(&b, name, fields)
		}
		written[strings.TrimPrefix(name+"/main.tf", "/")] = b.String()
	}
	return written
}

func writeStatement(b *strings.Builder, in string, fields []string) {
	up := ""
	if in != "" {
		up = "../"
	}
	switch fields[0] {
	case "resource", "data":
		fmt.Fprintf(b, "%s %q %q {\n", fields[0], resourceType, fields[1])
		writeRepeat(b, fields[2:])
	case "module":
		fmt.Fprintf(b, "module %q {\n  source = %q\n", fields[1], strings.Replace(source(fields[2]), "./", "./"+up, 1))
		writeRepeat(b, fields[3:])
	case "moved":
		fmt.Fprintf(b, "moved {\n  from = %s\n  to = %s\n", full(fields[1]), full(fields[2]))
	case "removed":
		fmt.Fprintf(b, "removed {\n  from = %s\n  lifecycle {\n    destroy = %s\n  }\n", full(fields[1]), fields[2])
	}
	b.WriteString("}\n")
}

func writeRepeat(b *strings.Builder, fields []string) {
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		if name == "for_each" {
			value = fmt.Sprintf("toset([%q])", value)
		}
		fmt.Fprintf(b, "  %s = %s\n", name, value)
	}
}

// full is the reverse of short, for an end of a moved block.
func full(text string) string {
	steps := strings.Split(text, ".")
	if len(steps)%2 == 0 && steps[len(steps)-2] == "module" {
		return text
	}
	steps[len(steps)-1] = resourceType + "." + steps[len(steps)-1]
	return strings.Join(steps, ".")
}
