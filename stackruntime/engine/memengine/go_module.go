// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Module is a module made of Go functions. It must not be changed once an
// engine has it, and its functions must be safe for concurrent use.
type Module struct {
	Variables    map[string]*engine.Variable
	Slots        map[engine.ProviderSlot]*engine.Slot
	Requirements map[stackaddrs.Provider][]string

	// Resources are the terraform_data resources, each after those it uses.
	Resources []Resource

	// Outputs are the declared outputs, and Values computes them: an attribute
	// for each. Values is called with unknown values while planning.
	Outputs map[string]*engine.Output
	Values  func(Scope) (map[string]cty.Value, error)
}

// Resource is a terraform_data resource with one instance.
type Resource struct {
	Name      string
	DependsOn []string // names of resources whose values it uses

	Input           func(Scope) (cty.Value, error) // nil is a null
	TriggersReplace func(Scope) (cty.Value, error) // nil is a null

	// Defer is asked while planning, and stands for a provider that defers the resource: it returns
	// the reason, or "" to plan it. While planning to destroy, the scope has no resources. May be nil.
	Defer func(Scope) string
}

// Scope has the values that the functions of a [Module] can use.
type Scope struct {
	Inputs map[string]cty.Value

	// Resources are the objects of the resources settled before, by name: id,
	// input, output and triggers_replace.
	Resources map[string]cty.Value
}

// Variables declares input variables that take any value and are required, for
// modules made of Go functions.
func Variables(names ...string) map[string]*engine.Variable {
	variables := make(map[string]*engine.Variable, len(names))
	for _, name := range names {
		variables[name] = &engine.Variable{Name: name, Type: cty.DynamicPseudoType, Nullable: true}
	}
	return variables
}

// Outputs declares outputs for modules made of Go functions.
func Outputs(names ...string) map[string]*engine.Output {
	outputs := make(map[string]*engine.Output, len(names))
	for _, name := range names {
		outputs[name] = &engine.Output{Name: name}
	}
	return outputs
}

// program executes a [Module].
type program struct {
	source *Module
	module *engine.Module
}

func newProgram(dir string, m *Module) *program {
	return &program{m, &engine.Module{
		Dir:          dir,
		Variables:    m.Variables,
		Outputs:      m.Outputs,
		Slots:        m.Slots,
		Requirements: m.Requirements,
	}}
}

// defersDestroy returns why planning to destroy a resource is deferred, or "".
func (p *program) defersDestroy(resource string, inputs map[string]cty.Value) string {
	for _, r := range p.source.Resources {
		if r.Name == resource && r.Defer != nil {
			return r.Defer(Scope{Inputs: inputs})
		}
	}
	return ""
}

// execute runs through the module, and returns the outputs if they could be computed.
func (p *program) execute(run *execution) (map[string]cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	scope := Scope{Inputs: run.inputs, Resources: make(map[string]cty.Value, len(p.source.Resources))}
	settled := func(name string) bool { _, ok := scope.Resources[name]; return ok }
	deferred := map[string]bool{} // names
	for _, r := range p.source.Resources {
		if !every(r.DependsOn, settled) {
			continue // the one it depends on failed and has said so
		}
		instance, err := r.instance(scope)
		if err != nil {
			diags = diags.Append(failure(dataResourceType+"."+r.Name, err))
			continue
		}
		if reason := run.deferralOf(r, deferred, scope); reason != "" {
			run.deferInstance(instance, reason)
			deferred[r.Name], scope.Resources[r.Name] = true, newObject(instance)
			continue
		}
		object, moreDiags := run.settle(instance)
		diags = diags.Extend(moreDiags)
		if !moreDiags.HasErrors() {
			scope.Resources[r.Name] = object
		}
	}
	if p.source.Values == nil || len(scope.Resources) < len(p.source.Resources) {
		return nil, diags
	}
	values, err := p.source.Values(scope)
	if err != nil {
		return nil, diags.Append(failure("outputs", err))
	}
	return values, diags
}

// deferralOf returns the reason for which a plan defers a resource, or ""; deferred has the names
// of those deferred before it. While a plan is applied, nothing more is deferred.
func (run *execution) deferralOf(r Resource, deferred map[string]bool, scope Scope) string {
	switch {
	case run.deferInstance == nil:
		return ""
	case slices.ContainsFunc(r.DependsOn, func(name string) bool { return deferred[name] }):
		return reasonPrerequisite
	case r.Defer == nil:
		return ""
	default:
		return r.Defer(scope)
	}
}

func every(names []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !ok(name) })
}

func (r Resource) instance(scope Scope) (resourceInstance, error) {
	instance := resourceInstance{
		name:            r.Name,
		input:           cty.NullVal(cty.DynamicPseudoType),
		triggersReplace: cty.NullVal(cty.DynamicPseudoType),
	}
	for _, name := range r.DependsOn {
		instance.dependencies = append(instance.dependencies, dataResourceType+"."+name)
	}
	slices.Sort(instance.dependencies)
	var err error
	if r.Input != nil {
		if instance.input, err = r.Input(scope); err != nil {
			return instance, err
		}
	}
	if r.TriggersReplace != nil {
		instance.triggersReplace, err = r.TriggersReplace(scope)
	}
	return instance, err
}

func failure(what string, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Evaluation failed",
		Detail:   fmt.Sprintf("In %s: %s", what, sentence(err)),
	}
}
