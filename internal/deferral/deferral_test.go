// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deferral

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/views/viewtest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func TestReason(t *testing.T) {
	late := &stackplan.Component{Addr: viewtest.Instance(t, "component.late"), DeferredReason: AbsentPrerequisite}
	tests := map[string]struct {
		failed    bool // the plan saw errors
		component stackplan.Component
		addr      string
		reason    string // "" if not deferred
		text      string
		couldNot  bool // be planned
	}{
		"complete":           {component: stackplan.Component{Complete: true}},
		"complete in errors": {failed: true, component: stackplan.Component{Complete: true}},
		"failed":             {failed: true, couldNot: true},
		"stated": {
			component: stackplan.Component{DeferredReason: ProviderConfigUnknown},
			reason:    ProviderConfigUnknown, text: "the provider's configuration is known only after apply",
		},
		"stated, in errors": {
			failed: true, component: stackplan.Component{DeferredReason: DeferredPrerequisite},
			reason: DeferredPrerequisite, text: "something that it depends on is deferred",
		},
		"of a resource": {
			component: stackplan.Component{Deferred: []engine.DeferredChange{{}, {Reason: ResourceConfigUnknown}}},
			reason:    ResourceConfigUnknown, text: "the configuration is known only after apply",
		},
		"of a component that it needs": {
			component: stackplan.Component{Requires: []stackaddrs.AbsComponent{stackaddrs.ComponentOf(late.Addr)}},
			reason:    DeferredPrerequisite, text: "something that it depends on is deferred",
		},
		"instances not known": {
			addr: "component.x[*]", component: stackplan.Component{},
			reason: InstanceCountUnknown, text: "its instances are known only after apply",
		},
		"stacks not known": {
			addr: "stack.s[*].component.x", component: stackplan.Component{DeferredReason: DeferredPrerequisite},
			reason: DeferredPrerequisite, text: "the instances of its stack are known only after apply",
		},
		"not stated": {reason: Invalid, text: "the reason is not known"},
		"new":        {component: stackplan.Component{DeferredReason: "of_late"}, reason: "of_late", text: "of_late"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := &test.component
			c.Addr = viewtest.Instance(t, "component.x")
			if test.addr != "" {
				c.Addr = viewtest.PartialInstance(t, test.addr)
			}
			plan := &stackplan.Plan{Applyable: !test.failed, Components: []*stackplan.Component{late, c}}
			if got := Reason(plan, c); got != test.reason {
				t.Errorf("Reason: got %q, want %q", got, test.reason)
			}
			if got, want := IsDeferred(plan, c), test.reason != ""; got != want {
				t.Errorf("IsDeferred: got %v, want %v", got, want)
			}
			if got := Failed(plan, c); got != test.couldNot {
				t.Errorf("Failed: got %v, want %v", got, test.couldNot)
			}
			if got := ComponentText(plan, c); test.text != "" && got != test.text {
				t.Errorf("ComponentText: got %q, want %q", got, test.text)
			}
		})
	}
}

func TestResourceText(t *testing.T) {
	one := &stackplan.Component{Addr: viewtest.Instance(t, "component.x")}
	every := &stackplan.Component{Addr: viewtest.PartialInstance(t, "component.x[*]")}
	tests := []struct {
		component *stackplan.Component
		reason    string
		want      string
	}{
		{one, DeferredPrerequisite, "something that it depends on is deferred"},
		{every, DeferredPrerequisite, "the instances of its component are known only after apply"},
		{every, ProviderConfigUnknown, "the provider's configuration is known only after apply"},
		{one, "", "the reason is not known"},
	}
	for _, test := range tests {
		if got := ResourceText(test.component, engine.DeferredChange{Reason: test.reason}); got != test.want {
			t.Errorf("ResourceText for %s and %q: got %q, want %q", test.component.Addr, test.reason, got, test.want)
		}
	}
}
