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

// ParseAbsProviderConfig parses an address like
// stack.a["k"].provider["registry.terraform.io/hashicorp/aws"].main.
func ParseAbsProviderConfig(s string) (AbsProviderConfig, error) {
	inst, err := ParseAbsProviderConfigInstance(s)
	if err == nil && inst.Item.Key != NoKey {
		err = fmt.Errorf("not a provider configuration address: %s has an instance key", s)
	}
	return AbsProviderConfig{inst.Stack, inst.Item.Config}, err
}

// ParseAbsProviderConfigInstance is like [ParseAbsProviderConfig] and takes the
// key of an instance at the end.
func ParseAbsProviderConfigInstance(s string) (AbsProviderConfigInstance, error) {
	return parseWhole(s, "provider configuration", (*parser).providerConfigInstance)
}

// ParsePartialProviderConfigInstance is like [ParseAbsProviderConfigInstance]
// and also accepts [*] as a key.
func ParsePartialProviderConfigInstance(s string) (AbsProviderConfigInstance, error) {
	return parsePartial(s, "provider configuration", (*parser).providerConfigInstance)
}

// ParseConfigProviderConfig parses the address of a provider configuration
// without any key of an instance.
func ParseConfigProviderConfig(s string) (ConfigProviderConfig, error) {
	abs, err := ParseAbsProviderConfig(s)
	if err == nil && abs.Stack.hasKeys() {
		err = fmt.Errorf("not a provider configuration address: %q: %w", s, errKeys)
	}
	return ConfigOf(abs), err
}

// ParseProviderConfigRef parses a reference as it is written, like provider.aws.main.
func ParseProviderConfigRef(s string) (ProviderConfigRef, error) {
	return parseWhole(s, "provider configuration reference", func(p *parser) (ProviderConfigRef, error) {
		localName, err := p.keywordAndName("provider")
		if err != nil {
			return ProviderConfigRef{}, err
		}
		name, err := p.name("the local name of the provider")
		return ProviderConfigRef{localName, name}, err
	})
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
