// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/providerfunc"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Stack is an instance of a stack, and the scope of the expressions in it.
type Stack struct {
	main        *Main
	parent      *Stack // nil for the root
	addr        stackaddrs.StackInstance
	config      *StackConfig
	call        embedder // nil for the root
	disposition disposition

	// standIn is set if the stack, or one it is in, stands for instances not known yet, and may have
	// to stay.
	standIn bool

	symbols[*InputVariable, *LocalValue, *Provider, *Component, *StackCall]
	outputs map[string]*OutputValue
	removed []*Removed // in file and line order
	moved   []*Moved   // likewise

	// The targets in this stack of removed blocks of this stack and those around it, by names of
	// components and embedded stacks.
	componentRemovals map[string]*ComponentRemovals
	stackRemovals     map[string]*StackRemovals
}

// embedder is the origin of a stack instance: an instance of a stack call or of a removed block.
type embedder interface {
	// InputValues are the values of the stack's variables, of their types but
	// without the marks of their declarations.
	InputValues(ctx context.Context) map[string]cty.Value

	// RequiredComponents are the components that those values depend on.
	RequiredComponents(ctx context.Context) components.Set
}

// disposition is the fate of the components of a stack instance.
type disposition int

const (
	stays disposition = iota
	destroyed
	forgotten
)

// isRemoved reports whether the operation destroys or forgets all that is in the stack.
func (s *Stack) isRemoved() bool {
	return s.disposition != stays && !s.main.mode().KeepsObjects()
}

// standsIn reports whether an instance of a block in the stack has to wait until the set that it
// stands for is known. Existing instances in a stack that is removed are removed, whatever the set
// would be.
func (s *Stack) standsIn(key stackaddrs.InstanceKey, repetition foreach.Repetition) bool {
	return repetition.StandIn && (key.IsWildcard() || !s.isRemoved())
}

func newRootStack(main *Main) *Stack {
	return newStack(Stack{main: main, addr: stackaddrs.RootStackInstance, config: main.config, disposition: main.disposition()})
}

// newStack makes a stack instance with all that is in it. The fields of placed are those that say
// where it is and why, up to standIn.
func newStack(placed Stack) *Stack {
	s := &placed
	config := s.config
	if s.parent != nil {
		s.main = s.parent.main
		s.standIn = s.standIn || s.parent.standIn
	}
	main := s.main
	s.applying = expr.JustValue{Value: applyingValue(main.phase)}
	s.variables = mapValues(config.variables, func(c *InputVariableConfig) *InputVariable { return newInputVariable(s, c) })
	s.locals = mapValues(config.locals, func(c *LocalValueConfig) *LocalValue { return newLocalValue(s, c) })
	s.outputs = mapValues(config.outputs, func(c *OutputValueConfig) *OutputValue { return newOutputValue(s, c) })
	s.providers = mapValues(config.providers, func(c *ProviderConfig) *Provider { return newProvider(s, c) })
	s.components = mapValues(config.components, func(c *ComponentConfig) *Component { return newComponent(s, c) })
	s.calls = mapValues(config.calls, func(c *StackCallConfig) *StackCall { return newStackCall(s, c) })
	for _, c := range config.removed {
		s.removed = append(s.removed, newRemoved(s, c))
	}
	for _, decl := range config.decl.Moved {
		s.moved = append(s.moved, &Moved{s, decl})
	}
	s.collectRemovals()
	return s
}

// ResolveExpressionReference implements [expr.EvaluationScope].
func (s *Stack) ResolveExpressionReference(_ context.Context, ref stackaddrs.Reference) (expr.Referenceable, hcl.Diagnostics) {
	return resolve(s.config.decl, ref, s.lookUp)
}

// Functions implements [expr.EvaluationScope].
func (s *Stack) Functions() map[string]function.Function { return s.main.funcs }

// FunctionOptions implements [expr.FunctionScope].
func (s *Stack) FunctionOptions() lang.Options { return s.main.functionOptions }

// decl is the stack's declarations.
func (s *Stack) decl() *stackconfig.Stack { return s.config.decl }

// ProviderFunction implements [expr.FunctionScope].
func (s *Stack) ProviderFunction(ctx context.Context, call lang.ProviderCall) (function.Function, hcl.Diagnostics) {
	provider, diags := providerfunc.Provider(s.decl(), call)
	if diags.HasErrors() {
		return function.Function{}, diags
	}
	if provider == nil {
		return providerfunc.Unusable, nil
	}
	found, diags := s.main.functions.Find(ctx, provider.Provider, call)
	if diags.HasErrors() {
		return function.Function{}, diags
	}
	if found == nil {
		return providerfunc.Unusable, nil
	}
	return found.Function(ctx), diags
}
