// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// List is a list block of a query file.
type List struct {
	Type, Name      string
	Provider        engine.ProviderSlot
	ProviderRange   hcl.Range
	ProviderAddr    stackaddrs.Provider
	Repeat          Repeat
	Limit           *Expr    // nil without the argument
	IncludeResource *Expr    // nil without the argument
	Config          hcl.Body // of the config block; empty without one
	Refs            []refs.Reference
	Range           hcl.Range
}

// References returns all references in the block.
func (l *List) References() []refs.Reference {
	return append(appendRefs(l.Repeat.References(), l.Limit, l.IncludeResource), l.Refs...)
}

var querySuffixes = []string{".tfquery.hcl", ".tfquery.json"}

var (
	queryFileSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "list", LabelNames: []string{"type", "name"}},
		{Type: "locals"},
		{Type: "variable", LabelNames: []string{"name"}},
		{Type: "provider", LabelNames: []string{"name"}},
	}}
	listSchema = &hcl.BodySchema{
		Attributes: schemaOf("count", "for_each", "provider", "limit", "include_resource").Attributes,
		Blocks:     []hcl.BlockHeaderSchema{{Type: "config"}},
	}
)

var queryBlockDecoders = map[string]func(*decoder, *hcl.Block){
	"list":     (*decoder).list,
	"locals":   (*decoder).locals,
	"variable": (*decoder).queryVariable,
	"provider": (*decoder).queryProvider,
}

// Query returns the root module of a tree with the list blocks and the local values of its query
// files, which nothing else reads. The tree was loaded without errors. With errors, the module has
// the parts that could be understood.
func (l *Loader) Query(tree *Tree) (*Node, hcl.Diagnostics) {
	dir, root := *tree.Root.Directory, *tree.Root
	dir.Lists, dir.Locals, dir.ProviderUses = map[string]*List{}, maps.Clone(dir.Locals), maps.Clone(dir.ProviderUses)
	dir.Functions, dir.newer, dir.Unsupported = slices.Clip(dir.Functions), nil, nil
	root.Directory, root.Slots = &dir, maps.Clone(root.Slots)
	d := &decoder{dir: &dir, declared: map[string]hcl.Range{}, tofu: l.opts.Tofu || dir.Tofu != nil}
	for name, local := range dir.Locals {
		d.declared["local value "+name] = local.Range
	}
	files, err := queryFiles(dir.Dir)
	if err != nil {
		return &root, hcl.Diagnostics{failure.New("Unreadable module directory", "The directory %s cannot be read: %s.", l.display(dir.Dir), err)}
	}
	for _, name := range files {
		file, diags := l.parseFile(dir.Dir, name)
		d.report(diags)
		if file != nil {
			d.blocks(file, queryFileSchema, queryBlockDecoders)
		}
	}
	d.finishQuery(tree, &root)
	diags := slices.Concat(d.common, d.strict, dir.Unsupported)
	if len(dir.Lists) == 0 && !diags.HasErrors() {
		diags = append(diags, failure.New("No queries", "The module in %s has no list blocks. Write one in a file there whose name ends with "+
			".tfquery.hcl.", l.display(dir.Dir)))
	}
	return &root, diags
}

// queryFiles returns the names of the query files in the directory of a module, sorted.
func queryFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if _, suffix := splitName(entry.Name(), querySuffixes); suffix != "" && !isDirectory(dir, entry) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

func (d *decoder) list(block *hcl.Block) {
	list := &List{Type: block.Labels[0], Name: block.Labels[1], Range: block.DefRange, ProviderRange: block.DefRange}
	list.Config = &hclsyntax.Body{SrcRange: block.DefRange, EndRange: block.DefRange}
	d.identifier(list.Type, block.LabelRanges[0])
	d.identifier(list.Name, block.LabelRanges[1])
	id := list.Type + "." + list.Name
	if !d.declare("list block", id, block.DefRange) {
		return
	}
	content, diags := block.Body.Content(listSchema)
	d.add(diags)
	d.repeat(content, &list.Repeat)
	list.Limit, list.IncludeResource = d.argument(content, "limit"), d.argument(content, "include_resource")
	if attr := content.Attributes["provider"]; attr == nil {
		d.missing(content, "provider")
	} else if slot, ok := d.slot(attr.Expr); ok {
		list.Provider, list.ProviderRange = slot, attr.Expr.Range()
	}
	for i, nested := range content.Blocks {
		if i > 0 {
			d.twice(nested, content.Blocks[0])
			continue
		}
		list.Config, list.Refs = nested.Body, d.bodyRefs(nested.Body, nil)
	}
	d.dir.Lists[id] = list
}

func (d *decoder) queryVariable(block *hcl.Block) {
	d.problem(block.DefRange, "Variable in a query file", fmt.Sprintf("The variables of a query are those of the module, and have the values "+
		"of the component's inputs. Declare %q in a .tf file of the module, and give it a value in the inputs of the component.",
		block.Labels[0]))
}

func (d *decoder) queryProvider(block *hcl.Block) {
	d.problem(block.DefRange, "Provider configuration in a query file", "The provider configurations of a query are those that the stack "+
		"assigns to the component. Remove the block, and name one of them in the argument provider of the list block.")
}

// finishQuery finds the providers of list blocks, which are among those that the tree takes, and
// refuses references that have no value in a query.
func (d *decoder) finishQuery(tree *Tree, root *Node) {
	var found []refs.Reference
	for _, id := range slices.Sorted(maps.Keys(d.dir.Lists)) {
		list := d.dir.Lists[id]
		found = append(found, list.References()...)
		if list.Provider.LocalName == "" {
			continue // that was reported
		}
		if tree.Module.Slots[list.Provider] == nil {
			var names []string
			for slot := range tree.Module.Slots {
				names = append(names, slot.String())
			}
			d.problem(list.ProviderRange, "Unknown provider configuration", fmt.Sprintf("The module takes no provider configuration %q.%s "+
				"Declare it in the required_providers of the module, and assign one to the component.",
				list.Provider, nearest.DidYouMean(list.Provider.String(), names)))
			continue
		}
		list.ProviderAddr = tree.Module.Slots[list.Provider].Provider
		root.Slots[list.Provider] = list.Provider
	}
	for _, name := range slices.Sorted(maps.Keys(d.dir.Locals)) {
		if tree.Root.Locals[name] == nil {
			found = append(found, d.dir.Locals[name].Value.Refs...)
		}
	}
	for ref := range d.dir.Follow(found) {
		if kind := ref.Subject.Kind; kind == refs.Resource || kind == refs.Call || kind == refs.CallOutput || kind == refs.Action {
			d.problem(ref.Range, "Reference not allowed in a query", fmt.Sprintf("A query knows variables, local values and the results of list "+
				"blocks. The value of %s is known only to plans.", ref.Subject))
		}
	}
}
