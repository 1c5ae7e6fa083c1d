// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Element is a piece of a plan, for a caller that sends a plan while it is made, and keeps it in
// pieces. The order of elements is that of proto/cairn/plan/v1/element.proto: the header, the
// records of the prior state, the time, the planned changes, and the verdict. [ElementReader] makes
// a plan of them.
type Element = *anypb.Any

// maxPart bounds the data in one element, so that programs with the usual limits on messages can
// pass it on.
const maxPart = 1 << 20

// HeaderElement is the element that comes first. It leaves out the context's state, whose records
// are elements.
func HeaderElement(file FileContext, mode engine.Mode, made engine.Info) (Element, error) {
	return anypb.New(&planv1.PlanHeader{
		FormatVersion: FormatVersion,
		Context: &planv1.Context{
			CairnVersion: file.CairnVersion, ConfigHash: file.ConfigHash, ConfigFiles: file.ConfigFiles, Deployment: file.Deployment,
			Stack: file.Stack,
		},
		Mode:   modes[mode],
		Engine: encodeEngine(made, engine.Reason{}),
	})
}

// PriorElement is the element of a record of the state that the plan is made with, as its keeper
// has it.
func PriorElement(key string, record *anypb.Any) (Element, error) {
	return anypb.New(&planv1.PriorRecord{Key: key, Value: record})
}

// TimestampElement is the element of the time that the plan says it is.
func TimestampElement(at time.Time) (Element, error) {
	return anypb.New(&planv1.PlanTimestamp{Timestamp: timestamppb.New(at)})
}

// ComponentElements are the elements of a component instance without its changes. The first one
// announces it.
func ComponentElements(c *Component, made engine.Info) ([]Element, error) {
	bare := *c
	bare.Changes, bare.Drift, bare.Deferred, bare.RefreshedState, bare.BaseState = nil, nil, nil, nil, nil
	bare.Invocations, bare.DeferredInvocations = nil, nil
	encoded, err := encodeComponent(&bare)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Addr, err)
	}
	if len(c.EnginePlan) > 0 {
		sum := sha256.Sum256(c.EnginePlan)
		encoded.EnginePlan = &planv1.Member{Name: encoded.GetAddress(), Size: int64(len(c.EnginePlan)), Sha256: sum[:]}
	}
	encoded.Engine = ownEngine(c, made)
	messages := []proto.Message{&planv1.PlannedComponent{Component: encoded}}
	add := func(content planv1.ComponentPart_Content, data []byte) {
		for part := range slices.Chunk(data, maxPart) {
			messages = append(messages, &planv1.ComponentPart{Component: encoded.GetAddress(), Content: content, Data: part})
		}
	}
	add(planv1.ComponentPart_CONTENT_ENGINE_PLAN, c.EnginePlan)
	add(planv1.ComponentPart_CONTENT_REFRESHED_STATE, c.RefreshedState)
	add(planv1.ComponentPart_CONTENT_BASE_STATE, c.BaseState)
	return elements(messages...)
}

// ChangeElement is the element of a change in a component instance that was announced.
func ChangeElement(component stackaddrs.AbsComponentInstance, c *engine.Change) (Element, error) {
	change, err := encodeChange(c)
	if err != nil {
		return nil, err
	}
	return anypb.New(&planv1.PlannedResource{Component: component.String(), Kind: &planv1.PlannedResource_Change{Change: change}})
}

// DriftElement is [ChangeElement] for changes made outside.
func DriftElement(component stackaddrs.AbsComponentInstance, c *engine.Change) (Element, error) {
	change, err := encodeChange(c)
	if err != nil {
		return nil, err
	}
	return anypb.New(&planv1.PlannedResource{Component: component.String(), Kind: &planv1.PlannedResource_Drift{Drift: change}})
}

// DeferredElement is [ChangeElement] for a change that is deferred.
func DeferredElement(component stackaddrs.AbsComponentInstance, c engine.DeferredChange) (Element, error) {
	change, err := encodeChange(c.Change)
	if err != nil {
		return nil, err
	}
	return anypb.New(&planv1.PlannedResource{
		Component: component.String(), Kind: &planv1.PlannedResource_Deferred{Deferred: &planv1.DeferredChange{Reason: c.Reason, Change: change}},
	})
}

// InvocationElement is [ChangeElement] for an action that a change triggers. The reason is why it
// is deferred, or "".
func InvocationElement(component stackaddrs.AbsComponentInstance, i *engine.Invocation, deferred string) (Element, error) {
	invocation, err := encodeInvocation(i, deferred)
	if err != nil {
		return nil, err
	}
	return anypb.New(&planv1.PlannedResource{Component: component.String(), Kind: &planv1.PlannedResource_Invocation{Invocation: invocation}})
}

// InputElement is the element of a root variable.
func InputElement(name string, c *InputChange) (Element, error) {
	index := &planv1.Plan{Inputs: map[string]*planv1.InputChange{}}
	if err := encodeRootValues(index, &Plan{Inputs: map[string]*InputChange{name: c}}); err != nil {
		return nil, err
	}
	return anypb.New(&planv1.PlannedInput{Name: name, Change: index.GetInputs()[name]})
}

// OutputElement is the element of a root output.
func OutputElement(name string, c *OutputChange) (Element, error) {
	index := &planv1.Plan{Outputs: map[string]*planv1.OutputChange{}}
	if err := encodeRootValues(index, &Plan{Outputs: map[string]*OutputChange{name: c}}); err != nil {
		return nil, err
	}
	return anypb.New(&planv1.PlannedOutput{Name: name, Change: index.GetOutputs()[name]})
}

// RemovedElement is the element of a component instance whose record is dropped.
func RemovedElement(addr stackaddrs.AbsComponentInstance) (Element, error) {
	return anypb.New(&planv1.RemovedComponent{Address: addr.String()})
}

// MovedElement is the element of a component instance that the state has at another address.
func MovedElement(moved stackaddrs.Rename) (Element, error) {
	return anypb.New(&planv1.MovedComponent{Rename: &planv1.Rename{From: moved.From.String(), To: moved.To.String()}})
}

// FunctionResultsElement is the element with the results of functions of providers.
func FunctionResultsElement(results []FunctionResult) (Element, error) {
	message := &planv1.FunctionResults{}
	for _, one := range results {
		message.Results = append(message.Results, &planv1.FunctionResult{Call: one.Call[:], Result: one.Result[:]})
	}
	return anypb.New(message)
}

// VerdictElement is the element that comes last.
func VerdictElement(applyable, complete bool) (Element, error) {
	return anypb.New(&planv1.PlanVerdict{Applyable: applyable, Complete: complete})
}

func elements(messages ...proto.Message) ([]Element, error) {
	list := make([]Element, 0, len(messages))
	for _, message := range messages {
		element, err := anypb.New(message)
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	return list, nil
}
