// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"cmp"
	"fmt"
)

// ActionInstance is the address of one instance of an action block inside a component, as plain
// terraform has it.
type ActionInstance struct {
	Module     ModuleInstance
	Type, Name string
	Key        InstanceKey
}

func (a ActionInstance) String() string {
	return a.Module.prefix() + "action." + a.Type + "." + a.Name + a.Key.String()
}

// Compare orders as rule A4 says.
func (a ActionInstance) Compare(b ActionInstance) int {
	return cmp.Or(a.Module.Compare(b.Module), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), a.Key.Compare(b.Key))
}

// ParsePartialActionInstance parses an address like module.m.action.aws_thing.z["k"]. It also
// accepts [*] as a key.
func ParsePartialActionInstance(s string) (ActionInstance, error) {
	return parsePartial(s, "action instance", (*parser).actionInstance)
}

// ParseAbsActionInstance parses an address like component.x["y"].module.m.action.aws_thing.z[0].
func ParseAbsActionInstance(s string) (AbsActionInstance, error) {
	return parseWhole(s, "action instance", func(p *parser) (AbsActionInstance, error) {
		return inComponentInstance(p, p.actionInstance)
	})
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
	return ActionInstance{module, typeName, name, key}, err
}
