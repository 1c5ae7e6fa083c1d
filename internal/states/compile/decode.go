// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/yamldoc"
)

// decoder makes values of the nodes of one file and collects diagnostics.
type decoder struct {
	file  string
	diags hcl.Diagnostics
}

func (d *decoder) problem(code problem.Code, node *yaml.Node, summary, detail string, args ...any) {
	d.diags = d.diags.Append(problem.New(code, yamldoc.Range(d.file, node), summary, detail, args...))
}

// value returns the value of a node: one of the types of a [Map].
func (d *decoder) value(node *yaml.Node) any {
	node = yamldoc.Resolve(node)
	switch node.Kind {
	case yaml.MappingNode:
		m := &Map{}
		for _, pair := range d.pairs(node) {
			m.Set(pair.Name, d.value(pair.Value))
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for _, child := range node.Content {
			list = append(list, d.value(child))
		}
		return list
	}
	return d.scalar(node)
}

// scalar returns a single value, as the files' own programs understand it: words such as "yes" are
// booleans, numbers with leading zeros are decimal, and a number in YAML 1.2 alone, such as 1e3 and
// 0o17, is a string.
func (d *decoder) scalar(node *yaml.Node) any {
	plain := node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
	if plain && isOldBool(node.Value) {
		return strings.EqualFold(node.Value, "yes") || strings.EqualFold(node.Value, "on")
	}
	if plain && newNumber.MatchString(node.Value) {
		return node.Value
	}
	switch node.ShortTag() {
	case "!!str", "!!timestamp":
		return node.Value
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(node.Value, "true")
	case "!!int":
		// A mode such as 0644 is a decimal number to the files' own programs, and octal to the library.
		if digits := strings.TrimLeft(node.Value, "0"); digits != node.Value && strings.Trim(digits, "0123456789") == "" {
			number, err := strconv.ParseInt("0"+digits, 10, 64)
			if err == nil {
				return number
			}
		}
		var number int64
		if err := node.Decode(&number); err == nil {
			return number
		}
		return node.Value // too large for a number
	case "!!float":
		var number float64
		if err := node.Decode(&number); err == nil {
			return number
		}
	}
	d.problem(problem.Syntax, node, "Unsupported YAML tag",
		"Values with the tag %s are not supported. Use a string, number or boolean.", node.Tag)
	return nil
}

// newNumber matches strings of YAML 1.1 that are numbers in later versions: octal digits after
// "0o", and exponents behind a whole number or without a sign.
var newNumber = regexp.MustCompile(`^[-+]?(0o[0-7_]+|[0-9][0-9_]*[eE][-+]?[0-9]+|[0-9_]*\.[0-9_]*[eE][0-9]+)$`)

// isOldBool reports whether a plain word is a boolean in YAML 1.1 only.
func isOldBool(word string) bool {
	switch word {
	case "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF":
		return true
	}
	return false
}

// pairs returns the entries of a mapping, those of merged mappings ("<<") after its own.
func (d *decoder) pairs(mapping *yaml.Node) []yamldoc.Pair {
	all, diags := yamldoc.Pairs(d.file, mapping)
	d.diags = d.diags.Extend(diags)
	var own, merged []yamldoc.Pair
	known := map[string]bool{}
	for _, pair := range all {
		if pair.Name == "<<" && pair.Key.ShortTag() == "!!merge" {
			merged = append(merged, d.merged(pair.Value)...)
			continue
		}
		known[pair.Name] = true
		own = append(own, pair)
	}
	for _, pair := range merged {
		if !known[pair.Name] {
			known[pair.Name] = true
			own = append(own, pair)
		}
	}
	return own
}

func (d *decoder) merged(node *yaml.Node) []yamldoc.Pair {
	switch node.Kind {
	case yaml.MappingNode:
		return d.pairs(node)
	case yaml.SequenceNode:
		var all []yamldoc.Pair
		for _, child := range node.Content {
			all = append(all, d.merged(yamldoc.Resolve(child))...)
		}
		return all
	}
	d.problem(problem.Syntax, node, "Invalid merge",
		"After \"<<:\" must stand a mapping, or a list of them; this is a %s.", yamldoc.Kind(node))
	return nil
}
