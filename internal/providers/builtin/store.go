// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/provider"
)

// plannedStore is the plan for the block store of an object.
type plannedStore struct {
	planned cty.Value
	replace bool // the object is to be replaced, since another value is stored
}

// planStore plans the block store of an object.
//
// With a version, the stored value stays for as long as that does, whatever the input is, which may
// be ephemeral. Without one, it is compared with the input. The first value that is stored replaces
// nothing.
func planStore(prior, config cty.Value) (plannedStore, provider.Diagnostics) {
	if config.IsNull() || !config.IsKnown() {
		return plannedStore{planned: config}, nil
	}
	for _, name := range []string{"replace", "sensitive"} {
		if !config.GetAttr(name).IsKnown() {
			diags := provider.Errorf("Unknown argument of stored value", "The argument %s must be known while planning.", name)
			diags[0].Path = cty.GetAttrPath("store").GetAttr(name)
			return plannedStore{}, diags
		}
	}
	input, version := config.GetAttr("input"), config.GetAttr("version")
	before, versionBefore := noData, noData
	if !prior.IsNull() {
		before, versionBefore = storedValue(prior), prior.GetAttr("version")
	}
	after, changed := before, false
	switch {
	case !version.IsNull():
		changed = !version.RawEquals(versionBefore)
	case input.IsNull() && before.IsNull():
		after = input
	case input.IsNull() && storedValue(config).RawEquals(before): // with ignore_changes, which knows no input
	default:
		changed = !input.RawEquals(before)
	}
	if changed {
		after = unknownOutput(input)
	}
	return plannedStore{
		planned: newStore(config, after),
		replace: changed && !prior.IsNull() && isTrue(config.GetAttr("replace")),
	}, nil
}

// storedValue returns the value that a block has stored.
func storedValue(store cty.Value) cty.Value {
	if value := store.GetAttr("sensitive_output"); !value.IsNull() {
		return value
	}
	return store.GetAttr("output")
}

// newStore returns a block that has stored a value, as a configuration says.
func newStore(config, value cty.Value) cty.Value {
	attrs := config.AsValueMap()
	attrs["input"], attrs["output"], attrs["sensitive_output"] = noData, noData, noData
	if isTrue(config.GetAttr("sensitive")) {
		attrs["sensitive_output"] = value
	} else {
		attrs["output"] = value
	}
	return cty.ObjectVal(attrs)
}

// applyStore returns the block that was planned for a configuration, with the value that was
// unknown.
func applyStore(planned, config cty.Value) cty.Value {
	if planned.IsWhollyKnown() {
		return planned
	}
	return newStore(config, config.GetAttr("input"))
}

func isTrue(argument cty.Value) bool { return !argument.IsNull() && argument.True() }
