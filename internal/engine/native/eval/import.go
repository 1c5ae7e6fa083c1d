// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// ImportPlaces returns where the arguments of an import block stand: one place for each element of
// its argument for_each. There is none if that is null.
func (m *Module) ImportPlaces(ctx context.Context, i *module.Import) ([]Place, bool) {
	if i.ForEach == nil {
		return []Place{{}}, true
	}
	result, ok := m.Eval(ctx, i.ForEach, Place{})
	if !ok {
		return nil, false
	}
	value, found := result.Value.Unmark()
	_, ephemeral := found[marks.Ephemeral]
	switch {
	case ephemeral || !module.CanImportEach(value) || !value.IsKnown() && m.eval.opts.Phase != Validate && !m.Addr.HasWildcard():
		return nil, m.eval.Diagnostics.Add(result.Error("Invalid for_each argument",
			"The objects to import come from a map, a set or a list, which must be known and not ephemeral."))
	case value.IsNull():
		return nil, true
	case !value.IsKnown():
		return []Place{{Repetition: unknownInstances(module.Repeat{ForEach: i.ForEach}).Repetition(stackaddrs.NoKey)}}, true
	}
	var places []Place
	for it := value.ElementIterator(); it.Next(); {
		key, element := it.Element()
		if value.Type().IsSetType() {
			key = element
		}
		places = append(places, Place{Repetition: Repetition{Mode: ByKey, Key: key.WithMarks(found), Value: element.WithMarks(found)}})
	}
	return places, true
}

// InstanceKey evaluates the key of an instance. While validating, and where instances are unknown,
// it may be unknown, and is the wildcard then.
func (m *Module) InstanceKey(ctx context.Context, expr hcl.Expression, at Place) (stackaddrs.InstanceKey, bool) {
	found, diags := refs.InExpr(expr)
	if !m.eval.Diagnostics.AddTo(at.Resource, diags...) {
		return stackaddrs.NoKey, false
	}
	result, ok := m.Eval(ctx, &module.Expr{Expression: expr, Refs: found}, at)
	if !ok {
		return stackaddrs.NoKey, false
	}
	bare, _ := result.Value.Unmark()
	switch {
	case !bare.IsKnown() && (m.eval.opts.Phase == Validate || m.Addr.HasWildcard() || at.Mode != Single && !at.Key.IsKnown()):
		return stackaddrs.WildcardKey, true
	case bare.IsKnown() && !bare.IsNull():
		if key, ok := stackaddrs.KeyFromValue(bare); ok {
			return key, true
		}
	}
	return stackaddrs.NoKey, m.eval.Diagnostics.Add(
		result.Error("Invalid instance key", "The key of an instance is a known string or whole number."))
}

// ImportName evaluates the ID of an object to import or, if that has a type, its identity. Either
// may be unknown.
func (m *Module) ImportName(ctx context.Context, i *module.Import, identity cty.Type, at Place) (cty.Value, bool) {
	expr, ty := i.ID, cty.String
	if i.Identity != nil {
		expr, ty = i.Identity, identity
	}
	result, ok := m.Eval(ctx, expr, at)
	if !ok {
		return cty.NilVal, false
	}
	reject := func(detail string) (cty.Value, bool) {
		return cty.NilVal, m.eval.Diagnostics.Add(result.Error("Invalid import argument", detail))
	}
	if marks.Contains(result.Value, marks.Ephemeral) {
		return reject("The ID or identity of an object cannot be ephemeral.")
	}
	bare, _ := result.Value.UnmarkDeep()
	value, err := convert.Convert(bare, ty)
	switch {
	case err != nil:
		return reject("The value does not have the right type: " + err.Error() + ".")
	case value.IsNull():
		return reject("The ID or identity of an object cannot be null.")
	case i.Identity == nil && value.IsKnown() && value.AsString() == "":
		return reject("The ID cannot be empty.")
	}
	return value, true
}
