// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
)

// ephemeralResourceMode completes terraform-json's list of modes.
const ephemeralResourceMode tfjson.ResourceMode = "ephemeral"

// address is a parsed address of something in a module tree.
type address struct {
	module     []addressStep
	moduleText string
	mode       tfjson.ResourceMode // for resources only
	typ, name  string              // of others, typ is the keyword: "output", "check", "var"
	key        any                 // nil, int, string; wildcard{} in deferred changes
}

type addressStep struct {
	name string
	key  any
}

// wildcard is the key of an object that stands for all instances, before they are known.
type wildcard struct{}

// parseAddress parses the address of a resource instance, or of a module's output, check or variable.
func parseAddress(text string) (address, error) {
	var addr address
	steps, ends, err := addressSteps(text)
	if err != nil {
		return addr, fmt.Errorf("invalid address %q: %w", text, err)
	}
	for len(steps) >= 2 && steps[0].name == "module" && steps[0].key == nil {
		addr.module = append(addr.module, steps[1])
		addr.moduleText = text[:ends[1]]
		steps, ends = steps[2:], ends[2:]
	}
	addr.mode = tfjson.ManagedResourceMode
	if len(steps) == 3 && (steps[0].name == "data" || steps[0].name == "ephemeral") {
		addr.mode = tfjson.ResourceMode(steps[0].name)
		steps = steps[1:]
	}
	if len(steps) != 2 || steps[0].key != nil {
		return addr, fmt.Errorf("invalid address %q", text)
	}
	addr.typ, addr.name, addr.key = steps[0].name, steps[1].name, steps[1].key
	return addr, nil
}

// addressSteps splits an address at its dots. ends has the offset at which each step ends.
func addressSteps(text string) (steps []addressStep, ends []int, err error) {
	for pos := 0; ; pos++ { // past the dot
		rest := text[pos:]
		size := strings.IndexAny(rest, ".[")
		if size < 0 {
			size = len(rest)
		}
		if size == 0 {
			return nil, nil, fmt.Errorf("a name is missing at offset %d", pos)
		}
		step := addressStep{name: rest[:size]}
		pos += size
		if pos < len(text) && text[pos] == '[' {
			step.key, size, err = parseKey(text[pos:])
			if err != nil {
				return nil, nil, err
			}
			pos += size
		}
		steps, ends = append(steps, step), append(ends, pos)
		if pos == len(text) {
			return steps, ends, nil
		}
		if text[pos] != '.' || pos+1 == len(text) {
			return nil, nil, fmt.Errorf("unexpected text at offset %d", pos)
		}
	}
}

// parseKey parses an instance key in brackets at the start of text, and returns its size.
func parseKey(text string) (key any, size int, err error) {
	inner := text[1:]
	if strings.HasPrefix(inner, `"`) {
		quoted, err := strconv.QuotedPrefix(inner)
		if err != nil || !strings.HasPrefix(inner[len(quoted):], "]") {
			return nil, 0, fmt.Errorf("invalid instance key in %q", text)
		}
		key, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, 0, fmt.Errorf("invalid instance key %s: %w", quoted, err)
		}
		key = strings.NewReplacer("$${", "${", "%%{", "%{").Replace(key)
		return key, len(quoted) + 2, nil
	}
	inner, _, ok := strings.Cut(inner, "]")
	if !ok {
		return nil, 0, fmt.Errorf("invalid instance key in %q", text)
	}
	if inner == "*" {
		return wildcard{}, len(inner) + 2, nil
	}
	index, err := strconv.Atoi(inner)
	if err != nil {
		return nil, 0, fmt.Errorf("invalid instance key [%s]: %w", inner, err)
	}
	return index, len(inner) + 2, nil
}

// compare gives the order of `show -json`: modules by depth and name, then data sources before
// managed resources, then types, names and keys.
func (a address) compare(b address) int {
	return cmp.Or(
		cmp.Compare(len(a.module), len(b.module)),
		slices.CompareFunc(a.module, b.module, func(a, b addressStep) int {
			return cmp.Or(cmp.Compare(a.name, b.name), compareKeys(a.key, b.key))
		}),
		cmp.Compare(modeRank(a.mode), modeRank(b.mode)),
		cmp.Compare(a.typ, b.typ),
		cmp.Compare(a.name, b.name),
		compareKeys(a.key, b.key),
	)
}

func modeRank(mode tfjson.ResourceMode) int {
	return slices.Index([]tfjson.ResourceMode{
		ephemeralResourceMode, tfjson.DataResourceMode, tfjson.ManagedResourceMode,
	}, mode)
}

// compareKeys sorts no key first, then numbers, then strings.
func compareKeys(a, b any) int {
	if i, ok := a.(int); ok {
		if j, ok := b.(int); ok {
			return cmp.Compare(i, j)
		}
	}
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			return cmp.Compare(s, t)
		}
	}
	return cmp.Compare(keyRank(a), keyRank(b))
}

func keyRank(key any) int {
	switch key.(type) {
	case nil:
		return 0
	case wildcard:
		return 1
	case int:
		return 2
	default:
		return 3
	}
}

// index returns the instance key as terraform-json has it: int, string or nil.
func (a address) index() any {
	if _, ok := a.key.(wildcard); ok {
		return nil
	}
	return a.key
}

// providerName returns the source address in the address of a provider configuration, such as
// `module.a.provider["registry.terraform.io/hashicorp/time"].west`.
func providerName(configAddr string) (string, error) {
	_, rest, ok := strings.Cut(configAddr, `provider["`)
	if ok {
		if name, _, ok := strings.Cut(rest, `"]`); ok {
			return name, nil
		}
	}
	return "", fmt.Errorf("invalid provider address %q", configAddr)
}
