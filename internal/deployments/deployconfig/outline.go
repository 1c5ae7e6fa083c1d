// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// Outline lists the deployments of a stack and their groups: all that has to be known of many
// stacks before one of them is worked on.
//
// Nothing is evaluated for it, so that it costs little and the files may be anybody's. Mistakes
// that leave no doubt which deployments there are, are left to [Load].
type Outline struct {
	Deployments []OutlinedDeployment // in the order of their blocks
	Groups      []OutlinedGroup      // with members, in the order in which they are carried out
	Takes       bool                 // there are upstream_input blocks
	Files       map[string]*hcl.File // by the names in ranges
}

// OutlinedDeployment is a deployment block.
type OutlinedDeployment struct {
	Name    string
	Destroy bool // written out as true
	Range   hcl.Range
}

// OutlinedGroup is the group of one or more deployments.
type OutlinedGroup struct {
	Name      string
	Automatic bool // of the only member, and declared nowhere
	Eager     bool // unless it is written out that it is not
	Members   []string
	Range     hcl.Range
}

// String returns the name of the group in sentences.
func (g OutlinedGroup) String() string {
	if g.Automatic {
		return "the deployment " + g.Members[0]
	}
	return "the deployment group " + g.Name
}

// Names returns the names of the deployments in the order of their blocks.
func (o *Outline) Names() []string {
	names := make([]string, len(o.Deployments))
	for i, deployment := range o.Deployments {
		names[i] = deployment.Name
	}
	return names
}

// Deployment returns a deployment by its name, nil if there is none.
func (o *Outline) Deployment(name string) *OutlinedDeployment {
	i := slices.IndexFunc(o.Deployments, func(d OutlinedDeployment) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Deployments[i]
}

// ReadOutline reads the deployment files of a stack, which are named, from a directory of a file
// system. Their places are in the directory shown.
func ReadOutline(fsys fs.FS, dir, shown string, names []string) (*Outline, hcl.Diagnostics) {
	texts := map[string][]byte{}
	var diags hcl.Diagnostics
	for _, name := range names {
		src, err := safefile.Read(fsys, filepath.ToSlash(filepath.Join(dir, name)), hclsource.MaxSize)
		if err == nil && len(src) > hclsource.MaxSize {
			err = fmt.Errorf("it has more than %d bytes", hclsource.MaxSize)
		}
		shownName := filepath.Join(shown, name)
		if err != nil {
			diags = append(diags, problem(fileStart(shownName), "Deployment files unreadable", "The file %s cannot be read: %s.", name,
				safefile.Reason(err)))
			continue
		}
		texts[shownName] = src
	}
	outline, moreDiags := NewOutline(texts)
	return outline, append(diags, moreDiags...)
}

var outlineSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "deployment", LabelNames: []string{"name"}},
	{Type: "deployment_group", LabelNames: []string{"name"}},
	{Type: "upstream_input", LabelNames: []string{"name"}},
}}

// NewOutline reads the texts of all deployment files of a stack, by the names that they have in
// places.
func NewOutline(texts map[string][]byte) (*Outline, hcl.Diagnostics) {
	d, takes := newDecoder(""), false
	for _, name := range sortedNames(texts) {
		file, diags := ParseFile(name, texts[name])
		d.config.Files[name] = file
		d.diags = append(d.diags, diags...)
		if diags.HasErrors() {
			continue
		}
		d.json = nil
		if filepath.Ext(name) == ".json" {
			d.json = file.Bytes
		}
		content, _, diags := file.Body.PartialContent(outlineSchema)
		d.diags = append(d.diags, diags...)
		for _, block := range content.Blocks {
			if block.Type == "upstream_input" {
				takes = true
				continue
			}
			d.outline(block)
		}
	}
	for _, p := range d.constant {
		p.finish()
	}
	d.config.inOrder()
	outline := d.config.outline()
	outline.Takes = takes
	return outline, identity.Sort(d.diags)
}

func sortedNames(texts map[string][]byte) []string {
	names := make([]string, 0, len(texts))
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// outline declares a block with those of its arguments that are literals.
func (d *decoder) outline(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, block.Type+"."+name) {
		return
	}
	content, _, diags := block.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "deployment_group"},
		{Name: "destroy"},
		{Name: "eager_plan"},
	}})
	if diags.HasErrors() {
		return // mistakes in arguments are found when these matter
	}
	if block.Type == "deployment_group" {
		d.config.Groups[name] = &Group{Name: name, EagerPlan: written(content.Attributes["eager_plan"], true), Range: d.header(block)}
		return
	}
	deployment := &Deployment{
		Name: name, Group: automaticGroup(name), Destroy: written(content.Attributes["destroy"], false),
		Range: d.header(block),
	}
	d.config.Deployments[name] = deployment
	if attr := content.Attributes["deployment_group"]; attr != nil && isWritten(attr.Expr) {
		d.later(attr.Range, func() {
			if group, _, ok := d.referenceTo("deployment_group", attr.Expr); ok && d.config.Groups[group] != nil {
				deployment.Group = group
			}
		})
	}
}

// written returns the value of an argument if it is a literal, else the default.
func written(attr *hcl.Attribute, usual bool) bool {
	if attr == nil {
		return usual
	}
	value, diags := hclsource.Constant(attr.Expr)
	if diags.HasErrors() || value.Type() != cty.Bool || value.IsNull() || !value.IsKnown() {
		return usual
	}
	return value.True()
}

// isWritten reports whether an expression is a reference, also as a text, so that its target is
// known without a calculation.
func isWritten(expr hcl.Expression) bool {
	native, ok := expr.(hclsyntax.Expression)
	if !ok {
		return true // JSON, of which no template is evaluated
	}
	switch native := native.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return true
	case *hclsyntax.TemplateWrapExpr:
		return isWritten(native.Wrapped)
	case *hclsyntax.TemplateExpr:
		return native.IsStringLiteral()
	}
	return false
}

func (c *Config) outline() *Outline {
	outline := &Outline{Files: c.Files}
	for _, name := range c.Order {
		declared := c.Deployments[name]
		outline.Deployments = append(outline.Deployments, OutlinedDeployment{Name: name, Destroy: declared.Destroy, Range: declared.Range})
	}
	for _, name := range c.GroupOrder {
		if group := c.Groups[name]; len(group.Members) > 0 {
			outline.Groups = append(outline.Groups, OutlinedGroup{
				Name: name, Automatic: group.Automatic, Eager: group.EagerPlan, Members: group.Members, Range: group.Range,
			})
		}
	}
	return outline
}

// NodeName is the name among many stacks of one of several deployments of a stack.
func NodeName(stack, deployment string) string { return stack + NodeSeparator + deployment }

// NodeSeparator stands between a stack and its deployment. No block of a workspace file has it in
// its name, and no deployment.
const NodeSeparator = ":"
