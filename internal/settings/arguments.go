// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/hclsource"
)

// arguments decodes the arguments of a block one by one, and collects their mistakes.
type arguments struct {
	attrs hcl.Attributes
	diags hcl.Diagnostics
}

// argumentsOf finds the arguments of a block, of which some are required. It has no others.
func argumentsOf(body hcl.Body, required []string, optional ...string) *arguments {
	schema := &hcl.BodySchema{}
	for _, name := range required {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name, Required: true})
	}
	for _, name := range optional {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	content, diags := body.Content(schema)
	return &arguments{content.Attributes, diags}
}

// has reports whether an argument is there.
func (a *arguments) has(name string) bool { return a.attrs[name] != nil }

func (a *arguments) fail(name, summary, detail string, args ...any) {
	a.diags = a.diags.Append(failure.At(a.attrs[name].Expr.Range(), summary, detail, args...))
}

// text decodes a text, which must not be empty if it is there.
func (a *arguments) text(name string) string {
	value, diags := stringSetting(a.attrs[name])
	a.diags = a.diags.Extend(diags)
	return value
}

func (a *arguments) bool(name string) bool {
	var value bool
	if a.has(name) {
		a.diags = a.diags.Extend(gohcl.DecodeExpression(a.attrs[name].Expr, nil, &value))
	}
	return value
}

// duration decodes a duration that lies between two others; 0 without one.
func (a *arguments) duration(name string, least, most time.Duration) time.Duration {
	written := a.text(name)
	if written == "" {
		return 0
	}
	value, err := time.ParseDuration(written)
	if err != nil || value < least || value > most {
		a.fail(name, "Unusable duration", "Give a duration from %s to %s, such as \"90s\" or \"15m\".", shortly(least), shortly(most))
	}
	return value
}

// shortly writes a duration without the units that are zero.
func shortly(d time.Duration) string {
	text := strings.TrimSuffix(d.String(), "0s")
	if trimmed, ok := strings.CutSuffix(text, "h0m"); ok {
		return trimmed + "h"
	}
	return text
}

// texts decodes a list of texts that are not empty, of which there is at least one; nil without
// one.
func (a *arguments) texts(name, example string) []string {
	if !a.has(name) {
		return nil
	}
	value, diags := hclsource.Constant(a.attrs[name].Expr)
	a.diags = a.diags.Extend(diags)
	if diags.HasErrors() {
		return nil
	}
	list, ok := textsIn(value)
	if !ok {
		a.fail(name, "Unusable list", "Give a list of texts, such as %s.", example)
	}
	return list
}

// textsIn takes a list of texts apart. It reports false for all other values.
func textsIn(value cty.Value) ([]string, bool) {
	converted, err := convert.Convert(value, cty.List(cty.String))
	if err != nil || converted.IsNull() || !converted.IsWhollyKnown() || converted.LengthInt() == 0 {
		return nil, false
	}
	var list []string
	for _, element := range converted.AsValueSlice() {
		if element.IsNull() || element.AsString() == "" {
			return nil, false
		}
		list = append(list, element.AsString())
	}
	return list, true
}

// command decodes a program with its arguments.
func (a *arguments) command(name string) []string {
	return a.texts(name, `["./token.sh", "arg"], a program and its arguments`)
}

// oneOf decodes one of several texts; "" without one.
func (a *arguments) oneOf(name string, allowed ...string) string {
	value := a.text(name)
	if value != "" && !slices.Contains(allowed, value) {
		a.fail(name, "Unknown value of setting", "There is no %s %q. Give one of: %s.", name, value, strings.Join(allowed, ", "))
	}
	return value
}
