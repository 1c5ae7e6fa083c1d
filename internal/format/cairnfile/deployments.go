// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Several is the original form of a block that was written as one stack, stands for all its
// deployments, and is a group of them now (rule W4).
type Several struct {
	Stack   *Stack // as written
	Outline *deployconfig.Outline
}

// outlines are the deployments of stacks, by directory. Those of one are read once.
type outlines struct {
	fsys  fs.FS
	shown string // the directory of the root in places
	read  map[string]*deployconfig.Outline
}

// of returns the deployments of the stack in a directory with some entries; nil if there are no
// deployment files.
func (o *outlines) of(dir string, entries []fs.DirEntry) (*deployconfig.Outline, hcl.Diagnostics) {
	if outline, known := o.read[dir]; known {
		return outline, nil
	}
	var names []string
	for _, entry := range entries {
		if deployconfig.IsDeployFile(entry.Name()) && !entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	var diags hcl.Diagnostics
	if o.read[dir] = nil; len(names) > 0 {
		o.read[dir], diags = deployconfig.ReadOutline(o.fsys, dir, filepath.Join(o.shown, filepath.FromSlash(dir)), names)
		for _, diag := range diags {
			diag.Extra = problem.Syntax
		}
	}
	return o.read[dir], diags
}

// deployments finds the deployments of a stack. It is no mistake here if there are none: the work
// on the stack reports that.
func (o *outlines) deployments(block *Block, entries []fs.DirEntry) hcl.Diagnostics {
	stack := block.Stack
	if stack.Kind != rollout.Components {
		return nil
	}
	outline, diags := o.of(stack.Dir, entries)
	if outline == nil || diags.HasErrors() {
		return diags
	}
	stack.outline = outline
	if declared := outline.Deployment(stack.Deployment); declared != nil {
		stack.is(declared)
		return diags
	}
	if stack.Deployment == "" || len(outline.Deployments) == 0 {
		return diags
	}
	names := outline.Names()
	return diags.Append(problem.New(problem.UnknownRef, &stack.DeploymentRange, "Unknown deployment",
		"The deployment files in %q have no deployment %q.%s The deployments are: %s. "+
			"Name one of these; or, if its block was deleted before its objects were destroyed, put the block back with destroy = true.",
		stack.Dir, stack.Deployment, nearest.DidYouMean(stack.Deployment, names), strings.Join(names, ", ")))
}

// expand makes groups of the stacks that have several deployments, of which no block says which one
// is meant, with a stack for each (rule W4).
func (w *Workspace) expand() hcl.Diagnostics {
	return w.expandBy(func(stack *Stack) *deployconfig.Outline { return stack.outline })
}

// expandBy is expand with deployments from elsewhere.
func (w *Workspace) expandBy(outline func(*Stack) *deployconfig.Outline) hcl.Diagnostics {
	var diags hcl.Diagnostics
	var blocks []*Block
	for _, block := range w.Blocks {
		blocks = append(blocks, block)
		if block.Stack == nil || block.Stack.Deployment != "" {
			continue
		}
		declared := outline(block.Stack)
		switch {
		case declared == nil || len(declared.Deployments) == 0:
		case len(declared.Deployments) == 1:
			block.Stack.only = declared.Deployments[0].Name
			block.Stack.is(&declared.Deployments[0])
		case block.Name == strings.TrimSuffix(tagPrefix, ":"):
			diags = diags.Append(problem.New(problem.DuplicateID, &block.Range, "Name with another meaning",
				"The deployments of the stack %q would be called %q, which stands for tags. "+
					"Choose another name for the stack, with \"path\" for its directory.",
				block.Name, deployconfig.NodeName(block.Name, declared.Deployments[0].Name)))
		default:
			blocks = append(blocks, block.expanded(declared)...)
		}
	}
	w.Blocks = blocks
	return diags.Extend(w.doubleDeployments())
}

// is says that the deployment of a stack is declared.
func (s *Stack) is(declared *deployconfig.OutlinedDeployment) {
	if declared.Destroy {
		s.destroy = &declared.Range
	}
}

// expanded makes a block a group, and returns its members.
func (b *Block) expanded(outline *deployconfig.Outline) []*Block {
	stack := b.Stack
	b.Type, b.Stack, b.Several = GroupType, nil, &Several{stack, outline}
	b.Group = &Group{Variables: stack.Variables, Environment: stack.Environment}
	var members []*Block
	for i := range outline.Deployments {
		declared := &outline.Deployments[i]
		one := *stack
		one.Deployment, one.DeploymentRange, one.Variables, one.Environment = declared.Name, declared.Range, nil, nil
		one.is(declared)
		member := &Block{
			Type:        StackType,
			Name:        deployconfig.NodeName(b.Name, declared.Name),
			Description: b.Description,
			Tags:        b.Tags,
			Stack:       &one,
			Range:       declared.Range,
		}
		members = append(members, member)
		b.Group.Members = append(b.Group.Members, Reference{Text: member.Name, Range: b.Range})
	}
	return members
}

// doubleDeployments finds deployments that a block names and another block stands for along with
// all others of the stack.
func (w *Workspace) doubleDeployments() hcl.Diagnostics {
	type deployment struct{ dir, name string }
	named := map[deployment]*Block{}
	for _, block := range w.Blocks {
		if block.Stack != nil && block.Stack.Deployment != "" && block.Range != block.Stack.DeploymentRange {
			named[deployment{block.Stack.Dir, block.Stack.Deployment}] = block
		}
	}
	var diags hcl.Diagnostics
	for _, block := range w.Blocks {
		if block.Several == nil {
			continue
		}
		for _, declared := range block.Several.Outline.Deployments {
			if other := named[deployment{block.Several.Stack.Dir, declared.Name}]; other != nil {
				diags = diags.Append(problem.New(problem.DuplicateID, &other.Stack.DeploymentRange, "Deployment named twice",
					"The stack %q, at %s, stands for all deployments in %q, also for %q, which is %s there. "+
						"Remove this block, or say in the other one which deployment it is.",
					block.Name, problem.PlaceOf(block.Range), block.Several.Stack.Dir, declared.Name, deployconfig.NodeName(block.Name, declared.Name)))
			}
		}
	}
	return diags
}

// stackDir returns the directory of a stack, also of one with several deployments; "" of anything
// else.
func (b *Block) stackDir() string {
	switch {
	case b.Several != nil:
		return b.Several.Stack.Dir
	case b.Stack != nil:
		return b.Stack.Dir
	}
	return ""
}

// deploymentGroups puts the deployments of a stack in the order of their deployment groups. Members
// of one that plans eagerly are all planned before one is applied. Nothing waits for a destroyed
// deployment, which may have to wait itself for its users in a later group.
func (b *builder) deploymentGroups(block *Block) {
	if block.Several == nil {
		return
	}
	named := func(member string) *Block { return b.Model.blocks[deployconfig.NodeName(block.Name, member)] }
	name := func(member string) bounds { return b.bounds[named(member)] }
	lasting := func(group deployconfig.OutlinedGroup) []string {
		return slices.DeleteFunc(slices.Clone(group.Members), func(member string) bool { return b.isDestroyed(named(member)) })
	}
	groups := block.Several.Outline.Groups
	between := make([]int, len(groups)) // the points before groups, but for the first
	for i, group := range groups {
		if i > 0 {
			before := groups[i-1]
			edge := order.Edge{
				Reason: fmt.Sprintf("%s has %s before %s in its deployment files", block.Name, before, group), Place: problem.PlaceOf(group.Range),
			}
			b.meet("between deployment groups of "+block.Name, edge, func(meeting int) {
				if between[i] = meeting; i > 1 && !b.reversed { // also where all between them is destroyed
					b.out.Edge(order.Edge{From: between[i-1], To: meeting, Reason: edge.Reason, Place: edge.Place})
				}
				for _, member := range lasting(before) {
					b.turned(order.Edge{From: name(member).done, To: meeting, Reason: edge.Reason, Place: edge.Place}, name(member).first)
				}
				for _, member := range group.Members {
					b.turned(order.Edge{From: meeting, To: name(member).first, Reason: edge.Reason, Place: edge.Place}, name(member).done)
				}
			})
		}
		members := lasting(group)
		if !b.eager || !group.Eager || len(members) < 2 || !b.phased || b.reversed {
			continue
		}
		reason := fmt.Sprintf("%s of %s is planned before it is applied", group, block.Name)
		b.meet("plans of "+group.Name+" of "+block.Name, order.Edge{Place: problem.PlaceOf(group.Range)}, func(meeting int) {
			for _, member := range members {
				b.out.Edge(order.Edge{From: name(member).planned, To: meeting, Reason: reason, Place: problem.PlaceOf(group.Range)})
				b.out.Edge(order.Edge{From: meeting, To: name(member).apply, Reason: reason, Place: problem.PlaceOf(group.Range)})
			}
		})
	}
}

// meet makes a point where others meet.
func (b *builder) meet(name string, edge order.Edge, join func(meeting int)) {
	join(b.node(Step{}, order.Node{Name: name, Anchor: true, Place: edge.Place}))
}

// turned adds an edge of which one end is the work on a block; reversed, the other end of that.
func (b *builder) turned(edge order.Edge, other int) {
	if b.reversed {
		if b.Steps[edge.From].Leaf == nil {
			edge.From, edge.To = other, edge.From
		} else {
			edge.From, edge.To = edge.To, other
		}
	}
	b.out.Edge(edge)
}

// isDestroyed reports whether a block is a deployment that is to be destroyed while others are
// applied.
func (b *builder) isDestroyed(block *Block) bool {
	return !b.reversed && block.Stack != nil && block.Stack.destroy != nil
}

// destroyed returns the deployments of a block that are to be destroyed while others are applied.
func (b *builder) destroyed(block *Block) []*Block {
	if b.reversed {
		return nil
	}
	if !b.known {
		b.known, b.gone = true, map[*Block][]*Block{}
		for _, leaf := range b.Model.Leaves {
			if !b.isDestroyed(leaf.Block) {
				continue
			}
			for _, holder := range append([]*Block{leaf.Block}, leaf.Groups...) {
				b.gone[holder] = append(b.gone[holder], leaf.Block)
			}
		}
	}
	return b.gone[block]
}

// destroyedGate is the part of a gate that has to do with deployments that are to be destroyed:
// each of them after all that comes after it otherwise, as that uses it, and before nothing.
func (b *builder) destroyedGate(first, then *Block, edge order.Edge) {
	thenGone := b.destroyed(then)
	if !b.isDestroyed(first) {
		for _, block := range thenGone {
			edge.From, edge.To = b.bounds[first].done, b.bounds[block].first
			b.out.Edge(edge)
		}
	}
	firstGone := b.destroyed(first)
	if len(firstGone) == 0 {
		return
	}
	edge.Soft = false // nothing is destroyed before its users
	edge.Reason += ", and that is destroyed"
	b.meet("before the destroyed parts of "+first.Name, edge, func(meeting int) {
		if !b.isDestroyed(then) {
			b.out.Edge(order.Edge{From: b.bounds[then].done, To: meeting, Reason: edge.Reason, Place: edge.Place})
		}
		for _, block := range thenGone {
			if !slices.Contains(firstGone, block) {
				b.out.Edge(order.Edge{From: b.bounds[block].done, To: meeting, Reason: edge.Reason, Place: edge.Place})
			}
		}
		for _, block := range firstGone {
			b.out.Edge(order.Edge{From: meeting, To: b.bounds[block].first, Reason: edge.Reason, Place: edge.Place})
		}
	})
}
