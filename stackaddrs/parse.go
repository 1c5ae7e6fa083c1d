// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"errors"
	"fmt"
)

// ParseAbsComponentInstance parses an address like stack.a["k"].component.x["y"].
func ParseAbsComponentInstance(s string) (AbsComponentInstance, error) {
	return parseWhole(s, "component instance", func(p *parser) (AbsComponentInstance, error) { return p.componentInstance() })
}

// ParsePartialComponentInstance is like [ParseAbsComponentInstance] and also
// accepts [*] as a key.
func ParsePartialComponentInstance(s string) (AbsComponentInstance, error) {
	return parsePartial(s, "component instance", func(p *parser) (AbsComponentInstance, error) { return p.componentInstance() })
}

// ParseAbsComponent parses the address of a component without a key of its own.
func ParseAbsComponent(s string) (AbsComponent, error) {
	inst, err := ParseAbsComponentInstance(s)
	if err == nil && inst.Item.Key != NoKey {
		err = fmt.Errorf("not a component address: %s has an instance key", s)
	}
	return ComponentOf(inst), err
}

// ParseStackInstance parses an address like stack.a["k"].stack.b. The empty
// string is the root stack.
func ParseStackInstance(s string) (StackInstance, error) {
	if s == "" || s == "<main>" {
		return RootStackInstance, nil
	}
	return parseWhole(s, "stack instance", (*parser).stackInstance)
}

// ParseAbsInputVariable parses an address like stack.a.var.name.
func ParseAbsInputVariable(s string) (AbsInputVariable, error) {
	return parseWhole(s, "input variable", func(p *parser) (AbsInputVariable, error) {
		stack, name, err := p.named("var")
		return AbsInputVariable{stack, InputVariable{name}}, err
	})
}

// ParseAbsOutputValue parses an address like stack.a.output.name.
func ParseAbsOutputValue(s string) (AbsOutputValue, error) {
	return parseWhole(s, "output value", func(p *parser) (AbsOutputValue, error) {
		stack, name, err := p.named("output")
		return AbsOutputValue{stack, OutputValue{name}}, err
	})
}

func parseWhole[T any](s, kind string, parse func(*parser) (T, error)) (T, error) {
	return parseSteps(s, kind, false, parse)
}

func parsePartial[T any](s, kind string, parse func(*parser) (T, error)) (T, error) {
	return parseSteps(s, kind, true, parse)
}

func parseSteps[T any](s, kind string, partial bool, parse func(*parser) (T, error)) (T, error) {
	var zero T
	steps, err := splitSteps(s, kind, partial)
	if err != nil {
		return zero, err
	}
	p := &parser{rest: steps}
	addr, err := parse(p)
	if err == nil && len(p.rest) > 0 {
		err = fmt.Errorf("nothing may follow the %s", kind)
	}
	if err != nil {
		return zero, fmt.Errorf("not a %s address: %q: %w", kind, s, err)
	}
	return addr, nil
}

// parser consumes the steps of an address from the front.
type parser struct {
	rest []step
	end  int // offset of the end of the last step that was consumed
}

// next consumes one step.
func (p *parser) next() step {
	first := p.rest[0]
	p.rest, p.end = p.rest[1:], first.end
	return first
}

// keyword returns the name that is the next step, "" if there is none.
func (p *parser) keyword() string {
	if len(p.rest) == 0 {
		return ""
	}
	return p.rest[0].name
}

// keywordAndName consumes two names, the first of which is the keyword.
func (p *parser) keywordAndName(keyword string) (string, error) {
	if p.keyword() != keyword {
		return "", fmt.Errorf("the keyword %q was expected", keyword)
	}
	if len(p.rest) < 2 || p.rest[1].name == "" {
		return "", fmt.Errorf("a name must follow the keyword %q", keyword)
	}
	p.next()
	return p.next().name, nil
}

// key consumes an index step if there is one.
func (p *parser) key() (InstanceKey, error) {
	switch {
	case len(p.rest) == 0 || p.rest[0].kind == nameStep:
		return NoKey, nil
	case p.rest[0].kind == indexStep:
		return NoKey, errors.New("an instance key must be a string or a whole number")
	}
	return p.next().key, nil
}

// stackPath consumes as many stack steps as there are.
func (p *parser) stackPath() (StackInstance, error) {
	stack := RootStackInstance
	for p.keyword() == "stack" {
		name, err := p.keywordAndName("stack")
		if err != nil {
			return stack, err
		}
		key, err := p.key()
		if err != nil {
			return stack, err
		}
		stack = stack.Child(name, key)
	}
	return stack, nil
}

func (p *parser) stackInstance() (StackInstance, error) {
	stack, err := p.stackPath()
	if err == nil && stack.IsRoot() {
		err = fmt.Errorf("the keyword %q was expected", "stack")
	}
	return stack, err
}

func (p *parser) named(keyword string) (StackInstance, string, error) {
	stack, err := p.stackPath()
	if err != nil {
		return stack, "", err
	}
	name, err := p.keywordAndName(keyword)
	return stack, name, err
}

func (p *parser) componentInstance() (AbsComponentInstance, error) {
	stack, name, err := p.named("component")
	if err != nil {
		return AbsComponentInstance{}, err
	}
	key, err := p.key()
	return AbsComponentInstance{stack, ComponentInstance{Component{name}, key}}, err
}
