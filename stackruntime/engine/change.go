// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"cmp"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Change is the planned change of one object of a resource instance, or one found to have happened
// to it outside.
//
// Shape of all values: with a schema at hand, of the type that it gives to the resource type; else
// objects and tuples, of the types that the values themselves have. Unknown: in After, whole or in
// part. Marks: sensitive. A set is sensitive as a whole, or not at all.
type Change struct {
	// Addr is the address in the module tree of the component. The key [*] stands for all instances,
	// where these are not known yet. Without a resource, it is the address of a called module of which
	// nothing else is known.
	Addr stackaddrs.ResourceInstance

	// PreviousAddr is the address in the prior state, if that is another one. Otherwise it is the zero
	// value.
	PreviousAddr stackaddrs.ResourceInstance

	Deposed  stackaddrs.DeposedKey
	Provider stackaddrs.Provider // the zero value where it is not known

	Action Action // "" if nothing could be planned
	Reason ActionReason

	// Before and After are the object as it is and as it will be. Null where there is no object.
	// [cty.NilVal] where nobody has looked.
	Before, After cty.Value

	// Replace leads to the parts of the object because of which it has to be replaced.
	Replace []cty.Path

	// Importing is set if an existing object becomes the one of the resource instance.
	Importing       *Importing
	GeneratedConfig string // configuration that was written for the object to import, or ""

	// BeforeIdentity and AfterIdentity are the object's identities for the provider. [cty.NilVal]
	// where there is no such thing.
	BeforeIdentity, AfterIdentity cty.Value
}

// Importing says which object is imported.
type Importing struct {
	ID       string
	Identity cty.Value // instead of ID; else [cty.NilVal]
	Unknown  bool      // neither is known yet
}

// DeferredChange is a change that cannot be planned yet.
type DeferredChange struct {
	Reason string // as in docs/language.md, section 4.8
	Change *Change
}

// Action is the kind of a change to the object of a resource instance: one step, or two in their
// order.
type Action string

// The actions.
const (
	ActionNoOp             Action = "no-op"
	ActionCreate           Action = "create"
	ActionRead             Action = "read"
	ActionUpdate           Action = "update"
	ActionDelete           Action = "delete"
	ActionForget           Action = "forget"
	ActionDeleteThenCreate Action = "delete/create"
	ActionCreateThenDelete Action = "create/delete"
	ActionCreateThenForget Action = "create/forget"
	ActionForgetThenCreate Action = "forget/create"
)

// Replaces reports whether the object is destroyed and another one created, in either order.
func (a Action) Replaces() bool { return a == ActionDeleteThenCreate || a == ActionCreateThenDelete }

// ForgetsOld reports whether a new object is created, in either order, while the old one is
// forgotten.
func (a Action) ForgetsOld() bool { return a == ActionCreateThenForget || a == ActionForgetThenCreate }

// Succeeds reports whether a new object takes the place of an old one, which is destroyed or
// forgotten.
func (a Action) Succeeds() bool { return a.Replaces() || a.ForgetsOld() }

// ActionReason says why an action was chosen, in the words of terraform's JSON plans. It is for
// display only: engines may have others.
type ActionReason string

// The reasons.
const (
	ReplaceBecauseCannotUpdate    ActionReason = "replace_because_cannot_update"
	ReplaceBecauseTainted         ActionReason = "replace_because_tainted"
	ReplaceByRequest              ActionReason = "replace_by_request"
	ReplaceByTriggers             ActionReason = "replace_by_triggers"
	DeleteBecauseNoResourceConfig ActionReason = "delete_because_no_resource_config"
	DeleteBecauseWrongRepetition  ActionReason = "delete_because_wrong_repetition"
	DeleteBecauseCountIndex       ActionReason = "delete_because_count_index"
	DeleteBecauseEachKey          ActionReason = "delete_because_each_key"
	DeleteBecauseNotEnabled       ActionReason = "delete_because_enabled_false"
	DeleteBecauseNoModule         ActionReason = "delete_because_no_module"
	DeleteBecauseNoMoveTarget     ActionReason = "delete_because_no_move_target"
	ReadBecauseConfigUnknown      ActionReason = "read_because_config_unknown"
	ReadBecauseDependencyPending  ActionReason = "read_because_dependency_pending"
	ReadBecauseCheckNested        ActionReason = "read_because_check_nested"
)

// IsModule reports whether the change is that of a called module of which nothing else is known.
func (c *Change) IsModule() bool { return c.Addr.Resource == stackaddrs.Resource{} }

// Address returns the address as terraform writes it.
func (c *Change) Address() string {
	if c.IsModule() {
		return c.Addr.Module.String()
	}
	return c.Addr.String()
}

// IsMove reports whether the resource instance gets another address.
func (c *Change) IsMove() bool {
	return c.PreviousAddr != stackaddrs.ResourceInstance{} && c.PreviousAddr != c.Addr
}

// IsNoOp reports whether nothing is done: the object stays as and where it is, and is managed
// already.
func (c *Change) IsNoOp() bool { return c.Action == ActionNoOp && c.Importing == nil && !c.IsMove() }

// SortChanges sorts in place, as rule E5 says: by address as it is written, then by deposed key.
func SortChanges(changes []*Change) {
	sortByAddress(changes, func(c *Change) *Change { return c })
}

// SortDeferred is [SortChanges] for changes that are deferred.
func SortDeferred(changes []DeferredChange) {
	sortByAddress(changes, func(d DeferredChange) *Change { return d.Change })
}

func sortByAddress[T any](list []T, change func(T) *Change) {
	type keyed struct {
		address string
		deposed stackaddrs.DeposedKey
		item    T
	}
	keys := make([]keyed, len(list))
	for i, item := range list {
		c := change(item)
		keys[i] = keyed{c.Address(), c.Deposed, item}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.deposed, b.deposed))
	})
	for i := range keys {
		list[i] = keys[i].item
	}
}
