// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
)

// elementsOf returns all elements of a plan, in an order that they may have.
func elementsOf(t testing.TB, p *Plan, file FileContext) []Element {
	t.Helper()
	var all []Element
	add := func(element Element, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, element)
	}
	add(HeaderElement(file, p.Mode, p.Engine))
	record, err := anypb.New(wrapperspb.String("record"))
	if err != nil {
		t.Fatal(err)
	}
	add(PriorElement("CMPTcomponent.a", record))
	add(TimestampElement(p.Timestamp))
	for _, c := range slices.Backward(p.Components) { // as they become ready
		announced, err := ComponentElements(c, p.Engine)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, announced...)
		for _, change := range c.Changes {
			add(ChangeElement(c.Addr, change))
		}
		for _, change := range c.Drift {
			add(DriftElement(c.Addr, change))
		}
		for _, change := range c.Deferred {
			add(DeferredElement(c.Addr, change))
		}
		for _, i := range c.Invocations {
			add(InvocationElement(c.Addr, i, ""))
		}
		for _, i := range c.DeferredInvocations {
			add(InvocationElement(c.Addr, i.Invocation, i.Reason))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		add(InputElement(name, p.Inputs[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
		add(OutputElement(name, p.Outputs[name]))
	}
	for _, addr := range p.Removed {
		add(RemovedElement(addr))
	}
	for _, moved := range p.Moved {
		add(MovedElement(moved))
	}
	add(FunctionResultsElement(p.FunctionResults))
	add(VerdictElement(p.Applyable, p.Complete))
	return all
}

func read(all []Element) (*ElementReader, error) {
	r := &ElementReader{}
	for _, element := range all {
		if err := r.Add(element); err != nil {
			return r, err
		}
	}
	return r, nil
}

func TestElements(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	want, context := examplePlan(t)
	want.Partial = false
	want.Components[0].RefreshedState = bytes.Repeat([]byte("x"), 2*maxPart+5)
	all := elementsOf(t, want, context)
	for i, element := range all {
		if size := proto.Size(element); size > maxPart+1000 {
			t.Errorf("element %d has %d bytes", i, size)
		}
	}
	r, err := read(all)
	if err != nil {
		t.Fatal(err)
	}
	got, file, err := r.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, comparePlans); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if file.CairnVersion != context.CairnVersion || file.ConfigHash != context.ConfigHash || file.StateLineage != "" ||
		file.StateFile != "" || file.Identity == "" {
		t.Errorf("context: got %+v", file)
	}
	if got := r.Prior()["CMPTcomponent.a"]; !got.MessageIs(&wrapperspb.StringValue{}) {
		t.Errorf("record of the state: got %v", got)
	}
}

// A plan file can be sent in place of elements.
func TestFileElements(t *testing.T) {
	want, context := examplePlan(t)
	var messages []proto.Message
	for part := range slices.Chunk(encode(t, want, context), 1000) {
		messages = append(messages, &planv1.PlanFilePart{Data: part})
	}
	all, err := elements(messages...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := read(all)
	if err != nil {
		t.Fatal(err)
	}
	got, file, err := r.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, comparePlans); diff != "" || !cmp.Equal(file, context, ignoreIdentity) {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// Invocations belong to the component that was announced before them.
func TestRow246ActionInvocations(t *testing.T) {
	plan, context := examplePlan(t)
	plan.Components = slices.DeleteFunc(plan.Components, func(c *Component) bool { return len(c.Invocations) == 0 })
	c := plan.Components[0]
	c.Changes, c.Drift = nil, nil
	all := elementsOf(t, plan, context)
	r, err := read(all)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := r.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Invocations, got.Components[0].Invocations, comparePlans); diff != "" {
		t.Errorf("invocations (-want +got):\n%s", diff)
	}
	if n := got.Counts(); n.Invoke != 1 || n.Total() != 1 {
		t.Errorf("the plan counts %+v, want one invocation", n)
	}
	announced := slices.IndexFunc(all, func(element Element) bool { return element.MessageIs(&planv1.PlannedComponent{}) })
	if _, err := read(slices.Delete(slices.Clone(all), announced, announced+1)); err == nil {
		t.Error("invocations of a component that was not announced: no error")
	}
}

func TestElementsThatAreRefused(t *testing.T) {
	plan, context := examplePlan(t)
	whole := elementsOf(t, plan, context)
	at := func(message proto.Message) int {
		return slices.IndexFunc(whole, func(element Element) bool { return element.MessageIs(message) })
	}
	header, resource, prior := whole[0], whole[at(&planv1.PlannedResource{})], whole[1]
	unknown, err := anypb.New(wrapperspb.String("x"))
	if err != nil {
		t.Fatal(err)
	}
	for name, all := range map[string][]Element{
		"nothing":               nil,
		"no header":             whole[1:],
		"two headers":           {header, header},
		"unannounced component": {header, resource},
		"record twice":          {header, prior, prior},
		"unknown type":          {header, unknown},
		"no such type":          {header, {TypeUrl: "type.googleapis.com/x.Y"}},
		"damaged":               {header, {TypeUrl: header.GetTypeUrl(), Value: []byte{0xff}}},
		"nil":                   {nil},
		"engine's plan cut off": slices.DeleteFunc(slices.Clone(whole), func(e Element) bool { return e.MessageIs(&planv1.ComponentPart{}) }),
	} {
		r, err := read(all)
		if err == nil {
			_, _, err = r.Plan()
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	newer, err := anypb.New(&planv1.PlanHeader{FormatVersion: FormatVersion + 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read([]Element{newer}); !errors.As(err, new(*VersionError)) {
		t.Errorf("newer version: got %v", err)
	}
}

// Whatever is read as a plan can be written as one.
func FuzzElements(f *testing.F) {
	plan, context := examplePlan(f)
	var all []byte
	for _, element := range elementsOf(f, plan, context) {
		var err error
		if all, err = (proto.MarshalOptions{}).MarshalAppend(appendSize(all, proto.Size(element)), element); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := &ElementReader{}
		for len(raw) >= 4 {
			size := min(int(raw[0])|int(raw[1])<<8|int(raw[2])<<16|int(raw[3])<<24, len(raw)-4)
			element := &anypb.Any{}
			if proto.Unmarshal(raw[4:4+max(size, 0)], element) != nil || r.Add(element) != nil {
				return
			}
			raw = raw[4+max(size, 0):]
		}
		if p, file, err := r.Plan(); err == nil {
			encode(t, p, file)
		}
	})
}

func appendSize(b []byte, size int) []byte {
	return append(b, byte(size), byte(size>>8), byte(size>>16), byte(size>>24))
}
