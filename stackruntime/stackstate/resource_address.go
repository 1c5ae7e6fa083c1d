// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// The resource modes, as state documents write them.
const (
	managedMode = "managed"
	dataMode    = "data"
)

// ResourceInstance is the address of a resource instance in the module tree of
// a component.
type ResourceInstance struct {
	Module string // module instance as printed, "" for the root module
	Mode   string // "managed" or "data"
	Type   string
	Name   string
	Key    stackaddrs.InstanceKey // [stackaddrs.NoKey], an integer or a string
}

// String returns the address as plain terraform prints it.
func (r ResourceInstance) String() string {
	var b strings.Builder
	if r.Module != "" {
		b.WriteString(r.Module + ".")
	}
	if r.Mode == dataMode {
		b.WriteString("data.")
	}
	b.WriteString(r.Type + "." + r.Name + r.Key.String())
	return b.String()
}

// Compare orders by module, mode, type, name and key.
func (r ResourceInstance) Compare(o ResourceInstance) int {
	return cmp.Or(
		cmp.Compare(r.Module, o.Module),
		cmp.Compare(r.Mode, o.Mode),
		cmp.Compare(r.Type, o.Type),
		cmp.Compare(r.Name, o.Name),
		r.Key.Compare(o.Key),
	)
}

// ParseResourceInstance parses an address in its canonical form.
func ParseResourceInstance(s string) (ResourceInstance, error) {
	addr, err := parseResourceInstance(s)
	if err != nil {
		return ResourceInstance{}, fmt.Errorf("not a resource instance address: %q: %w", s, err)
	}
	if addr.String() != s {
		return ResourceInstance{}, fmt.Errorf("%q is not the canonical form of the address %s", s, addr)
	}
	return addr, nil
}

func parseResourceInstance(s string) (ResourceInstance, error) {
	r := ResourceInstance{Mode: managedMode}
	rest := s
	for strings.HasPrefix(rest, "module.") {
		after, _, err := cutNameAndKey(strings.TrimPrefix(rest, "module."))
		if err != nil {
			return r, err
		}
		if !strings.HasPrefix(after, ".") {
			return r, errors.New("a resource must follow the module")
		}
		rest = after[1:]
	}
	if rest != s {
		r.Module = s[:len(s)-len(rest)-1]
	}
	if after, ok := strings.CutPrefix(rest, "data."); ok {
		r.Mode, rest = dataMode, after
	}
	resourceType, rest, ok := strings.Cut(rest, ".")
	if !ok || !isName(resourceType) {
		return r, errors.New("a resource type and a name were expected")
	}
	r.Type = resourceType
	after, key, err := cutNameAndKey(rest)
	if err != nil {
		return r, err
	}
	if after != "" {
		return r, errors.New("nothing may follow the resource")
	}
	r.Name = rest[:len(rest)-len(key.String())]
	r.Key = key
	if !isName(r.Name) {
		return r, errors.New("the instance key is not in its canonical form")
	}
	return r, nil
}

// cutStep is [cutNameAndKey] with the name as a result.
func cutStep(s string) (rest, name string, key stackaddrs.InstanceKey, err error) {
	rest, key, err = cutNameAndKey(s)
	if end := strings.IndexAny(s, ".["); end >= 0 {
		s = s[:end]
	}
	return rest, s, key, err
}

// cutNameAndKey consumes a name and, if there is one, an index step.
func cutNameAndKey(s string) (rest string, key stackaddrs.InstanceKey, err error) {
	end := strings.IndexAny(s, ".[")
	if end < 0 {
		end = len(s)
	}
	if !isName(s[:end]) {
		return "", key, fmt.Errorf("%q is not a name", s[:end])
	}
	rest = s[end:]
	if !strings.HasPrefix(rest, "[") {
		return rest, key, nil
	}
	closing := indexEnd(rest)
	if closing < 0 {
		return "", key, errors.New("an instance key has no end")
	}
	key, err = parseInstanceKey(rest[:closing])
	return rest[closing:], key, err
}

// indexEnd returns the end of the index step that s starts with, or -1.
func indexEnd(s string) int {
	quoted := false
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if quoted {
				i++
			}
		case '"':
			quoted = !quoted
		case ']':
			if !quoted {
				return i + 1
			}
		}
	}
	return -1
}

// parseInstanceKey parses an index step with its brackets.
func parseInstanceKey(step string) (stackaddrs.InstanceKey, error) {
	if text, ok := plainStringKey(step); ok {
		return stackaddrs.StringKey(text), nil
	}
	traversal, diags := hclsyntax.ParseTraversalAbs([]byte("x"+step), "", hcl.InitialPos)
	if !diags.HasErrors() && len(traversal) == 2 {
		if index, ok := traversal[1].(hcl.TraverseIndex); ok {
			key, ok := stackaddrs.KeyFromValue(index.Key)
			if ok && key.String() == step {
				return key, nil
			}
		}
	}
	return stackaddrs.NoKey, fmt.Errorf("%s is not an instance key in its canonical form", step)
}

// plainStringKey returns the text of a quoted key in which nothing needs an
// escape, as nearly all are: those need no scanner.
func plainStringKey(step string) (text string, ok bool) {
	if len(step) < 4 || step[1] != '"' || step[len(step)-2] != '"' {
		return "", false
	}
	text = step[2 : len(step)-2]
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '$' || c == '%' {
			return "", false
		}
	}
	return text, true
}

// isName tells whether s is an identifier of the configuration language. Nearly
// all names are plain ASCII, which needs no scanner.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' && i > 0
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return hclsyntax.ValidIdentifier(s)
		}
	}
	return s != ""
}
