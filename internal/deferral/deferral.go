// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package deferral finds which components of a plan are deferred, and why.
package deferral

import (
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// The reasons, as in docs/language.md, section 4.8.
const (
	InstanceCountUnknown  = "instance_count_unknown"
	ResourceConfigUnknown = "resource_config_unknown"
	ProviderConfigUnknown = "provider_config_unknown"
	AbsentPrerequisite    = "absent_prereq"
	DeferredPrerequisite  = "deferred_prereq"
	Invalid               = "invalid" // anything else
)

// IsDeferred reports whether a component of the plan is deferred, wholly or in part.
// In a plan that saw no errors that is the only way not to be complete.
func IsDeferred(plan *stackplan.Plan, c *stackplan.Component) bool {
	return c.DeferredReason != "" || len(c.Deferred) > 0 || !c.Complete && plan.Applyable
}

// Failed reports whether a component could not be planned.
func Failed(plan *stackplan.Plan, c *stackplan.Component) bool {
	return !c.Complete && !IsDeferred(plan, c)
}

// Reason returns why a component is deferred, and "" for one that is not.
func Reason(plan *stackplan.Plan, c *stackplan.Component) string {
	if !IsDeferred(plan, c) {
		return ""
	}
	if c.DeferredReason != "" {
		return c.DeferredReason
	}
	for _, deferred := range c.Deferred {
		if deferred.Reason != "" {
			return deferred.Reason
		}
	}
	switch {
	case stackaddrs.HasWildcard(c.Addr):
		return InstanceCountUnknown
	case slices.ContainsFunc(plan.Components, func(other *stackplan.Component) bool {
		return slices.Contains(c.Requires, stackaddrs.ComponentOf(other.Addr)) && IsDeferred(plan, other)
	}):
		return DeferredPrerequisite
	}
	return Invalid
}

// ComponentText puts the reason why a component is deferred into words that go on
// after "is deferred: ".
func ComponentText(plan *stackplan.Plan, c *stackplan.Component) string {
	switch {
	case c.Addr.Item.Key.IsWildcard():
		return "its instances are known only after apply"
	case stackaddrs.HasWildcard(c.Addr):
		return "the instances of its stack are known only after apply"
	}
	return text(Reason(plan, c))
}

// ResourceText puts the reason why a resource of the component is deferred into
// words that go on after "because ".
func ResourceText(c *stackplan.Component, deferred engine.DeferredChange) string {
	if deferred.Reason == DeferredPrerequisite && stackaddrs.HasWildcard(c.Addr) {
		return "the instances of its component are known only after apply"
	}
	return text(deferred.Reason)
}

var texts = map[string]string{
	InstanceCountUnknown:  "the number of instances is known only after apply",
	ResourceConfigUnknown: "the configuration is known only after apply",
	ProviderConfigUnknown: "the provider's configuration is known only after apply",
	AbsentPrerequisite:    "something that it needs does not exist yet",
	DeferredPrerequisite:  "something that it depends on is deferred",
	Invalid:               "the reason is not known",
	"":                    "the reason is not known",
}

func text(reason string) string {
	if text, ok := texts[reason]; ok {
		return text
	}
	return reason
}
