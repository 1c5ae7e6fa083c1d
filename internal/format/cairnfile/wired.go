// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/settings"
)

// localsType is the type of blocks with local values, which inputs may be made of.
const localsType = "locals"

// locals reads all blocks with local values, before anything refers to one.
func (d *decoder) locals(body *hclsyntax.Body) {
	d.workspace.Locals = map[string]wiring.Local{}
	for _, block := range body.Blocks {
		if block.Type != localsType {
			continue
		}
		if len(block.Labels) > 0 {
			d.problem(problem.BadValue, block.LabelRanges[0], "Invalid block labels", "A block of this type has no name: locals { … }.")
		}
		for _, inner := range block.Body.Blocks {
			d.unknown(inner.TypeRange, "block type", inner.Type, nil, "in a locals block")
		}
		for _, attribute := range attributesOf(block.Body) {
			if first, again := d.workspace.Locals[attribute.Name]; again {
				d.problem(problem.DuplicateID, attribute.NameRange, "Duplicate local value",
					"There is already a local value %q at %s. Remove one of the two.", attribute.Name, problem.PlaceOf(first.Range))
				continue
			}
			d.workspace.Locals[attribute.Name] = wiring.Local{Expr: attribute.Expr, Range: attribute.NameRange}
		}
	}
}

// inputs reads the values that a stack has from others.
func (a *arguments) inputs(s *Stack) {
	attribute := a.get("inputs")
	if attribute == nil {
		return
	}
	inputs, diags := wiring.Parse(attribute.Expr, a.workspace.Locals, a.source)
	a.diags = a.diags.Extend(diags)
	if inputs == nil {
		return
	}
	for _, input := range inputs.Inputs {
		if _, twice := s.Variables[input.Name]; twice {
			a.problem(problem.DuplicateID, input.NameRange, "Duplicate input",
				"The argument \"variables\" has a value for %q, too. Remove one of the two.", input.Name)
		}
	}
	s.Inputs, s.InputsRange = inputs, attribute.NameRange
}

// inputTexts returns the values that a stack has from others as they are written, by name.
func (s *Stack) inputTexts() map[string]string {
	texts := map[string]string{}
	if s.Inputs == nil {
		return texts
	}
	for _, input := range s.Inputs.Inputs {
		texts[input.Name] = input.Text
	}
	return texts
}

// inputsOf resolves the references in the inputs of a block, and makes rules of them.
func (r *resolver) inputsOf(block *Block) {
	if block.Stack == nil || block.Stack.Inputs == nil {
		return
	}
	origins := map[wiring.Origin]*Block{}
	references := block.Stack.Inputs.References()
	for _, name := range slices.Sorted(maps.Keys(references)) {
		made := rule{of: block, rel: Input, origin: &Rule{Name: "inputs", Rel: Input, Range: block.Stack.InputsRange}, writer: block}
		known := map[*Block]bool{}
		for _, reference := range references[name] {
			other := r.origin(block, reference)
			if other == nil {
				continue
			}
			origins[reference.Origin] = other
			if !known[other] {
				known[other] = true
				made.targets = append(made.targets, target{other, Reference{Text: name + " = " + reference.Text, Range: reference.Range}})
			}
		}
		if len(made.targets) > 0 {
			r.model.rules = append(r.model.rules, made)
		}
	}
	r.model.origins[block] = origins
}

// origin returns the stack that a reference of inputs means; nil if there is none, which was
// reported.
func (r *resolver) origin(from *Block, reference wiring.Reference) *Block {
	// Deployments can be declared in two ways: a block for all of a directory, which must be asked
	// for one, or a block for each, of which the reference may name any, as they share a directory.
	found := r.model.blocks[reference.Stack]
	switch {
	case found == nil:
		var stacks []string
		for _, block := range r.model.Blocks {
			if block.stackDir() != "" && block != from {
				stacks = append(stacks, block.Name)
			}
		}
		r.problem(problem.UnknownRef, reference.Range, "Unknown reference",
			"There is no stack %q in this file.%s", reference.Stack, r.hints.DidYouMean(reference.Stack, slices.Values(stacks)))
		return nil
	case found.Several != nil && reference.Deployment == "":
		names := found.Several.Outline.Names()
		r.problem(problem.UnknownRef, reference.Range, "Deployment not named",
			"The stack %q has several deployments, which have outputs of their own: %s. Name one, as in stack.%[1]s.deployment[%[3]q].output.",
			found.Name, strings.Join(names, ", "), names[0])
		return nil
	case found.Several == nil && found.Type != StackType:
		r.problem(problem.UnknownRef, reference.Range, "Reference to a non-stack",
			"%s is a %s, which has no outputs. Name a stack.", found.Name, found.Type)
		return nil
	case found == from:
		r.problem(problem.Self, reference.Range, "Reference to itself",
			"The inputs of the stack %q refer to its own outputs. Name another stack.", from.Name)
		return nil
	case found.Several == nil && (reference.Deployment == "" || reference.Deployment == deploymentOf(found)):
		return r.lasting(from, found, reference)
	}
	var deployments []string
	for _, block := range r.model.Blocks {
		if block.Stack == nil || block.Stack.Dir != found.stackDir() {
			continue
		}
		if deploymentOf(block) == reference.Deployment {
			if block == from {
				r.problem(problem.Self, reference.Range, "Reference to itself",
					"The inputs of the stack %q refer to its own outputs. Name another stack.", from.Name)
				return nil
			}
			return r.lasting(from, block, reference)
		}
		deployments = append(deployments, deploymentOf(block))
	}
	r.problem(problem.UnknownRef, reference.Range, "Unknown deployment",
		"No stack of this file in %s has the deployment %q.%s", found.stackDir(), reference.Deployment,
		r.hints.DidYouMean(reference.Deployment, slices.Values(deployments)))
	return nil
}

// lasting returns the stack that inputs refer to, unless that is to be destroyed while the one that
// has the inputs is not: then there would be nothing to have any more.
func (r *resolver) lasting(from, found *Block, reference wiring.Reference) *Block {
	if found.Stack.destroy != nil && from.Stack.destroy == nil {
		r.problem(problem.UnknownRef, reference.Range, "Input from a destroyed deployment",
			"The inputs of %q are made of outputs of %s, which is to be destroyed, as %s says. "+
				"Take them from elsewhere and apply that first, or destroy both.",
			from.Name, found.Name, problem.PlaceOf(*found.Stack.destroy))
		return nil
	}
	return found
}

// deploymentOf is the name of the deployment of a stack.
func deploymentOf(block *Block) string {
	return cmp.Or(block.Stack.Deployment, block.Stack.only, settings.DefaultDeployment)
}

// inputsOf returns the values that a leaf has from others, nil for none. Of the others, the
// positions are given.
func (m *Model) inputsOf(leaf *Leaf, root string, units map[*Leaf]int) *rollout.Inputs {
	if leaf.Stack == nil || leaf.Stack.Inputs == nil {
		return nil
	}
	inputs := *leaf.Stack.Inputs
	inputs.Dir = root
	wired := &rollout.Inputs{Inputs: &inputs, Units: map[wiring.Origin]int{}}
	for origin, block := range m.origins[leaf.Block] {
		wired.Units[origin] = units[m.leaves[block]]
	}
	return wired
}
