// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/cairnstacks/cairn/internal/hclsource"
)

// constant returns the value of an expression that is a literal, or made of literals by functions
// whose results depend on nothing else (rule S1).
func constant(expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	return hclsource.ConstantOf(expr, functions())
}

// maxArguments is how long all that a function is given may be, in bytes: more than any path or
// tag. No function makes more of it than its square.
const maxArguments = 1000

var functions = sync.OnceValue(func() map[string]function.Function {
	all := map[string]function.Function{}
	for name, f := range map[string]function.Function{
		"chomp":      stdlib.ChompFunc,
		"coalesce":   stdlib.CoalesceFunc,
		"compact":    stdlib.CompactFunc,
		"concat":     stdlib.ConcatFunc,
		"distinct":   stdlib.DistinctFunc,
		"element":    stdlib.ElementFunc,
		"flatten":    stdlib.FlattenFunc,
		"join":       stdlib.JoinFunc,
		"lower":      stdlib.LowerFunc,
		"replace":    literalReplace,
		"reverse":    stdlib.ReverseListFunc,
		"slice":      stdlib.SliceFunc,
		"sort":       stdlib.SortFunc,
		"split":      stdlib.SplitFunc,
		"strrev":     stdlib.ReverseFunc,
		"substr":     stdlib.SubstrFunc,
		"title":      stdlib.TitleFunc,
		"trim":       stdlib.TrimFunc,
		"trimprefix": stdlib.TrimPrefixFunc,
		"trimspace":  stdlib.TrimSpaceFunc,
		"trimsuffix": stdlib.TrimSuffixFunc,
		"upper":      stdlib.UpperFunc,
		"format":     plainFormat,
		"tolist":     stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"toset":      stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring":   stdlib.MakeToFunc(cty.String),
	} {
		all["tm_"+name] = limited(f)
	}
	return all
})

// limited is a function that refuses long arguments.
func limited(f function.Function) function.Function {
	return function.New(&function.Spec{
		Params: f.Params(), VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			length := 0
			for _, arg := range args {
				length += lengthOf(arg)
			}
			if length > maxArguments {
				return cty.NilType, errors.New("its arguments are longer than anybody writes for paths and tags")
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) },
	})
}

// lengthOf is about how long a value is.
func lengthOf(value cty.Value) int {
	switch {
	case value.IsNull() || !value.IsKnown():
		return 1
	case value.Type() == cty.String:
		return 1 + len(value.AsString())
	case !value.CanIterateElements():
		return 1
	}
	length := 1
	for it := value.ElementIterator(); it.Next(); {
		_, element := it.Element()
		length += 1 + lengthOf(element)
	}
	return length
}

var errRegularExpression = errors.New("regular expressions are not evaluated here")

// literalReplace is replace without regular expressions.
var literalReplace = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "old", Type: cty.String}, {Name: "new", Type: cty.String}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		old := args[1].AsString()
		if len(old) > 1 && strings.HasPrefix(old, "/") && strings.HasSuffix(old, "/") {
			return cty.NilVal, errRegularExpression
		}
		return cty.StringVal(strings.ReplaceAll(args[0].AsString(), old, args[2].AsString())), nil
	},
})

// plainFormat is format without widths, which could be very large.
var plainFormat = function.New(&function.Spec{
	Params:   []function.Parameter{{Name: "format", Type: cty.String}},
	VarParam: &function.Parameter{Name: "arguments", Type: cty.DynamicPseudoType},
	Type:     function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		verbs := strings.Split(strings.ReplaceAll(args[0].AsString(), "%%", ""), "%")[1:]
		if slices.ContainsFunc(verbs, func(verb string) bool { return verb == "" || !strings.Contains("sdvq", verb[:1]) }) {
			return cty.NilVal, errors.New("of the verbs only %s, %d, %v and %q are evaluated here")
		}
		return stdlib.Format(args[0], args[1:]...)
	},
})

// textsOf returns the texts in a list or set, each once.
func textsOf(value cty.Value) (texts []string, ok bool) {
	if value == cty.NilVal || value.IsNull() || !value.IsWhollyKnown() ||
		!value.CanIterateElements() || value.Type().IsObjectType() || value.Type().IsMapType() {
		return nil, false
	}
	for it := value.ElementIterator(); it.Next(); {
		_, element := it.Element()
		if element.IsNull() || element.Type() != cty.String {
			return nil, false
		}
		if text := element.AsString(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts, true
}
