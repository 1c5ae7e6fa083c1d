// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

var errHang = errors.New("planning does not come to an end")

// selectKeys returns the part of a map whose keys are selected.
func selectKeys[V any](all map[string]V, selected func(string) bool) map[string]V {
	part := map[string]V{}
	for name, v := range all {
		if selected(name) {
			part[name] = v
		}
	}
	return part
}

// identifier is that of an object, which nothing but the object itself has in repeatable stacks.
var identifier = regexp.MustCompile(`"id":"[0-9a-f-]{36}"`)

// content returns the contents of a state without identifiers, in a form that can be compared.
func content(t testing.TB, s *stackstate.State) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, v := range s.Inputs {
		all["var."+name] = fmt.Sprintf("%#v", v)
	}
	for name, v := range s.Outputs {
		all["output."+name] = fmt.Sprintf("%#v", v)
	}
	depends := map[[2]stackaddrs.AbsComponent]bool{}
	for addr, c := range s.Components {
		for _, required := range c.Dependencies {
			depends[[2]stackaddrs.AbsComponent{stackaddrs.ComponentOf(addr), required}] = true
		}
	}
	for addr, c := range s.Components {
		prefix := addr.String()
		// Dependents that are gone, or let go of the component, stay until it is applied again.
		dependents := slices.DeleteFunc(slices.Clone(c.Dependents), func(d stackaddrs.AbsComponent) bool {
			return !depends[[2]stackaddrs.AbsComponent{d, stackaddrs.ComponentOf(addr)}]
		})
		all[prefix] = fmt.Sprint(c.Dependencies, dependents)
		for name, v := range c.Inputs {
			all[prefix+" input "+name] = fmt.Sprintf("%#v", v)
		}
		for name, v := range c.Outputs {
			all[prefix+" output "+name] = fmt.Sprintf("%#v", v)
		}
		for addr, object := range objects(t, c) {
			attributes := identifier.ReplaceAll(object.Attributes, nil)
			all[prefix+" "+addr] = fmt.Sprintf("%s %s %v %v", attributes, object.SensitiveAttributes, object.Tainted, object.Dependencies)
		}
	}
	return all
}

func objects(t testing.TB, c *stackstate.Component) map[string]tfstate.Object {
	t.Helper()
	list, err := tfstate.ParseObjects(c.Module)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]tfstate.Object{}
	for _, object := range list {
		all[object.Addr.String()+string(object.Deposed)] = object
	}
	return all
}

func describePlan(p *stackplan.Plan) string {
	var b strings.Builder
	for _, c := range p.Components {
		fmt.Fprintf(&b, "%s %s complete=%v (%s) requires=%v\n", c.Addr, c.Action, c.Complete, c.DeferredReason, c.Requires)
		for _, values := range []map[string]cty.Value{c.Inputs, c.Outputs} {
			text := fmt.Sprintf("%#v", values)
			fmt.Fprintf(&b, "  %s\n", text)
		}
		for _, rc := range c.Changes {
			if rc.Action != engine.ActionNoOp {
				fmt.Fprintf(&b, "  %s %s %#v\n", rc.Address(), rc.Action, rc.After)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
		o := p.Outputs[name]
		fmt.Fprintf(&b, "output %s %s %#v %#v\n", name, o.Action, o.Before, o.After)
	}
	return b.String()
}

// compareWithState checks rule C4. Over all rounds, nothing is said about changes that were
// deferred in this one.
func (c *check) compareWithState(what string, plan *stackplan.Plan, allRounds bool) {
	c.Helper()
	wrong := func(addr string, err error) {
		c.Helper()
		if err != nil {
			c.Errorf("rule C4: %s: %s: %v", what, addr, err)
		}
	}
	for _, planned := range plan.Components {
		now := c.state.Components[planned.Addr]
		// An incomplete component is planned again in a later round, and has its final values only then.
		if now == nil || !planned.Complete && !allRounds {
			if planned.Complete && planned.Action != stackplan.Delete && planned.Action != stackplan.Forget {
				c.Errorf("rule C4: %s: %s is not in the state", what, planned.Addr)
			}
			continue
		}
		for name, v := range planned.Inputs {
			if got, ok := now.Inputs[name]; ok {
				wrong(planned.Addr.String()+" input "+name, refines(v, got))
			} else {
				c.Errorf("rule C4: %s: %s has no input %s in the state", what, planned.Addr, name)
			}
		}
		for name, v := range planned.Outputs {
			if got, ok := now.Outputs[name]; ok {
				wrong(planned.Addr.String()+" output "+name, refines(v, got))
			} else {
				c.Errorf("rule C4: %s: %s has no output %s in the state", what, planned.Addr, name)
			}
		}
		c.compareResources(what, planned, now)
	}
	for name, o := range plan.Outputs {
		if !plan.Complete && !allRounds {
			break // an output that is not known yet is left as it was
		}
		switch got, ok := c.state.Outputs[name]; {
		case o.Action == stackplan.Delete && ok:
			c.Errorf("rule C4: %s: output %s is still in the state", what, name)
		case o.Action == stackplan.Delete:
		case !ok:
			c.Errorf("rule C4: %s: output %s is not in the state", what, name)
		default:
			wrong("output "+name, refines(o.After, got))
		}
	}
}

// compareResources compares the planned resources with the existing ones.
func (c *check) compareResources(what string, planned *stackplan.Component, now *stackstate.Component) {
	c.Helper()
	there := objects(c, now)
	for _, rc := range planned.Changes {
		if rc.Action == engine.ActionDelete || rc.Action == engine.ActionForget || rc.Deposed != "" {
			continue
		}
		object, ok := there[rc.Address()]
		if !ok {
			c.Errorf("rule C4: %s: %s %s is not in the state", what, planned.Addr, rc.Address())
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(object.Attributes, &got); err != nil {
			c.Fatal(err)
		}
		after, _ := viaJSON(c, terraformjson.Value(rc.After)).(map[string]any)
		unknown, _ := viaJSON(c, terraformjson.Unknown(rc.After)).(map[string]any)
		for name, v := range after {
			if err := refinesAttribute(v, unknown[name], got[name]); err != nil {
				c.Errorf("rule C4: %s: %s %s.%s%v", what, planned.Addr, rc.Address(), name, err)
			}
		}
	}
}

func viaJSON(t testing.TB, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var result any
	if err := json.Unmarshal(raw, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

// refinesAttribute compares an attribute of an object in the state, in which
// values of any type are stored together with their type.
func refinesAttribute(planned, unknown, got any) error {
	wrapped, ok := got.(map[string]any)
	if !ok || len(wrapped) != 2 || wrapped["type"] == nil {
		return refinesJSON(planned, unknown, got)
	}
	got = wrapped["value"]
	unknowns, _ := unknown.([]any)
	if ty, ok := wrapped["type"].([]any); !ok || ty[0] != "set" || !slices.Contains(unknowns, any(true)) {
		return refinesJSON(planned, unknown, got)
	}
	elems, _ := planned.([]any)
	set, _ := got.([]any)
	for i, v := range elems {
		if unknowns[i] == false && !slices.Contains(set, v) || len(set) > len(elems) {
			return orOther(nil, planned, got)
		}
	}
	return nil
}

func refinesJSON(planned, unknown, got any) error {
	if unknown == true {
		return nil
	}
	switch planned := planned.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		unknowns, _ := unknown.(map[string]any)
		for name, v := range planned {
			if err := refinesJSON(v, unknowns[name], object[name]); !ok || err != nil {
				return fmt.Errorf(".%s%w", name, orOther(err, planned, got))
			}
		}
		return nil
	case []any:
		list, ok := got.([]any)
		unknowns, _ := unknown.([]any)
		if !ok || len(list) != len(planned) {
			return orOther(nil, planned, got)
		}
		for i, v := range planned {
			var u any
			if i < len(unknowns) {
				u = unknowns[i]
			}
			if err := refinesJSON(v, u, list[i]); err != nil {
				return fmt.Errorf("[%d]%w", i, err)
			}
		}
		return nil
	}
	if planned != got {
		return orOther(nil, planned, got)
	}
	return nil
}

func orOther(err error, planned, got any) error {
	if err != nil {
		return err
	}
	return fmt.Errorf(" was planned as %#v and is %#v", planned, got)
}

// refines reports how a value contradicts the one that was planned.
func refines(planned, got cty.Value) error {
	if planned.IsWhollyKnown() && marks.Contains(planned, marks.Sensitive) != marks.Contains(got, marks.Sensitive) {
		return fmt.Errorf("sensitive when planned %v, and then %v", marks.Contains(planned, marks.Sensitive),
			marks.Contains(got, marks.Sensitive))
	}
	planned, _ = planned.UnmarkDeep()
	got, _ = got.UnmarkDeep()
	if errs := got.Type().TestConformance(planned.Type()); len(errs) > 0 {
		return fmt.Errorf("type %#v was planned and it is %#v: %w", planned.Type(), got.Type(), errors.Join(errs...))
	}
	if !got.IsWhollyKnown() {
		return fmt.Errorf("not known after the apply: %#v", got)
	}
	return refinesKnown(planned, got)
}

func refinesKnown(planned, got cty.Value) error {
	different := fmt.Errorf("%#v was planned and it is %#v", planned, got)
	if !planned.IsKnown() {
		if in := planned.Range().Includes(got); in.IsKnown() && in.False() {
			return different
		}
		return nil
	}
	// RawEquals takes an unknown for different from any known value, so that only whole values are
	// compared with it; of others, the elements are.
	if planned.IsWhollyKnown() || planned.IsNull() || got.IsNull() || planned.Type().IsPrimitiveType() {
		if !planned.RawEquals(got) {
			return different
		}
		return nil
	}
	if planned.Type().IsSetType() {
		return refinesSet(planned, got)
	}
	if planned.LengthInt() != got.LengthInt() {
		return different
	}
	if planned.Type().IsObjectType() {
		for name := range planned.Type().AttributeTypes() {
			if err := refinesKnown(planned.GetAttr(name), got.GetAttr(name)); err != nil {
				return err
			}
		}
		return nil
	}
	for key, v := range planned.Elements() {
		if has := got.HasIndex(key); has.False() {
			return different
		}
		if err := refinesKnown(v, got.Index(key)); err != nil {
			return err
		}
	}
	return nil
}

// refinesSet compares sets, in which unknown elements may turn out to be equal
// to others.
func refinesSet(planned, got cty.Value) error {
	if got.LengthInt() > planned.LengthInt() {
		return fmt.Errorf("%#v was planned and it is %#v", planned, got)
	}
	for _, v := range planned.AsValueSlice() {
		if v.IsWhollyKnown() && got.HasElement(v).False() {
			return fmt.Errorf("%#v was planned as an element of %#v", v, got)
		}
	}
	return nil
}
