// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Call is a module call in a module instance.
type Call struct {
	Config *module.Call

	module    *Module // the calling one
	expansion memo[Expansion]

	mu struct {
		sync.Mutex
		instances map[stackaddrs.InstanceKey]*Module
	}
}

func newCall(m *Module, config *module.Call) *Call {
	return &Call{Config: config, module: m}
}

// Module returns the module instance that calls.
func (c *Call) Module() *Module { return c.module }

// Expand returns which instances of the called module there are.
func (c *Call) Expand(ctx context.Context) (Expansion, bool) {
	return c.module.expand(ctx, &c.expansion, block{c.Config.Repeat, "module." + c.Config.Name, &c.Config.Range, Place{}})
}

// Instance returns an instance of the called module, or nil if there is none with this key.
func (c *Call) Instance(ctx context.Context, key stackaddrs.InstanceKey) *Module {
	x, ok := c.Expand(ctx)
	if !ok || !x.Has(key) {
		return nil
	}
	return c.instance(key, x)
}

func (c *Call) instance(key stackaddrs.InstanceKey, x Expansion) *Module {
	config := c.module.Config.Children[c.Config.Name]
	if config == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.mu.instances[key]
	if m == nil {
		m = newModule(c.module.eval, config, c.module.Addr.Child(c.Config.Name, key), c, x.Repetition(key))
		if c.mu.instances == nil {
			c.mu.instances = make(map[stackaddrs.InstanceKey]*Module, len(x.Keys))
		}
		c.mu.instances[key] = m
	}
	return m
}

// Instances returns the instances of the module at an address without keys, as far as it is known
// which there are. Those that are not known count as one.
func (e *Evaluation) Instances(ctx context.Context, addr stackaddrs.ModuleInstance) []*Module {
	found := []*Module{e.root}
	for _, step := range addr.Path() {
		var inside []*Module
		for _, m := range found {
			if c := m.CallNamed(step.Name); c != nil {
				inside = append(inside, c.modules(ctx)...)
			}
		}
		found = inside
	}
	return found
}

func (c *Call) modules(ctx context.Context) []*Module {
	x, ok := c.Expand(ctx)
	if !ok {
		return nil
	}
	var found []*Module
	for _, key := range x.Instances() {
		if m := c.instance(key, x); m != nil {
			found = append(found, m)
		}
	}
	return found
}

// value returns the value of the call (section 3.4), with the outputs that are used.
func (c *Call) value(ctx context.Context, use *callUse) (cty.Value, bool) {
	if c.module.eval.opts.Phase == Validate {
		return c.unknown(), true
	}
	x, ok := c.Expand(ctx)
	if !ok {
		return cty.NilVal, false
	}
	if x.Unknown {
		return c.collection(use).unknown(x.Mode), true
	}
	value, ok := x.join(func(key stackaddrs.InstanceKey) (cty.Value, bool) {
		m := c.instance(key, x)
		if m == nil {
			return cty.NilVal, false
		}
		return m.outputValues(ctx, use)
	})
	return c.collection(use).of(x.Mode, value), ok
}

// unknown returns the value while validating: an object with the outputs of the module, whose names
// are known, or a collection of such objects.
func (c *Call) unknown() cty.Value {
	config := c.module.Config.Children[c.Config.Name]
	switch {
	case config == nil:
		return cty.DynamicVal
	case c.Config.Repeat.Count != nil:
		return c.collection(&callUse{all: true}).unknown(ByCount)
	case c.Config.Repeat.ForEach != nil:
		return c.collection(&callUse{all: true}).unknown(ByKey)
	}
	outputs := make(map[string]cty.Value, len(config.Outputs))
	for name, output := range config.Outputs {
		value := marks.Declared(cty.UnknownVal(typeOf(output)), output.Sensitive, output.Ephemeral)
		if output.Deprecated != nil {
			value = c.module.eval.deprecate(value, *output.Deprecated)
		}
		outputs[name] = value
	}
	if c.Config.Repeat.Enabled != nil { // it may be null
		return cty.UnknownVal(cty.ObjectVal(outputs).Type())
	}
	return cty.ObjectVal(outputs)
}

// typeOf returns the type of an output, which is dynamic if none is declared.
func typeOf(output *module.Output) cty.Type {
	if output.Type == nil {
		return cty.DynamicPseudoType
	}
	return output.Type.Type.WithoutOptionalAttributesDeep()
}

// collection makes the values of the instances of a module a list or a map.
type collection struct {
	element cty.Type // of its elements; [cty.NilType] if they need not have the same type
}

// collection returns that of the instances of a call. They have the same type if all outputs of the
// module have exact types, be they used or not.
func (c *Call) collection(use *callUse) collection {
	config := c.module.Config.Children[c.Config.Name]
	if config == nil || len(config.Outputs) == 0 {
		return collection{}
	}
	attributes := make(map[string]cty.Type, len(config.Outputs))
	for name, output := range config.Outputs {
		ty := typeOf(output)
		if ty.HasDynamicTypes() {
			return collection{}
		}
		if use.all || slices.Contains(use.outputs, name) {
			attributes[name] = ty
		}
	}
	return collection{cty.Object(attributes)}
}

// unknown returns the value where the instances are not known.
func (c collection) unknown(mode Mode) cty.Value {
	switch {
	case c.element == cty.NilType || mode == Single:
		return cty.DynamicVal
	case mode == ByCount:
		return cty.UnknownVal(cty.List(c.element))
	}
	return cty.UnknownVal(cty.Map(c.element))
}

// of returns the value from that of the joined instances.
func (c collection) of(mode Mode, joined cty.Value) cty.Value {
	switch {
	case c.element == cty.NilType || mode == Single || joined == cty.NilVal:
		return joined
	case mode == ByCount && joined.LengthInt() == 0:
		return cty.ListValEmpty(c.element)
	case mode == ByCount:
		return cty.ListVal(joined.AsValueSlice())
	case joined.LengthInt() == 0:
		return cty.MapValEmpty(c.element)
	}
	return cty.MapVal(joined.AsValueMap())
}

// check reports the mistakes in the call, while validating, and returns the called module, or nil
// if that is not there.
func (c *Call) check(ctx context.Context) *Module {
	x, _ := c.Expand(ctx)
	c.module.Await(ctx, c.Config.DependsOn)
	called := c.instance(stackaddrs.NoKey, x)
	for name, expr := range c.Config.Inputs {
		switch {
		case called == nil:
			c.module.Eval(ctx, expr, Place{Repetition: x.Repetition(stackaddrs.NoKey)})
		case called.variables[name] == nil:
			diags := &c.module.eval.Diagnostics
			diags.Problem(c.Config.Names[name], "Unsupported argument",
				fmt.Sprintf("The module has no variable %q.%s", name, diags.DidYouMean(name, maps.Keys(called.variables))))
		}
	}
	return called
}

func (m *Module) outputValues(ctx context.Context, use *callUse) (cty.Value, bool) {
	values := map[string]cty.Value{}
	for name, output := range m.outputs {
		if !use.all && !slices.Contains(use.outputs, name) {
			continue
		}
		value, ok := output.Value(ctx)
		if !ok {
			return cty.NilVal, false
		}
		values[name] = value
	}
	return cty.ObjectVal(values), true
}

// await waits until all objects of the called module are done, on which the dependents of a call
// depend.
func (c *Call) await(ctx context.Context) bool {
	x, ok := c.Expand(ctx)
	if !ok {
		return false
	}
	for _, key := range x.Instances() {
		if m := c.instance(key, x); m == nil || !m.await(ctx) {
			return false
		}
	}
	return true
}

func (m *Module) await(ctx context.Context) bool {
	for _, r := range m.resources {
		if _, ok := r.Value(ctx); !ok {
			return false
		}
	}
	for _, o := range m.outputs {
		if _, ok := o.Value(ctx); !ok {
			return false
		}
	}
	for _, c := range m.calls {
		if !c.await(ctx) {
			return false
		}
	}
	return true
}
