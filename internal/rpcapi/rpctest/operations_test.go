// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/anypb"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// rawState is a raw state as clients keep it.
type rawState map[string]*anypb.Any

// merge takes over a change.
func (s rawState) merge(change *stackspb.AppliedChange) {
	for _, raw := range change.GetRaw() {
		if raw.GetValue() == nil {
			delete(s, raw.GetKey())
		} else {
			s[raw.GetKey()] = raw.GetValue()
		}
	}
}

func (c *client) openState(raw rawState) (int64, error) {
	var items []*stackspb.AppliedChange_RawChange
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		items = append(items, &stackspb.AppliedChange_RawChange{Key: key, Value: raw[key]})
	}
	return c.openStateOf(items...)
}

func (c *client) openStateOf(items ...*stackspb.AppliedChange_RawChange) (int64, error) {
	stream, err := c.stacks.OpenState(c.t.Context())
	if err != nil {
		return 0, err
	}
	for _, item := range items {
		if stream.Send(&stackspb.OpenStackState_RequestItem{Raw: item}) != nil {
			break // receiving says why
		}
	}
	response, err := stream.CloseAndRecv()
	return response.GetStateHandle(), err
}

func (c *client) openPlan(raw []*anypb.Any) (int64, error) {
	stream, err := c.stacks.OpenPlan(c.t.Context())
	if err != nil {
		return 0, err
	}
	for _, element := range raw {
		if stream.Send(&stackspb.OpenStackPlan_RequestItem{Raw: element}) != nil {
			break // receiving says why
		}
	}
	response, err := stream.CloseAndRecv()
	return response.GetPlanHandle(), err
}

// plan makes a plan of the stack: the request needs to have no handles of configuration, locks and
// cache.
func (s *stack) plan(request *stackspb.PlanStackChanges_Request) ([]*stackspb.PlanStackChanges_Event, error) {
	if request.GetStackConfigHandle() == 0 {
		request.StackConfigHandle = s.config
	}
	if request.GetDependencyLocksHandle() == 0 && request.GetProviderCacheHandle() == 0 {
		request.DependencyLocksHandle, request.ProviderCacheHandle = s.locks, s.cache
	}
	stream, err := s.stacks.PlanStackChanges(s.t.Context(), request)
	if err != nil {
		return nil, err
	}
	return receiveAll(stream.Recv)
}

// apply applies a plan, as plan does one.
func (s *stack) apply(request *stackspb.ApplyStackChanges_Request) ([]*stackspb.ApplyStackChanges_Event, error) {
	if request.GetStackConfigHandle() == 0 {
		request.StackConfigHandle = s.config
	}
	if request.GetDependencyLocksHandle() == 0 && request.GetProviderCacheHandle() == 0 {
		request.DependencyLocksHandle, request.ProviderCacheHandle = s.locks, s.cache
	}
	stream, err := s.stacks.ApplyStackChanges(s.t.Context(), request)
	if err != nil {
		return nil, err
	}
	return receiveAll(stream.Recv)
}

// rawPlan returns the elements that open a plan, in their order.
func rawPlan(events []*stackspb.PlanStackChanges_Event) []*anypb.Any {
	var raw []*anypb.Any
	for _, event := range events {
		raw = append(raw, event.GetPlannedChange().GetRaw()...)
	}
	return raw
}

// applyable returns the verdict of a plan, and whether there was one.
func applyable(events []*stackspb.PlanStackChanges_Event) (verdict, found bool) {
	for _, event := range events {
		for _, description := range event.GetPlannedChange().GetDescriptions() {
			if said, ok := description.GetDescription().(*stackspb.PlannedChange_ChangeDescription_PlanApplyable); ok {
				verdict, found = said.PlanApplyable, true
			}
		}
	}
	return verdict, found
}

// diagnostics returns those among the events of a plan, an apply or a migration.
func diagnostics[E interface {
	GetDiagnostic() *terraform1.Diagnostic
}](events []E,
) []*terraform1.Diagnostic {
	var diags []*terraform1.Diagnostic
	for _, event := range events {
		if diagnostic := event.GetDiagnostic(); diagnostic != nil {
			diags = append(diags, diagnostic)
		}
	}
	return diags
}

// progress returns that among the events of a plan or an apply.
func progress[E interface {
	GetProgress() *stackspb.StackChangeProgress
}](events []E,
) []*stackspb.StackChangeProgress {
	var all []*stackspb.StackChangeProgress
	for _, event := range events {
		if p := event.GetProgress(); p != nil {
			all = append(all, p)
		}
	}
	return all
}

// bytesFields returns the fields of an encoded message that are strings, bytes or messages.
func bytesFields(encoded []byte) []string {
	var fields []string
	for len(encoded) > 0 {
		number, kind, n := protowire.ConsumeTag(encoded)
		if n < 0 {
			return fields
		}
		size := protowire.ConsumeFieldValue(number, kind, encoded[n:])
		if size < 0 {
			return fields
		}
		if value, m := protowire.ConsumeBytes(encoded[n:]); kind == protowire.BytesType && m > 0 {
			fields = append(fields, string(value))
		}
		encoded = encoded[n+size:]
	}
	return fields
}

// componentStatuses returns the statuses of a component instance in their order.
func componentStatuses[E interface {
	GetProgress() *stackspb.StackChangeProgress
}](events []E, addr string,
) string {
	var statuses []string
	for _, p := range progress(events) {
		if s := p.GetComponentInstanceStatus(); s != nil && s.GetAddr().GetComponentInstanceAddr() == addr {
			statuses = append(statuses, s.GetStatus().String())
		}
	}
	return strings.Join(statuses, " ")
}

// resourceStatuses returns the statuses of a resource instance, in whatever component, in their
// order.
func resourceStatuses[E interface {
	GetProgress() *stackspb.StackChangeProgress
}](events []E, addr string,
) string {
	var statuses []string
	for _, p := range progress(events) {
		if s := p.GetResourceInstanceStatus(); s != nil && s.GetAddr().GetResourceInstanceAddr() == addr {
			statuses = append(statuses, s.GetStatus().String())
		}
	}
	return strings.Join(statuses, " ")
}

// changeCounts returns the counters of a component instance, the last ones if there are several.
func changeCounts[E interface {
	GetProgress() *stackspb.StackChangeProgress
}](events []E, addr string,
) *stackspb.StackChangeProgress_ComponentInstanceChanges {
	var found *stackspb.StackChangeProgress_ComponentInstanceChanges
	for _, p := range progress(events) {
		if c := p.GetComponentInstanceChanges(); c != nil && c.GetAddr().GetComponentInstanceAddr() == addr {
			found = c
		}
	}
	return found
}
