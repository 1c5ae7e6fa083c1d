// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planned

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/lang/providercall"
	componentv1 "github.com/cairnstacks/cairn/proto/cairn/component/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Decode is the reverse of [Encode] for the plan of a result, as its keeper hands that back. It may
// share memory with the result.
//
// Errors: for details that are not of this version, are damaged, or are those of another result.
func Decode(result *engine.PlanResult) (*Plan, error) {
	var encoded componentv1.Plan
	if err := proto.Unmarshal(result.Plan, &encoded); err != nil {
		return nil, fmt.Errorf("not the plan of a component: %w", err)
	}
	if version := encoded.GetFormatVersion(); version != formatVersion {
		return nil, fmt.Errorf("the plan of the component has version %d of the format, and only version %d is understood", version,
			formatVersion)
	}
	p := &Plan{Prior: encoded.GetPrior(), Changes: changesOf(result), Requested: requestedIn(result)}
	if len(p.Changes) != int(encoded.GetNumber()) {
		return nil, fmt.Errorf("the plan of the component has %d changes, and was made with %d", len(p.Changes), encoded.GetNumber())
	}
	for _, c := range p.Changes {
		if c.Before == cty.NilVal || c.After == cty.NilVal {
			return nil, fmt.Errorf("the change of %s has no values", c.Addr)
		}
	}
	if err := p.addDetails(encoded.GetChanges()); err != nil {
		return nil, err
	}
	for _, one := range encoded.GetFunctionResults() {
		result := providercall.Result{}
		if copy(result.Call[:], one.GetCall()) < len(result.Call) || copy(result.Result[:], one.GetResult()) < len(result.Result) {
			return nil, errors.New("decoding the result of a function: a hash is too short")
		}
		p.Results = append(p.Results, result)
	}
	for _, address := range encoded.GetDeferred() {
		addr, err := stackaddrs.ParsePartialResourceInstance(address)
		if err != nil {
			return nil, fmt.Errorf("decoding a deferred block: %w", err)
		}
		p.Deferred = append(p.Deferred, addr)
	}
	return p, nil
}

// requestedIn returns the actions of a result that no change triggers.
func requestedIn(result *engine.PlanResult) []*Invocation {
	var requested []*Invocation
	for _, i := range result.Invocations {
		if i.Trigger.IsRequest() {
			requested = append(requested, &Invocation{Invocation: *i})
		}
	}
	return requested
}

// changesOf returns the changes of a result without their details.
func changesOf(result *engine.PlanResult) []*Change {
	invocations := map[stackaddrs.ResourceInstance][]*Invocation{}
	for _, i := range result.Invocations {
		if i.Trigger.IsRequest() {
			continue
		}
		invocations[i.Trigger.Resource] = append(invocations[i.Trigger.Resource], &Invocation{Invocation: *i})
	}
	for _, d := range result.DeferredInvocations {
		of := d.Invocation.Trigger.Resource
		invocations[of] = append(invocations[of], &Invocation{Invocation: *d.Invocation, Deferred: d.Reason})
	}
	changes := make([]*Change, 0, len(result.Changes)+len(result.Deferred))
	add := func(c *engine.Change, deferred string) {
		change := &Change{Change: *c, Deferred: deferred}
		if c.Deposed == "" {
			change.Invocations = invocations[c.Addr]
			slices.SortFunc(change.Invocations, func(a, b *Invocation) int { return a.Compare(&b.Invocation) })
		}
		changes = append(changes, change)
	}
	for _, c := range result.Changes {
		add(c, "")
	}
	for _, d := range result.Deferred {
		add(d.Change, d.Reason)
	}
	slices.SortFunc(changes, (*Change).Compare)
	return changes
}

// addDetails adds the details of changes.
func (p *Plan) addDetails(encoded []*componentv1.Change) error {
	for _, details := range encoded {
		addr, err := stackaddrs.ParsePartialResourceInstance(details.GetAddress())
		if err != nil {
			return fmt.Errorf("decoding the details of a change: %w", err)
		}
		i, found := slices.BinarySearchFunc(p.Changes, addr, func(c *Change, addr stackaddrs.ResourceInstance) int {
			return cmp.Or(c.Addr.Compare(addr), cmp.Compare(string(c.Deposed), details.GetDeposed()))
		})
		if !found {
			return fmt.Errorf("the plan of the component has no change of %s", details.GetAddress())
		}
		c := p.Changes[i]
		c.Alias, c.Private, c.BeforePrivate = details.GetAlias(), details.GetPrivate(), details.GetBeforePrivate()
		c.CreateBeforeDestroy = details.GetCreateBeforeDestroy()
		for _, place := range details.GetConditional() {
			if int(place) >= len(c.Invocations) {
				return fmt.Errorf("the change of %s triggers %d actions, and there were more", details.GetAddress(), len(c.Invocations))
			}
			c.Invocations[place].Conditional = true
		}
	}
	return nil
}
