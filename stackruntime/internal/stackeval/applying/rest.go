// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// CheckRest checks that what is left to do of a component instance is a part of what its plan has, where a part of that was applied. The
// second list are the changes of a plan that was made again, from the state which that has left behind and with the same arguments.
//
// Nothing may be done that the plan does not have, nothing twice, and nothing may be left out:
//
//	R1  A change that is left has the planned actions, or the later one of two. What it makes is a refinement of what was planned.
//	R2  What is deleted is what was to be deleted: a new object never is.
//	R3  What was to be replaced and would stay is another object now. Whether one that looks the same was replaced cannot be known.
//
// The error names a resource instance for which that does not hold.
func CheckRest(planned, again []*tfjson.ResourceChange) error {
	changes := make(map[object]*tfjson.ResourceChange, len(planned))
	for _, rc := range planned {
		changes[objectOf(rc)] = rc
	}
	left := make(map[object]bool, len(again))
	for _, rest := range again {
		left[objectOf(rest)] = true
		change := changes[objectOf(rest)]
		if change == nil && rest.DeposedKey != "" { // by the change that was cut off
			change = changes[object{address: rest.Address}]
		}
		if err := checkChange(change, rest); err != nil {
			return err
		}
	}
	for _, rc := range planned {
		if !left[objectOf(rc)] && remains(rc) {
			return fmt.Errorf("%s would now be gone, and by the plan it is %s", describe(rc), inWords(rc))
		}
	}
	return nil
}

// remains reports whether a change leaves an object behind, of which a plan that is made again says something.
func remains(planned *tfjson.ResourceChange) bool {
	if planned.Change == nil || planned.Mode != tfjson.ManagedResourceMode {
		return false
	}
	actions := planned.Change.Actions
	return actions.Create() || actions.Update() || actions.Replace()
}

// object identifies an object of a resource instance.
type object struct{ address, deposed string }

func objectOf(rc *tfjson.ResourceChange) object { return object{rc.Address, rc.DeposedKey} }

// checkChange checks what is left of one change, which is nil if nothing was planned.
func checkChange(planned, rest *tfjson.ResourceChange) error {
	if !stackplan.IsChange(rest) {
		return checkUnchanged(planned, rest)
	}
	if planned == nil || !stackplan.IsChange(planned) || !isPartOf(rest, planned) {
		return fmt.Errorf("%s would now be %s, and by the plan it is %s", describe(rest), inWords(rest), inWords(planned))
	}
	if rest.Change.Actions.Create() || rest.Change.Actions.Update() || rest.Change.Actions.Replace() || rest.Change.Actions.Read() {
		if !refines(final(planned.Change), final(rest.Change)) {
			return fmt.Errorf("%s would not become what the plan says", describe(rest))
		}
	}
	deletes := slices.Contains(rest.Change.Actions, tfjson.ActionDelete) || slices.Contains(rest.Change.Actions, tfjson.ActionForget)
	if deletes && !sameJSON(rest.Change.Before, planned.Change.Before) { // rule R2
		return fmt.Errorf("%s is not the object any more that the plan removes", describe(rest))
	}
	return nil
}

// checkUnchanged checks what is not to be changed any more.
func checkUnchanged(planned, rest *tfjson.ResourceChange) error {
	if planned == nil || planned.Change == nil || rest.Change == nil {
		return nil
	}
	switch actions := planned.Change.Actions; {
	case actions.Delete() || actions.Forget():
		return fmt.Errorf("%s would now stay, and by the plan it is %s", describe(rest), inWords(planned))
	case actions.Replace() && sameJSON(rest.Change.Before, planned.Change.Before): // rule R3
		return fmt.Errorf("%s is replaced by the plan, and whether it was cannot be known", describe(rest))
	}
	return nil
}

// isPartOf reports whether the actions of a change are planned ones (rule R1).
func isPartOf(rest, planned *tfjson.ResourceChange) bool {
	if rest.PreviousAddress != "" && rest.PreviousAddress != planned.PreviousAddress {
		return false
	}
	if importing := rest.Change.Importing; importing != nil && (planned.Change.Importing == nil || importing.ID != planned.Change.Importing.ID) {
		return false
	}
	actions, all := rest.Change.Actions, planned.Change.Actions
	switch {
	case slices.Equal(actions, all) || actions.NoOp():
		return rest.DeposedKey == planned.DeposedKey
	case rest.DeposedKey != "": // put aside until what replaces it is there
		return actions.Delete() && all.CreateBeforeDestroy()
	default:
		return actions.Create() && all.Replace()
	}
}

func describe(rc *tfjson.ResourceChange) string {
	if rc.DeposedKey == "" {
		return rc.Address
	}
	return fmt.Sprintf("the former object of %s", rc.Address)
}

// inWords says what becomes of a resource instance.
func inWords(rc *tfjson.ResourceChange) string {
	if rc == nil || !stackplan.IsChange(rc) {
		return "left as it is"
	}
	switch actions := rc.Change.Actions; {
	case actions.Replace():
		return "replaced"
	case actions.Create():
		return "created"
	case actions.Update():
		return "updated in place"
	case actions.Delete():
		return "destroyed"
	case actions.Read():
		return "read"
	case actions.Forget():
		return "no longer managed"
	case rc.Change.Importing != nil:
		return "imported by the ID " + rc.Change.Importing.ID
	default:
		return "moved from " + rc.PreviousAddress
	}
}

// partial is a value in terraform's JSON format with what says which parts of it are not known.
type partial struct{ value, unknown any }

func final(change *tfjson.Change) partial { return partial{change.After, change.AfterUnknown} }

// refines reports whether a value is what a planned one can become by filling in what was unknown.
func refines(planned, rest partial) bool {
	switch {
	case planned.unknown == true:
		return true
	case rest.unknown == true:
		return false
	}
	switch value := planned.value.(type) {
	case map[string]any:
		other, ok := rest.value.(map[string]any)
		if !ok {
			return false
		}
		names := map[string]bool{}
		for _, attributes := range []any{value, other, planned.unknown, rest.unknown} {
			known, _ := attributes.(map[string]any)
			for name := range known {
				names[name] = true
			}
		}
		for name := range names {
			if !refines(planned.attribute(name), rest.attribute(name)) {
				return false
			}
		}
		return true
	case []any:
		other, ok := rest.value.([]any)
		if !ok || len(other) != len(value) {
			return false
		}
		for i := range value {
			if !refines(planned.element(i), rest.element(i)) {
				return false
			}
		}
		return true
	default:
		return sameJSON(planned.value, rest.value)
	}
}

func (p partial) attribute(name string) partial {
	value, _ := p.value.(map[string]any)
	unknown, _ := p.unknown.(map[string]any)
	return partial{value[name], unknown[name]}
}

func (p partial) element(i int) partial {
	value, _ := p.value.([]any)
	unknown, _ := p.unknown.([]any)
	part := partial{value: value[i]}
	if i < len(unknown) {
		part.unknown = unknown[i]
	}
	return part
}

// sameJSON reports whether values are written in the same way. One that was read keeps its numbers as text.
func sameJSON(a, b any) bool {
	left, err := json.Marshal(a)
	if err != nil {
		return false
	}
	right, err := json.Marshal(b)
	return err == nil && bytes.Equal(left, right)
}
