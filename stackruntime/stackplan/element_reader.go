// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// ErrNotWhole is the error for elements that begin as a plan does, and have nothing of it after
// that.
var ErrNotWhole = errors.New("the plan has no header")

// ElementReader makes a plan of its elements. The zero value has none.
type ElementReader struct {
	index      *planv1.Plan // nil before the header
	components map[string]*pendingComponent
	prior      map[string]*anypb.Any
	file       []byte // a plan file in place of all else
	sum        hash.Hash
}

// pendingComponent is a component instance whose contents may still come.
type pendingComponent struct {
	encoded    *planv1.Component
	enginePlan []byte
}

// Add adds the next element.
//
// Errors: the element is unknown, is none, or does not follow the earlier ones; [*VersionError].
func (r *ElementReader) Add(element Element) error {
	message, err := element.UnmarshalNew()
	if err != nil {
		return fmt.Errorf("element of a plan of the type %q: %w", element.GetTypeUrl(), err)
	}
	if r.sum == nil {
		r.sum = sha256.New()
	}
	fmt.Fprintf(r.sum, "%s %d\n", element.GetTypeUrl(), len(element.GetValue()))
	r.sum.Write(element.GetValue()) // never fails
	switch message := message.(type) {
	case *planv1.PlanHeader:
		return r.begin(message)
	case *planv1.PriorRecord:
		return r.addPrior(message)
	case *planv1.PlanFilePart:
		r.file = append(r.file, message.GetData()...)
		return nil
	}
	if r.index == nil {
		return ErrNotWhole
	}
	return r.add(message, element)
}

func (r *ElementReader) begin(header *planv1.PlanHeader) error {
	if r.index != nil {
		return errors.New("the plan has two headers")
	}
	if header.GetFormatVersion() != FormatVersion {
		return &VersionError{header.GetFormatVersion()}
	}
	r.index = &planv1.Plan{
		FormatVersion: FormatVersion, Context: header.GetContext(), Mode: header.GetMode(), Engine: header.GetEngine(),
		Inputs: map[string]*planv1.InputChange{}, Outputs: map[string]*planv1.OutputChange{},
	}
	r.components = map[string]*pendingComponent{}
	return nil
}

func (r *ElementReader) addPrior(record *planv1.PriorRecord) error {
	if _, ok := r.prior[record.GetKey()]; ok {
		return fmt.Errorf("the plan has the record %q of the state twice", record.GetKey())
	}
	if r.prior == nil {
		r.prior = map[string]*anypb.Any{}
	}
	r.prior[record.GetKey()] = record.GetValue()
	return nil
}

func (r *ElementReader) add(message proto.Message, element Element) error {
	switch message := message.(type) {
	case *planv1.PlanTimestamp:
		r.index.Timestamp = message.GetTimestamp()
	case *planv1.PlannedInput:
		r.index.Inputs[message.GetName()] = message.GetChange()
	case *planv1.PlannedOutput:
		r.index.Outputs[message.GetName()] = message.GetChange()
	case *planv1.PlannedComponent:
		return r.announce(message.GetComponent())
	case *planv1.ComponentPart:
		return r.addPart(message)
	case *planv1.PlannedResource:
		return r.addResource(message)
	case *planv1.RemovedComponent:
		r.index.Removed = append(r.index.Removed, message.GetAddress())
	case *planv1.MovedComponent:
		r.index.Moved = append(r.index.Moved, message.GetRename())
	case *planv1.FunctionResults:
		r.index.FunctionResults = append(r.index.FunctionResults, message.GetResults()...)
	case *planv1.PlanVerdict:
		r.index.Applyable, r.index.Complete = message.GetApplyable(), message.GetComplete()
	default:
		return fmt.Errorf("element of a plan of the unknown type %q", element.GetTypeUrl())
	}
	return nil
}

func (r *ElementReader) announce(c *planv1.Component) error {
	if _, ok := r.components[c.GetAddress()]; ok {
		return fmt.Errorf("the plan has %s twice", c.GetAddress())
	}
	if c == nil {
		return errors.New("an element announces no component")
	}
	r.components[c.GetAddress()] = &pendingComponent{encoded: c}
	return nil
}

func (r *ElementReader) addPart(part *planv1.ComponentPart) error {
	c := r.components[part.GetComponent()]
	if c == nil {
		return fmt.Errorf("the plan has a part of %s, which it has not announced", part.GetComponent())
	}
	switch part.GetContent() {
	case planv1.ComponentPart_CONTENT_ENGINE_PLAN:
		c.enginePlan = append(c.enginePlan, part.GetData()...)
	case planv1.ComponentPart_CONTENT_REFRESHED_STATE:
		c.encoded.RefreshedState = append(c.encoded.RefreshedState, part.GetData()...)
	case planv1.ComponentPart_CONTENT_BASE_STATE:
		c.encoded.BaseState = append(c.encoded.BaseState, part.GetData()...)
	default:
		return fmt.Errorf("the plan has a part of %s of an unknown kind", part.GetComponent())
	}
	return nil
}

func (r *ElementReader) addResource(resource *planv1.PlannedResource) error {
	c := r.components[resource.GetComponent()]
	if c == nil {
		return fmt.Errorf("the plan has a change in %s, which it has not announced", resource.GetComponent())
	}
	switch kind := resource.GetKind().(type) {
	case *planv1.PlannedResource_Change:
		c.encoded.Changes = append(c.encoded.Changes, kind.Change)
	case *planv1.PlannedResource_Drift:
		c.encoded.Drift = append(c.encoded.Drift, kind.Drift)
	case *planv1.PlannedResource_Deferred:
		c.encoded.Deferred = append(c.encoded.Deferred, kind.Deferred)
	case *planv1.PlannedResource_Invocation:
		c.encoded.Invocations = append(c.encoded.Invocations, kind.Invocation)
	default:
		return fmt.Errorf("the plan has a change in %s of an unknown kind", resource.GetComponent())
	}
	return nil
}

// Prior returns the records of the state that the plan was made with, as its keeper had them.
func (r *ElementReader) Prior() map[string]*anypb.Any { return r.prior }

// Plan returns the plan when all elements were added, and its context.
//
// Errors: [ErrNotWhole]; those of [ReadFrom] for a plan file; or that the elements contradict each
// other.
func (r *ElementReader) Plan() (*Plan, FileContext, error) {
	switch {
	case len(r.file) > 0 && r.index != nil:
		return nil, FileContext{}, errors.New("the plan has a header and a plan file")
	case len(r.file) > 0:
		return ReadFrom(bytes.NewReader(r.file), int64(len(r.file)))
	case r.index == nil:
		return nil, FileContext{}, ErrNotWhole
	}
	if err := r.finish(); err != nil {
		return nil, FileContext{}, err
	}
	plan, file, err := decodePlan(r.index, r.enginePlan)
	file.Identity = hex.EncodeToString(r.sum.Sum(nil))
	return plan, file, err
}

// finish puts the components in the order of their addresses, in which those of plan files are.
func (r *ElementReader) finish() error {
	type placed struct {
		addr    stackaddrs.AbsComponentInstance
		encoded *planv1.Component
	}
	var all []placed
	for text, c := range r.components {
		addr, err := stackaddrs.ParsePartialComponentInstance(text)
		if err != nil {
			return err
		}
		all = append(all, placed{addr, c.encoded})
	}
	slices.SortFunc(all, func(a, b placed) int { return a.addr.Compare(b.addr) })
	r.index.Components = nil
	for _, one := range all {
		r.index.Components = append(r.index.Components, one.encoded)
	}
	return nil
}

func (r *ElementReader) enginePlan(m *planv1.Member) ([]byte, error) {
	c := r.components[m.GetName()]
	if c == nil || int64(len(c.enginePlan)) != m.GetSize() {
		return nil, fmt.Errorf("the engine's plan of %s is not whole", m.GetName())
	}
	if sum := sha256.Sum256(c.enginePlan); !bytes.Equal(sum[:], m.GetSha256()) {
		return nil, fmt.Errorf("the engine's plan of %s was altered", m.GetName())
	}
	return c.enginePlan, nil
}
