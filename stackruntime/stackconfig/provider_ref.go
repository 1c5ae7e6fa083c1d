// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"reflect"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// providerRefTypes has the one capsule type of each provider: capsule types
// are equal only if they are the same.
var providerRefTypes sync.Map // stackaddrs.Provider → cty.Type

var providerRefGoType = reflect.TypeFor[stackaddrs.AbsProviderConfigInstance]()

// ProviderRefType is the type of references to configurations of a provider.
func ProviderRefType(provider stackaddrs.Provider) cty.Type {
	if ty, ok := providerRefTypes.Load(provider); ok {
		return ty.(cty.Type)
	}
	ty := cty.CapsuleWithOps("configuration for "+provider.String()+" provider", providerRefGoType, &cty.CapsuleOps{
		ExtensionData: func(key any) any {
			if key == (providerRefKey{}) {
				return provider
			}
			return nil
		},
		Equals: func(a, b any) cty.Value {
			return cty.BoolVal(*a.(*stackaddrs.AbsProviderConfigInstance) == *b.(*stackaddrs.AbsProviderConfigInstance))
		},
		RawEquals: func(a, b any) bool {
			return *a.(*stackaddrs.AbsProviderConfigInstance) == *b.(*stackaddrs.AbsProviderConfigInstance)
		},
	})
	actual, _ := providerRefTypes.LoadOrStore(provider, ty)
	return actual.(cty.Type)
}

type providerRefKey struct{}

// ProviderRef is a reference to a provider configuration instance, as a value.
func ProviderRef(addr stackaddrs.AbsProviderConfigInstance) cty.Value {
	return cty.CapsuleVal(ProviderRefType(addr.Item.Config.Provider), &addr)
}

// ProviderOfRefType returns the provider that values of the type refer to, and
// whether it is a type of references at all.
func ProviderOfRefType(ty cty.Type) (stackaddrs.Provider, bool) {
	if !ty.IsCapsuleType() || ty.EncapsulatedType() != providerRefGoType {
		return stackaddrs.Provider{}, false
	}
	return ty.CapsuleExtensionData(providerRefKey{}).(stackaddrs.Provider), true
}

// ProviderRefTarget returns the target of a known reference that is not null.
func ProviderRefTarget(v cty.Value) stackaddrs.AbsProviderConfigInstance {
	return *v.EncapsulatedValue().(*stackaddrs.AbsProviderConfigInstance)
}

// HasProviderRef reports whether values of the type can hold provider references.
func HasProviderRef(ty cty.Type) bool {
	switch {
	case ty.IsCapsuleType():
		_, ok := ProviderOfRefType(ty)
		return ok
	case ty.IsCollectionType():
		return HasProviderRef(ty.ElementType())
	case ty.IsObjectType():
		for _, attr := range ty.AttributeTypes() {
			if HasProviderRef(attr) {
				return true
			}
		}
	case ty.IsTupleType():
		for _, elem := range ty.TupleElementTypes() {
			if HasProviderRef(elem) {
				return true
			}
		}
	}
	return false
}
