// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/lang"
	names "github.com/cairnstacks/cairn/internal/lang/scope"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Place is the objects that expressions can refer to because of the place where they stand.
type Place struct {
	Repetition
	Self     cty.Value // [cty.NilVal] where there is none
	Resource string    // address of the resource instance for which something is evaluated, for diagnostics

	Caller *Caller // for which an action is invoked, whose object is Self; nil elsewhere

	// AtDestroy is set where an object is destroyed, when all that it depended on may be gone.
	AtDestroy bool

	owner       *Resource     // whose block it is, which cannot refer to itself
	check       *module.Check // in which it is; nil outside of checks
	ownVariable *Variable     // whose conditions are checked
}

// Eval evaluates an expression whose value is used where it stands. Its errors are reported.
func (m *Module) Eval(ctx context.Context, expr *module.Expr, at Place) (Result, bool) {
	result, ok := m.evaluate(ctx, expr, at)
	if ok {
		result.Value = m.Used(result.Value, func(cty.Path) hcl.Range { return result.Range })
	}
	return result, ok
}

// evaluate is Eval without looking for deprecated values.
func (m *Module) evaluate(ctx context.Context, expr *module.Expr, at Place) (Result, bool) {
	result := Result{Source: Source{Range: expr.Range(), Expression: expr.Expression, Resource: at.Resource}}
	scope, ok := m.Scope(ctx, expr.Refs, at)
	if !ok {
		return result, false
	}
	result.EvalContext = scope
	value, diags := lang.Evaluate(ctx, expr.Expression, scope)
	if len(diags) > 0 && !m.eval.Diagnostics.AddTo(at.Resource, diags...) {
		return result, false
	}
	result.Value = value
	return result, true
}

// Scope returns the values of references. It waits for all subjects of the references, and is false
// if any of them failed, or if the reference is wrong.
func (m *Module) Scope(ctx context.Context, references []refs.Reference, at Place) (*hcl.EvalContext, bool) {
	if len(references) == 0 {
		return m.functions, true
	}
	s := scope{module: m, at: at, names: names.Table{}}
	ok := true
	for i := range references {
		if ok = s.add(ctx, &references[i]) && ok; !ok && m.eval.opts.Phase != Validate {
			return nil, false
		}
	}
	if !ok {
		return nil, false
	}
	evalCtx := m.functions.NewChild()
	evalCtx.Variables = s.names.Variables()
	return evalCtx, true
}

// Await waits until the subjects of references are done, and reports whether all of them succeeded.
func (m *Module) Await(ctx context.Context, references []refs.Reference) bool {
	if m.eval.opts.Phase == Validate {
		_, ok := m.Scope(ctx, references, Place{})
		return ok
	}
	for i := range references {
		switch references[i].Subject.Kind {
		case refs.EachKey, refs.EachValue, refs.CountIndex, refs.Self, refs.Caller:
			continue // nothing to wait for
		case refs.Call:
			if call := m.calls[references[i].Subject.Name]; call != nil {
				if !call.await(ctx) {
					return false
				}
				continue
			}
		}
		if _, ok := m.Scope(ctx, references[i:i+1], Place{}); !ok {
			return false
		}
	}
	return true
}

// scope collects the values of references.
type scope struct {
	module *Module
	at     Place
	names  names.Table
	calls  map[string]*callUse
}

// callUse is the outputs of a module call that are used.
type callUse struct {
	all     bool
	outputs []string
}

// add waits for the subject of a reference, and adds its value.
func (s *scope) add(ctx context.Context, ref *refs.Reference) bool {
	m, subject := s.module, ref.Subject
	if s.at.AtDestroy && !knownAtDestroy(subject.Kind) {
		return s.reject(ref, "Reference not allowed here", "When an object is destroyed, all else may be gone. A provisioner can then refer to "+
			"self, count.index, each.key, path and terraform only.")
	}
	switch subject.Kind {
	case refs.Variable:
		return s.addVariable(ctx, ref)
	case refs.Local:
		local := m.locals[subject.Name]
		if local == nil {
			return s.undeclared(ref, "local.", subject.Name, maps.Keys(m.locals))
		}
		value, ok := local.Value(ctx)
		s.names.Set(value, "local", subject.Name)
		return ok
	case refs.Resource:
		return s.addResource(ctx, ref)
	case refs.Call, refs.CallOutput:
		return s.addCall(ctx, ref)
	case refs.EachKey:
		return s.addEach(ref, "key", s.at.Key)
	case refs.EachValue:
		return s.addEach(ref, "value", s.at.Value)
	case refs.CountIndex:
		// The block of a destroy-time provisioner may be gone, and with it the argument that it had.
		if s.at.Mode != ByCount && s.at.Mode != ByEither {
			return s.misplaced(ref, "a block with a count argument")
		}
		s.names.Set(s.at.Key, "count", "index")
	case refs.Self:
		if s.at.Self == cty.NilVal {
			return s.misplaced(ref, "a postcondition, a provisioner, a connection, or the config of an action that is triggered")
		}
		s.names.Set(s.at.Self, "self")
	case refs.Caller:
		if s.at.Caller == nil {
			return s.misplaced(ref, "the config of an action that a resource triggers")
		}
		s.names.Set(s.at.Self, "caller")
	case refs.PathAttr:
		s.names.Set(m.path(subject.Attr), "path", subject.Attr)
	case refs.TerraformOf:
		s.names.Set(m.terraform(subject.Attr), "terraform", subject.Attr)
	case refs.List:
		return s.addList(ctx, ref)
	case refs.Action:
		return s.reject(ref, "Reference not allowed here", "Actions have no value. Only the triggers of resources can refer to them.")
	}
	return true
}

func (s *scope) addVariable(ctx context.Context, ref *refs.Reference) bool {
	name := ref.Subject.Name
	variable := s.module.variables[name]
	if variable == nil {
		return s.undeclared(ref, "var.", name, maps.Keys(s.module.variables))
	}
	read := variable.Value
	if s.at.ownVariable == variable {
		read = variable.rawValue
	}
	value, ok := read(ctx)
	s.names.Set(value, "var", name)
	return ok
}

func (s *scope) addResource(ctx context.Context, ref *refs.Reference) bool {
	addr := ref.Subject.Resource()
	root := "resource"
	switch addr.Mode {
	case stackaddrs.DataResource:
		root = "data"
	case stackaddrs.EphemeralResource:
		root = "ephemeral"
	}
	validating := s.module.eval.opts.Phase == Validate
	types, _ := s.names[root].(names.Table)
	byName, _ := types[addr.Type].(names.Table)
	if byName[addr.Name] != nil && !validating {
		return true
	}
	resource := s.module.resources[addr]
	switch {
	case resource == nil:
		return s.undeclaredResource(ref, addr)
	case validating && !s.right(ctx, ref, resource):
		return false
	}
	read := resource.Value
	if caller := s.at.Caller; caller != nil && caller.Resource == resource {
		read = caller.value
	}
	value, ok := read(ctx)
	s.names.Set(value, root, addr.Type, addr.Name)
	if addr.Mode == stackaddrs.ManagedResource {
		s.names.Set(value, addr.Type, addr.Name)
	}
	return ok
}

func (s *scope) addCall(ctx context.Context, ref *refs.Reference) bool {
	call := s.module.calls[ref.Subject.Name]
	if call == nil {
		return s.undeclared(ref, "module.", ref.Subject.Name, maps.Keys(s.module.calls))
	}
	use := s.calls[ref.Subject.Name]
	if use == nil {
		use = &callUse{}
		if s.calls == nil {
			s.calls = map[string]*callUse{}
		}
		s.calls[ref.Subject.Name] = use
	}
	if ref.Subject.Kind == refs.Call {
		use.all = true
	} else {
		use.outputs = append(use.outputs, ref.Subject.Attr)
	}
	value, ok := call.value(ctx, use)
	s.names.Set(value, "module", ref.Subject.Name)
	return ok
}

func (s *scope) addList(ctx context.Context, ref *refs.Reference) bool {
	if s.module.Config.Lists == nil {
		return s.reject(ref, "Reference not allowed here", "The results of queries cannot be referred to in modules.")
	}
	id := ref.Subject.Type + "." + ref.Subject.Name
	list := s.module.lists[id]
	if list == nil {
		return s.undeclared(ref, "list.", id, maps.Keys(s.module.lists))
	}
	value, ok := list.Value(ctx)
	s.names.Set(value, "list", ref.Subject.Type, ref.Subject.Name)
	return ok
}

func (s *scope) addEach(ref *refs.Reference, name string, value cty.Value) bool {
	if s.at.Mode != ByKey && s.at.Mode != ByEither {
		return s.misplaced(ref, "a block with a for_each argument")
	}
	s.names.Set(value, "each", name)
	return true
}

// path returns an attribute of the object path.
func (m *Module) path(attr string) cty.Value {
	switch {
	case attr == "module" && m.eval.opts.Phase == Validate:
		return cty.StringVal(m.Config.Place) // no component has a working copy yet
	case attr == "module":
		return cty.StringVal(m.Config.Path)
	case attr == "root":
		return cty.StringVal(m.eval.opts.RootPath)
	default:
		return cty.StringVal(m.eval.opts.WorkPath)
	}
}

// terraform returns an attribute of the object terraform.
func (m *Module) terraform(attr string) cty.Value {
	switch {
	case attr == "workspace":
		return cty.StringVal("default")
	case m.eval.opts.Phase == Validate:
		return cty.UnknownVal(cty.Bool).Mark(marks.Ephemeral)
	default:
		return cty.BoolVal(m.eval.opts.Phase == Apply).Mark(marks.Ephemeral)
	}
}
