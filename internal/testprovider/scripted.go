// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

// scriptedVersion is the version of the schema of fake_scripted. Version 0 had old_value in place
// of value.
const scriptedVersion = 2

// scriptedType is a type whose arguments determine its plans and results, against all rules if need
// be.
func scriptedType() *resourceType {
	t := &resourceType{
		name: "fake_scripted",
		schema: objectSchema(
			attribute("legacy", tftypes.Bool, optional),
			attribute("plan_value", tftypes.String, optional),
			attribute("plan_unknown", tftypes.Bool, optional),
			attribute("plan_replace", tftypes.String, optional),
			attribute("apply_value", tftypes.String, optional),
			attribute("plan_prefix", tftypes.String, optional),
			attribute("private", tftypes.String, optional),
			attribute("apply_null", tftypes.Bool, optional),
			attribute("apply_error", tftypes.String, optional),
			attribute("delete_error", tftypes.String, optional),
			attribute("delete_keeps", tftypes.Bool, optional),
		),
	}
	t.schema.Version = scriptedVersion
	return t
}

// scriptPlan changes a plan as the arguments in it say.
func scriptPlan(attrs map[string]cty.Value) {
	args := cty.ObjectVal(attrs)
	if value, ok := knownArgument(args, "plan_value"); ok {
		attrs["value"] = value
	}
	if boolArgument(args, "plan_unknown") {
		attrs["value"] = cty.UnknownVal(cty.String)
	}
	if prefix, ok := knownArgument(args, "plan_prefix"); ok {
		attrs["value"] = cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull(prefix.AsString()).NewValue()
	}
}

// scriptedReplacement returns the path that an update cannot change because the arguments say so,
// whether it exists or not.
func scriptedReplacement(prior, planned cty.Value) []*tftypes.AttributePath {
	name := stringArgument(planned, "plan_replace")
	if prior.IsNull() || name == "" {
		return nil
	}
	return []*tftypes.AttributePath{tftypes.NewAttributePath().WithAttributeName(name)}
}

// scriptedPrivate returns the private data of an object that is planned: that of its arguments, or
// that from before.
func scriptedPrivate(prior []byte, planned cty.Value) []byte {
	if private, ok := knownArgument(planned, "private"); ok {
		return []byte(private.AsString())
	}
	return prior
}

// scriptApply returns an object after it has been applied, and the error: another object than was
// planned, or none, if its arguments say so.
func scriptApply(c change, next cty.Value, err error) (cty.Value, error) {
	if next.IsNull() {
		if message := stringArgument(c.prior, "delete_error"); message != "" {
			err = errors.New(message)
		}
		if boolArgument(c.prior, "delete_keeps") {
			return c.prior, err
		}
		return next, err
	}
	if message := stringArgument(c.planned, "apply_error"); message != "" {
		err = errors.New(message)
	}
	if boolArgument(next, "apply_null") {
		return cty.NullVal(next.Type()), err
	}
	if value, ok := knownArgument(next, "apply_value"); ok {
		return withAttributes(next, map[string]cty.Value{"value": value}), err
	}
	return next, err
}

// upgraded returns a stored object as the present version of the schema has it.
func (t *resourceType) upgraded(raw *tfprotov6.RawState, version int64) (*tfprotov6.RawState, error) {
	if t.schema.Version == version || raw == nil || len(raw.JSON) == 0 {
		return raw, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw.JSON, &values); err != nil {
		return nil, fmt.Errorf("reading the state: %w", err)
	}
	if old, ok := values["old_value"]; ok && version == 0 {
		values["value"] = old
	}
	delete(values, "old_value")
	text, err := json.Marshal(values)
	return &tfprotov6.RawState{JSON: text}, err
}
