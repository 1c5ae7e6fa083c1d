// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// NeedsApply reports whether the engine has something to do. Where it has not,
// applying means keeping what was found while planning, which costs nothing.
func NeedsApply(result *engine.PlanResult) bool {
	if !result.Applyable {
		return false
	}
	for _, change := range result.Changes {
		if !change.IsNoOp() {
			return true
		}
	}
	for _, value := range result.Outputs {
		if !value.IsWhollyKnown() {
			return true
		}
	}
	return false
}

// SameValues reports whether two sets of values are the same.
func SameValues(a, b map[string]cty.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for name, value := range a {
		other, ok := b[name]
		if !ok || !value.RawEquals(other) {
			return false
		}
	}
	return true
}

// LastKnown returns the values with those that are not known replaced by earlier ones.
func LastKnown(values, earlier map[string]cty.Value) map[string]cty.Value {
	known := make(map[string]cty.Value, len(values))
	for name, value := range values {
		if last, ok := earlier[name]; ok && !value.IsWhollyKnown() && last.IsWhollyKnown() {
			value = last
		}
		known[name] = value
	}
	return known
}

// HasObjects reports whether a module state has any objects. One that cannot be
// read counts as having some: nothing may be lost for that.
func HasObjects(state engine.State) bool {
	doc, err := tfstate.Parse(state)
	return err != nil || doc.HasObjects()
}
