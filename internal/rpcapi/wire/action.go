// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wire

import (
	"strings"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// resourceActions are the steps of actions.
var resourceActions = map[engine.Action][]stackspb.ChangeType{
	engine.ActionNoOp:             {stackspb.ChangeType_NOOP},
	engine.ActionCreate:           {stackspb.ChangeType_CREATE},
	engine.ActionRead:             {stackspb.ChangeType_READ},
	engine.ActionUpdate:           {stackspb.ChangeType_UPDATE},
	engine.ActionDelete:           {stackspb.ChangeType_DELETE},
	engine.ActionForget:           {stackspb.ChangeType_FORGET},
	engine.ActionDeleteThenCreate: {stackspb.ChangeType_DELETE, stackspb.ChangeType_CREATE},
	engine.ActionCreateThenDelete: {stackspb.ChangeType_CREATE, stackspb.ChangeType_DELETE},
	engine.ActionCreateThenForget: {stackspb.ChangeType_CREATE, stackspb.ChangeType_FORGET},
	engine.ActionForgetThenCreate: {stackspb.ChangeType_FORGET, stackspb.ChangeType_CREATE},
}

// ResourceActions returns the steps of an action. There are none if nothing could be planned.
func ResourceActions(action engine.Action) []stackspb.ChangeType { return resourceActions[action] }

// ComponentActions returns the actions of a component instance. One that exists is updated, whether
// anything in it changes or not, or only read if the plan refreshes.
func ComponentActions(c *stackplan.Component) []stackspb.ChangeType {
	switch {
	case c.Action == stackplan.Delete:
		return []stackspb.ChangeType{stackspb.ChangeType_DELETE}
	case c.Action == stackplan.Forget:
		return []stackspb.ChangeType{stackspb.ChangeType_FORGET}
	case c.Mode == engine.RefreshOnly:
		return []stackspb.ChangeType{stackspb.ChangeType_READ}
	case c.Action == stackplan.Create:
		return []stackspb.ChangeType{stackspb.ChangeType_CREATE}
	default:
		return []stackspb.ChangeType{stackspb.ChangeType_UPDATE}
	}
}

// RootActions returns the actions of a root variable or output.
func RootActions(action stackplan.Action) []stackspb.ChangeType {
	switch action {
	case stackplan.Create:
		return []stackspb.ChangeType{stackspb.ChangeType_CREATE}
	case stackplan.Update:
		return []stackspb.ChangeType{stackspb.ChangeType_UPDATE}
	case stackplan.Delete:
		return []stackspb.ChangeType{stackspb.ChangeType_DELETE}
	default:
		return []stackspb.ChangeType{stackspb.ChangeType_NOOP}
	}
}

// ActionReason returns the name of a reason.
func ActionReason(reason engine.ActionReason) string {
	if reason == "" {
		return "ResourceInstanceChangeNoReason"
	}
	var name strings.Builder
	name.WriteString("ResourceInstance")
	for word := range strings.SplitSeq(string(reason), "_") {
		if word != "" {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return name.String()
}

// deferredReasons are why changes are deferred, by their names in plans.
var deferredReasons = map[string]stackspb.Deferred_Reason{
	"instance_count_unknown":  stackspb.Deferred_INSTANCE_COUNT_UNKNOWN,
	"resource_config_unknown": stackspb.Deferred_RESOURCE_CONFIG_UNKNOWN,
	"provider_config_unknown": stackspb.Deferred_PROVIDER_CONFIG_UNKNOWN,
	"absent_prereq":           stackspb.Deferred_ABSENT_PREREQ,
	"deferred_prereq":         stackspb.Deferred_DEFERRED_PREREQ,
}

// Deferred returns why a change is deferred.
func Deferred(reason string) *stackspb.Deferred {
	return &stackspb.Deferred{Reason: deferredReasons[reason]}
}

// componentStatuses are those of component instances.
var componentStatuses = map[hooks.Status]stackspb.StackChangeProgress_ComponentInstanceStatus_Status{
	hooks.Pending:     stackspb.StackChangeProgress_ComponentInstanceStatus_PENDING,
	hooks.Planning:    stackspb.StackChangeProgress_ComponentInstanceStatus_PLANNING,
	hooks.Planned:     stackspb.StackChangeProgress_ComponentInstanceStatus_PLANNED,
	hooks.Deferred:    stackspb.StackChangeProgress_ComponentInstanceStatus_DEFERRED,
	hooks.Applying:    stackspb.StackChangeProgress_ComponentInstanceStatus_APPLYING,
	hooks.Applied:     stackspb.StackChangeProgress_ComponentInstanceStatus_APPLIED,
	hooks.Failed:      stackspb.StackChangeProgress_ComponentInstanceStatus_ERRORED,
	hooks.Interrupted: stackspb.StackChangeProgress_ComponentInstanceStatus_ERRORED,
	hooks.Skipped:     stackspb.StackChangeProgress_ComponentInstanceStatus_ERRORED,
}

// ComponentStatus returns the status of a component instance. An instance that was not begun, or
// not finished, is in error.
func ComponentStatus(status hooks.Status) stackspb.StackChangeProgress_ComponentInstanceStatus_Status {
	return componentStatuses[status]
}
