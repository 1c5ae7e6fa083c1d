// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackgen

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// kind is a type of values, written as a type constraint.
type kind string

const (
	textKind    kind = "string"
	numberKind  kind = "number"
	boolKind    kind = "bool"
	listKind    kind = "list(string)"
	setKind     kind = "set(string)"
	mapKind     kind = "map(string)"
	objectKind  kind = `object({ name = string, size = number, tags = list(string), note = optional(string, "none") })`
	objectsKind kind = "list(" + objectKind + ")"
)

var kinds = []kind{textKind, textKind, numberKind, boolKind, listKind, setKind, mapKind, objectKind, objectsKind}

func (g *generator) kind() kind { return kinds[g.rng.IntN(len(kinds))] }

// conversion is the function that makes a value of any form into one of the
// kind, or "" where an object constructor is the only form.
func (k kind) conversion() string {
	return map[kind]string{
		textKind: "tostring", numberKind: "tonumber", boolKind: "tobool",
		listKind: "tolist", setKind: "toset", mapKind: "tomap", objectsKind: "tolist",
	}[k]
}

var words = []string{
	"a", "b", "zone", "eu-west", "x y", "", "ü€", `quo"te`, "${x}", "%{y}", "back\\slash", "two\nlines", "1", "true", "A.b[0]", "null",
}

func (g *generator) word() string { return words[g.rng.IntN(len(words))] }

// value returns a random value, which hclwrite can write as a literal.
func (g *generator) value(k kind) cty.Value {
	switch k {
	case numberKind:
		return cty.NumberFloatVal([]float64{0, 1, 2, 7, -3, 12.5, 1e9}[g.rng.IntN(7)])
	case boolKind:
		return cty.BoolVal(g.chance(50))
	case listKind:
		return listOf(cty.List(cty.String), cty.ListVal, g.words(3))
	case setKind:
		return listOf(cty.Set(cty.String), cty.SetVal, g.words(3))
	case mapKind:
		values := map[string]cty.Value{}
		for _, word := range g.words(3) {
			values[word.AsString()] = cty.StringVal(g.word())
		}
		if len(values) == 0 {
			return cty.MapValEmpty(cty.String)
		}
		return cty.MapVal(values)
	case objectKind:
		return cty.ObjectVal(map[string]cty.Value{
			"name": g.value(textKind), "size": g.value(numberKind), "tags": g.value(listKind), "note": g.value(textKind),
		})
	case objectsKind:
		objects := make([]cty.Value, 1+g.rng.IntN(2))
		for i := range objects {
			objects[i] = g.value(objectKind)
		}
		return cty.ListVal(objects)
	}
	return cty.StringVal(g.word())
}

func (g *generator) words(limit int) []cty.Value {
	values := make([]cty.Value, g.rng.IntN(limit+1))
	for i := range values {
		values[i] = cty.StringVal(g.word())
	}
	return values
}

func listOf(ty cty.Type, construct func([]cty.Value) cty.Value, elems []cty.Value) cty.Value {
	if len(elems) == 0 {
		if ty.IsSetType() {
			return cty.SetValEmpty(ty.ElementType())
		}
		return cty.ListValEmpty(ty.ElementType())
	}
	return construct(elems)
}

// literal writes a value as an argument has it that takes no functions.
func literal(v cty.Value) string { return string(hclwrite.TokensForValue(v).Bytes()) }

func quote(s string) string { return literal(cty.StringVal(s)) }

// literal returns a value of the kind as an expression.
func (g *generator) literal(k kind) expr {
	text := literal(g.value(k))
	if k == setKind {
		text = fmt.Sprintf("toset(%s)", text)
	}
	return expr{text: text}
}
