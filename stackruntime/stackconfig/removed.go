// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/failure"
)

var removedSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "from", Required: true},
		{Name: "source", Required: true},
		{Name: "version"},
		{Name: "for_each"},
		{Name: "inputs"},
		{Name: "providers"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "lifecycle"}},
}

var lifecycleSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "destroy"}},
}

func (d *decoder) removed(block *hcl.Block) {
	content, ok := d.content(block, removedSchema)
	removed := &Removed{
		ForEach:   d.expression(content.Attributes["for_each"]),
		Inputs:    d.expression(content.Attributes["inputs"]),
		Providers: d.providerAssignments(content.Attributes["providers"]),
		Destroy:   true,
		Range:     d.header(block),
	}
	if nested := d.onlyBlock(content.Blocks); nested != nil {
		lifecycle, _ := d.content(nested, lifecycleSchema)
		removed.Destroy = d.literalBool(lifecycle.Attributes["destroy"], true)
	}
	what := "module"
	if attr, written := content.Attributes["from"]; written {
		removed.From = d.removedFrom(attr)
	}
	if removed.From != nil && removed.From.Component == nil {
		what = "stack"
	}
	removed.Source = d.source(content, what)
	if removed.From == nil {
		return
	}
	d.checkRemovedArguments(removed, content.Attributes)
	if ok {
		d.stack.Removed = append(d.stack.Removed, removed)
	}
}

// checkRemovedArguments checks which arguments go with the target.
func (d *decoder) checkRemovedArguments(removed *Removed, attrs hcl.Attributes) {
	if attr, ok := attrs["providers"]; ok && removed.From.Component == nil {
		d.errorf(attr.NameRange, "providers only applies to components",
			"The target is an embedded stack, which has its own provider blocks. Remove the providers argument.")
		removed.Providers = nil
	}
	if attr, ok := attrs["inputs"]; ok && removed.From.Component != nil {
		d.errorf(attr.NameRange, "inputs only applies to embedded stacks",
			"The target is a component, whose inputs are known from its state. Remove the inputs argument.")
		removed.Inputs = nil
	}
	if removed.ForEach != nil && !removed.From.usesEach() {
		d.errorf(removed.From.Range, "for_each not used in from",
			"With for_each, an index in from must say which instance is meant, like [each.key].")
	}
}

// checkRemoved finds targets that are declared as well.
func (d *decoder) checkRemoved() {
	for _, removed := range d.stack.Removed {
		from := removed.From
		switch {
		case from.isOwnComponent() && from.Component.Index == nil:
			if c, declared := d.stack.Components[from.Component.Name]; declared {
				d.errorf(from.Range, "Component both declared and removed",
					"component.%s is still declared at %s, and this removes the whole component. "+
						"Remove one of the blocks, or say which instance is meant with an index.", c.Name, place(c.Range))
			}
		case from.isOwnStack() && from.Stacks[0].Index == nil:
			if call, declared := d.stack.Calls[from.Stacks[0].Name]; declared {
				d.errorf(from.Range, "Stack both declared and removed",
					"stack.%s is still declared at %s, and this removes the whole stack. "+
						"Remove one of the blocks, or say which instance is meant with an index.", call.Name, place(call.Range))
			}
		}
	}
}

// isOwnComponent reports whether the target is a component of the stack with the block.
func (f *RemovedFrom) isOwnComponent() bool { return len(f.Stacks) == 0 && f.Component != nil }

// isOwnStack reports whether the target is a stack call of the stack with the block.
func (f *RemovedFrom) isOwnStack() bool { return len(f.Stacks) == 1 && f.Component == nil }

// usesEach reports whether an index refers to the key or value of for_each.
func (f *RemovedFrom) usesEach() bool {
	steps := f.Stacks
	if f.Component != nil {
		steps = append(slices.Clone(steps), *f.Component)
	}
	return slices.ContainsFunc(steps, func(step RemovedStep) bool {
		return step.Index != nil && slices.ContainsFunc(step.Index.Variables(), func(t hcl.Traversal) bool {
			return t.RootName() == "each"
		})
	})
}

// removedFrom decodes a from argument. It returns nil if that has a mistake.
func (d *decoder) removedFrom(attr *hcl.Attribute) *RemovedFrom {
	return d.objectPath(attr, "component.name, stack.name[\"key\"] or stack.name.component.name[each.key]")
}

// objectPath decodes an argument that names a component or an embedded stack. It returns nil if
// that has a mistake.
func (d *decoder) objectPath(attr *hcl.Attribute, examples string) *RemovedFrom {
	expr, ok := d.staticExpression(attr.Expr)
	if !ok {
		return nil
	}
	p := &fromParser{}
	if !p.collect(expr) {
		p.problem, p.at = "", expr.Range()
	}
	from := p.parse(attr.Expr.Range())
	if from == nil {
		detail := "Write the path to a component or an embedded stack, like " + examples + "."
		if p.problem != "" {
			detail = p.problem + " " + detail
		}
		d.diags = append(d.diags, d.keepInside(hcl.Diagnostics{failure.At(p.at, attr.Name+" does not name a component or stack",
			"%s", detail)}, attr.Expr.Range())...)
	}
	return from
}

// fromParser takes the target of a removed or moved block apart. Other than in a
// traversal, an index can be any expression.
type fromParser struct {
	steps   []fromStep
	problem string
	at      hcl.Range
}

// fromStep is either a name or an index.
type fromStep struct {
	name  string
	index hcl.Expression
	rng   hcl.Range
}

// collect appends the steps of an expression and reports whether it has nothing else.
func (p *fromParser) collect(expr hcl.Expression) bool {
	switch expr := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return p.collectTraversal(expr.Traversal)
	case *hclsyntax.RelativeTraversalExpr:
		return p.collect(expr.Source) && p.collectTraversal(expr.Traversal)
	case *hclsyntax.IndexExpr:
		if !p.collect(expr.Collection) {
			return false
		}
		p.steps = append(p.steps, fromStep{index: expr.Key, rng: expr.BracketRange})
		return true
	default:
		return false
	}
}

func (p *fromParser) collectTraversal(traversal hcl.Traversal) bool {
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			p.steps = append(p.steps, fromStep{name: step.Name, rng: step.SrcRange})
		case hcl.TraverseAttr:
			p.steps = append(p.steps, fromStep{name: step.Name, rng: step.SrcRange})
		case hcl.TraverseIndex:
			index := &hclsyntax.LiteralValueExpr{Val: step.Key, SrcRange: step.SrcRange}
			p.steps = append(p.steps, fromStep{index: index, rng: step.SrcRange})
		default:
			return false
		}
	}
	return true
}

// parse applies the grammar to the steps. The result is nil if they do not
// follow it; then p has the place.
func (p *fromParser) parse(whole hcl.Range) *RemovedFrom {
	if len(p.steps) == 0 || p.at != (hcl.Range{}) {
		return nil
	}
	from := &RemovedFrom{Range: whole}
	for steps := p.steps; len(steps) > 0; {
		keyword := steps[0]
		switch {
		case from.Component != nil:
			return p.reject(keyword.rng, "Nothing can follow the component.")
		case keyword.name != "stack" && keyword.name != "component":
			return p.reject(keyword.rng, "The keyword stack or component is expected here.")
		case len(steps) == 1 || steps[1].name == "":
			return p.reject(keyword.rng, "A name must follow the keyword "+keyword.name+".")
		}
		step := RemovedStep{Name: steps[1].name}
		steps = steps[2:]
		if len(steps) > 0 && steps[0].index != nil {
			step.Index = steps[0].index
			steps = steps[1:]
		}
		if keyword.name == "component" {
			from.Component = &step
		} else {
			from.Stacks = append(from.Stacks, step)
		}
	}
	return from
}

func (p *fromParser) reject(at hcl.Range, problem string) *RemovedFrom {
	p.at, p.problem = at, problem
	return nil
}
