// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

func TestProviderReferences(t *testing.T) {
	aws := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "aws"}
	gcp := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "google"}
	instance := func(p stackaddrs.Provider, key string) stackaddrs.AbsProviderConfigInstance {
		return stackaddrs.AbsProviderConfigInstance{Item: stackaddrs.ProviderConfigInstance{
			Config: stackaddrs.ProviderConfig{Provider: p, Name: "main"},
			Key:    stackaddrs.StringKey(key),
		}}
	}
	if !ProviderRefType(aws).Equals(ProviderRefType(aws)) || ProviderRefType(aws).Equals(ProviderRefType(gcp)) {
		t.Error("the types of references do not distinguish providers")
	}
	const name = "configuration for registry.terraform.io/hashicorp/aws provider"
	if got := ProviderRefType(aws).FriendlyName(); got != name {
		t.Errorf("the type is called %q, want %q", got, name)
	}
	ref := ProviderRef(instance(aws, "a"))
	if got := ProviderRefTarget(ref); got != instance(aws, "a") {
		t.Errorf("the reference is to %s", got)
	}
	if !ref.RawEquals(ProviderRef(instance(aws, "a"))) || ref.RawEquals(ProviderRef(instance(aws, "b"))) {
		t.Error("references are not compared by their target")
	}
	if ref.Equals(ProviderRef(instance(aws, "a"))).False() || ref.Equals(ProviderRef(instance(aws, "b"))).True() {
		t.Error("== does not compare references by their target")
	}
	if got, ok := ProviderOfRefType(ref.Type()); got != aws || !ok {
		t.Errorf("the type refers to %s", got)
	}
	for _, ty := range []cty.Type{cty.String, cty.DynamicPseudoType, cty.Map(cty.Bool), cty.EmptyObject, cty.Tuple([]cty.Type{cty.Number})} {
		if _, ok := ProviderOfRefType(ty); ok || HasProviderRef(ty) {
			t.Errorf("%#v is taken for a type of references", ty)
		}
	}
	for _, ty := range []cty.Type{
		ref.Type(),
		cty.List(ref.Type()),
		cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.Map(ref.Type())}),
		cty.Tuple([]cty.Type{cty.String, ref.Type()}),
	} {
		if !HasProviderRef(ty) {
			t.Errorf("%#v is not taken for a type with references", ty)
		}
	}
}
