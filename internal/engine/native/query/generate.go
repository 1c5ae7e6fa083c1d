// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package query

import (
	"context"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/generate"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// generate returns a resource block and an import block for each object that was found. One that
// several list blocks have found has them once.
func (q *querier) generate(ctx context.Context) string {
	rt := &resource.Runtime{Eval: q.eval, Providers: q.Providers, Types: q.Types, Calls: q.Calls}
	seen := map[string]bool{}
	names := namer{known: map[stackaddrs.Resource]bool{}, next: map[string]int{}}
	for addr := range q.Tree.Resources {
		names.known[addr] = true
	}
	var sections []string
	for _, l := range q.mu.answered {
		for i, found := range l.found {
			slot := l.list.Config.Provider
			object := found.Type + " " + slot.String() + " " + found.Identity.GoString()
			if seen[object] {
				continue
			}
			seen[object] = true
			t := &resource.Target{Type: l.objects, Provider: l.provider, Slot: slot, Known: true}
			t.Addr.Resource = names.of(found.Type, l.list.Config.Name)
			t.Address = t.Addr.String()
			block, ok := l.block(ctx, rt, t, i)
			if !ok {
				continue
			}
			head := generate.Head{Type: found.Type, Name: t.Addr.Resource.Name, Provider: slot.String()}
			title := found.List
			if found.DisplayName != "" {
				title += ": " + found.DisplayName
			}
			sections = append(sections, fmt.Sprintf("# %s\n%s\n%s", safetext.Name(title), block, generate.Import(head, "", found.Identity)))
		}
	}
	return strings.Join(sections, "\n")
}

// block returns the resource block for an object. One that the provider has not listed as a whole
// is imported.
func (l *listing) block(ctx context.Context, rt *resource.Runtime, t *resource.Target, i int) (string, bool) {
	object := &resource.Object{Value: l.whole[i], Identity: l.found[i].Identity}
	if object.Value == cty.NilVal {
		var ok bool
		if object, _, ok = rt.Import(ctx, t, resource.Imported{Identity: l.found[i].Identity}); !ok {
			return "", false
		}
	}
	return rt.Generate(ctx, t, object)
}

// namer gives names to resources of a module, which has some already.
type namer struct {
	known map[stackaddrs.Resource]bool
	next  map[string]int // by type and name of a list block
}

// of returns the resource for the next object that a list block has found.
func (n namer) of(typeName, list string) stackaddrs.Resource {
	for {
		i := n.next[typeName+"."+list]
		n.next[typeName+"."+list]++
		addr := stackaddrs.Resource{Type: typeName, Name: fmt.Sprintf("%s_%d", list, i)}
		if !n.known[addr] {
			return addr
		}
	}
}
