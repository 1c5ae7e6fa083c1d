// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// A client can decode an object that an older engine has made by the schema that it knows.
func TestEncodeObjectOfOlderEngine(t *testing.T) {
	ty := builtin.TypeOf(stackaddrs.ManagedResource, "terraform_data")
	null := cty.NullVal(cty.DynamicPseudoType)
	attrs := map[string]cty.Value{"id": cty.StringVal("i"), "input": cty.True, "output": null, "triggers_replace": null}
	message, err := encodeObject(cty.ObjectVal(attrs), ty)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ctymsgpack.Unmarshal(message.GetMsgpack(), ty)
	if err != nil {
		t.Fatal(err)
	}
	attrs["store"] = cty.NullVal(ty.AttributeType("store"))
	if want := cty.ObjectVal(attrs); !got.RawEquals(want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}
