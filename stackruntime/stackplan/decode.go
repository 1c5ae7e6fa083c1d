// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"bytes"
	"errors"
	"fmt"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

// decodePlan is the reverse of [encodePlan].
func decodePlan(index *planv1.Plan, enginePlan func(*planv1.Member) ([]byte, error)) (*Plan, FileContext, error) {
	file := FileContext{
		CairnVersion: index.GetContext().GetCairnVersion(),
		ConfigHash:   index.GetContext().GetConfigHash(),
		ConfigFiles:  index.GetContext().GetConfigFiles(),
		StateLineage: index.GetContext().GetStateLineage(),
		StateSerial:  index.GetContext().GetStateSerial(),
		StateFile:    index.GetContext().GetStateFile(),
		Deployment:   index.GetContext().GetDeployment(),
		Stack:        index.GetContext().GetStack(),
	}
	p := &Plan{
		Applyable: index.GetApplyable(),
		Complete:  index.GetComplete(),
		Partial:   index.GetPartial(),
		Inputs:    map[string]*InputChange{},
		Outputs:   map[string]*OutputChange{},
	}
	p.Engine, p.Reason = decodeEngine(index.GetEngine())
	var err error
	if p.Mode, err = decodeMode(index.GetMode()); err != nil {
		return nil, file, err
	}
	if ts := index.GetTimestamp(); ts != nil {
		if err := ts.CheckValid(); err != nil {
			return nil, file, err
		}
		p.Timestamp = ts.AsTime()
	}
	if err := decodeRootValues(p, index); err != nil {
		return nil, file, err
	}
	for _, encoded := range index.GetComponents() {
		c, err := decodeComponent(encoded, p.Engine, enginePlan)
		if err != nil {
			return nil, file, fmt.Errorf("%s: %w", encoded.GetAddress(), err)
		}
		if n := len(p.Components); n > 0 && p.Components[n-1].Addr.Compare(c.Addr) >= 0 {
			return nil, file, fmt.Errorf("%s: out of order", c.Addr)
		}
		p.Components = append(p.Components, c)
	}
	for _, text := range index.GetRemoved() {
		addr, err := stackaddrs.ParseAbsComponentInstance(text)
		if err != nil {
			return nil, file, err
		}
		p.Removed = append(p.Removed, addr)
	}
	if err := decodeMoved(p, index); err != nil {
		return nil, file, err
	}
	if err := decodeFunctionResults(p, index); err != nil {
		return nil, file, err
	}
	return p, file, nil
}

func decodeMoved(p *Plan, index *planv1.Plan) error {
	for _, encoded := range index.GetMoved() {
		var moved stackaddrs.Rename
		var err error
		if moved.From, err = stackaddrs.ParseAbsComponentInstance(encoded.GetFrom()); err != nil {
			return err
		}
		if moved.To, err = stackaddrs.ParseAbsComponentInstance(encoded.GetTo()); err != nil {
			return err
		}
		if n := len(p.Moved); n > 0 && p.Moved[n-1].From.Compare(moved.From) >= 0 {
			return fmt.Errorf("%s: out of order", moved.From)
		}
		p.Moved = append(p.Moved, moved)
	}
	return nil
}

func decodeFunctionResults(p *Plan, index *planv1.Plan) error {
	for _, encoded := range index.GetFunctionResults() {
		var one FunctionResult
		if copy(one.Call[:], encoded.GetCall()) != len(one.Call) || copy(one.Result[:], encoded.GetResult()) != len(one.Result) {
			return errors.New("hash of a function's result: wrong length")
		}
		if n := len(p.FunctionResults); n > 0 && bytes.Compare(p.FunctionResults[n-1].Call[:], one.Call[:]) >= 0 {
			return errors.New("results of functions: out of order")
		}
		p.FunctionResults = append(p.FunctionResults, one)
	}
	return nil
}

func decodeMode(mode planv1.Mode) (engine.Mode, error) {
	for decoded, encoded := range modes {
		if encoded == mode {
			return decoded, nil
		}
	}
	return engine.Normal, fmt.Errorf("unknown mode %d", mode)
}

func decodeRootValues(p *Plan, index *planv1.Plan) error {
	for name, encoded := range index.GetInputs() {
		change := &InputChange{
			Action:          Action(encoded.GetAction()),
			RequiredOnApply: encoded.GetRequiredOnApply(),
			DeleteOnApply:   encoded.GetDeleteOnApply(),
		}
		var err error
		if change.Before, err = storedvalue.Decode(encoded.GetBefore()); err != nil {
			return fmt.Errorf("variable %q: %w", name, err)
		}
		if change.After, err = storedvalue.Decode(encoded.GetAfter()); err != nil {
			return fmt.Errorf("variable %q: %w", name, err)
		}
		p.Inputs[name] = change
	}
	for name, encoded := range index.GetOutputs() {
		change := &OutputChange{Action: Action(encoded.GetAction())}
		var err error
		if change.Before, err = storedvalue.Decode(encoded.GetBefore()); err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
		if change.After, err = storedvalue.Decode(encoded.GetAfter()); err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
		p.Outputs[name] = change
	}
	return nil
}

func decodeComponent(encoded *planv1.Component, made engine.Info, enginePlan func(*planv1.Member) ([]byte, error)) (*Component, error) {
	c := &Component{
		Source:         encoded.GetSource(),
		Action:         Action(encoded.GetAction()),
		Applyable:      encoded.GetApplyable(),
		Complete:       encoded.GetComplete(),
		DeferredReason: encoded.GetDeferredReason(),
	}
	// Fields of bytes that are empty and those that are absent are the same in proto3.
	if state := encoded.GetRefreshedState(); len(state) > 0 {
		c.RefreshedState = state
	}
	if state := encoded.GetBaseState(); len(state) > 0 {
		c.BaseState = state
	}
	var err error
	if c.Addr, err = stackaddrs.ParsePartialComponentInstance(encoded.GetAddress()); err != nil {
		return nil, err
	}
	if c.Mode, err = decodeMode(encoded.GetMode()); err != nil {
		return nil, err
	}
	for _, text := range encoded.GetRequires() {
		addr, err := parsePartialComponent(text)
		if err != nil {
			return nil, err
		}
		c.Requires = append(c.Requires, addr)
	}
	if c.Inputs, err = storedvalue.DecodeMap(encoded.GetInputs()); err != nil {
		return nil, fmt.Errorf("input %w", err)
	}
	if c.Outputs, err = storedvalue.DecodeMap(encoded.GetOutputs()); err != nil {
		return nil, fmt.Errorf("output %w", err)
	}
	if err := decodeChanges(c, encoded); err != nil {
		return nil, err
	}
	if err := decodeInvocations(c, encoded.GetInvocations()); err != nil {
		return nil, err
	}
	if own := encoded.GetEngine(); own != nil {
		c.Engine, c.Reason = decodeEngine(own)
	}
	if details := encoded.GetEngineDetails(); len(details) > 0 {
		c.EnginePlan = details
	}
	if m := encoded.GetEnginePlan(); m != nil {
		if c.EnginePlan != nil {
			return nil, errors.New("there are two plans of the engine")
		}
		c.EnginePlan, err = enginePlan(m)
	}
	if c.EnginePlan != nil && c.Engine == (engine.Info{}) {
		c.Engine = made
	}
	return c, err
}

// parsePartialComponent parses the address of a component, whose stack may have
// instances that are not known yet.
func parsePartialComponent(text string) (stackaddrs.AbsComponent, error) {
	addr, err := stackaddrs.ParsePartialComponentInstance(text)
	if err == nil && addr.Item.Key != stackaddrs.NoKey {
		err = fmt.Errorf("%q has an instance key", text)
	}
	return stackaddrs.ComponentOf(addr), err
}

func decodeChanges(c *Component, encoded *planv1.Component) error {
	var err error
	if c.Changes, err = decodeChangeList(encoded.GetChanges()); err != nil {
		return err
	}
	if c.Drift, err = decodeChangeList(encoded.GetDrift()); err != nil {
		return err
	}
	for _, deferred := range encoded.GetDeferred() {
		change, err := decodeChange(deferred.GetChange())
		if err != nil {
			return err
		}
		c.Deferred = append(c.Deferred, engine.DeferredChange{Reason: deferred.GetReason(), Change: change})
	}
	for _, check := range encoded.GetChecks() {
		c.Checks = append(c.Checks, decodeCheck(check))
	}
	return nil
}

func decodeCheck(encoded *planv1.CheckResult) engine.CheckResult {
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
