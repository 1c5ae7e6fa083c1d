// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
)

// certainty is how far something is known.
type certainty int

const (
	certaintyNo      certainty = iota
	certaintyFailed            // because of an error
	certaintyUnknown           // because it is not known before apply
	certaintyYes
)

// isClaimed reports whether a block of the configuration produces an instance, or removes it.
func (m *Main) isClaimed(ctx context.Context, addr stackaddrs.AbsComponentInstance) certainty {
	stack, found := m.findStack(ctx, addr.Stack)
	if found != certaintyYes {
		return found
	}
	name, key := addr.Item.Component.Name, addr.Item.Key
	produced := certaintyNo
	if component, ok := stack.components[name]; ok {
		produced = has(component.Instances(ctx), key)
	}
	removals := stack.componentRemovals[name]
	if produced == certaintyYes || removals == nil {
		return produced
	}
	claims := removals.Claims(ctx)
	switch {
	case claims.instances[key] != nil:
		return certaintyYes
	case claims.failed:
		return max(produced, certaintyFailed)
	default:
		return produced
	}
}

// findStack finds a stack instance that the configuration produces, if only to
// remove it.
func (m *Main) findStack(ctx context.Context, addr stackaddrs.StackInstance) (*Stack, certainty) {
	stack := m.stack
	for _, step := range addr.Path() {
		child, found := stack.child(ctx, step)
		if found != certaintyYes {
			return nil, found
		}
		stack = child
	}
	return stack, certaintyYes
}

// child finds an embedded stack that a block of the configuration produces, or removes.
func (s *Stack) child(ctx context.Context, step stackaddrs.StackCallInstance) (*Stack, certainty) {
	called := certaintyNo
	call := s.calls[step.Call.Name]
	if call != nil {
		called = has(call.Instances(ctx), step.Key)
		if called == certaintyYes {
			return embedded(call.Instances(ctx).Instances[step.Key])
		}
	}
	if removals := s.stackRemovals[step.Call.Name]; removals != nil {
		claims := removals.Claims(ctx)
		if leaving := claims.instances[step.Key]; leaving != nil {
			return leaving.stack, certaintyYes
		}
		if claims.failed {
			called = max(called, certaintyFailed)
		}
	}
	if called == certaintyUnknown {
		if standIn, ok := call.Instances(ctx).StandIns[step.Key]; ok {
			return embedded(standIn)
		}
	}
	return nil, called
}

// embedded is the stack of an instance of a stack call, if that could be loaded.
func embedded(inst *StackCallInstance) (*Stack, certainty) {
	if inst.stack == nil {
		return nil, certaintyFailed
	}
	return inst.stack, certaintyYes
}

func has[I any](instances foreach.Expansion[I], key stackaddrs.InstanceKey) certainty {
	switch instances.Kind {
	case foreach.Failed:
		return certaintyFailed
	case foreach.Unknown:
		return certaintyUnknown
	case foreach.Single, foreach.Keyed:
	}
	if _, ok := instances.Instances[key]; ok {
		return certaintyYes
	}
	return certaintyNo
}

// stackInstance finds a stack instance by its address. It is nil when the
// configuration does not produce it.
func (m *Main) stackInstance(ctx context.Context, addr stackaddrs.StackInstance) *Stack {
	stack, found := m.findStack(ctx, addr)
	if found != certaintyYes {
		return nil
	}
	return stack
}

// providerInstance finds an instance of a provider configuration by its
// address. It is nil when the configuration does not produce it.
func (m *Main) providerInstance(ctx context.Context, addr stackaddrs.AbsProviderConfigInstance) *ProviderInstance {
	stack := m.stackInstance(ctx, addr.Stack)
	if stack == nil {
		return nil
	}
	for _, provider := range stack.providers {
		if provider.addr.Item == addr.Item.Config {
			return provider.Instances(ctx).Instances[addr.Item.Key]
		}
	}
	return nil
}

// component finds a component by its address; nil when the configuration does
// not produce it.
func (m *Main) component(ctx context.Context, addr stackaddrs.AbsComponent) *Component {
	stack := m.stackInstance(ctx, addr.Stack)
	if stack == nil {
		return nil
	}
	return stack.components[addr.Item.Name]
}
