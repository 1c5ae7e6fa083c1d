// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package forgetest

import (
	"fmt"
	"regexp"
	"strings"
)

// contexts are the values that expressions of workflows know, by their paths.
type contexts map[string]any

// at returns the value at a path, nil if there is none.
func (c contexts) at(path string) any {
	var value any = map[string]any(c)
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any) // what is no object has no parts
		value = object[name]
	}
	return value
}

var (
	inText    = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)
	callOf    = regexp.MustCompile(`^([A-Za-z]+)\((.*)\)$`)
	literal   = regexp.MustCompile(`^'([^']*)'$`)
	reference = regexp.MustCompile(`^[a-z]+(\.[A-Za-z0-9_-]+)+$`)
)

// expand replaces the expressions in a text.
func (c contexts) expand(text string) string {
	return inText.ReplaceAllStringFunc(text, func(found string) string {
		return show(c.eval(inText.FindStringSubmatch(found)[1]))
	})
}

func show(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// eval evaluates the expressions that the files of the kit have: references, texts, comparisons,
// calls, "&&" and "||", without parentheses. Anything else is a mistake in the file.
func (c contexts) eval(expression string) any {
	expression = strings.TrimSpace(expression)
	for _, operator := range []string{" || ", " && "} {
		left, right, ok := strings.Cut(expression, operator)
		if !ok {
			continue
		}
		value := c.eval(left)
		if isTrue(value) == (operator == " || ") {
			return value
		}
		return c.eval(right)
	}
	for _, operator := range []string{" == ", " != "} {
		if left, right, ok := strings.Cut(expression, operator); ok {
			return (show(c.eval(left)) == show(c.eval(right))) == (operator == " == ")
		}
	}
	if match := literal.FindStringSubmatch(expression); match != nil {
		return match[1]
	}
	if expression == "true" {
		return true
	}
	if match := callOf.FindStringSubmatch(expression); match != nil {
		return c.call(match[1], strings.Split(match[2], ", "))
	}
	if !reference.MatchString(expression) {
		panic("no expression that is known: " + expression)
	}
	return c.at(expression)
}

func isTrue(value any) bool { return value != nil && value != "" && value != false }

func (c contexts) call(function string, args []string) any {
	switch function {
	case "always":
		return true
	case "startsWith":
		return strings.HasPrefix(show(c.eval(args[0])), show(c.eval(args[1])))
	case "format":
		return strings.ReplaceAll(show(c.eval(args[0])), "{0}", show(c.eval(args[1])))
	}
	panic("no function that is known: " + function)
}
