// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"errors"
	"fmt"
	"strings"
)

// Parsers of addresses inside of components.

// ParseAbsComponentInstancePrefix parses the component instance at the start of an address like
// component.x["y"].aws_thing.z, and returns the rest behind it: aws_thing.z.
func ParseAbsComponentInstancePrefix(s string) (addr AbsComponentInstance, rest string, err error) {
	steps, err := splitSteps(s, "component instance", false)
	if err != nil {
		return AbsComponentInstance{}, "", err
	}
	p := &parser{rest: steps}
	if addr, err = p.componentInstance(); err != nil {
		return AbsComponentInstance{}, "", fmt.Errorf("not a component instance address: %q: %w", s, err)
	}
	return addr, strings.TrimPrefix(strings.TrimSpace(s[p.end:]), "."), nil
}

// ParseResourceInstance parses the address of a resource instance as plain
// terraform has it, like module.m.aws_thing.z[0].
func ParseResourceInstance(s string) (ResourceInstance, error) {
	return parseWhole(s, "resource instance", (*parser).resourceInstance)
}

// ParsePartialResourceInstance is like [ParseResourceInstance] and also accepts [*] as a key.
func ParsePartialResourceInstance(s string) (ResourceInstance, error) {
	return parsePartial(s, "resource instance", (*parser).resourceInstance)
}

// ParseModuleInstance parses the address of a module instance as plain
// terraform has it. The empty string is the root module.
func ParseModuleInstance(s string) (ModuleInstance, error) {
	if s == "" {
		return RootModuleInstance, nil
	}
	return parseWhole(s, "module instance", (*parser).moduleInstance)
}

// ParsePartialModuleInstance is like [ParseModuleInstance] and also accepts [*] as a key, but no
// empty string.
func ParsePartialModuleInstance(s string) (ModuleInstance, error) {
	return parsePartial(s, "module instance", (*parser).moduleInstance)
}

// ParseAbsResourceInstance parses an address like component.x["y"].module.m.aws_thing.z[0].
func ParseAbsResourceInstance(s string) (AbsResourceInstance, error) {
	return parseWhole(s, "resource instance", func(p *parser) (AbsResourceInstance, error) {
		return inComponentInstance(p, p.resourceInstance)
	})
}

func inComponentInstance[T item[T]](p *parser, parse func() (T, error)) (InComponentInstance[T], error) {
	component, err := p.componentInstance()
	if err != nil {
		return InComponentInstance[T]{}, err
	}
	inner, err := parse()
	return InComponentInstance[T]{component, inner}, err
}

// modulePath consumes as many module steps as there are.
func (p *parser) modulePath() (ModuleInstance, error) {
	module := RootModuleInstance
	for p.keyword() == "module" {
		name, err := p.keywordAndName("module")
		if err != nil {
			return module, err
		}
		key, err := p.key()
		if err != nil {
			return module, err
		}
		module = module.Child(name, key)
	}
	return module, nil
}

func (p *parser) moduleInstance() (ModuleInstance, error) {
	module, err := p.modulePath()
	if err == nil && module.IsRoot() {
		err = fmt.Errorf("the keyword %q was expected", "module")
	}
	return module, err
}

func (p *parser) resourceInstance() (ResourceInstance, error) {
	module, err := p.modulePath()
	if err != nil {
		return ResourceInstance{}, err
	}
	mode := ManagedResource
	switch p.keyword() {
	case "data":
		mode = DataResource
	case "ephemeral":
		mode = EphemeralResource
	case "action": // which can also be the type of a resource
		if len(p.rest) > 2 && p.rest[2].kind == nameStep {
			return ResourceInstance{}, errors.New("this is the address of an action")
		}
	}
	if mode != ManagedResource {
		p.next()
	}
	typeName, name, key, err := p.typeNameKey()
	return ResourceInstance{module, Resource{mode, typeName, name}, key}, err
}

// typeNameKey consumes two names and an index step if there is one.
func (p *parser) typeNameKey() (typeName, name string, key InstanceKey, err error) {
	if len(p.rest) < 2 || p.rest[0].name == "" || p.rest[1].name == "" {
		return "", "", NoKey, errors.New("a type and a name were expected")
	}
	typeName, name = p.next().name, p.next().name
	key, err = p.key()
	return typeName, name, key, err
}
