// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"fmt"
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// checkRest checks that the remaining changes of a component instance are a part of its plan, of
// which a part was applied. The second list are the changes of a plan that was made again, from the
// state after that part and with the same arguments.
//
// Nothing may be done that the plan does not have, nothing twice, and nothing may be left out:
//
//	R1  A change that is left has the planned actions, or the later one of two. Its new object is a
//	    refinement of the planned one.
//	R2  A deleted object is one that was to be deleted: a new object never is.
//	R3  An object that was to be replaced and would stay is another one now. Whether one that looks
//	    as it would have before and after was replaced cannot be known. Others that are still there
//	    have to be asked for ([replacementsLeft]).
//
// The error names a resource instance for which that does not hold.
func checkRest(planned, again []*engine.Change) error {
	changes := make(map[stackaddrs.ResourceInstanceObject]*engine.Change, len(planned))
	for _, change := range planned {
		changes[objectOf(change)] = change
	}
	left := make(map[stackaddrs.ResourceInstanceObject]bool, len(again))
	for _, rest := range again {
		left[objectOf(rest)] = true
		change := changes[objectOf(rest)]
		if change == nil && rest.Deposed != "" { // by the change that was cut off
			change = changes[stackaddrs.ResourceInstanceObject{Instance: rest.Addr}]
		}
		if err := checkChange(change, rest); err != nil {
			return err
		}
	}
	for _, change := range planned {
		if !left[objectOf(change)] && remains(change) {
			return fmt.Errorf("%s would now be gone, and by the plan it is %s", describe(change), inWords(change))
		}
	}
	return nil
}

// replacementsLeft returns the addresses of resource instances that the plan replaces, that are
// still the objects from before, and that the rest of the plan would not replace. Nothing in their
// arguments leads to that: they are replaced because somebody has asked for it, or because of a
// change of something else (replace_triggered_by), which may be made by now. Their replacement has
// to be asked for when the rest is planned.
//
// An object is the one from before if it looks like that, and a part of the new one is not known
// before it is made.
func replacementsLeft(planned, again []*engine.Change) []string {
	changes := make(map[stackaddrs.ResourceInstanceObject]*engine.Change, len(planned))
	for _, change := range planned {
		if change.Action.Succeeds() {
			changes[objectOf(change)] = change
		}
	}
	var left []string
	for _, rest := range again {
		change := changes[objectOf(rest)]
		stays := rest.Action == engine.ActionNoOp || rest.Action == engine.ActionUpdate
		if change != nil && stays && refines(change.Before, rest.Before) && !mayBeNew(change, rest) {
			left = append(left, rest.Address())
		}
	}
	return left
}

// mayBeNew reports whether the object that there is may be the one by which it was to be replaced.
func mayBeNew(planned, rest *engine.Change) bool {
	return bare(planned.After).IsWhollyKnown() && refines(planned.After, rest.Before)
}

// remains reports whether a change leaves an object behind, of which a plan that is made again says
// something.
func remains(planned *engine.Change) bool {
	return planned.Addr.Resource.Mode == stackaddrs.ManagedResource && makes(planned.Action)
}

// makes reports whether an action makes an object, or makes it another one.
func makes(action engine.Action) bool {
	return action == engine.ActionCreate || action == engine.ActionUpdate || action.Succeeds()
}

func objectOf(c *engine.Change) stackaddrs.ResourceInstanceObject {
	return stackaddrs.ResourceInstanceObject{Instance: c.Addr, Deposed: c.Deposed}
}

// checkChange checks the rest of one change, which is nil if nothing was planned.
func checkChange(planned, rest *engine.Change) error {
	if !stackplan.IsChange(rest) {
		return checkUnchanged(planned, rest)
	}
	if planned == nil || !stackplan.IsChange(planned) || !isPartOf(rest, planned) {
		return fmt.Errorf("%s would now be %s, and by the plan it is %s", describe(rest), inWords(rest), inWords(planned))
	}
	if (makes(rest.Action) || rest.Action == engine.ActionRead) && !refines(planned.After, rest.After) {
		return fmt.Errorf("%s would not become as planned", describe(rest))
	}
	if removes(rest.Action) && !refines(planned.Before, rest.Before) { // rule R2
		return fmt.Errorf("%s is not the object any more that the plan removes", describe(rest))
	}
	return nil
}

// removes reports whether an object is gone or no longer managed after an action.
func removes(action engine.Action) bool {
	return action == engine.ActionDelete || action == engine.ActionForget || action.Succeeds()
}

// checkUnchanged checks an object that is not to be changed any more.
func checkUnchanged(planned, rest *engine.Change) error {
	if planned == nil || rest.Action == "" {
		return nil
	}
	switch action := planned.Action; {
	case action == engine.ActionDelete || action == engine.ActionForget:
		return fmt.Errorf("%s would now stay, and by the plan it is %s", describe(rest), inWords(planned))
	case action.Succeeds() && refines(planned.Before, rest.Before): // rule R3
		return fmt.Errorf("%s is replaced by the plan, and whether it was cannot be known", describe(rest))
	}
	return nil
}

// isPartOf reports whether the actions of a change are planned ones (rule R1).
func isPartOf(rest, planned *engine.Change) bool {
	if rest.IsMove() && rest.PreviousAddr != planned.PreviousAddr {
		return false
	}
	if rest.Importing != nil && (planned.Importing == nil || rest.Importing.ID != planned.Importing.ID) {
		return false
	}
	switch {
	case rest.Action == planned.Action || rest.Action == engine.ActionNoOp:
		return rest.Deposed == planned.Deposed
	case rest.Deposed != "": // put aside until its replacement is there
		return rest.Action == engine.ActionDelete && planned.Action == engine.ActionCreateThenDelete
	default:
		return rest.Action == engine.ActionCreate && planned.Action.Succeeds()
	}
}

func describe(c *engine.Change) string {
	if c.Deposed == "" {
		return c.Address()
	}
	return fmt.Sprintf("the former object of %s", c.Address())
}

// inWords describes the planned change of a resource instance.
func inWords(c *engine.Change) string {
	if c == nil || !stackplan.IsChange(c) {
		return "left as it is"
	}
	switch {
	case c.Action.Succeeds():
		return "replaced"
	case c.Action == engine.ActionCreate:
		return "created"
	case c.Action == engine.ActionUpdate:
		return "updated in place"
	case c.Action == engine.ActionDelete:
		return "destroyed"
	case c.Action == engine.ActionRead:
		return "read"
	case c.Action == engine.ActionForget:
		return "no longer managed"
	case c.Importing != nil:
		return "imported by the ID " + c.Importing.ID
	default:
		return "moved from " + c.PreviousAddr.String()
	}
}

// refines reports whether a value is a refinement of a planned one, with values in place of unknown
// ones. Other than for [engine.CheckRefines], values that are not set may be missing, and types
// don't matter: a null from a state has lost its type.
func refines(planned, rest cty.Value) bool {
	planned, rest = bare(planned), bare(rest)
	switch {
	case !planned.IsKnown():
		return true
	case !rest.IsKnown():
		return false
	case planned.IsNull() || rest.IsNull():
		return planned.IsNull() && rest.IsNull()
	}
	ty, other := planned.Type(), rest.Type()
	switch {
	case ty.IsObjectType() || ty.IsMapType():
		return (other.IsObjectType() || other.IsMapType()) && refinesParts(planned.AsValueMap(), rest.AsValueMap())
	case ty.IsSetType() && other.IsSetType():
		return engine.CheckRefines(planned, rest) == nil
	case planned.CanIterateElements():
		return rest.CanIterateElements() && refinesElements(planned.AsValueSlice(), rest.AsValueSlice())
	default:
		return planned.RawEquals(rest)
	}
}

// bare returns a value without marks, null if there is none.
func bare(v cty.Value) cty.Value {
	if v == cty.NilVal {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	v, _ = v.Unmark()
	return v
}

func refinesParts(planned, rest map[string]cty.Value) bool {
	names := maps.Clone(planned)
	maps.Copy(names, rest)
	for name := range names {
		if !refines(planned[name], rest[name]) {
			return false
		}
	}
	return true
}

func refinesElements(planned, rest []cty.Value) bool {
	if len(planned) != len(rest) {
		return false
	}
	for i := range planned {
		if !refines(planned[i], rest[i]) {
			return false
		}
	}
	return true
}
