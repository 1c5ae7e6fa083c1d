// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package moves

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Declared is the objects that a configuration declares, with their instances. Instances that are
// not known yet count as undeclared.
type Declared interface {
	// ModuleInstances returns the instances of the module that calls with these names lead to.
	ModuleInstances(path []string) []stackaddrs.ModuleInstance

	HasModule(module stackaddrs.ModuleInstance) bool
	HasInstance(addr stackaddrs.ResourceInstance) bool
}

// checkEach returns the errors about moved blocks that need neither a state nor the instances of
// the configuration.
func checkEach(statements []*Statement) hcl.Diagnostics {
	var diags hcl.Diagnostics
	known := newKnownMoves()
	for _, s := range statements {
		diags = diags.Extend(s.check())
		if diag := known.add(s, s.from, s.to, endString); diag != nil {
			diags = diags.Append(diag)
		}
	}
	return diags
}

func (s *Statement) check() hcl.Diagnostics {
	fail := func(summary, detail string, subject hcl.Range) hcl.Diagnostics {
		return hcl.Diagnostics{failure.At(subject, summary, "%s", detail)}
	}
	switch {
	case (s.From.Resource == nil) != (s.To.Resource == nil):
		return fail("Mixed kinds of moved objects",
			fmt.Sprintf("%s cannot become %s: one of them is a module, and the other a resource.", endString(s.From), endString(s.To)), s.Range)
	case s.from.equal(s.to):
		return fail("Move to the same address", fmt.Sprintf("%s would stay where it is. Remove the block.", endString(s.From)), s.Range)
	case s.From.Resource != nil && s.From.Resource.Mode != s.To.Resource.Mode:
		return fail("Mixed kinds of moved resources",
			fmt.Sprintf("%s cannot become %s: a managed resource and a data source are different kinds of objects.",
				endString(s.From), endString(s.To)), s.Range)
	}
	for _, end := range []module.MoveEnd{s.From, s.To} {
		if call := foreignCall(s.In, end); call != "" {
			return fail("Move across packages", fmt.Sprintf(
				"%s is in a module of another source package, called by %s%s: only that package knows its moves. Remove the block.",
				endString(end), call, s.where()), s.Range)
		}
	}
	return nil
}

// knownMoves are statements by start and by end.
type knownMoves struct{ from, to map[string]knownMove }

// knownMove is a statement with its other end.
type knownMove struct {
	*Statement
	end string
}

func newKnownMoves() *knownMoves { return &knownMoves{map[string]knownMove{}, map[string]knownMove{}} }

// add returns the error about a statement that contradicts an earlier one. The name of an end is
// for messages.
func (k *knownMoves) add(s *Statement, from, to pattern, name func(module.MoveEnd) string) *hcl.Diagnostic {
	start, end := from.String(), to.String()
	var detail string
	if earlier, found := k.from[start]; found && earlier.end != end {
		detail = fmt.Sprintf(
			"%s moves to two places: the block at %s says to %s%s.", name(s.From), place(earlier.Range),
			endString(earlier.To), earlier.where(),
		)
	} else if earlier, found := k.to[end]; found && earlier.end != start {
		detail = fmt.Sprintf("Two objects move to %s: the block at %s says "+
			"that %s does%s.", name(s.To), place(earlier.Range), endString(earlier.From), earlier.where())
	}
	if detail != "" {
		return failure.At(s.Range, "Contradictory moves", "%s Remove one of the blocks.", detail)
	}
	k.from[start], k.to[end] = knownMove{s, end}, knownMove{s, start}
	return nil
}

func place(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// CheckDeclared returns the errors about moved blocks of things that the configuration still
// declares, and about blocks of different modules that contradict each other in an instance that it
// declares.
func (s *Statements) CheckDeclared(declared Declared) hcl.Diagnostics {
	var diags hcl.Diagnostics
	known := newKnownMoves()
	for _, statement := range s.order {
		if statement.Implied {
			continue
		}
		for _, in := range declared.ModuleInstances(statement.path) {
			diag := s.stillDeclaredError(statement, in, declared)
			if diag == nil {
				from, to := statement.in(in)
				diag = known.add(statement, from, to, func(end module.MoveEnd) string { return absoluteString(in, end) })
			}
			if diag != nil { // once for all instances of the module
				diags = diags.Append(diag)
				break
			}
		}
	}
	return diags
}

func (s *Statements) stillDeclaredError(statement *Statement, in stackaddrs.ModuleInstance, declared Declared) *hcl.Diagnostic {
	what := s.stillDeclared(statement, in, declared)
	if what == "" {
		return nil
	}
	return failure.At(statement.Range, "Moved object still declared", "%s is said to have moved to %s, but the configuration still declares "+
		"it. Remove the block that declares it, or the moved block.", what, endString(statement.To))
}

// stillDeclared returns the address of the object that a statement moves away in an instance of its
// module, if it is declared.
func (s *Statements) stillDeclared(statement *Statement, in stackaddrs.ModuleInstance, declared Declared) string {
	end := statement.From
	steps := end.Module
	if end.Resource == nil {
		steps = steps[:len(steps)-1]
	}
	for _, step := range steps {
		in = in.Child(step.Name, step.Key)
	}
	if !in.IsRoot() && !declared.HasModule(in) {
		return ""
	}
	tree, _ := moduleOf(s.root, in)
	if tree == nil {
		return ""
	}
	if end.Resource == nil {
		return stillCalled(statement, tree, in, declared)
	}
	addr := stackaddrs.ResourceInstance{Module: in, Resource: *end.Resource, Key: end.Key}
	if statement.whole && tree.Resources[*end.Resource] != nil || !statement.whole && declared.HasInstance(addr) {
		return addr.String()
	}
	return ""
}

func stillCalled(statement *Statement, tree *module.Node, in stackaddrs.ModuleInstance, declared Declared) string {
	last := statement.From.Module[len(statement.From.Module)-1]
	called := in.Child(last.Name, last.Key)
	if statement.whole && tree.Calls[last.Name] != nil || !statement.whole && declared.HasModule(called) {
		return called.String()
	}
	return ""
}

// foreignCall returns the address of a call on the way to an end that leads to another source
// package, or "". For calls that are not declared any more it is unknown.
func foreignCall(tree *module.Node, end module.MoveEnd) string {
	steps := end.Module
	if end.Resource == nil {
		steps = steps[:len(steps)-1]
	}
	for i, step := range steps {
		if tree = tree.Children[step.Name]; tree == nil {
			return ""
		}
		if tree.Mount != "" {
			return endString(module.MoveEnd{Module: steps[:i+1]})
		}
	}
	return ""
}
