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
	encode(&encoded.Before, c.Before)
	encoded.Unchanged = c.Action == engine.ActionNoOp && c.Before != cty.NilVal && c.Before.RawEquals(c.After)
	if !encoded.GetUnchanged() {
		encode(&encoded.After, c.After)
	}
	encode(&encoded.BeforeIdentity, c.BeforeIdentity)
	encode(&encoded.AfterIdentity, c.AfterIdentity)
	if c.Importing != nil {
		encoded.Importing = &planv1.Importing{Id: c.Importing.ID, Unknown: c.Importing.Unknown}
		encode(&encoded.Importing.Identity, c.Importing.Identity)
	}
	return err
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
	if c.After = c.Before; !encoded.GetUnchanged() {
		decode(&c.After, encoded.GetAfter())
	}
	decode(&c.BeforeIdentity, encoded.GetBeforeIdentity())
	decode(&c.AfterIdentity, encoded.GetAfterIdentity())
	if importing := encoded.GetImporting(); importing != nil {
		c.Importing = &engine.Importing{ID: importing.GetId(), Unknown: importing.GetUnknown()}
		decode(&c.Importing.Identity, importing.GetIdentity())
	}
	return err
}
