// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package moves

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/configs"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Declared is what a configuration declares, with the instances that it has. What is not known yet is not declared.
type Declared interface {
	// ModuleInstances returns the instances of the module that calls with these names lead to.
	ModuleInstances(path []string) []stackaddrs.ModuleInstance

	HasModule(module stackaddrs.ModuleInstance) bool
	HasInstance(addr stackaddrs.ResourceInstance) bool
}

// checkEach returns the errors about moved blocks that need neither a state nor the instances of the configuration.
func checkEach(statements []*Statement) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i, s := range statements {
		diags = diags.Extend(s.check())
		for _, other := range statements[:i] {
			diags = diags.Extend(s.checkAgainst(other))
		}
	}
	return diags
}

func (s *Statement) check() hcl.Diagnostics {
	fail := func(summary, detail string, subject hcl.Range) hcl.Diagnostics {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: subject.Ptr()}}
	}
	switch {
	case (s.From.Resource == nil) != (s.To.Resource == nil):
		return fail("Mixed kinds of moved objects",
			fmt.Sprintf("%s cannot become %s: one of them is a module, and the other a resource.", endString(s.From), endString(s.To)), s.Range)
	case s.from.equal(s.to):
		return fail("Move to the same address", fmt.Sprintf("%s would stay where it is. Remove the block.", endString(s.From)), s.Range)
	case s.From.Resource != nil && s.From.Resource.Mode != s.To.Resource.Mode:
		return fail("Mixed kinds of moved resources",
			fmt.Sprintf("%s cannot become %s: a managed resource and a data source are different kinds of objects.", endString(s.From), endString(s.To)), s.Range)
	}
	for _, end := range []configs.MoveEnd{s.From, s.To} {
		if call := foreignCall(s.In, end); call != "" {
			return fail("Move across packages", fmt.Sprintf(
				"%s is in a module of another source package, called by %s%s: only that package knows what has moved there. Remove the block.", endString(end), call, s.where()), s.Range)
		}
	}
	return nil
}

// checkAgainst returns the error about a statement that contradicts an earlier one.
func (s *Statement) checkAgainst(other *Statement) hcl.Diagnostics {
	sameFrom, sameTo := s.from.equal(other.from), s.to.equal(other.to)
	if sameFrom == sameTo {
		return nil
	}
	detail := fmt.Sprintf("%s moves to two places: the block at %s says to %s.", endString(s.From), place(other.Range), endString(other.To))
	if sameTo {
		detail = fmt.Sprintf("Two objects move to %s: the block at %s says that %s does.", endString(s.To), place(other.Range), endString(other.From))
	}
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Contradictory moves",
		Detail:   detail + " Remove one of the blocks.",
		Subject:  s.Range.Ptr(),
	}}
}

func place(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// CheckDeclared returns the errors about moved blocks of things that the configuration still declares.
func (s *Statements) CheckDeclared(declared Declared) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, statement := range s.order {
		if statement.Implied {
			continue
		}
		for _, module := range declared.ModuleInstances(statement.path) {
			if what := s.stillDeclared(statement, module, declared); what != "" {
				diags = diags.Append(&hcl.Diagnostic{
					Severity: hcl.DiagError,
					Summary:  "Moved object still declared",
					Detail: fmt.Sprintf("%s is said to have moved to %s, but the configuration still declares it. Remove the block that declares it, or the moved block.",
						what, endString(statement.To)),
					Subject: statement.Range.Ptr(),
				})
				break
			}
		}
	}
	return diags
}

// stillDeclared returns the address of what a statement moves away in an instance of its module, if it is declared.
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

func stillCalled(statement *Statement, tree *configs.Tree, in stackaddrs.ModuleInstance, declared Declared) string {
	last := statement.From.Module[len(statement.From.Module)-1]
	called := in.Child(last.Name, last.Key)
	if statement.whole && tree.Calls[last.Name] != nil || !statement.whole && declared.HasModule(called) {
		return called.String()
	}
	return ""
}

// foreignCall returns the address of a call on the way to an end that leads to another source package, or "". What is not declared any more cannot be said.
func foreignCall(tree *configs.Tree, end configs.MoveEnd) string {
	steps := end.Module
	if end.Resource == nil {
		steps = steps[:len(steps)-1]
	}
	for i, step := range steps {
		call := tree.Dir.Calls[step.Name]
		if tree = tree.Children[step.Name]; tree == nil || call == nil {
			return ""
		}
		if !call.IsLocal() {
			return endString(configs.MoveEnd{Module: steps[:i+1]})
		}
	}
	return ""
}
