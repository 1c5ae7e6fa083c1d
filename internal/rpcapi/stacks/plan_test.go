// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// chain is a stack of two components, one with a value of the other.
var chain = map[string]string{
	"main.tfcomponent.hcl": `
variable "size" {
  type    = number
  default = 1
}
component "a" {
  source = "./module"
  inputs = { input = "v${var.size}" }
}
component "b" {
  source = "./module"
  inputs = { input = component.a.id }
}
output "last" {
  type  = string
  value = component.b.id
}
`,
	"module/main.tf": `
variable "input" {
  type = string
}
resource "terraform_data" "x" {
  input = var.input
}
output "id" {
  value = terraform_data.x.id
}
`,
}

// planned has the messages of a plan.
type planned struct {
	elements  []*anypb.Any
	events    []string
	diags     []*terraform1pb.Diagnostic
	applyable bool
	resources map[string]*stackspb.PlannedChange_ResourceInstance
}

func (c *client) plan(req *stackspb.PlanStackChanges_Request) (*planned, error) {
	stream, err := c.stacks.PlanStackChanges(c.t.Context(), req)
	if err != nil {
		return nil, err
	}
	p := &planned{resources: map[string]*stackspb.PlannedChange_ResourceInstance{}}
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return p, err
		}
		p.add(event)
	}
}

func (p *planned) add(event *stackspb.PlanStackChanges_Event) {
	switch event := event.GetEvent().(type) {
	case *stackspb.PlanStackChanges_Event_Diagnostic:
		p.diags = append(p.diags, event.Diagnostic)
	case *stackspb.PlanStackChanges_Event_Progress:
		p.events = append(p.events, describeProgress(event.Progress))
	case *stackspb.PlanStackChanges_Event_PlannedChange:
		p.elements = append(p.elements, event.PlannedChange.GetRaw()...)
		for _, described := range event.PlannedChange.GetDescriptions() {
			p.events = append(p.events, p.describe(described))
		}
	}
}

func (p *planned) describe(described *stackspb.PlannedChange_ChangeDescription) string {
	switch d := described.GetDescription().(type) {
	case *stackspb.PlannedChange_ChangeDescription_ComponentInstancePlanned:
		return fmt.Sprintf("plan %s %v complete=%t", d.ComponentInstancePlanned.GetAddr().GetComponentInstanceAddr(),
			d.ComponentInstancePlanned.GetActions(), d.ComponentInstancePlanned.GetPlanComplete())
	case *stackspb.PlannedChange_ChangeDescription_ResourceInstancePlanned:
		r := d.ResourceInstancePlanned
		addr := r.GetAddr().GetComponentInstanceAddr() + "." + r.GetAddr().GetResourceInstanceAddr()
		p.resources[addr] = r
		return fmt.Sprintf("plan %s %v %s", addr, r.GetActions(), r.GetActionReason())
	case *stackspb.PlannedChange_ChangeDescription_InputVariablePlanned:
		return fmt.Sprintf("plan var.%s %v", d.InputVariablePlanned.GetName(), d.InputVariablePlanned.GetActions())
	case *stackspb.PlannedChange_ChangeDescription_OutputValuePlanned:
		return fmt.Sprintf("plan output.%s %v", d.OutputValuePlanned.GetName(), d.OutputValuePlanned.GetActions())
	case *stackspb.PlannedChange_ChangeDescription_PlanApplyable:
		p.applyable = d.PlanApplyable
		return fmt.Sprintf("applyable %t", d.PlanApplyable)
	default:
		return fmt.Sprintf("%T", d)
	}
}

// describeProgress returns an event in one line.
func describeProgress(p *stackspb.StackChangeProgress) string {
	switch e := p.GetEvent().(type) {
	case *stackspb.StackChangeProgress_ComponentInstances_:
		return fmt.Sprintf("instances %s %v", e.ComponentInstances.GetComponentAddr(), e.ComponentInstances.GetInstanceAddrs())
	case *stackspb.StackChangeProgress_ComponentInstanceStatus_:
		return fmt.Sprintf("status %s %s", e.ComponentInstanceStatus.GetAddr().GetComponentInstanceAddr(), e.ComponentInstanceStatus.GetStatus())
	case *stackspb.StackChangeProgress_ResourceInstanceStatus_:
		addr := e.ResourceInstanceStatus.GetAddr()
		return fmt.Sprintf("status %s.%s %s", addr.GetComponentInstanceAddr(), addr.GetResourceInstanceAddr(),
			e.ResourceInstanceStatus.GetStatus())
	case *stackspb.StackChangeProgress_ResourceInstancePlannedChange_:
		addr := e.ResourceInstancePlannedChange.GetAddr()
		return fmt.Sprintf("change %s.%s %v", addr.GetComponentInstanceAddr(), addr.GetResourceInstanceAddr(),
			e.ResourceInstancePlannedChange.GetActions())
	case *stackspb.StackChangeProgress_ComponentInstanceChanges_:
		n := e.ComponentInstanceChanges
		return fmt.Sprintf("counts %s total=%d add=%d change=%d remove=%d",
			n.GetAddr().GetComponentInstanceAddr(), n.GetTotal(), n.GetAdd(), n.GetChange(), n.GetRemove())
	default:
		return fmt.Sprintf("%T", e)
	}
}

// applied has the messages of an apply, and the state that it has made.
type applied struct {
	events []string
	diags  []*terraform1pb.Diagnostic
}

// apply applies the elements of a plan, and merges the sent changes into a state.
func (c *client) apply(req *stackspb.ApplyStackChanges_Request, state map[string]*anypb.Any) (*applied, error) {
	stream, err := c.stacks.ApplyStackChanges(c.t.Context(), req)
	if err != nil {
		return nil, err
	}
	a := &applied{}
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil {
			return a, err
		}
		switch event := event.GetEvent().(type) {
		case *stackspb.ApplyStackChanges_Event_Diagnostic:
			a.diags = append(a.diags, event.Diagnostic)
		case *stackspb.ApplyStackChanges_Event_Progress:
			a.events = append(a.events, describeProgress(event.Progress))
		case *stackspb.ApplyStackChanges_Event_AppliedChange:
			for _, raw := range event.AppliedChange.GetRaw() {
				delete(state, raw.GetKey())
				if raw.GetValue() != nil {
					state[raw.GetKey()] = raw.GetValue()
				}
			}
			for _, described := range event.AppliedChange.GetDescriptions() {
				a.events = append(a.events, fmt.Sprintf("%s %s", described.GetKey(),
					strings.TrimPrefix(fmt.Sprintf("%T", described.GetDescription()), "*stacks.AppliedChange_ChangeDescription_")))
			}
		}
	}
}

// openPlan sends a plan in its elements.
func (c *client) openPlan(elements []*anypb.Any) (int64, error) {
	stream, err := c.stacks.OpenPlan(c.t.Context())
	if err != nil {
		return 0, err
	}
	for _, element := range elements {
		if err := stream.Send(&stackspb.OpenStackPlan_RequestItem{Raw: element}); err != nil {
			break // the answer says why
		}
	}
	response, err := stream.CloseAndRecv()
	return response.GetPlanHandle(), err
}

// openState sends a state in its records.
func (c *client) openState(state map[string]*anypb.Any) (int64, error) {
	stream, err := c.stacks.OpenState(c.t.Context())
	if err != nil {
		return 0, err
	}
	for _, key := range slices.Sorted(maps.Keys(state)) {
		item := &stackspb.OpenStackState_RequestItem{Raw: &stackspb.AppliedChange_RawChange{Key: key, Value: state[key]}}
		if err := stream.Send(item); err != nil {
			break
		}
	}
	response, err := stream.CloseAndRecv()
	return response.GetStateHandle(), err
}

// inputValues are values for root variables as clients send them.
func inputValues(t testing.TB, values map[string]cty.Value) map[string]*stackspb.DynamicValueWithSource {
	t.Helper()
	messages := map[string]*stackspb.DynamicValueWithSource{}
	for name, value := range values {
		message, err := wire.Value(value)
		if err != nil {
			t.Fatal(err)
		}
		rng := &terraform1pb.SourceRange{
			SourceAddr: "<input " + name + ">",
			Start:      &terraform1pb.SourcePos{Line: 1, Column: 1},
			End:        &terraform1pb.SourcePos{Line: 1, Column: 1},
		}
		messages[name] = &stackspb.DynamicValueWithSource{Value: message, SourceRange: rng}
	}
	return messages
}

func noDiagnostics(t testing.TB, diags []*terraform1pb.Diagnostic) {
	t.Helper()
	for _, diag := range diags {
		t.Errorf("%s: %s: %s", diag.GetSeverity(), diag.GetSummary(), diag.GetDetail())
	}
}

// about returns the events that name something.
func about(events []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(events), func(event string) bool { return !strings.Contains(event, name) })
}

// A plan is made and kept, applied by another server, and the state that it leaves is planned
// again.
func TestPlanAndApply(t *testing.T) {
	first := serve(t)
	plan, err := first.plan(&stackspb.PlanStackChanges_Request{
		StackConfigHandle: first.open(chain),
		InputValues:       inputValues(t, map[string]cty.Value{"size": cty.StringVal("2"), "other": cty.True}),
	})
	if err != nil {
		t.Fatal(err)
	}
	noDiagnostics(t, plan.diags)
	want := []string{
		"instances component.a [component.a]",
		"status component.a PENDING",
		"status component.a PLANNING",
		"status component.a.terraform_data.x PLANNING",
		"status component.a.terraform_data.x PLANNED",
		"change component.a.terraform_data.x [CREATE]",
		"counts component.a total=1 add=1 change=0 remove=0",
		"status component.a PLANNED",
		"plan component.a [CREATE] complete=true",
		"plan component.a.terraform_data.x [CREATE] ResourceInstanceChangeNoReason",
	}
	if diff := cmp.Diff(want, about(plan.events, "component.a")); diff != "" {
		t.Errorf("events of the plan (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"plan var.size [CREATE]", "plan output.last [CREATE]", "applyable true"},
		plan.events[len(plan.events)-3:]); diff != "" {
		t.Errorf("last events of the plan (-want +got):\n%s", diff)
	}

	second := serve(t)
	opened, err := second.openPlan(plan.elements)
	if err != nil {
		t.Fatal(err)
	}
	config, state := second.open(chain), map[string]*anypb.Any{}
	done, err := second.apply(&stackspb.ApplyStackChanges_Request{StackConfigHandle: config, PlanHandle: opened}, state)
	if err != nil {
		t.Fatal(err)
	}
	noDiagnostics(t, done.diags)
	want = []string{
		"instances component.a [component.a]",
		"status component.a PENDING",
		"status component.a APPLYING",
		"status component.a.terraform_data.x PLANNING",
		"status component.a.terraform_data.x PLANNED",
		"status component.a.terraform_data.x APPLYING",
		"status component.a.terraform_data.x APPLIED",
		"counts component.a total=1 add=1 change=0 remove=0",
		"status component.a APPLIED",
		"RSRCcomponent.a,terraform_data.x,cur ResourceInstance",
		"CMPTcomponent.a ComponentInstance",
	}
	if diff := cmp.Diff(want, about(done.events, "component.a")); diff != "" {
		t.Errorf("events of the apply (-want +got):\n%s", diff)
	}
	if keys := slices.Sorted(maps.Keys(state)); !slices.Equal(keys, []string{
		"CMPTcomponent.a", "CMPTcomponent.b", "OTPToutput.last", "RSRCcomponent.a,terraform_data.x,cur",
		"RSRCcomponent.b,terraform_data.x,cur", "VRBLvar.size",
	}) {
		t.Errorf("the state has %q", keys)
	}
	_, err = second.apply(&stackspb.ApplyStackChanges_Request{StackConfigHandle: config, PlanHandle: opened}, state)
	wantStatus(t, err, codes.InvalidArgument, "no stack plan")

	prior, err := second.openState(state)
	if err != nil {
		t.Fatal(err)
	}
	again, err := second.plan(&stackspb.PlanStackChanges_Request{
		StackConfigHandle:   config,
		PreviousStateHandle: prior,
		InputValues:         inputValues(t, map[string]cty.Value{"size": cty.NumberIntVal(2)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	noDiagnostics(t, again.diags)
	want = []string{
		"instances component.a [component.a]",
		"status component.a PENDING",
		"status component.a PLANNING",
		"status component.a.terraform_data.x PLANNING",
		"status component.a.terraform_data.x PLANNED",
		"change component.a.terraform_data.x [NOOP]",
		"counts component.a total=0 add=0 change=0 remove=0",
		"status component.a PLANNED",
		"plan component.a [UPDATE] complete=true",
		"plan component.a.terraform_data.x [NOOP] ResourceInstanceChangeNoReason",
	}
	if diff := cmp.Diff(want, about(again.events, "component.a")); diff != "" {
		t.Errorf("events of the second plan (-want +got):\n%s", diff)
	}
	if !slices.Contains(again.events, "plan var.size [NOOP]") || !slices.Contains(again.events, "plan output.last [NOOP]") {
		t.Errorf("root values: got %q", again.events)
	}

	destroy, err := second.plan(&stackspb.PlanStackChanges_Request{
		StackConfigHandle:   config,
		PreviousStateHandle: prior,
		PlanMode:            stackspb.PlanMode_DESTROY,
	})
	if err != nil {
		t.Fatal(err)
	}
	noDiagnostics(t, destroy.diags)
	inline := &stackspb.ApplyStackChanges_Request{StackConfigHandle: config}
	inline.PlannedChanges = destroy.elements //nolint:staticcheck // former clients send it
	if _, err := second.apply(inline, state); err != nil {
		t.Fatal(err)
	}
	if len(state) > 0 {
		t.Errorf("after everything was destroyed, the state has %q", slices.Sorted(maps.Keys(state)))
	}
}

// The plan of a stack with nothing in it has three elements.
func TestPlanOfNothing(t *testing.T) {
	c := serve(t)
	plan, err := c.plan(&stackspb.PlanStackChanges_Request{StackConfigHandle: c.open(map[string]string{"main.tfcomponent.hcl": ""})})
	if err != nil {
		t.Fatal(err)
	}
	noDiagnostics(t, plan.diags)
	if len(plan.elements) != 3 || !slices.Equal(plan.events, []string{"applyable true"}) {
		t.Errorf("got %d elements and %q", len(plan.elements), plan.events)
	}
}
