// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// objectChange is the planned change of one resource instance.
type objectChange struct {
	action  engine.Action
	reason  engine.ActionReason
	replace []cty.Path
	before  cty.Value // null when there is no object
	after   cty.Value // null when there will be none
}

var noObject = cty.NullVal(cty.DynamicPseudoType)

// planObject plans the change of an object, as the built-in provider does: a change of
// triggers_replace needs a new object, and output follows input.
func planObject(prior *priorObject, r resourceInstance, forced bool) objectChange {
	if prior == nil {
		return objectChange{action: engine.ActionCreate, before: noObject, after: newObject(r)}
	}
	before := prior.value.AsValueMap()
	replacement := func(reason engine.ActionReason) objectChange {
		return objectChange{action: engine.ActionDeleteThenCreate, reason: reason, before: prior.value, after: newObject(r)}
	}
	switch {
	case prior.tainted:
		return replacement(engine.ReplaceBecauseTainted)
	case !sameValue(before["triggers_replace"], r.triggersReplace):
		change := replacement(engine.ReplaceBecauseCannotUpdate)
		change.replace = []cty.Path{cty.GetAttrPath("triggers_replace")}
		return change
	case forced:
		return replacement(engine.ReplaceByRequest)
	}
	change := objectChange{action: engine.ActionNoOp, before: prior.value}
	input, output := r.input, plannedOutput(r.input)
	if sameValue(before["input"], r.input) {
		input, output = keepValue(before["input"], r.input), before["output"]
	}
	change.after = object(before["id"], input, output, keepValue(before["triggers_replace"], r.triggersReplace))
	if !change.after.RawEquals(prior.value) {
		change.action = engine.ActionUpdate
	}
	return change
}

// sameValue compares without regard to marks. Unknown values differ from all others.
func sameValue(a, b cty.Value) bool {
	a, _ = a.UnmarkDeep()
	b, _ = b.UnmarkDeep()
	if a.IsNull() && b.IsNull() {
		return true // a null in a state document has lost its type
	}
	return a.IsWhollyKnown() && b.IsWhollyKnown() && a.RawEquals(b)
}

// keepValue returns the new one of two values that are the same but perhaps for
// their marks and, if they are null, their types.
func keepValue(before, after cty.Value) cty.Value {
	bare, own := after.Unmark()
	if !bare.IsNull() {
		return after
	}
	before, _ = before.Unmark()
	return before.WithMarks(own)
}

func newObject(r resourceInstance) cty.Value {
	return object(cty.UnknownVal(cty.String).RefineNotNull(), r.input, plannedOutput(r.input), r.triggersReplace)
}

func plannedOutput(input cty.Value) cty.Value {
	bare, _ := input.UnmarkDeep()
	if bare.IsNull() {
		return cty.NullVal(bare.Type())
	}
	return cty.UnknownVal(bare.Type())
}

func object(id, input, output, triggersReplace cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"id":               id,
		"input":            input,
		"output":           output,
		"triggers_replace": triggersReplace,
	})
}

// finishObject completes a planned object: with the identifier that a new one
// gets, and the output.
func finishObject(planned cty.Value, newID string) cty.Value {
	attrs := planned.AsValueMap()
	if !attrs["id"].IsKnown() {
		attrs["id"] = cty.StringVal(newID)
	}
	attrs["output"], _ = attrs["input"].UnmarkDeep()
	return cty.ObjectVal(attrs)
}

var idNamespace = uuid.MustParse("0b0c7d52-7d4c-5c1e-8a93-0f6d9f1d1a57")

// newID derives the identifier of a new object from its address and from the object it replaces
// (rule M1).
func newID(component stackaddrs.AbsComponentInstance, addr string, prior *priorObject) string {
	name := component.String() + "," + addr
	if prior != nil {
		name += "," + prior.value.GetAttr("id").AsString()
	}
	return uuid.NewSHA1(idNamespace, []byte(name)).String()
}

// isEphemeral reports whether a value cannot be part of a resource.
func isEphemeral(r resourceInstance) bool {
	return marks.Contains(r.input, marks.Ephemeral) || marks.Contains(r.triggersReplace, marks.Ephemeral)
}
