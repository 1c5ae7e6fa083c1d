// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"errors"
	"fmt"
	"strings"
)

// Parsers of addresses inside of components.

// ParseAbsComponentInstancePrefix parses the component instance at the start of
// an address like component.x["y"].aws_thing.z, and returns what follows it: aws_thing.z.
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

// ParseConfigComponent parses an address like stack.a.component.x, without any key.
func ParseConfigComponent(s string) (ConfigComponent, error) {
	return parseWhole(s, "component", (*parser).configComponent)
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

// ParseAbsResourceInstance parses an address like component.x["y"].module.m.aws_thing.z[0].
func ParseAbsResourceInstance(s string) (AbsResourceInstance, error) {
	return parseWhole(s, "resource instance", func(p *parser) (AbsResourceInstance, error) {
		return inComponentInstance(p, p.resourceInstance)
	})
}

// ParseAbsResourceInstanceObject is like [ParseAbsResourceInstance] and also
// accepts the suffix of deposed objects, like " (deposed object 1a2b3c4d)".
func ParseAbsResourceInstanceObject(s string) (AbsResourceInstanceObject, error) {
	text, deposed := s, DeposedKey("")
	if head, ok := strings.CutSuffix(s, deposedSuffix); ok {
		i := strings.LastIndex(head, deposedPrefix)
		if i < 0 {
			return AbsResourceInstanceObject{}, fmt.Errorf("not a resource instance object address: %q", s)
		}
		key, err := ParseDeposedKey(head[i+len(deposedPrefix):])
		if err != nil {
			return AbsResourceInstanceObject{}, fmt.Errorf("not a resource instance object address: %q: %w", s, err)
		}
		text, deposed = head[:i], key
	}
	instance, err := ParseAbsResourceInstance(text)
	return AbsResourceInstanceObject{instance.Component, ResourceInstanceObject{instance.Item, deposed}}, err
}

// ParseAbsActionInstance parses an address like component.x.module.m.action.type.name[0].
func ParseAbsActionInstance(s string) (AbsActionInstance, error) {
	return parseWhole(s, "action", func(p *parser) (AbsActionInstance, error) {
		return inComponentInstance(p, p.actionInstance)
	})
}

// ParseAbsComponentModuleInstance parses an address like component.x["y"].module.m[0].
// A component instance alone is its root module.
func ParseAbsComponentModuleInstance(s string) (AbsComponentModuleInstance, error) {
	return parseWhole(s, "module instance", func(p *parser) (AbsComponentModuleInstance, error) {
		return inComponentInstance(p, p.modulePath)
	})
}

// ParseConfigComponentResource parses an address like stack.a.component.x.module.m.aws_thing.z,
// without any key.
func ParseConfigComponentResource(s string) (ConfigComponentResource, error) {
	return parseWhole(s, "resource", func(p *parser) (ConfigComponentResource, error) {
		component, err := p.configComponent()
		if err != nil {
			return ConfigComponentResource{}, err
		}
		instance, err := p.resourceInstance()
		if err == nil && (instance.Key != NoKey || instance.Module.hasKeys()) {
			err = errKeys
		}
		return ConfigComponentResource{component, instance.Config()}, err
	})
}

// ParseConfigComponentModule parses an address like stack.a.component.x.module.m,
// without any key. A component alone is its root module.
func ParseConfigComponentModule(s string) (ConfigComponentModule, error) {
	return parseWhole(s, "module", func(p *parser) (ConfigComponentModule, error) {
		component, err := p.configComponent()
		if err != nil {
			return ConfigComponentModule{}, err
		}
		module, err := p.modulePath()
		if err == nil && module.hasKeys() {
			err = errKeys
		}
		return ConfigComponentModule{component, module.Config()}, err
	})
}

var errKeys = errors.New("instance keys are not expected")

func (m ModuleInstance) hasKeys() bool {
	for _, call := range m.Path() {
		if call.Key != NoKey {
			return true
		}
	}
	return false
}

func (s StackInstance) hasKeys() bool {
	for _, call := range s.Path() {
		if call.Key != NoKey {
			return true
		}
	}
	return false
}

func inComponentInstance[T item[T]](p *parser, parse func() (T, error)) (InComponentInstance[T], error) {
	component, err := p.componentInstance()
	if err != nil {
		return InComponentInstance[T]{}, err
	}
	inner, err := parse()
	return InComponentInstance[T]{component, inner}, err
}

func (p *parser) configComponent() (ConfigComponent, error) {
	inst, err := p.componentInstance()
	if err == nil && (inst.Item.Key != NoKey || inst.Stack.hasKeys()) {
		err = errKeys
	}
	return ConfigComponentOf(inst), err
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

func (p *parser) actionInstance() (ActionInstance, error) {
	module, err := p.modulePath()
	if err != nil {
		return ActionInstance{}, err
	}
	if p.keyword() != "action" {
		return ActionInstance{}, fmt.Errorf("the keyword %q was expected", "action")
	}
	p.next()
	typeName, name, key, err := p.typeNameKey()
	return ActionInstance{module, Action{typeName, name}, key}, err
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
