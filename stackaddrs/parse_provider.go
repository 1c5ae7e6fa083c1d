// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"errors"
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

// ParseAbsProviderConfigInstance parses an address like
// stack.a["k"].provider["registry.terraform.io/hashicorp/aws"].main["eu"].
func ParseAbsProviderConfigInstance(s string) (AbsProviderConfigInstance, error) {
	return parseWhole(s, "provider configuration", (*parser).providerConfigInstance)
}

func (p *parser) providerConfigInstance() (AbsProviderConfigInstance, error) {
	var zero AbsProviderConfigInstance
	stack, err := p.stackPath()
	if err != nil {
		return zero, err
	}
	if p.keyword() != "provider" {
		return zero, fmt.Errorf("the keyword %q was expected", "provider")
	}
	p.next()
	provider, err := p.provider()
	if err != nil {
		return zero, err
	}
	name, err := p.name("the provider")
	if err != nil {
		return zero, err
	}
	key, err := p.key()
	return AbsProviderConfigInstance{stack, ProviderConfigInstance{ProviderConfig{provider, name}, key}}, err
}

// provider consumes an index step with the source address of a provider.
func (p *parser) provider() (Provider, error) {
	if len(p.rest) > 0 {
		if text, ok := p.rest[0].key.AsString(); ok {
			p.next()
			return ParseProvider(text)
		}
	}
	return Provider{}, errors.New("the source address of a provider in brackets and quotes must follow the keyword \"provider\"")
}

// name consumes one name.
func (p *parser) name(after string) (string, error) {
	name := p.keyword()
	if name == "" {
		return "", fmt.Errorf("a name must follow %s", after)
	}
	p.next()
	return name, nil
}
