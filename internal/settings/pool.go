// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Pools are the pools of workers that do components of the stack: the pool blocks, in their order.
type Pools []Pool

// Pool is one pool block.
type Pool struct {
	Name       string
	Range      hcl.Range // of the block's header
	Components []PooledComponent
	Providers  []PooledProvider
}

// PooledComponent is the address of components in a pool. A step without a key stands for all
// instances.
type PooledComponent struct {
	Addr  stackaddrs.AbsComponentInstance
	Range hcl.Range
}

// PooledProvider is the address of provider configurations. Components that are given one of them
// are in the pool. A step without a key stands for all instances.
type PooledProvider struct {
	Addr  stackaddrs.AbsProviderConfigRef
	Range hcl.Range
}

// poolName is the form of names, which queues of work have.
var poolName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

func (p *Pools) decode(block *hcl.Block) hcl.Diagnostics {
	a := argumentsOf(block.Body, nil, "components", "providers")
	pool := Pool{Name: block.Labels[0], Range: block.DefRange}
	if !poolName.MatchString(pool.Name) {
		a.diags = a.diags.Append(failure.At(block.LabelRanges[0], "Unusable name of a pool",
			"A name has at most 63 letters of the English alphabet, digits, hyphens and underscores, and begins with none of the last two."))
	}
	for _, other := range *p {
		if other.Name == pool.Name {
			a.diags = a.diags.Append(failure.At(block.LabelRanges[0], "Setting given twice",
				"There is another block for the pool %q, at %s.", pool.Name, other.Range))
		}
	}
	eachAddress(a, "components", `"component.train"`, stackaddrs.ParseAbsComponentInstance,
		func(addr stackaddrs.AbsComponentInstance, at hcl.Range) {
			pool.Components = append(pool.Components, PooledComponent{addr, at})
			p.checkClaim(a, addr, at)
		})
	eachAddress(a, "providers", `"provider.aws.eu"`, stackaddrs.ParseAbsProviderConfigRef,
		func(addr stackaddrs.AbsProviderConfigRef, at hcl.Range) {
			pool.Providers = append(pool.Providers, PooledProvider{addr, at})
		})
	if !a.has("components") && !a.has("providers") {
		a.diags = a.diags.Append(failure.At(block.DefRange, "Pool without components",
			"Name the components by the argument components, or the provider configurations that they are given by providers."))
	}
	*p = append(*p, pool)
	return a.diags
}

// eachAddress decodes a list of addresses, which may be missing.
func eachAddress[T any](a *arguments, name, example string, parse func(string) (T, error), each func(T, hcl.Range)) {
	texts := a.texts(name, "["+example+"]")
	if texts == nil {
		return
	}
	elements, diags := hcl.ExprList(a.attrs[name].Expr)
	if diags.HasErrors() {
		a.diags = a.diags.Extend(diags)
		return
	}
	for i, text := range texts {
		addr, err := parse(text)
		if err != nil {
			a.diags = a.diags.Append(failure.At(elements[i].Range(), "Invalid address", "Give an address such as %s: %s.", example, err))
			continue
		}
		each(addr, elements[i].Range())
	}
}

// checkClaim reports that a component is in another pool already.
func (p *Pools) checkClaim(a *arguments, addr stackaddrs.AbsComponentInstance, at hcl.Range) {
	for _, other := range *p {
		for _, claimed := range other.Components {
			if haveCommon(addr, claimed.Addr) {
				a.diags = a.diags.Append(twoPools(at, addr.String(), other.Name, claimed.Range))
			}
		}
	}
}

func twoPools(at hcl.Range, component, other string, place hcl.Range) *hcl.Diagnostic {
	return failure.At(at, "Component in two pools", "%s is in the pool %q as well, by %s. It can be in one only.", component, other, place)
}

// haveCommon reports whether there is an instance that two addresses stand for.
func haveCommon(a, b stackaddrs.AbsComponentInstance) bool {
	return a.Item.Component == b.Item.Component && keysMeet(a.Item.Key, b.Item.Key) && stacksMeet(a.Stack, b.Stack)
}

func stacksMeet(a, b stackaddrs.StackInstance) bool {
	return slices.EqualFunc(a.Path(), b.Path(), func(a, b stackaddrs.StackCallInstance) bool {
		return a.Call == b.Call && keysMeet(a.Key, b.Key)
	})
}

func keysMeet(a, b stackaddrs.InstanceKey) bool {
	return a == b || a == stackaddrs.NoKey || b == stackaddrs.NoKey || a.IsWildcard() || b.IsWildcard()
}

// PoolRequest asks for the pool of a component instance.
type PoolRequest struct {
	Component stackaddrs.AbsComponentInstance
	Providers []stackaddrs.AbsProviderConfigInstance // that it is given, sorted

	// Required returns the provider with a local name in a stack; the zero value for none.
	Required func(stack stackaddrs.Stack, localName string) stackaddrs.Provider
}

// For returns the name of the pool for a component instance, "" for none.
func (p *Pools) For(req PoolRequest) (string, hcl.Diagnostics) {
	var name string
	var place hcl.Range
	for i := range *p {
		at, ok := (*p)[i].claims(req)
		switch {
		case !ok:
		case name == "":
			name, place = (*p)[i].Name, at
		default:
			return "", hcl.Diagnostics{twoPools(at, req.Component.String(), name, place)}
		}
	}
	return name, nil
}

// claims returns the place by which a component instance is in the pool.
func (p *Pool) claims(req PoolRequest) (hcl.Range, bool) {
	for _, component := range p.Components {
		if haveCommon(component.Addr, req.Component) {
			return component.Range, true
		}
	}
	for _, provider := range p.Providers {
		wanted := provider.Addr
		addr := req.Required(wanted.Stack.Config(), wanted.Ref.LocalName)
		if slices.ContainsFunc(req.Providers, func(given stackaddrs.AbsProviderConfigInstance) bool {
			return given.Item.Config == stackaddrs.ProviderConfig{Provider: addr, Name: wanted.Ref.Name} &&
				keysMeet(given.Item.Key, wanted.Key) && stacksMeet(given.Stack, wanted.Stack)
		}) {
			return provider.Range, true
		}
	}
	return hcl.Range{}, false
}

// Check reports addresses that the stack does not have: work would stay in this process that was
// meant for workers.
func (p *Pools) Check(
	hasComponent func(stackaddrs.ConfigComponent) bool, hasProvider func(stackaddrs.Stack, stackaddrs.ProviderConfigRef) bool,
) hcl.Diagnostics {
	var diags hcl.Diagnostics
	unknown := func(at hcl.Range, addr fmt.Stringer) {
		diags = diags.Append(failure.At(at, "Unknown address in pool", "The stack has no %s.", addr))
	}
	for _, pool := range *p {
		for _, component := range pool.Components {
			if !hasComponent(stackaddrs.ConfigOf(stackaddrs.ComponentOf(component.Addr))) {
				unknown(component.Range, component.Addr)
			}
		}
		for _, provider := range pool.Providers {
			if !hasProvider(provider.Addr.Stack.Config(), provider.Addr.Ref) {
				unknown(provider.Range, provider.Addr)
			}
		}
	}
	return diags
}
