// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package deps finds the dependencies between the objects in the configuration of a tree of
// modules.
//
// Objects are blocks, as in the state: all instances of a resource, and of the modules around it,
// are one. A [Graph] is made once for a tree, in time linear in its size. Sets of dependencies are
// found when they are asked for, once for each resource.
//
// Rules:
//
//	G1. An object depends on its references and on the contents of its depends_on: for a resource in
//	    all of its block, for a variable in the argument of the call and in its validations.
//	G2. All objects of a module depend on the references of the count or for_each of its call, and on
//	    the contents of the call's depends_on.
//	G3. An object that refers to a module call as a whole depends on all that is in the module. One
//	    that refers to one output depends on that.
//	G4. References to undeclared objects are left out: others report them.
//	G5. A resource that triggers an action depends on the references of the action, but for itself:
//	    the action sees the object of the change that it is invoked for. A dependency that leads back
//	    to the resource by other objects is a cycle.
//
// Rules G2 and G3 are those of terraform, whose states list the dependencies that they lead to.
package deps

import (
	"slices"
	"sync"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Graph has the dependencies of a tree of modules. Safe for concurrent use.
type Graph struct {
	nodes     []node
	edges     []int32 // of all nodes, one after another
	resources []*Resource
	ephemeral []*Resource
	byAddr    map[stackaddrs.ResourceInstance]*Resource
	outputs   map[string]int32 // nodes of the root module's outputs

	visits sync.Pool // of *visit
}

// node is an object of a module, or an end of the module itself.
type node struct {
	first, end int32 // of its edges
	kind       kind
	tree       *module.Node
	name       string    // as references name it
	resource   *Resource // nil if it is none
}

type kind uint8

const (
	valueNode    kind = iota // a variable, local value, output or action
	resourceNode             //
	openNode                 // the count or for_each of a module call
	closeNode                // all that is in a module
)

// Resource is a resource in the configuration.
type Resource struct {
	Addr   stackaddrs.ResourceInstance // without keys
	Text   string                      // of Addr
	Tree   *module.Node
	Config *module.Resource

	// CreateBeforeDestroy is set if a replacement is created before the old object is destroyed: since
	// the configuration says so, or since it says so of a resource that depends on this one.
	CreateBeforeDestroy bool

	graph *Graph
	node  int32
	rank  int32 // in the order of texts

	direct   []int32 // resources that it refers to
	explicit []int32 // nodes that depends_on lists, its own and those of calls

	dependencies, explicitly struct {
		once sync.Once
		list []*Resource
	}
	names struct {
		once sync.Once
		list []string
	}
}

// New follows the references in a tree.
func New(tree *module.Node) *Graph {
	b := &builder{
		graph:  &Graph{byAddr: map[stackaddrs.ResourceInstance]*Resource{}, outputs: map[string]int32{}},
		scopes: map[*module.Node]*scope{},
	}
	b.declare(tree, nil, stackaddrs.RootModuleInstance)
	for _, scope := range b.order {
		b.connect(scope)
	}
	b.finish()
	return b.graph
}

// Resource returns a resource by its address, whose keys do not matter. It is nil if there is none.
func (g *Graph) Resource(addr stackaddrs.ResourceInstance) *Resource {
	if r := g.byAddr[addr]; r != nil {
		return r
	}
	module := stackaddrs.RootModuleInstance
	for _, call := range addr.Module.Path() {
		module = module.Child(call.Name, stackaddrs.NoKey)
	}
	return g.byAddr[stackaddrs.ResourceInstance{Module: module, Resource: addr.Resource}]
}

// Resources returns all resources in the order of their texts. The caller must not change the list.
func (g *Graph) Resources() []*Resource { return g.resources }

// Ephemerals returns the ephemeral resources in the order of their texts. The caller must not
// change the list.
func (g *Graph) Ephemerals() []*Resource { return g.ephemeral }

// Output returns all resources that an output of the root module depends on, in no order. It is
// empty if there is no such output.
func (g *Graph) Output(name string) []*Resource {
	node, ok := g.outputs[name]
	if !ok {
		return nil
	}
	return g.reach([]int32{node}, func(*Resource) bool { return true })
}

// Dependencies returns all resources that r depends on, by whatever way, without r. The list is
// sorted by the text of addresses; the caller must not change it.
func (r *Resource) Dependencies() []*Resource {
	r.dependencies.once.Do(func() {
		r.dependencies.list = r.graph.reach([]int32{r.node}, func(other *Resource) bool { return other != r })
	})
	return r.dependencies.list
}

// Names returns the addresses of [Resource.Dependencies] as texts, in the form in which states list
// them. It is nil without any; the caller must not change the list.
func (r *Resource) Names() []string {
	r.names.once.Do(func() {
		found := r.Dependencies()
		if len(found) == 0 {
			return
		}
		r.names.list = make([]string, 0, len(found))
		for _, other := range found {
			r.names.list = append(r.names.list, other.Text)
		}
	})
	return r.names.list
}

// Dependents returns all resources that depend on r, by whatever way, sorted by the text of
// addresses. It looks at all resources there are.
func (r *Resource) Dependents() []*Resource {
	var list []*Resource
	for _, other := range r.graph.resources {
		if slices.Contains(other.Dependencies(), r) {
			list = append(list, other)
		}
	}
	return list
}

// Nearest returns those of the resources that r depends on for which is holds, without those that
// are behind another such one on every way.
func (r *Resource) Nearest(is func(*Resource) bool) []*Resource {
	return r.graph.reachNearest([]int32{r.node}, func(other *Resource) bool { return other != r && is(other) }, is)
}

// Direct returns the managed resources that the block of r refers to itself, sorted by the text of
// addresses.
func (r *Resource) Direct() []*Resource { return r.graph.inOrder(r.direct) }

// Explicit returns the managed resources that r waits for because of a depends_on argument, its own
// or that of a call of a module around it: those listed, and all behind listed objects of other
// kinds. The list is sorted by the text of addresses; the caller must not change it.
func (r *Resource) Explicit() []*Resource {
	r.explicitly.once.Do(func() {
		var listed, behind []int32
		for _, id := range r.explicit {
			switch of := r.graph.nodes[id].resource; {
			case of == nil:
				behind = append(behind, id)
			case isManaged(of):
				listed = append(listed, of.rank)
			}
		}
		for _, other := range r.graph.reach(behind, func(other *Resource) bool { return other != r && isManaged(other) }) {
			listed = append(listed, other.rank)
		}
		r.explicitly.list = r.graph.inOrder(listed)
	})
	return r.explicitly.list
}

func isManaged(r *Resource) bool { return r.Addr.Resource.Mode == stackaddrs.ManagedResource }
