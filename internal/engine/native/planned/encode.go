// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planned

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	componentv1 "github.com/cairnstacks/cairn/proto/cairn/component/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

// formatVersion is that of the encoding. Plans of other versions are refused.
const formatVersion = 1

// Encode returns the plan as bytes. It holds values in clear.
//
// Errors: values that cannot be stored, such as ephemeral ones.
func Encode(p *Plan) ([]byte, error) {
	inputs, err := storedvalue.EncodeMap(p.Inputs)
	if err != nil {
		return nil, fmt.Errorf("encoding inputs: %w", err)
	}
	outputs, err := storedvalue.EncodeMap(p.Outputs)
	if err != nil {
		return nil, fmt.Errorf("encoding outputs: %w", err)
	}
	encoded := &componentv1.Plan{
		FormatVersion: formatVersion, Mode: p.Mode.String(), Timestamp: timestamppb.New(p.Timestamp), State: p.State, Inputs: inputs, Outputs: outputs, Prior: p.Prior,
		Changes: make([]*componentv1.Change, len(p.Changes)), Checks: make([]*componentv1.CheckResult, len(p.Checks)),
	}
	for i, c := range p.Changes {
		if encoded.Changes[i], err = encodeChange(c); err != nil {
			return nil, fmt.Errorf("encoding the change of %s: %w", c.Addr, err)
		}
	}
	for i, check := range p.Checks {
		encoded.Checks[i] = encodeCheck(check)
	}
	for _, one := range p.Results {
		encoded.FunctionResults = append(encoded.FunctionResults, &componentv1.FunctionResult{Call: one.Call[:], Result: one.Result[:]})
	}
	for _, addr := range p.Deferred {
		encoded.Deferred = append(encoded.Deferred, addr.String())
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(encoded)
}

func encodeChange(c *Change) (encoded *componentv1.Change, err error) {
	encoded = &componentv1.Change{
		Address: c.Addr.String(), Deposed: string(c.Deposed), Provider: c.Provider.String(), Alias: c.Alias, Action: string(c.Action), Reason: string(c.Reason),
		Private: c.Private, BeforePrivate: c.BeforePrivate, CreateBeforeDestroy: c.CreateBeforeDestroy, Deferred: c.Deferred,
	}
	if c.Previous != (stackaddrs.ResourceInstance{}) {
		encoded.PreviousAddress = c.Previous.String()
	}
	if encoded.Before, err = storedvalue.Encode(c.Before); err != nil {
		return nil, err
	}
	if encoded.Unchanged = c.After.RawEquals(c.Before); !encoded.Unchanged {
		if encoded.After, err = storedvalue.Encode(c.After); err != nil {
			return nil, err
		}
	}
	if encoded.BeforeIdentity, err = storedvalue.Encode(c.BeforeIdentity); err != nil {
		return nil, err
	}
	if encoded.AfterIdentity, err = storedvalue.Encode(c.AfterIdentity); err != nil {
		return nil, err
	}
	if encoded.Replace, err = storedvalue.EncodePaths(c.Replace); err != nil {
		return nil, err
	}
	for _, i := range c.Invocations {
		one, err := encodeInvocation(i)
		if err != nil {
			return nil, err
		}
		encoded.Invocations = append(encoded.Invocations, one)
	}
	encoded.Importing, err = encodeImporting(c.Importing)
	return encoded, err
}

func encodeImporting(i *engine.Importing) (*componentv1.Importing, error) {
	if i == nil {
		return nil, nil
	}
	identity, err := storedvalue.Encode(i.Identity)
	return &componentv1.Importing{Id: i.ID, Identity: identity, Unknown: i.Unknown}, err
}

func encodeCheck(check engine.CheckResult) *componentv1.CheckResult {
	encoded := &componentv1.CheckResult{Kind: string(check.Kind), Address: check.Address, Status: string(check.Status)}
	for _, object := range check.Objects {
		encoded.Objects = append(encoded.Objects, &componentv1.CheckedObject{Address: object.Address, Status: string(object.Status), Messages: object.Messages})
	}
	return encoded
}
