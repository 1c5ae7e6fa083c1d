// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package state

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Content is the contents of an object's entry in a state.
type Content struct {
	Addr     stackaddrs.ResourceInstance
	Deposed  stackaddrs.DeposedKey
	Provider tfstate.ProviderConfig

	SchemaVersion uint64

	// Value is the object. Null: never as a whole. Unknown: never. Marks: sensitive, which is written
	// beside the value.
	Value cty.Value

	// Type is the type that the provider's schema gives to the resource type: where it says any type,
	// the type is written, too.
	Type cty.Type

	Private []byte

	// Identity is an object of the type IdentityType, or [cty.NilVal] without one.
	Identity        cty.Value
	IdentityType    cty.Type
	IdentityVersion uint64

	Dependencies        []string // addresses of resources in the configuration, sorted
	CreateBeforeDestroy bool
	Tainted             bool
}

// Encode returns the object as a state has it. Numbers are exact, and sets in their order.
//
// Errors: for values that cannot be stored, such as ephemeral ones.
func Encode(c *Content) (tfstate.Entry, error) {
	fail := func(err error) (tfstate.Entry, error) { return tfstate.Entry{}, fmt.Errorf("%s: %w", c.Addr, err) }
	if c.Value == cty.NilVal || c.Value.IsNull() {
		return fail(errors.New("there is no object"))
	}
	value, sensitive, ephemeral := marks.Split(c.Value)
	if len(ephemeral) > 0 {
		return fail(ephemeral[0].NewErrorf("an ephemeral value cannot be stored"))
	}
	object := tfstate.Object{
		Addr: c.Addr, Deposed: c.Deposed, Provider: c.Provider.String(), SchemaVersion: c.SchemaVersion, Tainted: c.Tainted,
		Private: base64.StdEncoding.EncodeToString(c.Private), Dependencies: c.Dependencies, CreateBeforeDestroy: c.CreateBeforeDestroy,
	}
	var err error
	if object.Attributes, err = ctyjson.Marshal(value, c.Type); err != nil {
		return fail(err)
	}
	if object.SensitiveAttributes, err = tfstate.EncodePaths(sensitive); err != nil {
		return fail(err)
	}
	if c.Identity != cty.NilVal && !c.Identity.IsNull() {
		object.IdentityVersion = c.IdentityVersion
		if object.Identity, err = ctyjson.Marshal(c.Identity, c.IdentityType); err != nil {
			return fail(fmt.Errorf("identity: %w", err))
		}
	}
	return object.Entry()
}
