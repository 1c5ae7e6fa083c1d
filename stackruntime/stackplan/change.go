// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	valuev1 "github.com/cairnstacks/cairn/proto/cairn/value/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

func encodeChanges(changes []*engine.Change) ([]*planv1.Change, error) {
	var encoded []*planv1.Change
	for _, c := range changes {
		one, err := encodeChange(c)
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, one)
	}
	return encoded, nil
}

func encodeChange(c *engine.Change) (*planv1.Change, error) {
	encoded := &planv1.Change{
		Address: c.Address(), Module: c.IsModule(), Deposed: string(c.Deposed),
		Action: string(c.Action), Reason: string(c.Reason), GeneratedConfig: c.GeneratedConfig,
	}
	if c.IsMove() {
		encoded.PreviousAddress = c.PreviousAddr.String()
	}
	if c.Provider != (stackaddrs.Provider{}) {
		encoded.Provider = c.Provider.String()
	}
	if err := encodeObjects(encoded, c); err != nil {
		return nil, fmt.Errorf("change of %s: %w", encoded.GetAddress(), err)
	}
	return encoded, nil
}

// encodeObjects encodes all values of a change.
func encodeObjects(encoded *planv1.Change, c *engine.Change) error {
	var err error
	if encoded.Replace, err = storedvalue.EncodePaths(c.Replace); err != nil {
		return err
	}
	encode := func(target **valuev1.DynamicValue, v cty.Value) {
		if err == nil {
			*target, err = storedvalue.Encode(v)
		}
	}
	before, after := shorten(encoded, c.Before, c.After)
	encode(&encoded.Before, before)
	encode(&encoded.After, after)
	encode(&encoded.BeforeIdentity, c.BeforeIdentity)
	encode(&encoded.AfterIdentity, c.AfterIdentity)
	if c.Importing != nil {
		encoded.Importing = &planv1.Importing{Id: c.Importing.ID, Unknown: c.Importing.Unknown}
		encode(&encoded.Importing.Identity, c.Importing.Identity)
	}
	return err
}

// shorten returns what is stored of the values before and after, and notes what is not: a plan
// mostly has objects that stay as they are in most attributes, with types that take more room than
// values.
func shorten(encoded *planv1.Change, before, after cty.Value) (storedBefore, storedAfter cty.Value) {
	if before == cty.NilVal || after == cty.NilVal {
		return before, after
	}
	if haveSameAttributes(before, after) {
		all := before.Type().AttributeTypes()
		changed := changedAttributes(make([]string, 0, 32), before, after) // on the stack, for most
		switch len(changed) {
		case 0:
			encoded.Unchanged = true
			return before, cty.NilVal
		case len(all):
			return before, after
		}
		encoded.AttributesOnly = true
		attributes := make(map[string]cty.Value, len(changed))
		for _, name := range changed {
			attributes[name] = after.GetAttr(name)
		}
		return before, cty.ObjectVal(attributes)
	}
	switch {
	case before.RawEquals(after):
		encoded.Unchanged = true
		return before, cty.NilVal
	case isNullLike(before, after):
		encoded.Creates = true
		return cty.NilVal, after
	case isNullLike(after, before):
		encoded.Removes = true
		return before, cty.NilVal
	}
	return before, after
}

func isNullLike(v, other cty.Value) bool {
	return !v.IsMarked() && v.IsNull() && v.Type().Equals(other.Type())
}

// changedAttributes appends the names of the attributes that differ.
func changedAttributes(names []string, before, after cty.Value) []string {
	for name := range before.Type().AttributeTypes() {
		if !after.GetAttr(name).RawEquals(before.GetAttr(name)) {
			names = append(names, name)
		}
	}
	return names
}

// haveSameAttributes reports whether both values are objects, with attributes of the same names.
func haveSameAttributes(a, b cty.Value) bool {
	if !isObject(a) || !isObject(b) || len(a.Type().AttributeTypes()) != len(b.Type().AttributeTypes()) {
		return false
	}
	for name := range a.Type().AttributeTypes() {
		if !b.Type().HasAttribute(name) {
			return false
		}
	}
	return true
}

// isObject reports whether a value is an object of which nothing is said as a whole.
func isObject(v cty.Value) bool {
	return v != cty.NilVal && v.Type().IsObjectType() && !v.IsMarked() && v.IsKnown() && !v.IsNull() && len(v.Type().OptionalAttributes()) == 0
}

// lengthen is the reverse of [shorten].
func lengthen(encoded *planv1.Change, before, after cty.Value) (wholeBefore, wholeAfter cty.Value, err error) {
	switch {
	case encoded.GetUnchanged():
		return before, before, nil
	case encoded.GetAttributesOnly() && isObject(before) && isObject(after):
		attributes := before.AsValueMap()
		for name, value := range after.AsValueMap() {
			if _, ok := attributes[name]; !ok {
				return before, after, fmt.Errorf("the attribute %q is new", name)
			}
			attributes[name] = value
		}
		return before, cty.ObjectVal(attributes), nil
	case encoded.GetCreates() && after != cty.NilVal:
		return cty.NullVal(after.Type()), after, nil
	case encoded.GetRemoves() && before != cty.NilVal:
		return before, cty.NullVal(before.Type()), nil
	case encoded.GetAttributesOnly() || encoded.GetCreates() || encoded.GetRemoves():
		return before, after, errors.New("a value is missing")
	}
	return before, after, nil
}

func decodeChangeList(encoded []*planv1.Change) ([]*engine.Change, error) {
	var changes []*engine.Change
	for _, one := range encoded {
		c, err := decodeChange(one)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

func decodeChange(encoded *planv1.Change) (*engine.Change, error) {
	if encoded == nil {
		return nil, errors.New("a deferred change is missing")
	}
	c := &engine.Change{
		Deposed: stackaddrs.DeposedKey(encoded.GetDeposed()), Action: engine.Action(encoded.GetAction()),
		Reason: engine.ActionReason(encoded.GetReason()), GeneratedConfig: encoded.GetGeneratedConfig(),
	}
	var err error
	if encoded.GetModule() {
		c.Addr.Module, err = stackaddrs.ParsePartialModuleInstance(encoded.GetAddress())
	} else {
		c.Addr, err = stackaddrs.ParsePartialResourceInstance(encoded.GetAddress())
	}
	if previous := encoded.GetPreviousAddress(); err == nil && previous != "" {
		c.PreviousAddr, err = stackaddrs.ParsePartialResourceInstance(previous)
	}
	if provider := encoded.GetProvider(); err == nil && provider != "" {
		c.Provider, err = stackaddrs.ParseProvider(provider)
	}
	if err == nil {
		err = decodeObjects(c, encoded)
	}
	if err != nil {
		return nil, fmt.Errorf("change of %q: %w", encoded.GetAddress(), err)
	}
	return c, nil
}

// decodeObjects is the reverse of [encodeObjects].
func decodeObjects(c *engine.Change, encoded *planv1.Change) error {
	var err error
	if c.Replace, err = storedvalue.DecodePaths(encoded.GetReplace()); err != nil {
		return err
	}
	decode := func(target *cty.Value, stored *valuev1.DynamicValue) {
		if err == nil {
			*target, err = storedvalue.Decode(stored)
		}
	}
	decode(&c.Before, encoded.GetBefore())
	decode(&c.After, encoded.GetAfter())
	if err == nil {
		c.Before, c.After, err = lengthen(encoded, c.Before, c.After)
	}
	decode(&c.BeforeIdentity, encoded.GetBeforeIdentity())
	decode(&c.AfterIdentity, encoded.GetAfterIdentity())
	if importing := encoded.GetImporting(); importing != nil {
		c.Importing = &engine.Importing{ID: importing.GetId(), Unknown: importing.GetUnknown()}
		decode(&c.Importing.Identity, importing.GetIdentity())
	}
	return err
}
