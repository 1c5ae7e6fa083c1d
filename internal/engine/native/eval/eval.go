// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Phase is the purpose of an evaluation.
type Phase int

// The phases. Validating knows no inputs and no objects (rule V5).
const (
	Validate Phase = iota
	Plan
	Apply
)

// Objects is a phase's view of resource instances.
type Objects interface {
	// Object returns the object of an instance as expressions see it, with its marks, once the phase
	// is done with it. It is [cty.NilVal] for one that is gone, or to be, and false for one that the
	// phase could not deal with. While validating, it is an unknown one, for any instance.
	Object(ctx context.Context, r *Resource, key stackaddrs.InstanceKey) (cty.Value, bool)
}

// FormerInstances is an optional interface of [Objects] for instances that are not declared any
// more.
type FormerInstances interface {
	// Former waits until the phase is done with the objects of instances that a block does not declare
	// any more, and reports whether that succeeded.
	Former(ctx context.Context, r *Resource, x Expansion) bool
}

// Lists is an optional interface of [Objects] for the queries of the root module.
type Lists interface {
	// List returns the results of an instance of a list block as expressions see them, and false if
	// there are none because of an error. It is called once for each instance, but while validating:
	// then nothing is known of the results.
	List(ctx context.Context, l *List, key stackaddrs.InstanceKey) (cty.Value, bool)
}

// Options are the inputs and settings of an evaluation.
type Options struct {
	Tree    *module.Node
	Phase   Phase
	Objects Objects

	// Inputs are the values of the root module's variables, of their types. Those that are missing
	// were not given.
	Inputs map[string]cty.Value

	// Outputs are the values of the root module's outputs that are known already. Nothing of these but
	// their preconditions is evaluated.
	Outputs map[string]cty.Value

	// Deferral allows the instances of blocks to be unknown.
	Deferral bool

	// Unexpanded reports whether it was not known while planning which instances a resource or a
	// module call has, by its address without keys. Then it is not known while applying, either. Nil
	// if all were known.
	Unexpanded func(address string) bool

	// Conditions is the consequence of conditions that do not hold.
	Conditions Conditions

	// Functions returns the functions that a module may call, in a context without variables.
	Functions func(*module.Node) *hcl.EvalContext

	// RootPath and WorkPath are the values of path.root and path.cwd.
	RootPath, WorkPath string
}

// Evaluation is the evaluation of a module tree. Made by [New].
type Evaluation struct {
	Diagnostics Diagnostics
	Checks      Checks

	opts Options
	root *Module

	deprecations atomic.Bool // a value was marked as deprecated
	warned       sync.Map    // deprecatedUse of which a warning was given
}

// New returns an evaluation that has evaluated nothing yet.
func New(opts Options) *Evaluation {
	e := &Evaluation{opts: opts}
	e.root = newModule(e, opts.Tree, stackaddrs.RootModuleInstance, nil, Repetition{})
	return e
}

// Root returns the root module.
func (e *Evaluation) Root() *Module { return e.root }

// Former returns an instance of a module that is not declared any more. Expressions in it can refer
// to nothing that the module declares.
func (e *Evaluation) Former(config *module.Node, addr stackaddrs.ModuleInstance) *Module {
	return &Module{Addr: addr, Config: config, eval: e, functions: e.opts.Functions(config)}
}

// Module returns the instance of a module, or nil if the configuration has none with this address.
func (e *Evaluation) Module(ctx context.Context, addr stackaddrs.ModuleInstance) *Module {
	caller, step, ok := addr.Parent()
	if !ok {
		return e.root
	}
	parent := e.Module(ctx, caller)
	if parent == nil {
		return nil
	}
	call := parent.calls[step.Name]
	if call == nil {
		return nil
	}
	return call.Instance(ctx, step.Key)
}
