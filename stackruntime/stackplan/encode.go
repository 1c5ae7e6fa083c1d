// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"google.golang.org/protobuf/types/known/timestamppb"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

var modes = map[engine.Mode]planv1.Mode{
	engine.Normal:      planv1.Mode_MODE_NORMAL,
	engine.Destroy:     planv1.Mode_MODE_DESTROY,
	engine.RefreshOnly: planv1.Mode_MODE_REFRESH_ONLY,
	engine.Invoke:      planv1.Mode_MODE_INVOKE,
}

// encodePlan returns the index of a plan file, and the engine plans that are members.
func encodePlan(p *Plan, file FileContext) (*planv1.Plan, []member, error) {
	index := &planv1.Plan{
		FormatVersion: FormatVersion,
		Context: &planv1.Context{
			CairnVersion: file.CairnVersion,
			ConfigHash:   file.ConfigHash,
			ConfigFiles:  file.ConfigFiles,
			StateLineage: file.StateLineage,
			StateSerial:  file.StateSerial,
			StateFile:    file.StateFile,
			Deployment:   file.Deployment,
			Stack:        file.Stack,
		},
		Mode:      modes[p.Mode],
		Applyable: p.Applyable,
		Complete:  p.Complete,
		Partial:   p.Partial,
		Engine:    encodeEngine(p.Engine, p.Reason),
		Inputs:    map[string]*planv1.InputChange{},
		Outputs:   map[string]*planv1.OutputChange{},
	}
	if !p.Timestamp.IsZero() {
		index.Timestamp = timestamppb.New(p.Timestamp)
	}
	if err := encodeRootValues(index, p); err != nil {
		return nil, nil, err
	}
	components := slices.SortedFunc(slices.Values(p.Components), func(a, b *Component) int {
		return a.Addr.Compare(b.Addr)
	})
	var enginePlans []member
	for i, c := range components {
		encoded, err := encodeComponent(c)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.Addr, err)
		}
		encoded.Engine = ownEngine(c, p.Engine)
		if isArchive(c.EnginePlan) {
			name := enginePrefix + strconv.Itoa(i)
			sum := sha256.Sum256(c.EnginePlan)
			encoded.EnginePlan = &planv1.Member{Name: name, Size: int64(len(c.EnginePlan)), Sha256: sum[:]}
			enginePlans = append(enginePlans, member{name, zip.Store, c.EnginePlan})
		} else {
			encoded.EngineDetails = c.EnginePlan
		}
		index.Components = append(index.Components, encoded)
	}
	for _, addr := range slices.SortedFunc(slices.Values(p.Removed), stackaddrs.AbsComponentInstance.Compare) {
		index.Removed = append(index.Removed, addr.String())
	}
	for _, moved := range p.Moved {
		index.Moved = append(index.Moved, &planv1.Rename{From: moved.From.String(), To: moved.To.String()})
	}
	for _, one := range p.FunctionResults {
		index.FunctionResults = append(index.FunctionResults, &planv1.FunctionResult{Call: one.Call[:], Result: one.Result[:]})
	}
	return index, enginePlans, nil
}

// isArchive reports whether an engine's plan is an archive, as those with terraform's are: nothing
// is gained by compressing it again.
func isArchive(content []byte) bool { return bytes.HasPrefix(content, []byte("PK\x03\x04")) }

func encodeRootValues(index *planv1.Plan, p *Plan) error {
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		change := p.Inputs[name]
		before, err := storedvalue.Encode(change.Before)
		if err != nil {
			return fmt.Errorf("variable %q: %w", name, err)
		}
		after, err := storedvalue.Encode(change.After)
		if err != nil {
			return fmt.Errorf("variable %q: %w", name, err)
		}
		index.Inputs[name] = &planv1.InputChange{
			Action: string(change.Action), Before: before, After: after,
			RequiredOnApply: change.RequiredOnApply, DeleteOnApply: change.DeleteOnApply,
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
		change := p.Outputs[name]
		before, err := storedvalue.Encode(change.Before)
		if err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
		after, err := storedvalue.Encode(change.After)
		if err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
		index.Outputs[name] = &planv1.OutputChange{Action: string(change.Action), Before: before, After: after}
	}
	return nil
}

func encodeComponent(c *Component) (*planv1.Component, error) {
	encoded := &planv1.Component{
		Address:        c.Addr.String(),
		Source:         c.Source,
		Action:         string(c.Action),
		Mode:           modes[c.Mode],
		Applyable:      c.Applyable,
		Complete:       c.Complete,
		DeferredReason: c.DeferredReason,
		RefreshedState: c.RefreshedState,
		BaseState:      c.BaseState,
	}
	for _, addr := range slices.SortedFunc(slices.Values(c.Requires), stackaddrs.AbsComponent.Compare) {
		encoded.Requires = append(encoded.Requires, addr.String())
	}
	var err error
	if encoded.Inputs, err = storedvalue.EncodeMap(c.Inputs); err != nil {
		return nil, fmt.Errorf("input %w", err)
	}
	if encoded.Outputs, err = storedvalue.EncodeMap(c.Outputs); err != nil {
		return nil, fmt.Errorf("output %w", err)
	}
	if encoded.Changes, err = encodeChanges(c.Changes); err != nil {
		return nil, err
	}
	if encoded.Drift, err = encodeChanges(c.Drift); err != nil {
		return nil, err
	}
	for _, deferred := range c.Deferred {
		change, err := encodeChange(deferred.Change)
		if err != nil {
			return nil, err
		}
		encoded.Deferred = append(encoded.Deferred, &planv1.DeferredChange{Reason: deferred.Reason, Change: change})
	}
	if encoded.Invocations, err = encodeInvocations(c); err != nil {
		return nil, err
	}
	for _, check := range c.Checks {
		encoded.Checks = append(encoded.Checks, encodeCheck(check))
	}
	return encoded, nil
}

func encodeCheck(check engine.CheckResult) *planv1.CheckResult {
	encoded := &planv1.CheckResult{Kind: string(check.Kind), Address: check.Address, Status: string(check.Status)}
	for _, object := range check.Objects {
		encoded.Objects = append(encoded.Objects, &planv1.CheckedObject{
			Address: object.Address, Status: string(object.Status), Messages: object.Messages,
		})
	}
	return encoded
}
