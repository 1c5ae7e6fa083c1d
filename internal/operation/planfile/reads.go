// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// reads are the parts of a state that a plan was made from. Root outputs are none of them: an apply
// evaluates them anew.
type reads struct {
	plan *stackplan.Plan

	instances  map[stackaddrs.AbsComponentInstance]bool
	destroyed  map[stackaddrs.AbsComponentInstance]bool // which must have no new dependents
	components map[stackaddrs.AbsComponent]bool         // with all their instances
}

func newReads(plan *stackplan.Plan) reads {
	r := reads{
		plan,
		map[stackaddrs.AbsComponentInstance]bool{},
		map[stackaddrs.AbsComponentInstance]bool{},
		map[stackaddrs.AbsComponent]bool{},
	}
	for _, c := range plan.Components {
		r.instances[c.Addr], r.destroyed[c.Addr] = true, c.Action == stackplan.Delete
		for _, required := range c.Requires {
			r.components[required] = true
		}
	}
	for _, addr := range plan.Removed {
		r.instances[addr] = true
	}
	for _, moved := range plan.Moved {
		r.instances[moved.From], r.instances[moved.To] = true, true
	}
	return r
}

// component reports whether the plan was made from a component instance, as one of the whole stack
// was from all.
func (r reads) component(addr stackaddrs.AbsComponentInstance) bool {
	return !r.plan.Partial || r.instances[addr] || r.components[stackaddrs.ComponentOf(addr)]
}

// changed returns the names of the parts that differ between two states, and that the plan was made
// from, sorted.
//
// Errors: a state cannot be encoded.
func (r reads) changed(before, now *stackstate.State) ([]string, error) {
	var names []string
	for _, addrs := range []map[stackaddrs.AbsComponentInstance]*stackstate.Component{before.Components, now.Components} {
		for addr := range addrs {
			if !r.component(addr) {
				continue
			}
			changes, err := stackstate.ComponentRecords(r.readOf(before.Components[addr]), r.readOf(now.Components[addr]))
			if err != nil {
				return nil, err
			}
			if len(changes) > 0 {
				names = append(names, addr.String())
			}
		}
	}
	for name, value := range now.Inputs {
		if old, ok := before.Inputs[name]; (!ok || !old.RawEquals(value)) && !r.hasValue(name, value) {
			names = append(names, stackaddrs.InputVariable{Name: name}.String())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// readOf returns the part of a component instance that the plan was made from.
func (r reads) readOf(c *stackstate.Component) *stackstate.Component {
	if c == nil || r.destroyed[c.Addr] {
		return c
	}
	alone := *c
	alone.Dependents = nil
	return &alone
}

// hasValue reports whether the plan was made with a value of a variable.
func (r reads) hasValue(name string, value cty.Value) bool {
	planned := r.plan.Inputs[name]
	if planned == nil {
		return false
	}
	have, _ := planned.After.UnmarkDeep()
	want, _ := value.UnmarkDeep()
	return have.RawEquals(want)
}

// checkReads fails if the state has changed since a plan was made, in what it was made from.
func (t Target) checkReads(plan *stackplan.Plan, made stackplan.FileContext) error {
	const since = "The state has changed since this plan was made: it is at serial %d, and the plan was made at serial %d%s. " +
		"Nothing was done. Make a new plan."
	if t.Past == nil || made.StateSerial > uint64(t.Serial) {
		return stale(since, t.Serial, made.StateSerial, "")
	}
	before, err := t.Past(int64(made.StateSerial)) //nolint:gosec // not more than the one that there is
	if err != nil {                                // as of a serial whose records were dropped
		return stale(since, t.Serial, made.StateSerial, "")
	}
	changed, err := newReads(plan).changed(before, t.State)
	switch {
	case err != nil:
		return stale(since, t.Serial, made.StateSerial, "")
	case len(changed) > 0:
		return stale(since, t.Serial, made.StateSerial, "; changed are "+some(changed))
	}
	return nil
}

// some lists names, but not too many.
func some(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
