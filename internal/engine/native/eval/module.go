// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Module is an instance of a module.
type Module struct {
	Addr   stackaddrs.ModuleInstance
	Config *module.Node

	eval       *Evaluation
	call       *Call      // nil for the root
	repetition Repetition // of the call
	functions  *hcl.EvalContext

	ignoresDeprecations bool // as the call, or one above, wants it

	variables map[string]*Variable
	locals    map[string]*Local
	outputs   map[string]*Output
	calls     map[string]*Call
	resources map[stackaddrs.Resource]*Resource
	checks    map[string]*Check
	actions   map[string]*Action // by TYPE.NAME
	lists     map[string]*List   // by TYPE.NAME
}

func newModule(e *Evaluation, config *module.Node, addr stackaddrs.ModuleInstance, call *Call, repetition Repetition) *Module {
	m := &Module{
		Addr: addr, Config: config, eval: e, call: call, repetition: repetition,
		functions: e.opts.Functions(config), ignoresDeprecations: ignoresDeprecations(call),
		variables: make(map[string]*Variable, len(config.Variables)),
		locals:    make(map[string]*Local, len(config.Locals)),
		outputs:   make(map[string]*Output, len(config.Outputs)),
		calls:     make(map[string]*Call, len(config.Calls)),
		resources: make(map[stackaddrs.Resource]*Resource, len(config.Resources)),
		checks:    make(map[string]*Check, len(config.Checks)),
		actions:   make(map[string]*Action, len(config.Actions)),
		lists:     make(map[string]*List, len(config.Lists)),
	}
	for name, c := range config.Variables {
		m.variables[name] = &Variable{module: m, config: c}
	}
	for name, c := range config.Locals {
		m.locals[name] = &Local{module: m, config: c}
	}
	for name, c := range config.Outputs {
		m.outputs[name] = &Output{module: m, config: c}
	}
	for name, c := range config.Calls {
		m.calls[name] = newCall(m, c)
	}
	for addr, c := range config.Resources {
		m.resources[addr] = &Resource{Module: m, Config: c}
	}
	for name, c := range config.Checks {
		m.checks[name] = &Check{Module: m, Config: c}
	}
	for id, c := range config.Actions {
		m.actions[id] = &Action{Module: m, Config: c}
	}
	for id, c := range config.Lists {
		m.lists[id] = &List{Module: m, Config: c}
	}
	return m
}

// Resource returns a resource that the module declares, or nil.
func (m *Module) Resource(addr stackaddrs.Resource) *Resource { return m.resources[addr] }

// Output returns an output value that the module declares, or nil.
func (m *Module) Output(name string) *Output { return m.outputs[name] }

// CallNamed returns a module call that the module declares, or nil.
func (m *Module) CallNamed(name string) *Call { return m.calls[name] }

// Outputs returns the output values by name. The caller must not change the map.
func (m *Module) Outputs() map[string]*Output { return m.outputs }

// SplitOutputs sets apart the values of ephemeral outputs, which nobody may store.
func (m *Module) SplitOutputs(values map[string]cty.Value) (stored, ephemeral map[string]cty.Value) {
	stored, ephemeral = make(map[string]cty.Value, len(values)), map[string]cty.Value{}
	for name, value := range values {
		if m.outputs[name].Config().Ephemeral {
			ephemeral[name] = value
		} else {
			stored[name] = value
		}
	}
	return stored, ephemeral
}

// Parent returns the calling module instance; nil for the root.
func (m *Module) Parent() *Module {
	if m.call == nil {
		return nil
	}
	return m.call.module
}

// Call returns the call whose instance the module is; nil for the root.
func (m *Module) Call() *Call { return m.call }
