// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"errors"
	"fmt"
	"strings"

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

	// Resource is set for [ResourceKind], and Deposed for deposed objects: eight
	// lower-case hexadecimal digits.
	Resource ResourceInstance
	Deposed  string

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

func resourceKey(component, resource, deposed string) string {
	if deposed == "" {
		deposed = currentObject
	}
	return string(ResourceKind) + component + "," + resource + "," + deposed
}

// UnknownKindError is the error for a key of a kind that this version does not
// know, with what is to be done about its record.
type UnknownKindError struct {
	Kind     Kind
	Handling Handling
}

// Handling says what to do with a record of unknown kind.
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

// handlingOf tells the handling of unknown kinds by the case of the letters.
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
//   - any other error: the text is no key.
func ParseKey(s string) (Key, error) {
	var cache addressCache
	return cache.parseKey(s)
}

// addressCache parses each address once: components repeat in resource records
// and dependency lists, resources in the components of one module. The zero
// value is ready to use.
type addressCache struct {
	components map[string]stackaddrs.AbsComponentInstance
	resources  map[string]ResourceInstance
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
		name, err := rootName(suffix, "var.")
		return Key{Kind: kind, Name: name}, err
	case OutputKind:
		name, err := rootName(suffix, "output.")
		return Key{Kind: kind, Name: name}, err
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
	if !isDeposedKey(fields[2]) {
		return Key{}, fmt.Errorf("invalid deposed key %q: eight lower-case hexadecimal digits were expected", fields[2])
	}
	key.Deposed = fields[2]
	return key, nil
}

func isDeposedKey(s string) bool {
	return len(s) == 8 && strings.Trim(s, "0123456789abcdef") == ""
}

// component parses an address in its canonical form.
func (c *addressCache) component(s string) (stackaddrs.AbsComponentInstance, error) {
	if addr, ok := c.components[s]; ok {
		return addr, nil
	}
	addr, err := parseComponentInstance(s)
	if err != nil {
		return addr, err
	}
	if addr.String() != s {
		return addr, fmt.Errorf("%q is not the canonical form of the address %s", s, addr)
	}
	if c.components == nil {
		c.components = map[string]stackaddrs.AbsComponentInstance{}
	}
	c.components[s] = addr
	return addr, nil
}

// parseComponentInstance parses the address of a component instance as
// [stackaddrs.ParseAbsComponentInstance] does, which says what is wrong if
// something is: loading a large state must not scan each address as HCL.
func parseComponentInstance(s string) (stackaddrs.AbsComponentInstance, error) {
	stack, rest := stackaddrs.RootStackInstance, s
	for strings.HasPrefix(rest, "stack.") {
		after, name, key, err := cutStep(strings.TrimPrefix(rest, "stack."))
		if err != nil || !strings.HasPrefix(after, ".") {
			return stackaddrs.ParseAbsComponentInstance(s)
		}
		stack, rest = stack.Child(name, key), after[1:]
	}
	text, ok := strings.CutPrefix(rest, "component.")
	after, name, key, err := cutStep(text)
	if !ok || err != nil || after != "" {
		return stackaddrs.ParseAbsComponentInstance(s)
	}
	component := stackaddrs.AbsComponent{Stack: stack, Item: stackaddrs.Component{Name: name}}
	return stackaddrs.InstanceOf(component, key), nil
}

func (c *addressCache) resource(s string) (ResourceInstance, error) {
	if addr, ok := c.resources[s]; ok {
		return addr, nil
	}
	addr, err := ParseResourceInstance(s)
	if err != nil {
		return addr, err
	}
	if c.resources == nil {
		c.resources = map[string]ResourceInstance{}
	}
	c.resources[s] = addr
	return addr, nil
}

// rootName parses the rest of a key of a root variable or output.
func rootName(suffix, prefix string) (string, error) {
	name, ok := strings.CutPrefix(suffix, prefix)
	if !ok || !isName(name) {
		return "", fmt.Errorf("%q is not %q followed by a name", suffix, prefix)
	}
	return name, nil
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
