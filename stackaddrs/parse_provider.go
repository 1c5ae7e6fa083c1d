// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"fmt"
	"strings"
)

// ParseProvider parses a fully qualified source address, like
// registry.terraform.io/hashicorp/aws.
func ParseProvider(s string) (Provider, error) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Provider{}, fmt.Errorf("not a provider address: %q is not a host, a namespace and a type", s)
	}
	return Provider{parts[0], parts[1], parts[2]}, nil
}

// AbsProviderConfigRef names a provider configuration as users do: by the local name of its
// provider in the stack.
type AbsProviderConfigRef struct {
	Stack StackInstance
	Ref   ProviderConfigRef
	Key   InstanceKey
}

// String returns the address as users write it.
func (a AbsProviderConfigRef) String() string {
	return a.Stack.prefix() + a.Ref.String() + a.Key.String()
}

// ParseAbsProviderConfigRef parses an address like stack.a["k"].provider.aws.main["x"].
func ParseAbsProviderConfigRef(s string) (AbsProviderConfigRef, error) {
	return parseWhole(s, "provider configuration", func(p *parser) (AbsProviderConfigRef, error) {
		var addr AbsProviderConfigRef
		var err error
		addr.Stack, addr.Ref.LocalName, err = p.named("provider")
		if err != nil {
			return addr, err
		}
		if p.keyword() == "" {
			return addr, fmt.Errorf("the name of a configuration must follow the provider %q", addr.Ref.LocalName)
		}
		addr.Ref.Name = p.next().name
		addr.Key, err = p.key()
		return addr, err
	})
}
