// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// hclRun is one run through a module. Its parts are evaluated when something
// first refers to them, and once.
type hclRun struct {
	program     *hclProgram
	run         *execution
	path        string          // address of the module instance
	base        *needs          // of the module as a whole
	late        map[string]bool // variables whose values come from something deferred
	lateOutputs map[string]bool // outputs with such values
	rootDir     string
	functions   map[string]function.Function
	variables   cty.Value
	locals      map[string]*node
	resources   map[string]*node
	calls       map[string]*node
	checks      []engine.CheckResult
	diags       hcl.Diagnostics
}

// node is a local value or a resource while and after it is evaluated.
type node struct {
	busy, done bool
	failed     bool // by its own fault or because of a dependency; reported
	value      cty.Value
	needs      *needs
	late       map[string]bool // outputs of a called module that depend on something deferred
}

// needs are the dependencies of an expression or node, also indirect ones.
type needs struct {
	resources map[string]bool // by address

	// deferred is set if one of them is deferred, or was while planning. Of a resource and
	// a module call it is also set if itself or something in it is.
	deferred bool
}

func newNeeds() *needs { return &needs{resources: map[string]bool{}} }

func (n *needs) include(other *needs) {
	maps.Copy(n.resources, other.resources)
	n.deferred = n.deferred || other.deferred
}

func (p *hclProgram) execute(run *execution) (*outcome, hcl.Diagnostics) {
	r := &hclRun{
		program:   p,
		run:       run,
		functions: p.functionTable(run),
		base:      newNeeds(),
		rootDir:   p.module.Dir,
	}
	outputs := r.evaluateAll(run.inputs)
	return &outcome{outputs: outputs, checks: r.checks}, r.diags
}

// evaluateAll evaluates the whole module and returns the outputs that could be
// computed.
func (r *hclRun) evaluateAll(inputs map[string]cty.Value) map[string]cty.Value {
	p := r.program
	r.variables = cty.ObjectVal(inputs)
	r.locals, r.resources, r.calls = map[string]*node{}, map[string]*node{}, map[string]*node{}
	if r.run.enter != nil {
		r.run.enter(r.path)
	}
	r.lateOutputs = map[string]bool{}
	outputs := map[string]cty.Value{}
	if r.checkVariables() {
		for _, name := range slices.Sorted(maps.Keys(p.locals)) {
			r.local(name)
		}
		for _, name := range slices.Sorted(maps.Keys(p.resources)) {
			r.resource(name)
		}
		for _, name := range slices.Sorted(maps.Keys(p.calls)) {
			r.call(name)
		}
		for _, name := range slices.Sorted(maps.Keys(p.outputs)) {
			if v, ok := r.output(name); ok {
				outputs[name] = v
			}
		}
		for _, name := range slices.Sorted(maps.Keys(p.checks)) {
			r.check(name)
		}
	}
	return outputs
}

func (r *hclRun) fail(summary, detail string, subject *hcl.Range) {
	r.diags = r.diags.Append(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: subject})
}

// evaluate evaluates an expression. ok is false if it or one of its dependencies has failed, which
// is reported then. needs collects its dependencies.
func (r *hclRun) evaluate(expr hcl.Expression, symbols map[string]cty.Value, needs *needs) (v cty.Value, ok bool) {
	ctx, ok := r.scope(expr.Variables(), symbols, needs)
	if !ok {
		return cty.DynamicVal, false
	}
	v, diags := expr.Value(ctx)
	for _, diag := range diags {
		hideSensitive(diag)
	}
	r.diags = r.diags.Extend(diags)
	return v, !diags.HasErrors()
}

// hideSensitive keeps values out of the report of a failed expression (rule E4 of package engine):
// a renderer of diagnostics may not know the marks.
func hideSensitive(diag *hcl.Diagnostic) {
	if diag.EvalContext == nil {
		return
	}
	for ctx := diag.EvalContext; ctx != nil; ctx = ctx.Parent() {
		for _, v := range ctx.Variables {
			if marks.Contains(v, marks.Sensitive) || marks.Contains(v, marks.Ephemeral) {
				diag.EvalContext = nil
				return
			}
		}
	}
}

// scope builds the context for an expression with these references.
func (r *hclRun) scope(traversals []hcl.Traversal, symbols map[string]cty.Value, needs *needs) (*hcl.EvalContext, bool) {
	module, err := filepath.Rel(r.rootDir, r.program.module.Dir)
	if err != nil {
		module = r.program.module.Dir
	}
	ctx := &hcl.EvalContext{Functions: r.functions, Variables: map[string]cty.Value{
		"var":       r.variables,
		"path":      cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal(filepath.ToSlash(module)), "root": cty.StringVal("."), "cwd": cty.StringVal(r.rootDir)}),
		"terraform": cty.ObjectVal(map[string]cty.Value{"workspace": cty.StringVal("default")}),
	}}
	maps.Copy(ctx.Variables, symbols)
	locals, resources, calls := map[string]cty.Value{}, map[string]cty.Value{}, map[string]cty.Value{}
	ok := true
	for _, traversal := range traversals {
		ref, problem := parseReference(traversal)
		if problem != nil {
			r.diags = r.diags.Append(problem)
			ok = false
			continue
		}
		var n *node
		switch ref.kind {
		case "local":
			n = r.local(ref.name)
			locals[ref.name] = n.value
		case dataResourceType:
			n = r.resource(ref.name)
			resources[ref.name] = n.value
			needs.resources[resourceAddr(r.path, ref.name)] = true
		case "module":
			n = r.call(ref.name)
			calls[ref.name] = n.value
		case "var":
			needs.deferred = needs.deferred || r.late[ref.name]
			continue
		default:
			continue
		}
		maps.Copy(needs.resources, n.needs.resources)
		needs.deferred = needs.deferred || n.lateFor(traversal)
		ok = ok && !n.failed
	}
	ctx.Variables["local"] = cty.ObjectVal(locals)
	ctx.Variables["module"] = cty.ObjectVal(calls)
	ctx.Variables[dataResourceType] = cty.ObjectVal(resources)
	return ctx, ok
}

// lateFor reports whether the target of a reference to the node depends on something deferred.
func (n *node) lateFor(traversal hcl.Traversal) bool {
	if n.late != nil && len(traversal) > 2 {
		if output, ok := traversal[2].(hcl.TraverseAttr); ok {
			return n.late[output.Name]
		}
	}
	return n.needs.deferred
}

// visit evaluates a node unless that was done.
func (r *hclRun) visit(nodes map[string]*node, name, kind string, rng hcl.Range, evaluate func(*node) bool) *node {
	n, ok := nodes[name]
	if !ok {
		n = &node{value: cty.DynamicVal, needs: newNeeds()}
		nodes[name] = n
	}
	if n.busy {
		if !n.failed {
			r.fail("Self-referencing configuration", fmt.Sprintf("The %s %q refers to itself, directly or through others.", kind, name), rng.Ptr())
		}
		n.failed = true
		return n
	}
	if !n.done {
		n.busy = true
		ok := evaluate(n)
		n.busy, n.done = false, true
		n.failed = n.failed || !ok
	}
	return n
}

func (r *hclRun) local(name string) *node {
	config := r.program.locals[name]
	return r.visit(r.locals, name, "local value", config.rng, func(n *node) bool {
		var ok bool
		n.value, ok = r.evaluate(config.value, nil, n.needs)
		return ok
	})
}

// call evaluates a called module, as a whole: its resources depend on all of its arguments, and a
// reference to an output depends on all of its resources.
func (r *hclRun) call(name string) *node {
	config := r.program.calls[name]
	return r.visit(r.calls, name, "module", config.rng, func(n *node) bool {
		if _, ok := r.scope(config.dependsOn, nil, n.needs); !ok {
			return false
		}
		inputs, late, ok := r.arguments(config, n)
		if !ok {
			return false
		}
		n.needs.include(r.base)
		child := &hclRun{
			program: config.program, run: r.run, path: strings.TrimPrefix(r.path+".module."+name, "."),
			base: &needs{n.needs.resources, n.needs.deferred}, late: late, rootDir: r.rootDir, functions: r.functions,
		}
		outputs := child.evaluateAll(inputs)
		r.diags = r.diags.Extend(child.diags)
		r.checks = append(r.checks, child.checks...)
		for resource, inner := range child.resources {
			n.needs.resources[resourceAddr(child.path, resource)] = true
			n.needs.deferred = n.needs.deferred || inner.needs.deferred
		}
		for _, inner := range child.calls {
			n.needs.include(inner.needs)
		}
		n.late = child.lateOutputs
		values := map[string]cty.Value{}
		for output, declared := range config.program.module.Outputs {
			v, ok := outputs[output]
			if !ok {
				v = cty.DynamicVal
			}
			if declared.Sensitive {
				v = v.Mark(marks.Sensitive)
			}
			values[output] = v
		}
		n.value = cty.ObjectVal(values)
		return !child.diags.HasErrors()
	})
}

// arguments returns the values of the variables of a called module, and which of them depend on
// something deferred.
func (r *hclRun) arguments(config *callConfig, n *node) (inputs map[string]cty.Value, late map[string]bool, ok bool) {
	given, allOK := map[string]cty.Value{}, true
	late = map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(config.arguments)) {
		expr, variable := config.arguments[name], config.program.module.Variables[name]
		needs := newNeeds()
		v, ok := r.evaluate(expr, nil, needs)
		maps.Copy(n.needs.resources, needs.resources)
		late[name] = needs.deferred
		if ok && v.IsKnown() && !v.IsNull() {
			v = variable.ApplyDefaults(v)
		}
		converted, err := convert.Convert(v, variable.Type)
		if err != nil {
			r.fail("Invalid value for variable", sentence(fmt.Errorf("the value is not what the module's variable %q takes: %w", name, err)), expr.Range().Ptr())
			ok = false
		}
		given[name] = converted
		allOK = allOK && ok
	}
	if !allOK {
		return nil, nil, false
	}
	inputs, diags := prepareInputs(config.program.module, given)
	r.diags = r.diags.Extend(diags)
	return inputs, late, !diags.HasErrors()
}

func (r *hclRun) resource(name string) *node {
	config := r.program.resources[name]
	return r.visit(r.resources, name, "resource", config.rng, func(n *node) bool {
		if r.run.deferred[resourceAddr(r.path, name)] {
			n.needs.deferred = true
			return true
		}
		if _, ok := r.scope(config.references(), nil, n.needs); !ok {
			return false
		}
		switch {
		case config.count != nil:
			return r.expandCount(config, n)
		case config.forEach != nil:
			return r.expandForEach(config, n)
		default:
			var ok bool
			n.value, ok = r.instance(config, n, stackaddrs.NoKey, nil)
			return ok
		}
	})
}

func (r *hclRun) expandCount(config *resourceConfig, n *node) bool {
	rng := config.count.Range()
	v, ok := r.evaluate(config.count, nil, n.needs)
	if !ok || !r.usableForExpansion(v, "count", rng) {
		return false
	}
	v, _ = v.Unmark()
	number, err := convert.Convert(v, cty.Number)
	if err != nil || number.IsNull() {
		r.fail("Invalid count argument", "The count must be a whole number that is not negative.", rng.Ptr())
		return false
	}
	if !number.IsKnown() {
		return r.unknownInstances(config, n, map[string]cty.Value{
			"count": cty.ObjectVal(map[string]cty.Value{"index": cty.UnknownVal(cty.Number)}),
		})
	}
	count, accuracy := number.AsBigFloat().Int64()
	if accuracy != 0 || count < 0 {
		r.fail("Invalid count argument", "The count must be a whole number that is not negative.", rng.Ptr())
		return false
	}
	objects := make([]cty.Value, count)
	for i := range count {
		var done bool
		objects[i], done = r.instance(config, n, stackaddrs.IntKey(i), map[string]cty.Value{
			"count": cty.ObjectVal(map[string]cty.Value{"index": cty.NumberIntVal(i)}),
		})
		ok = ok && done
	}
	n.value = cty.TupleVal(objects)
	return ok
}

func (r *hclRun) expandForEach(config *resourceConfig, n *node) bool {
	rng := config.forEach.Range()
	v, ok := r.evaluate(config.forEach, nil, n.needs)
	if !ok || !r.usableForExpansion(v, "for_each", rng) {
		return false
	}
	v, _ = v.Unmark()
	ty := v.Type()
	isSetOfStrings := ty.IsSetType() && (ty.ElementType() == cty.String || ty.ElementType() == cty.DynamicPseudoType)
	if v.IsNull() || ty != cty.DynamicPseudoType && !ty.IsMapType() && !ty.IsObjectType() && !isSetOfStrings {
		r.fail("Invalid for_each argument", "The for_each value must be a map or a set of strings that is not null.", rng.Ptr())
		return false
	}
	if !v.IsKnown() || ty.IsSetType() && !v.IsWhollyKnown() {
		return r.unknownInstances(config, n, map[string]cty.Value{
			"each": cty.ObjectVal(map[string]cty.Value{"key": cty.UnknownVal(cty.String), "value": cty.DynamicVal}),
		})
	}
	objects := map[string]cty.Value{}
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if ty.IsSetType() && value.IsNull() {
			r.fail("Invalid for_each argument", "The for_each set must not have a null in it.", rng.Ptr())
			return false
		}
		if ty.IsSetType() {
			key = value
		}
		name := key.AsString()
		var done bool
		objects[name], done = r.instance(config, n, stackaddrs.StringKey(name), map[string]cty.Value{
			"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": value}),
		})
		ok = ok && done
	}
	n.value = cty.ObjectVal(objects)
	return ok
}

func (r *hclRun) usableForExpansion(v cty.Value, argument string, rng hcl.Range) bool {
	for _, mark := range []marks.Mark{marks.Sensitive, marks.Ephemeral} {
		if marks.Has(v, mark) {
			r.fail("Invalid "+argument+" argument", fmt.Sprintf("Values that are %s cannot be used in %s, because they would show in addresses.", mark, argument), rng.Ptr())
			return false
		}
	}
	return true
}

// unknownInstances defers a resource whose instances are not known.
func (r *hclRun) unknownInstances(config *resourceConfig, n *node, symbols map[string]cty.Value) bool {
	instance, ok := r.instanceConfig(config, n, stackaddrs.WildcardKey, symbols)
	if !ok || r.run.deferInstance == nil {
		return ok
	}
	reason := reasonInstanceCount
	if n.needs.deferred || r.base.deferred {
		reason = reasonPrerequisite
	}
	r.run.deferInstance(instance, reason)
	n.needs.deferred = true
	return true
}

// instanceConfig evaluates the arguments of one instance.
func (r *hclRun) instanceConfig(config *resourceConfig, n *node, key stackaddrs.InstanceKey, symbols map[string]cty.Value) (resourceInstance, bool) {
	instance := resourceInstance{
		module:          r.path,
		name:            config.name,
		key:             key,
		input:           cty.NullVal(cty.DynamicPseudoType),
		triggersReplace: cty.NullVal(cty.DynamicPseudoType),
		createFirst:     config.lifecycle.createBeforeDestroy,
		keep:            config.lifecycle.preventDestroy,
		ignoreInput:     config.lifecycle.ignoreInput,
		ignoreTriggers:  config.lifecycle.ignoreTriggers,
		subject:         config.rng.Ptr(),
	}
	ok := true
	argument := func(expr hcl.Expression, target *cty.Value) {
		if expr != nil {
			var done bool
			*target, done = r.evaluate(expr, symbols, n.needs)
			ok = ok && done
		}
	}
	argument(config.input, &instance.input)
	argument(config.triggersReplace, &instance.triggersReplace)
	dependencies := maps.Clone(n.needs.resources)
	maps.Copy(dependencies, r.base.resources)
	instance.dependencies = slices.Sorted(maps.Keys(dependencies))
	return instance, ok
}

// instance settles one instance, between its preconditions and its postconditions.
func (r *hclRun) instance(config *resourceConfig, n *node, key stackaddrs.InstanceKey, symbols map[string]cty.Value) (cty.Value, bool) {
	checked := checkable{engine.CheckResource, resourceAddr(r.path, config.name), key}
	if !r.hold(config.lifecycle.preconditions, symbols, n.needs, "Resource precondition failed", checked) {
		return cty.DynamicVal, false
	}
	instance, ok := r.instanceConfig(config, n, key, symbols)
	if !ok {
		return cty.DynamicVal, false
	}
	if n.needs.deferred || r.base.deferred {
		r.run.deferInstance(instance, reasonPrerequisite)
		n.needs.deferred = true
		return cty.DynamicVal, true
	}
	object, diags := r.run.settle(instance)
	r.diags = r.diags.Extend(diags)
	if diags.HasErrors() {
		return cty.DynamicVal, false
	}
	withSelf := map[string]cty.Value{"self": object}
	maps.Copy(withSelf, symbols)
	if !r.hold(config.lifecycle.postconditions, withSelf, n.needs, "Resource postcondition failed", checked) {
		return cty.DynamicVal, false
	}
	return object, true
}

func (r *hclRun) output(name string) (cty.Value, bool) {
	config, declared := r.program.outputs[name], r.program.module.Outputs[name]
	needs := newNeeds()
	if _, ok := r.scope(config.dependsOn, nil, needs); !ok {
		return cty.DynamicVal, false
	}
	if !r.hold(config.preconditions, nil, needs, "Module output value precondition failed", r.checkable(engine.CheckOutput, "output.", name)) {
		return cty.DynamicVal, false
	}
	v, ok := r.evaluate(config.value, nil, needs)
	if !ok {
		return cty.DynamicVal, false
	}
	if marks.Contains(v, marks.Sensitive) && !declared.Sensitive {
		r.fail("Output refers to sensitive values", fmt.Sprintf("The value of output %q is sensitive. Add sensitive = true to the output, or remove the mark with nonsensitive.", name), config.value.Range().Ptr())
		return cty.DynamicVal, false
	}
	if marks.Contains(v, marks.Ephemeral) && !declared.Ephemeral {
		r.fail("Ephemeral value not allowed", fmt.Sprintf("The value of output %q is ephemeral, but the output is not declared as ephemeral.", name), config.value.Range().Ptr())
		return cty.DynamicVal, false
	}
	if needs.deferred || r.base.deferred {
		r.lateOutputs[name] = true
		return cty.DynamicVal, true
	}
	return v, true
}
