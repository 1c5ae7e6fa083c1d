// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func TestRPCRaw(t *testing.T) {
	t.Run("R-01 empty state", func(t *testing.T) {
		c := open(t, options{})
		wantCode(t, c.closeState(must[int64](t)(c.openState(nil))), codes.OK)
	})
	t.Run("R-02 states that cannot be", testBadStates)
	t.Run("R-03 unknown keys", testUnknownKeys)
	t.Run("R-04 plans that cannot be", testBadPlans)
	t.Run("R-05 plan without a verdict", testPlanWithoutVerdict)
	t.Run("R-06 round trip", testRoundTrip)
}

func TestRPCPlan(t *testing.T) {
	t.Run("L-01 empty stack", testPlanEmpty)
	t.Run("L-02 requests", testPlanRequests)
	t.Run("L-03 events of a component", testPlanComponent)
	t.Run("L-04 inputs", testPlanInputs)
	t.Run("L-05 inputs that are wrong", testPlanWrongInputs)
	t.Run("L-06 ephemeral inputs", testPlanEphemeral)
	t.Run("L-07 prior state", testPlanPrior)
	t.Run("L-08 errors", testPlanErrors)
	t.Run("L-09 values of outputs", testPlanOutputs)
	t.Run("L-10 policies", testPlanPolicies)
	t.Run("L-11 inline state", testPlanInlineState)
}

const dataStack = `-- stack/main.tfcomponent.hcl --
variable "name" {
  type    = string
  default = "n"
}

component "a" {
  source = "./module"
  inputs = { name = var.name }
}

output "name" {
  type  = string
  value = component.a.name
}
` + moduleWithData

// made plans and applies a stack, and returns its raw state.
func (s *stack) made() rawState {
	s.t.Helper()
	events := must[[]*stackspb.PlanStackChanges_Event](s.t)(s.plan(&stackspb.PlanStackChanges_Request{}))
	if ok, _ := applyable(events); !ok {
		s.t.Fatalf("the plan cannot be applied: %v", diagnostics(events))
	}
	state := rawState{}
	s.applyInto(state, events)
	return state
}

// applyInto applies a plan, which has to succeed, and merges its changes into a state.
func (s *stack) applyInto(state rawState, planned []*stackspb.PlanStackChanges_Event) []*stackspb.ApplyStackChanges_Event {
	s.t.Helper()
	handle := must[int64](s.t)(s.openPlan(rawPlan(planned)))
	events := must[[]*stackspb.ApplyStackChanges_Event](s.t)(s.apply(&stackspb.ApplyStackChanges_Request{PlanHandle: handle}))
	if diags := diagnostics(events); hasError(diags) {
		s.t.Fatalf("applying: %v", diags)
	}
	for _, event := range events {
		state.merge(event.GetAppliedChange())
	}
	return events
}

// planned plans a stack with a state, which has to be possible.
func (s *stack) planned(state rawState, mode stackspb.PlanMode) []*stackspb.PlanStackChanges_Event {
	s.t.Helper()
	request := &stackspb.PlanStackChanges_Request{PlanMode: mode}
	if state != nil {
		request.PreviousStateHandle = must[int64](s.t)(s.openState(state))
	}
	return must[[]*stackspb.PlanStackChanges_Event](s.t)(s.plan(request))
}

func testBadStates(t *testing.T) {
	s := openStack(t, dataStack)
	state := s.made()
	var resource string
	for key := range state {
		if key[:4] == "RSRC" {
			resource = key
		}
	}
	other := must[*anypb.Any](t)(anypb.New(&stackspb.DynamicValue{}))
	item := func(key string, value *anypb.Any) []*stackspb.AppliedChange_RawChange {
		return []*stackspb.AppliedChange_RawChange{{Key: key, Value: value}}
	}
	for name, items := range map[string][]*stackspb.AppliedChange_RawChange{
		"key":                  item("x", other),
		"empty key":            item("", other),
		"rest of the key":      item("RSRCx", state[resource]),
		"key to be understood": item("XYZWcomponent.a", other),
		"repeated key":         append(item(resource, state[resource]), item(resource, state[resource])...),
		"other type":           item(resource, other),
		"damaged":              item(resource, &anypb.Any{TypeUrl: state[resource].GetTypeUrl(), Value: []byte("\xff\xff")}),
		"no value":             item(resource, nil),
		"nothing":              {nil},
	} {
		handle, err := s.openStateOf(items...)
		if err == nil {
			t.Errorf("%s: opened as %d", name, handle)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
}

// The first and the last letter of an unknown key say that it is ignored.
func testUnknownKeys(t *testing.T) {
	c := open(t, options{})
	handle, err := c.openStateOf(
		&stackspb.AppliedChange_RawChange{Key: "xyzWsomething", Value: must[*anypb.Any](t)(anypb.New(&emptypb.Empty{}))},
		&stackspb.AppliedChange_RawChange{Key: "xyzwsomething", Value: must[*anypb.Any](t)(anypb.New(&emptypb.Empty{}))},
	)
	if err != nil || handle == 0 {
		t.Errorf("handle %d, error %v", handle, err)
	}
}

func testBadPlans(t *testing.T) {
	s := openStack(t, dataStack)
	state := s.made()
	raw := rawPlan(s.planned(state, stackspb.PlanMode_DESTROY))
	strange := must[*anypb.Any](t)(anypb.New(&terraform1.Diagnostic{Summary: "strange"}))
	damaged := &anypb.Any{TypeUrl: raw[0].GetTypeUrl(), Value: []byte("\xff\xff")}
	for name, elements := range map[string][]*anypb.Any{
		"nothing":                {},
		"no header":              raw[1:],
		"header of another core": append([]*anypb.Any{{TypeUrl: raw[0].GetTypeUrl(), Value: []byte("\n\x0599.99")}}, raw[1:]...),
		"unknown type":           append(slices.Clone(raw), strange),
		"repeated prior state":   slices.Concat(raw[:2], raw[1:]),
		"damaged":                append([]*anypb.Any{damaged}, raw[1:]...),
		"absent element":         append(slices.Clone(raw), nil),
	} {
		handle, err := s.openPlan(elements)
		if err == nil {
			t.Errorf("%s: opened as %d", name, handle)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
}

// A plan whose verdict is missing or no can be opened; applying it is an error and does nothing.
func testPlanWithoutVerdict(t *testing.T) {
	s := openStack(t, dataStack)
	raw := rawPlan(s.planned(nil, stackspb.PlanMode_NORMAL))
	refused := openStack(t, "-- stack/main.tfcomponent.hcl --\nvariable \"v\" {\n  type = string\n}\n")
	for name, elements := range map[string][]*anypb.Any{"none": raw[:len(raw)-1]} {
		s.wantRefused(name, elements)
	}
	refused.wantRefused("no", rawPlan(refused.planned(nil, stackspb.PlanMode_NORMAL)))
}

func (s *stack) wantRefused(name string, elements []*anypb.Any) {
	s.t.Helper()
	handle := must[int64](s.t)(s.openPlan(elements))
	events, err := s.apply(&stackspb.ApplyStackChanges_Request{PlanHandle: handle})
	if err != nil || len(events) != 1 || !hasError(diagnostics(events)) {
		s.t.Errorf("%s: %v, error %v, want one error diagnostic", name, events, err)
	}
}

// A plan is applied, and its state planned with, by other processes than those that made them.
func testRoundTrip(t *testing.T) {
	first := openStack(t, dataStack)
	raw := first.planned(nil, stackspb.PlanMode_NORMAL)
	again := func() *stack {
		c := open(t, options{dir: first.dir})
		s := &stack{client: c, dir: first.dir, bundle: c.openBundle("")}
		s.config = must[*stackspb.OpenStackConfiguration_Response](t)(
			s.openConfiguration(s.bundle, &terraform1.SourceAddress{Source: "./stack"})).GetStackConfigHandle()
		return s
	}
	state := rawState{}
	again().applyInto(state, raw)
	for _, change := range plannedChanges(again().planned(state, stackspb.PlanMode_NORMAL)) {
		for _, description := range change.GetDescriptions() {
			if resource := description.GetResourceInstancePlanned(); resource != nil && !slices.Equal(resource.GetActions(), noop) {
				t.Errorf("planned again: %v", resource)
			}
		}
	}
}

var noop = []stackspb.ChangeType{stackspb.ChangeType_NOOP}

func plannedChanges(events []*stackspb.PlanStackChanges_Event) []*stackspb.PlannedChange {
	var changes []*stackspb.PlannedChange
	for _, event := range events {
		if change := event.GetPlannedChange(); change != nil {
			changes = append(changes, change)
		}
	}
	return changes
}

// descriptions returns a plan's descriptions of one kind, in their order.
func descriptions[T any](events []*stackspb.PlanStackChanges_Event, get func(*stackspb.PlannedChange_ChangeDescription) *T) []*T {
	var found []*T
	for _, change := range plannedChanges(events) {
		for _, description := range change.GetDescriptions() {
			if d := get(description); d != nil {
				found = append(found, d)
			}
		}
	}
	return found
}

func testPlanEmpty(t *testing.T) {
	s := openStack(t, emptyStack)
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	changes := plannedChanges(events)
	if len(changes) != 3 || len(changes[0].GetRaw()) == 0 || len(changes[1].GetRaw()) == 0 || len(diagnostics(events)) > 0 {
		t.Errorf("got %v, want header, timestamp and verdict", events)
	}
	if ok, found := applyable(events); !ok || !found {
		t.Errorf("the plan can be applied: %t, says so: %t", ok, found)
	}
	state := rawState{}
	s.applyInto(state, events)
}

func testPlanRequests(t *testing.T) {
	s := openStack(t, dataStack)
	state := must[int64](t)(s.openState(nil))
	type request = stackspb.PlanStackChanges_Request
	some := must[*anypb.Any](t)(anypb.New(&emptypb.Empty{}))
	for name, req := range map[string]*request{
		"configuration":       {StackConfigHandle: s.bundle},
		"locks":               {DependencyLocksHandle: 1234},
		"cache":               {ProviderCacheHandle: 1234},
		"state":               {PreviousStateHandle: 1234},
		"state of other kind": {PreviousStateHandle: s.config},
		"two states":          {PreviousStateHandle: state, PreviousState: map[string]*anypb.Any{"xyzWx": some}}, // deprecated, and still offered
		"inline state":        {PreviousState: map[string]*anypb.Any{"XYZW": some}},                              // deprecated, and still offered
		"mode":                {PlanMode: 17},
		"locks without cache": {DependencyLocksHandle: must[int64](t)(s.createLocks(someLock))},
	} {
		events, err := s.plan(req)
		if err == nil {
			t.Errorf("%s: no error, but %v", name, events)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
}

func testPlanComponent(t *testing.T) {
	s := openStack(t, dataStack)
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	if ok, found := applyable(events); !ok || !found {
		t.Fatalf("the plan can be applied: %t, says so: %t; %v", ok, found, diagnostics(events))
	}
	changes := plannedChanges(events)
	if last := changes[len(changes)-1].GetDescriptions(); len(last) == 0 {
		t.Error("the last planned change is not the verdict")
	} else if _, ok := last[len(last)-1].GetDescription().(*stackspb.PlannedChange_ChangeDescription_PlanApplyable); !ok {
		t.Errorf("the last planned change is %v, want the verdict", last)
	}
	components := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetComponentInstancePlanned)
	wantAddr := &stackspb.ComponentInstanceInStackAddr{ComponentAddr: "component.a", ComponentInstanceAddr: "component.a"}
	if len(components) != 1 || !proto.Equal(components[0].GetAddr(), wantAddr) || !components[0].GetPlanComplete() ||
		!slices.Equal(components[0].GetActions(), []stackspb.ChangeType{stackspb.ChangeType_CREATE}) {
		t.Errorf("components %v", components)
	}
	if name := decodeInBand(t, components[0].GetOutputValues()["name"]); name.IsKnown() && name.AsString() != "n" {
		t.Errorf("output name is planned as %#v", name)
	}
	resources := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned)
	if len(resources) != 1 {
		t.Fatalf("resources %v", resources)
	}
	r := resources[0]
	if r.GetAddr().GetComponentInstanceAddr() != "component.a" || r.GetAddr().GetResourceInstanceAddr() != "terraform_data.main" ||
		r.GetResourceMode() != stackspb.ResourceMode_MANAGED || r.GetResourceType() != "terraform_data" || r.GetResourceName() != "main" ||
		r.GetProviderAddr() != builtIn || r.GetIndex() != nil || r.GetModuleAddr() != "" ||
		r.GetActionReason() != "ResourceInstanceChangeNoReason" ||
		!slices.Equal(r.GetActions(), []stackspb.ChangeType{stackspb.ChangeType_CREATE}) {
		t.Errorf("resource %v", r)
	}
	if old, planned := decodeData(t, r.GetValues().GetOld()), decodeData(t, r.GetValues().GetNew()); !old.IsNull() ||
		planned.GetAttr("input").AsString() != "n" || planned.GetAttr("id").IsKnown() {
		t.Errorf("old %#v, new %#v", old, planned)
	}
	variables := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetInputVariablePlanned)
	if len(variables) != 1 || variables[0].GetName() != "name" || variables[0].GetRequiredDuringApply() ||
		decodeInBand(t, variables[0].GetValues().GetNew()).AsString() != "n" || !decodeInBand(t, variables[0].GetValues().GetOld()).IsNull() {
		t.Errorf("variables %v", variables)
	}
}

// decodeInBand decodes a value that has its type in itself.
func decodeInBand(t testing.TB, message *stackspb.DynamicValue) cty.Value {
	t.Helper()
	v, err := ctymsgpack.Unmarshal(message.GetMsgpack(), cty.DynamicPseudoType)
	if err != nil {
		t.Fatalf("decoding %v: %v", message, err)
	}
	return v
}

// decodeData decodes a value of terraform_data.
func decodeData(t testing.TB, message *stackspb.DynamicValue) cty.Value {
	t.Helper()
	v, err := ctymsgpack.Unmarshal(message.GetMsgpack(), cty.Object(map[string]cty.Type{
		"id": cty.String, "input": cty.DynamicPseudoType, "output": cty.DynamicPseudoType, "triggers_replace": cty.DynamicPseudoType,
		"store": cty.Object(map[string]cty.Type{
			"input": cty.DynamicPseudoType, "output": cty.DynamicPseudoType, "sensitive_output": cty.DynamicPseudoType,
			"version": cty.DynamicPseudoType, "sensitive": cty.Bool, "replace": cty.Bool,
		}),
	}))
	if err != nil {
		t.Fatalf("decoding %v: %v", message, err)
	}
	return v
}

// input encodes the value of an input, with a range that says where it is from.
func input(t testing.TB, value cty.Value) *stackspb.DynamicValueWithSource {
	t.Helper()
	encoded, err := ctymsgpack.Marshal(value, cty.DynamicPseudoType)
	if err != nil {
		t.Fatal(err)
	}
	return &stackspb.DynamicValueWithSource{Value: &stackspb.DynamicValue{Msgpack: encoded}, SourceRange: &terraform1.SourceRange{
		SourceAddr: "values of the test", Start: &terraform1.SourcePos{Line: 7, Column: 1}, End: &terraform1.SourcePos{Line: 7, Column: 2},
	}}
}

type inputs = map[string]*stackspb.DynamicValueWithSource

const variablesStack = `-- stack/main.tfcomponent.hcl --
variable "number" {
  type = number
}

variable "default" {
  type    = string
  default = "d"
}

output "number" {
  type  = number
  value = var.number
}

output "default" {
  type  = string
  value = var.default
}
`

// outputValues returns the planned new values of root outputs.
func outputValues(t testing.TB, events []*stackspb.PlanStackChanges_Event) map[string]cty.Value {
	t.Helper()
	values := map[string]cty.Value{}
	for _, output := range descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetOutputValuePlanned) {
		values[output.GetName()] = decodeInBand(t, output.GetValues().GetNew())
	}
	return values
}

func testPlanInputs(t *testing.T) {
	s := openStack(t, variablesStack)
	for name, test := range map[string]struct {
		inputs inputs
		want   string
	}{
		"converted": {inputs{"number": input(t, cty.StringVal("5"))}, "d"},
		"null":      {inputs{"number": input(t, cty.NumberIntVal(5)), "default": input(t, cty.NullVal(cty.String))}, "d"},
		"undeclared": {
			inputs{"number": input(t, cty.NumberIntVal(5)), "default": input(t, cty.StringVal("x")), "other": input(t, cty.True)}, "x",
		},
		"not decodable": {inputs{"number": input(t, cty.NumberIntVal(5)), "default": {
			Value: &stackspb.DynamicValue{Msgpack: []byte("\xc1")}, SourceRange: input(t, cty.True).GetSourceRange(),
		}}, "d"},
	} {
		events := must[[]*stackspb.PlanStackChanges_Event](t)(s.plan(&stackspb.PlanStackChanges_Request{InputValues: test.inputs}))
		values := outputValues(t, events)
		if ok, _ := applyable(events); !ok || values["number"].AsBigFloat().String() != "5" || values["default"].AsString() != test.want {
			t.Errorf("%s: outputs %#v, diagnostics %v", name, values, diagnostics(events))
		}
	}
	sensitive := input(t, cty.NumberIntVal(5))
	sensitive.Value.Sensitive = []*stackspb.AttributePath{{}}
	events := must[[]*stackspb.PlanStackChanges_Event](t)(s.plan(&stackspb.PlanStackChanges_Request{InputValues: inputs{"number": sensitive}}))
	for _, output := range descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetOutputValuePlanned) {
		paths := output.GetValues().GetNew().GetSensitive()
		if whole := len(paths) == 1 && len(paths[0].GetSteps()) == 0; whole != (output.GetName() == "number") {
			t.Errorf("output %s has sensitive paths %v", output.GetName(), paths)
		}
	}
}

func testPlanWrongInputs(t *testing.T) {
	s := openStack(t, variablesStack)
	for name, given := range map[string]inputs{"no value": nil, "other type": {"number": input(t, cty.StringVal("five"))}} {
		events := must[[]*stackspb.PlanStackChanges_Event](t)(s.plan(&stackspb.PlanStackChanges_Request{InputValues: given}))
		diags := diagnostics(events)
		ok, found := applyable(events)
		if ok || !found || !hasError(diags) {
			t.Errorf("%s: can be applied: %t, says so: %t, diagnostics %v", name, ok, found, diags)
		}
		if given != nil && !slices.ContainsFunc(diags, func(d *terraform1.Diagnostic) bool {
			return d.GetSubject().GetSourceAddr() == "values of the test" && d.GetSubject().GetStart().GetLine() == 7
		}) {
			t.Errorf("%s: no diagnostic is about the range that was given: %v", name, diags)
		}
	}
	for name, change := range map[string]func(*stackspb.DynamicValueWithSource){
		"no range": func(v *stackspb.DynamicValueWithSource) { v.SourceRange = nil },
		"no start": func(v *stackspb.DynamicValueWithSource) { v.SourceRange.Start = nil },
		"no end":   func(v *stackspb.DynamicValueWithSource) { v.SourceRange.End = nil },
	} {
		given := input(t, cty.NumberIntVal(5))
		change(given)
		_, err := s.plan(&stackspb.PlanStackChanges_Request{InputValues: inputs{"number": given}})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
}

func testPlanEphemeral(t *testing.T) {
	s := openStack(t, "-- stack/main.tfcomponent.hcl --\nvariable \"e\" {\n  type      = string\n  ephemeral = true\n  default   = null\n}\n")
	for _, given := range []cty.Value{cty.StringVal("very-secret"), cty.NullVal(cty.String)} {
		events := must[[]*stackspb.PlanStackChanges_Event](t)(
			s.plan(&stackspb.PlanStackChanges_Request{InputValues: inputs{"e": input(t, given)}}),
		)
		variables := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetInputVariablePlanned)
		if len(variables) != 1 || variables[0].GetRequiredDuringApply() != !given.IsNull() {
			t.Errorf("given %#v: variables %v, diagnostics %v", given, variables, diagnostics(events))
			continue
		}
		if planned := decodeInBand(t, variables[0].GetValues().GetNew()); !planned.IsNull() {
			t.Errorf("given %#v: planned %#v, want null", given, planned)
		}
		for _, raw := range rawPlan(events) {
			if bytes.Contains(raw.GetValue(), []byte("very-secret")) {
				t.Error("the raw plan has the value")
			}
		}
	}
}

func testPlanPrior(t *testing.T) {
	s := openStack(t, dataStack)
	state := s.made()
	events := s.planned(state, stackspb.PlanMode_NORMAL)
	resources := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned)
	if len(resources) != 1 || !slices.Equal(resources[0].GetActions(), noop) {
		t.Errorf("resources %v, want one without changes", resources)
	}
	components := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetComponentInstancePlanned)
	if len(components) != 1 || !slices.Equal(components[0].GetActions(), []stackspb.ChangeType{stackspb.ChangeType_UPDATE}) {
		t.Errorf("components %v, want UPDATE", components)
	}
	for _, output := range descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetOutputValuePlanned) {
		if !slices.Equal(output.GetActions(), noop) {
			t.Errorf("output %v, want NOOP", output)
		}
	}
	carried := map[string]bool{}
	for _, change := range plannedChanges(events)[1 : 1+len(state)] {
		if len(change.GetDescriptions()) > 0 || len(change.GetRaw()) != 1 {
			t.Errorf("after the header comes %v, want an element of the prior state", change)
			continue
		}
		for _, text := range bytesFields(change.GetRaw()[0].GetValue()) {
			carried[text] = true
		}
	}
	for key := range state {
		if !carried[key] {
			t.Errorf("no element after the header has the key %s", key)
		}
	}
}

func testPlanErrors(t *testing.T) {
	s := openStack(t, `-- stack/main.tfcomponent.hcl --
component "a" {
  source = "./module"
  inputs = { name = file("none") }
}
`+moduleWithData)
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	ok, found := applyable(events)
	if ok || !found || !hasError(diagnostics(events)) {
		t.Errorf("can be applied: %t, says so: %t, diagnostics %v", ok, found, diagnostics(events))
	}
	if len(rawPlan(events)) < 3 {
		t.Errorf("raw elements %v, want header, timestamp and verdict at least", rawPlan(events))
	}
}

func testPlanOutputs(t *testing.T) {
	s := openStack(t, dataStack)
	outputs := descriptions(s.planned(nil, stackspb.PlanMode_NORMAL), (*stackspb.PlannedChange_ChangeDescription).GetOutputValuePlanned)
	if len(outputs) != 1 || outputs[0].GetName() != "name" ||
		!slices.Equal(outputs[0].GetActions(), []stackspb.ChangeType{stackspb.ChangeType_CREATE}) ||
		!decodeInBand(t, outputs[0].GetValues().GetOld()).IsNull() {
		t.Errorf("new stack: outputs %v", outputs)
	}
	state := s.made()
	outputs = descriptions(s.planned(state, stackspb.PlanMode_DESTROY), (*stackspb.PlannedChange_ChangeDescription).GetOutputValuePlanned)
	if len(outputs) != 1 || !slices.Equal(outputs[0].GetActions(), []stackspb.ChangeType{stackspb.ChangeType_DELETE}) ||
		decodeInBand(t, outputs[0].GetValues().GetOld()).AsString() != "n" || !decodeInBand(t, outputs[0].GetValues().GetNew()).IsNull() {
		t.Errorf("destroyed: outputs %v", outputs)
	}
	refreshed := s.planned(state, stackspb.PlanMode_REFRESH_ONLY)
	if resources := descriptions(refreshed, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned); len(resources) > 0 {
		t.Errorf("refresh-only: resources %v, want none described", resources)
	}
	components := descriptions(refreshed, (*stackspb.PlannedChange_ChangeDescription).GetComponentInstancePlanned)
	if len(components) != 1 || !slices.Equal(components[0].GetActions(), []stackspb.ChangeType{stackspb.ChangeType_READ}) {
		t.Errorf("refresh-only: components %v, want READ", components)
	}
}

// There are no policy plugins here: the first event says that there is none, and the plan goes on.
func testPlanPolicies(t *testing.T) {
	s := openStack(t, dataStack)
	plugin := filepath.Join(t.TempDir(), "tfpolicy-plugin")
	request := &stackspb.PlanStackChanges_Request{
		TfpolicyPluginPath: &plugin, PolicyPaths: []string{t.TempDir()},
		PolicyEntitlement: &stackspb.PolicyEntitlement{Host: "example.com", Token: "t", Org: "o"},
	}
	events := must[[]*stackspb.PlanStackChanges_Event](t)(s.plan(request))
	if diags := events[0].GetPolicySetupDiagnostics().GetDiagnostics(); len(diags) == 0 || diags[0].GetDiagnostic().GetSummary() == "" {
		t.Errorf("the first event is %v, want policy_setup_diagnostics", events[0])
	}
	if ok, _ := applyable(events); !ok {
		t.Errorf("the plan cannot be applied: %v", diagnostics(events))
	}
	handle := must[int64](t)(s.openPlan(rawPlan(events)))
	applied := must[[]*stackspb.ApplyStackChanges_Event](t)(
		s.apply(&stackspb.ApplyStackChanges_Request{PlanHandle: handle, TfpolicyPluginPath: &plugin, PolicyPaths: request.GetPolicyPaths()}))
	if applied[0].GetPolicySetupDiagnostics() == nil || hasError(diagnostics(applied)) {
		t.Errorf("apply: the first event is %v, diagnostics %v", applied[0], diagnostics(applied))
	}
	for name, req := range map[string]*stackspb.PlanStackChanges_Request{
		"no path": {TfpolicyPluginPath: &plugin}, "no plugin": {PolicyPaths: request.GetPolicyPaths()}, "neither": {},
	} {
		events := must[[]*stackspb.PlanStackChanges_Event](t)(s.plan(req))
		for _, event := range events {
			if event.GetPolicySetupDiagnostics() != nil || event.GetComponentInstancePolicyEvaluation() != nil ||
				event.GetProviderInstancePolicyEvaluation() != nil {
				t.Errorf("%s: %v", name, event)
			}
		}
	}
}

func testPlanInlineState(t *testing.T) {
	s := openStack(t, dataStack)
	state := s.made()
	request := &stackspb.PlanStackChanges_Request{PreviousState: maps.Clone(state)} //nolint:staticcheck // deprecated, and still offered
	events := must[[]*stackspb.PlanStackChanges_Event](t)(s.plan(request))
	resources := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned)
	if len(resources) != 1 || !slices.Equal(resources[0].GetActions(), noop) {
		t.Errorf("resources %v, want one without changes", resources)
	}
}
