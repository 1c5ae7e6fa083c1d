// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planned

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/lang/providercall"
	componentv1 "github.com/cairnstacks/cairn/proto/cairn/component/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

// Decode is the reverse of [Encode]. The plan may share memory with the bytes.
//
// Errors: for a text that is not a plan of this version, or is damaged.
func Decode(text []byte) (*Plan, error) {
	var encoded componentv1.Plan
	if err := proto.Unmarshal(text, &encoded); err != nil {
		return nil, fmt.Errorf("not the plan of a component: %w", err)
	}
	if version := encoded.GetFormatVersion(); version != formatVersion {
		return nil, fmt.Errorf("the plan of the component has version %d of the format, and only version %d is understood", version, formatVersion)
	}
	p := &Plan{Timestamp: encoded.GetTimestamp().AsTime(), State: encoded.GetState(), Prior: encoded.GetPrior()}
	var err error
	if p.Mode, err = decodeMode(encoded.GetMode()); err != nil {
		return nil, err
	}
	if p.Inputs, err = storedvalue.DecodeMap(encoded.GetInputs()); err != nil {
		return nil, fmt.Errorf("decoding inputs: %w", err)
	}
	if p.Outputs, err = storedvalue.DecodeMap(encoded.GetOutputs()); err != nil {
		return nil, fmt.Errorf("decoding outputs: %w", err)
	}
	for _, c := range encoded.GetChanges() {
		decoded, err := decodeChange(c)
		if err != nil {
			return nil, fmt.Errorf("decoding the change of %s: %w", c.GetAddress(), err)
		}
		p.Changes = append(p.Changes, decoded)
	}
	for _, check := range encoded.GetChecks() {
		p.Checks = append(p.Checks, decodeCheck(check))
	}
	for _, one := range encoded.GetFunctionResults() {
		result := providercall.Result{}
		if copy(result.Call[:], one.GetCall()) < len(result.Call) || copy(result.Result[:], one.GetResult()) < len(result.Result) {
			return nil, errors.New("decoding the result of a function: a hash is too short")
		}
		p.Results = append(p.Results, result)
	}
	for _, address := range encoded.GetDeferred() {
		addr, err := stackaddrs.ParsePartialResourceInstance(address)
		if err != nil {
			return nil, fmt.Errorf("decoding what is deferred: %w", err)
		}
		p.Deferred = append(p.Deferred, addr)
	}
	return p, nil
}

func decodeMode(name string) (engine.Mode, error) {
	for _, mode := range []engine.Mode{engine.Normal, engine.Destroy, engine.RefreshOnly} {
		if mode.String() == name {
			return mode, nil
		}
	}
	return 0, fmt.Errorf("unknown mode %q", name)
}

func decodeChange(encoded *componentv1.Change) (c *Change, err error) {
	c = &Change{
		Deposed: stackaddrs.DeposedKey(encoded.GetDeposed()), Alias: encoded.GetAlias(), Action: engine.Action(encoded.GetAction()),
		Reason: engine.ActionReason(encoded.GetReason()), Private: encoded.GetPrivate(), BeforePrivate: encoded.GetBeforePrivate(),
		CreateBeforeDestroy: encoded.GetCreateBeforeDestroy(), Deferred: encoded.GetDeferred(),
	}
	if c.Addr, err = stackaddrs.ParsePartialResourceInstance(encoded.GetAddress()); err != nil {
		return nil, err
	}
	if previous := encoded.GetPreviousAddress(); previous != "" {
		if c.Previous, err = stackaddrs.ParsePartialResourceInstance(previous); err != nil {
			return nil, err
		}
	}
	if c.Provider, err = stackaddrs.ParseProvider(encoded.GetProvider()); err != nil {
		return nil, err
	}
	if err := decodeValues(c, encoded); err != nil {
		return nil, err
	}
	for _, one := range encoded.GetInvocations() {
		i, err := decodeInvocation(c.Addr, one)
		if err != nil {
			return nil, fmt.Errorf("invocation of %q: %w", one.GetAddress(), err)
		}
		c.Invocations = append(c.Invocations, i)
	}
	if c.Replace, err = storedvalue.DecodePaths(encoded.GetReplace()); err != nil {
		return nil, err
	}
	if importing := encoded.GetImporting(); importing != nil {
		c.Importing = &engine.Importing{ID: importing.GetId(), Unknown: importing.GetUnknown()}
		c.Importing.Identity, err = storedvalue.Decode(importing.GetIdentity())
	}
	return c, err
}

func decodeValues(c *Change, encoded *componentv1.Change) (err error) {
	if encoded.GetBefore() == nil || encoded.GetAfter() == nil && !encoded.GetUnchanged() {
		return errors.New("there are no values")
	}
	if c.Before, err = storedvalue.Decode(encoded.GetBefore()); err != nil {
		return err
	}
	c.After = c.Before
	if !encoded.GetUnchanged() {
		if c.After, err = storedvalue.Decode(encoded.GetAfter()); err != nil {
			return err
		}
	}
	if c.BeforeIdentity, err = storedvalue.Decode(encoded.GetBeforeIdentity()); err != nil {
		return err
	}
	c.AfterIdentity, err = storedvalue.Decode(encoded.GetAfterIdentity())
	return err
}

func decodeCheck(encoded *componentv1.CheckResult) engine.CheckResult {
	check := engine.CheckResult{
		Kind: engine.CheckKind(encoded.GetKind()), Address: encoded.GetAddress(), Status: engine.CheckStatus(encoded.GetStatus()),
	}
	for _, object := range encoded.GetObjects() {
		check.Objects = append(check.Objects, engine.CheckedObject{
			Address: object.GetAddress(), Status: engine.CheckStatus(object.GetStatus()), Messages: object.GetMessages(),
		})
	}
	return check
}
