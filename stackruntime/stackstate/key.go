// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"errors"
	"fmt"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Kind is the kind of a record: the first four letters of its key.
type Kind string

// The kinds of records.
const (
	ComponentKind Kind = "CMPT"
	ResourceKind  Kind = "RSRC"
	InputKind     Kind = "VRBL"
	OutputKind    Kind = "OTPT"
)

// Key is the key of a record. Keys are comparable, and the text of a key is
// canonical: ParseKey(k.String()) equals k, and no other text parses to k.
type Key struct {
	Kind Kind

	// Component is set for [ComponentKind] and [ResourceKind].
	Component stackaddrs.AbsComponentInstance

	// Resource is set for [ResourceKind], and Deposed for deposed objects.
	Resource stackaddrs.ResourceInstance
	Deposed  stackaddrs.DeposedKey

	// Name is the name of the root variable or root output.
	Name string
}

// String returns the text of the key.
func (k Key) String() string {
	switch k.Kind {
	case ResourceKind:
		return resourceKey(k.Component.String(), k.Resource.String(), k.Deposed)
	case InputKind:
		return string(InputKind) + "var." + k.Name
	case OutputKind:
		return string(OutputKind) + "output." + k.Name
	default:
		return string(k.Kind) + k.Component.String()
	}
}

// currentObject stands in a key where deposed objects have their deposed key.
const currentObject = "cur"

func resourceKey(component, resource string, deposed stackaddrs.DeposedKey) string {
	if deposed == "" {
		deposed = currentObject
	}
	return string(ResourceKind) + component + "," + resource + "," + string(deposed)
}

// UnknownKindError is the error for a key of a kind that this version does not know, with the
// handling of its record.
type UnknownKindError struct {
	Kind     Kind
	Handling Handling
}

// Handling is the way to treat a record of unknown kind.
type Handling int

// The ways to handle records of unknown kind.
const (
	Fail     Handling = iota // the state is from a newer version and cannot be used
	Preserve                 // keep the record as it is
	Discard                  // drop the record at the next apply
)

func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("unknown kind of record %q; the state may be from a newer version of cairn", string(e.Kind))
}

// handlingOf returns the handling of unknown kinds by the case of the letters.
func handlingOf(kind Kind) Handling {
	isUpper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	switch {
	case isUpper(kind[0]):
		return Fail
	case isUpper(kind[3]):
		return Preserve
	default:
		return Discard
	}
}

// ParseKey parses the text of a key.
//
// Errors:
//   - [*UnknownKindError]: the key has a kind that this version does not know.
//   - any other error: the text is not a key.
func ParseKey(s string) (Key, error) {
	var cache addressCache
	return cache.parseKey(s)
}

// addressCache parses each address once: components repeat in resource records
// and dependency lists, resources in the components of one module. The zero
// value is ready to use.
type addressCache struct {
	components map[string]stackaddrs.AbsComponentInstance
	resources  map[string]stackaddrs.ResourceInstance
}

func (c *addressCache) parseKey(s string) (Key, error) {
	kind, suffix, err := cutKind(s)
	if err != nil {
		return Key{}, err
	}
	switch kind {
	case ComponentKind:
		addr, err := c.component(suffix)
		return Key{Kind: kind, Component: addr}, err
	case ResourceKind:
		return c.parseResourceKey(suffix)
	case InputKind:
		addr, err := canonical(suffix, stackaddrs.ParseAbsInputVariable)
		return Key{Kind: kind, Name: addr.Item.Name}, errors.Join(err, inRoot(addr.Stack))
	case OutputKind:
		addr, err := canonical(suffix, stackaddrs.ParseAbsOutputValue)
		return Key{Kind: kind, Name: addr.Item.Name}, errors.Join(err, inRoot(addr.Stack))
	default:
		return Key{}, &UnknownKindError{kind, handlingOf(kind)}
	}
}

func cutKind(s string) (Kind, string, error) {
	if len(s) < 4 {
		return "", "", errors.New("the key is too short")
	}
	for i := range 4 {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return "", "", fmt.Errorf("the key does not start with four letters: %q", s[:4])
		}
	}
	return Kind(s[:4]), s[4:], nil
}

func (c *addressCache) parseResourceKey(suffix string) (Key, error) {
	fields := splitFields(suffix)
	if len(fields) != 3 {
		return Key{}, fmt.Errorf("a resource key has 3 fields (component, resource and object), not %d", len(fields))
	}
	component, err := c.component(fields[0])
	if err != nil {
		return Key{}, err
	}
	resource, err := c.resource(fields[1])
	if err != nil {
		return Key{}, err
	}
	key := Key{Kind: ResourceKind, Component: component, Resource: resource}
	if fields[2] == currentObject {
		return key, nil
	}
	key.Deposed, err = stackaddrs.ParseDeposedKey(fields[2])
	return key, err
}

// component parses an address in its canonical form.
func (c *addressCache) component(s string) (stackaddrs.AbsComponentInstance, error) {
	return cached(&c.components, s, stackaddrs.ParseAbsComponentInstance)
}

func (c *addressCache) resource(s string) (stackaddrs.ResourceInstance, error) {
	return cached(&c.resources, s, stackaddrs.ParseResourceInstance)
}

func cached[T fmt.Stringer](cache *map[string]T, s string, parse func(string) (T, error)) (T, error) {
	if addr, ok := (*cache)[s]; ok {
		return addr, nil
	}
	addr, err := canonical(s, parse)
	if err != nil {
		return addr, err
	}
	if *cache == nil {
		*cache = map[string]T{}
	}
	(*cache)[s] = addr
	return addr, nil
}

// canonical parses an address, and refuses one that is printed in another way.
func canonical[T fmt.Stringer](s string, parse func(string) (T, error)) (T, error) {
	addr, err := parse(s)
	if err == nil && addr.String() != s {
		err = fmt.Errorf("%q is not the canonical form of the address %s", s, addr)
	}
	return addr, err
}

func inRoot(stack stackaddrs.StackInstance) error {
	if stack.IsRoot() {
		return nil
	}
	return fmt.Errorf("%s is not the root stack", stack)
}

// splitFields splits at commas that are not inside a quoted instance key.
func splitFields(s string) []string {
	var fields []string
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if quoted {
				i++
			}
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				fields = append(fields, s[start:i])
				start = i + 1
			}
		}
	}
	return append(fields, s[start:])
}
