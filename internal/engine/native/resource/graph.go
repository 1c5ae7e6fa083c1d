// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// GraphOf returns what a graph of dependencies says, as the runtime asks for it.
func GraphOf(g *deps.Graph) Graph { return graph{g} }

type graph struct{ *deps.Graph }

// Dependencies implements [Graph].
func (g graph) Dependencies(of stackaddrs.ResourceInstance) []stackaddrs.ResourceInstance {
	r := g.Resource(of)
	if r == nil {
		return nil
	}
	found := r.Dependencies()
	addrs := make([]stackaddrs.ResourceInstance, len(found))
	for i, one := range found {
		addrs[i] = one.Addr
	}
	return addrs
}

// CreateBeforeDestroy implements [Graph].
func (g graph) CreateBeforeDestroy(of stackaddrs.ResourceInstance) bool {
	r := g.Resource(of)
	return r != nil && r.CreateBeforeDestroy
}
