// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package terraformjson writes values, changes and the results of checks as they stand in
// terraform's JSON plans.
//
// A value becomes three parallel trees: the value itself, where it is unknown, and where it is
// sensitive. Sensitive values are in clear.
package terraformjson

import (
	"cmp"
	"encoding/json"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// ResourceChange writes a change.
func ResourceChange(c *engine.Change) *tfjson.ResourceChange {
	rc := &tfjson.ResourceChange{
		Address:       c.Address(),
		ModuleAddress: c.Addr.Module.String(),
		DeposedKey:    string(c.Deposed),
		ActionReason:  tfjson.ActionReason(c.Reason),
	}
	if !c.IsModule() {
		rc.Mode, rc.Index = tfjson.ResourceMode(c.Addr.Resource.Mode.String()), c.Addr.Key.Index()
		rc.Type, rc.Name = c.Addr.Resource.Type, c.Addr.Resource.Name
	}
	if c.IsMove() {
		rc.PreviousAddress = c.PreviousAddr.String()
	}
	if c.Provider != (stackaddrs.Provider{}) {
		rc.ProviderName = c.Provider.String()
	}
	if c.Action != "" {
		rc.Change = change(c)
	}
	return rc
}

// ActionInvocation is that of tfjson, with the parts that terraform has since 1.16.
type ActionInvocation struct {
	*tfjson.ActionInvocation
	Trigger *ActionTrigger `json:"lifecycle_action_trigger,omitempty"` // takes the place of tfjson's
	Request *ActionRequest `json:"invoke_action_trigger,omitempty"`    // as well
}

// ActionTrigger is that of tfjson, with the effect of a failure, as in ActionOnFailureHalt.
type ActionTrigger struct {
	*tfjson.LifecycleActionTrigger
	OnFailure string `json:"on_failure"`
}

// ActionRequest is the trigger of an action that somebody has asked for.
type ActionRequest struct {
	Caller string `json:"calling_resource_address,omitempty"`
}

// Invocation writes an action that a change triggers, or that somebody has asked for.
func Invocation(i *engine.Invocation) ActionInvocation {
	out := ActionInvocation{ActionInvocation: &tfjson.ActionInvocation{Address: i.Addr.String(), Type: i.Addr.Type, Name: i.Addr.Name}}
	if i.Trigger.IsRequest() {
		out.Request = &ActionRequest{i.Trigger.Caller()}
	} else {
		out.Trigger = &ActionTrigger{&tfjson.LifecycleActionTrigger{
			TriggeringResourceAddress: i.Trigger.Resource.String(), ActionTriggerEvent: camelCase(string(i.Trigger.Event)),
			ActionTriggerBlockIndex: i.Trigger.Block, ActionsListIndex: i.Trigger.Position,
		}, camelCase("action_on_failure_" + string(cmp.Or(i.Trigger.OnFailure, engine.HaltOnFailure)))}
	}
	if i.Provider != (stackaddrs.Provider{}) {
		out.ProviderName = i.Provider.String()
	}
	if i.Config != cty.NilVal {
		out.ConfigValues, out.ConfigSensitive, out.ConfigUnknown = Value(i.Config), Sensitive(i.Config), Unknown(i.Config)
	}
	return out
}

// camelCase writes after_create as AfterCreate.
func camelCase(text string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(text, "_") {
		if word != "" { // a plan file may say anything
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return name.String()
}

func change(c *engine.Change) *tfjson.Change {
	out := &tfjson.Change{
		GeneratedConfig: c.GeneratedConfig,
		BeforeIdentity:  identity(c.BeforeIdentity),
		AfterIdentity:   identity(c.AfterIdentity),
	}
	for action := range strings.SplitSeq(string(c.Action), "/") {
		out.Actions = append(out.Actions, tfjson.Action(action))
	}
	if c.Before != cty.NilVal {
		out.Before, out.BeforeSensitive = Value(c.Before), Sensitive(c.Before)
		out.AfterUnknown, out.AfterSensitive = map[string]any{}, map[string]any{} // as of an object of which nothing is planned yet
	}
	if c.After != cty.NilVal {
		out.After, out.AfterSensitive = Value(c.After), Sensitive(c.After)
		out.AfterUnknown = map[string]any{}
		if !isWhollyKnown(c.After) {
			out.AfterUnknown = Unknown(c.After)
		}
	}
	if c.Importing != nil {
		out.Importing = &tfjson.Importing{ID: c.Importing.ID, Unknown: c.Importing.Unknown, Identity: Value(c.Importing.Identity)}
	}
	for _, path := range c.Replace {
		out.ReplacePaths = append(out.ReplacePaths, Path(path))
	}
	return out
}

// identity writes the identity of an object. As in terraform, there is none until all of it is
// known.
func identity(v cty.Value) any {
	if v == cty.NilVal || !isWhollyKnown(v) {
		return nil
	}
	return Value(v)
}

// Path writes a path as a list of names and indexes.
func Path(path cty.Path) []any {
	steps := make([]any, len(path))
	for i, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			steps[i] = step.Name
		case cty.IndexStep:
			steps[i] = Value(step.Key)
		}
	}
	return steps
}

// Value writes a value. An unknown or ephemeral value is left out of objects and maps, and is null
// in lists, where its position relates it to [Unknown].
func Value(v cty.Value) any {
	tree, _ := valueOf(v)
	return tree
}

// valueOf also reports whether there is a value to write.
func valueOf(v cty.Value) (any, bool) {
	if v == cty.NilVal || marks.Has(v, marks.Ephemeral) {
		return nil, false
	}
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case !v.IsKnown():
		return nil, false
	case v.IsNull():
		return nil, true
	case ty == cty.String:
		return v.AsString(), true
	case ty == cty.Bool:
		return v.True(), true
	case ty == cty.Number:
		return json.Number(v.AsBigFloat().Text('f', -1)), true
	case ty.IsObjectType(), ty.IsMapType():
		object := make(map[string]any, v.LengthInt())
		for it := v.ElementIterator(); it.Next(); {
			name, part := it.Element()
			if tree, ok := valueOf(part); ok {
				object[name.AsString()] = tree
			}
		}
		return object, true
	case v.CanIterateElements():
		list := make([]any, 0, v.LengthInt())
		for it := v.ElementIterator(); it.Next(); {
			_, part := it.Element()
			list = append(list, Value(part))
		}
		return list, true
	}
	return nil, false // a capsule, such as a provider reference
}

// Unknown writes where a value is unknown: true for unknown parts, false for known ones. Objects
// and maps have only members that are not false.
func Unknown(v cty.Value) any {
	return flags(v, func(v cty.Value) bool { return !v.IsKnown() })
}

// Sensitive writes where a value is sensitive, built like [Unknown], except that an unknown
// collection is empty.
func Sensitive(v cty.Value) any {
	return flags(v, func(v cty.Value) bool {
		return v.IsMarked() && !marks.Has(v, marks.Ephemeral) || marks.Has(v, marks.Sensitive)
	})
}

func flags(v cty.Value, test func(cty.Value) bool) any {
	if test(v) {
		return true
	}
	v, _ = v.Unmark()
	if v.IsNull() {
		return false
	}
	ty := v.Type()
	switch {
	case ty.IsObjectType(), ty.IsMapType():
		object := map[string]any{}
		if v.IsKnown() {
			for it := v.ElementIterator(); it.Next(); {
				name, part := it.Element()
				if flag := flags(part, test); flag != false {
					object[name.AsString()] = flag
				}
			}
		}
		return object
	case ty.IsTupleType(), ty.IsListType(), ty.IsSetType():
		list := []any{}
		if v.IsKnown() {
			for it := v.ElementIterator(); it.Next(); {
				_, part := it.Element()
				list = append(list, flags(part, test))
			}
		}
		return list
	}
	return false
}

func isWhollyKnown(v cty.Value) bool {
	v, _ = v.UnmarkDeep()
	return v.IsWhollyKnown()
}

// Checks writes the results of checks.
func Checks(results []engine.CheckResult) []tfjson.CheckResultStatic {
	list := make([]tfjson.CheckResultStatic, len(results))
	for i, result := range results {
		list[i] = check(result)
	}
	return list
}

func check(result engine.CheckResult) tfjson.CheckResultStatic {
	out := tfjson.CheckResultStatic{
		Address: tfjson.CheckStaticAddress{ToDisplay: result.Address, Kind: tfjson.CheckKind(result.Kind)},
		Status:  tfjson.CheckStatus(result.Status),
	}
	if addr, err := stackaddrs.ParsePartialResourceInstance(result.Address); err != nil {
		out.Address.Name = result.Address
	} else {
		out.Address.Module, out.Address.Name = addr.Module.String(), addr.Resource.Name
		if result.Kind == engine.CheckResource {
			out.Address.Mode, out.Address.Type = tfjson.ResourceMode(addr.Resource.Mode.String()), addr.Resource.Type
		}
	}
	for _, object := range result.Objects {
		out.Instances = append(out.Instances, checkedObject(object))
	}
	return out
}

func checkedObject(object engine.CheckedObject) tfjson.CheckResultDynamic {
	out := tfjson.CheckResultDynamic{
		Address: tfjson.CheckDynamicAddress{ToDisplay: object.Address},
		Status:  tfjson.CheckStatus(object.Status),
	}
	if addr, err := stackaddrs.ParsePartialResourceInstance(object.Address); err == nil {
		out.Address.Module, out.Address.InstanceKey = addr.Module.String(), addr.Key.Index()
	}
	for _, message := range object.Messages {
		out.Problems = append(out.Problems, tfjson.CheckResultProblem{Message: message})
	}
	return out
}
