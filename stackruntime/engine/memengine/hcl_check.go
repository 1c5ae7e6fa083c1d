// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// scopeKind has the objects that can be referred to besides variables, locals and resources.
type scopeKind struct{ each, count, self bool }

// checkReferences checks that everything the module refers to is declared.
func (p *hclProgram) checkReferences() hcl.Diagnostics {
	var diags hcl.Diagnostics
	check := func(scope scopeKind, exprs ...hcl.Expression) {
		for _, expr := range exprs {
			if expr == nil {
				continue
			}
			for _, traversal := range expr.Variables() {
				diags = diags.Extend(p.checkReference(traversal, scope))
			}
		}
	}
	checkRules := func(scope scopeKind, rules []*ruleConfig) {
		for _, rule := range rules {
			check(scope, rule.condition, rule.errorMessage)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.variables)) {
		checkRules(scopeKind{}, p.variables[name].rules)
	}
	for _, name := range slices.Sorted(maps.Keys(p.locals)) {
		check(scopeKind{}, p.locals[name].value)
	}
	for _, name := range slices.Sorted(maps.Keys(p.resources)) {
		r := p.resources[name]
		scope := scopeKind{each: r.forEach != nil, count: r.count != nil}
		check(scopeKind{}, r.count, r.forEach)
		check(scope, r.input, r.triggersReplace)
		checkRules(scope, r.lifecycle.preconditions)
		scope.self = true
		checkRules(scope, r.lifecycle.postconditions)
		for _, traversal := range r.dependsOn {
			diags = diags.Extend(p.checkReference(traversal, scopeKind{}))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.outputs)) {
		check(scopeKind{}, p.outputs[name].value)
		checkRules(scopeKind{}, p.outputs[name].preconditions)
		for _, traversal := range p.outputs[name].dependsOn {
			diags = diags.Extend(p.checkReference(traversal, scopeKind{}))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.calls)) {
		call := p.calls[name]
		for _, argument := range slices.Sorted(maps.Keys(call.arguments)) {
			check(scopeKind{}, call.arguments[argument])
		}
		for _, traversal := range call.dependsOn {
			diags = diags.Extend(p.checkReference(traversal, scopeKind{}))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.checks)) {
		checkRules(scopeKind{}, p.checks[name].rules)
	}
	return diags
}

func (p *hclProgram) checkReference(traversal hcl.Traversal, scope scopeKind) hcl.Diagnostics {
	ref, problem := parseReference(traversal)
	if problem != nil {
		return hcl.Diagnostics{problem}
	}
	declared, what := true, ""
	switch ref.kind {
	case "var":
		_, declared = p.variables[ref.name]
		what = "input variable"
	case "local":
		_, declared = p.locals[ref.name]
		what = "local value"
	case dataResourceType:
		_, declared = p.resources[ref.name]
		what = "resource"
	case "module":
		_, declared = p.calls[ref.name]
		what = "call of a module"
	case "each":
		declared, what = scope.each && (ref.name == "key" || ref.name == "value"), "each object in this context, attribute"
	case "count":
		declared, what = scope.count && ref.name == "index", "count object in this context, attribute"
	case "self":
		declared, what = scope.self, "self object in this context"
	case "path":
		declared, what = slices.Contains([]string{"module", "root", "cwd"}, ref.name), "path"
	case "terraform":
		declared, what = ref.name == "workspace", "attribute of the terraform object"
	}
	if declared {
		return nil
	}
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Reference to undeclared " + undeclaredNames[ref.kind],
		Detail:   fmt.Sprintf("The module has no %s %q.", what, ref.name),
		Subject:  traversal.SourceRange().Ptr(),
	}}
}

var undeclaredNames = map[string]string{
	"var": "input variable", "local": "local value", "module": "module", dataResourceType: "resource",
	"each": "each object", "count": "count object", "self": "self object", "path": "path", "terraform": "terraform attribute",
}

// spreadCreateBeforeDestroy sets the flag of all resources that one with the flag depends on: they
// must outlive the object it replaces.
func (p *hclProgram) spreadCreateBeforeDestroy() {
	seen := map[reference]bool{}
	var spread func(traversals []hcl.Traversal)
	spread = func(traversals []hcl.Traversal) {
		for _, traversal := range traversals {
			ref, problem := parseReference(traversal)
			if problem != nil || seen[ref] {
				continue
			}
			seen[ref] = true
			switch ref.kind {
			case "local":
				spread(p.locals[ref.name].value.Variables())
			case dataResourceType:
				p.resources[ref.name].lifecycle.createBeforeDestroy = true
				spread(p.resources[ref.name].references())
			}
		}
	}
	for _, r := range p.resources {
		if r.lifecycle.createBeforeDestroy {
			spread(r.references())
		}
	}
}

// references returns all that the block refers to.
func (r *resourceConfig) references() []hcl.Traversal {
	references := slices.Clone(r.dependsOn)
	exprs := []hcl.Expression{r.count, r.forEach, r.input, r.triggersReplace}
	for _, rule := range slices.Concat(r.lifecycle.preconditions, r.lifecycle.postconditions) {
		exprs = append(exprs, rule.condition, rule.errorMessage)
	}
	for _, expr := range exprs {
		if expr != nil {
			references = append(references, expr.Variables()...)
		}
	}
	return references
}

// validate runs through the module with nothing known, which finds mistakes in the types.
func (p *hclProgram) validate() hcl.Diagnostics {
	inputs := map[string]cty.Value{}
	for name, v := range p.module.Variables {
		inputs[name] = cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep())
	}
	inputs, diags := prepareInputs(p.module, inputs)
	_, moreDiags := p.execute(&execution{
		inputs: inputs,
		settle: func(r resourceInstance) (cty.Value, hcl.Diagnostics) {
			if isEphemeral(r) {
				return cty.NilVal, hcl.Diagnostics{ephemeralArgument(r)}
			}
			return newObject(r), nil
		},
	})
	return diags.Extend(moreDiags)
}
