// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"regexp"
	"strings"

	"github.com/cairnstacks/cairn/internal/bounds"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// The known beginning of an unknown string can be enough for an answer.
var startsWithFunction = functionOf(cty.Bool, "Reports whether a string begins with another.",
	[]function.Parameter{{Name: "str", Type: cty.String, AllowUnknown: true}, {Name: "prefix", Type: cty.String}},
	func(args []cty.Value) (cty.Value, error) {
		prefix := args[1].AsString()
		if args[0].IsKnown() {
			return cty.BoolVal(strings.HasPrefix(args[0].AsString(), prefix)), nil
		}
		known := args[0].Range().StringPrefix()
		switch {
		case strings.HasPrefix(known, prefix):
			return cty.True, nil
		case !strings.HasPrefix(prefix, known):
			return cty.False, nil
		}
		return cty.UnknownVal(cty.Bool), nil
	})

var endsWithFunction = stringTest("Reports whether a string ends with another.", "suffix", strings.HasSuffix)

var strContainsFunction = stringTest("Reports whether a string contains another.", "substr", strings.Contains)

func stringTest(description, second string, test func(s, other string) bool) function.Function {
	return functionOf(cty.Bool, description,
		[]function.Parameter{{Name: "str", Type: cty.String}, {Name: second, Type: cty.String}},
		func(args []cty.Value) (cty.Value, error) {
			return cty.BoolVal(test(args[0].AsString(), args[1].AsString())), nil
		})
}

// A search text between slashes is a regular expression, and $1 or ${name} in the replacement then
// stand for its groups.
var replaceFunction = functionOf(cty.String, "Replaces every occurrence of a text or a regular expression.",
	[]function.Parameter{{Name: "str", Type: cty.String}, {Name: "substr", Type: cty.String}, {Name: "replace", Type: cty.String}},
	func(args []cty.Value) (cty.Value, error) {
		text, search, replacement := args[0].AsString(), args[1].AsString(), args[2].AsString()
		if !isPattern(search) {
			return cty.StringVal(strings.ReplaceAll(text, search, replacement)), nil
		}
		pattern, err := regexp.Compile(search[1 : len(search)-1])
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(1, "not a regular expression: %w", err)
		}
		replaced, err := replaceMatches(pattern, text, replacement)
		return cty.StringVal(replaced), err
	})

// isPattern reports whether a search text is a regular expression.
func isPattern(search string) bool {
	return len(search) >= 2 && strings.HasPrefix(search, "/") && strings.HasSuffix(search, "/")
}

// replaceMatches replaces all matches. How long the replacements are shows only with the groups
// that they name.
func replaceMatches(pattern *regexp.Regexp, text, replacement string) (string, error) {
	if product(len(text)+1, len(replacement)+1) <= bounds.MaxText {
		return pattern.ReplaceAllString(text, replacement), nil
	}
	var replaced []byte
	done, groups := 0, strings.Count(replacement, "$")
	for _, match := range pattern.FindAllStringSubmatchIndex(text, -1) {
		replaced = append(replaced, text[done:match[0]]...)
		if len(replaced)+product(groups, match[1]-match[0])+len(replacement) > bounds.MaxText {
			return "", function.NewArgErrorf(2, "%w", errTooMuchText)
		}
		replaced = pattern.ExpandString(replaced, replacement, text, match)
		done = match[1]
	}
	return string(replaced) + text[done:], nil
}
