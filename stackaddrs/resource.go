// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"cmp"
	"fmt"
	"strings"
)

// ResourceMode is the kind of block that declares a resource.
type ResourceMode uint8

// The modes, in the order of rule A4.
const (
	ManagedResource   ResourceMode = iota // resource blocks
	DataResource                          // data blocks
	EphemeralResource                     // ephemeral blocks
)

// String returns the name of the mode as terraform's JSON output has it.
func (m ResourceMode) String() string {
	return [...]string{"managed", "data", "ephemeral"}[m]
}

func (m ResourceMode) prefix() string {
	return [...]string{"", "data.", "ephemeral."}[m]
}

// Resource is a resource block in its module.
type Resource struct {
	Mode       ResourceMode
	Type, Name string
}

// ResourceInstance is the address of one resource instance inside a component,
// as plain terraform has it.
type ResourceInstance struct {
	Module   ModuleInstance
	Resource Resource
	Key      InstanceKey
}

// DeposedKey distinguishes the objects which a replacement left behind: eight
// hexadecimal digits. The zero value stands for the current object.
type DeposedKey string

// ParseDeposedKey checks that s is eight lower-case hexadecimal digits.
func ParseDeposedKey(s string) (DeposedKey, error) {
	if len(s) != 8 || strings.Trim(s, "0123456789abcdef") != "" {
		return "", fmt.Errorf("not a deposed key: %q is not eight lower-case hexadecimal digits", s)
	}
	return DeposedKey(s), nil
}

// ResourceInstanceObject is one object of a resource instance: the current one,
// or one that is deposed.
type ResourceInstanceObject struct {
	Instance ResourceInstance
	Deposed  DeposedKey
}

func (a Resource) String() string { return a.Mode.prefix() + a.Type + "." + a.Name }

func (a ResourceInstance) String() string {
	return a.Module.prefix() + a.Resource.String() + a.Key.String()
}

// String returns the address of the instance; for deposed objects it goes on as
// in terraform's messages.
func (a ResourceInstanceObject) String() string {
	if a.Deposed == "" {
		return a.Instance.String()
	}
	return a.Instance.String() + deposedPrefix + string(a.Deposed) + deposedSuffix
}

const (
	deposedPrefix = " (deposed object "
	deposedSuffix = ")"
)

func (a Resource) Compare(b Resource) int {
	return cmp.Or(cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
}

func (a ResourceInstance) Compare(b ResourceInstance) int {
	return cmp.Or(a.Module.Compare(b.Module), a.Resource.Compare(b.Resource), a.Key.Compare(b.Key))
}

func (a ResourceInstanceObject) Compare(b ResourceInstanceObject) int {
	return cmp.Or(a.Instance.Compare(b.Instance), cmp.Compare(a.Deposed, b.Deposed))
}
