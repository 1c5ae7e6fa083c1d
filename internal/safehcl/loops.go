// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package safehcl

import (
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
)

// boundedBody is a body in JSON whose expressions keep the rules of package bounds.
type boundedBody struct{ hcl.Body }

// Content implements [hcl.Body].
func (b boundedBody) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, diags := b.Body.Content(schema)
	return boundedContent(content), diags
}

// PartialContent implements [hcl.Body].
func (b boundedBody) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	content, rest, diags := b.Body.PartialContent(schema)
	return boundedContent(content), boundedBody{rest}, diags
}

// JustAttributes implements [hcl.Body].
func (b boundedBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	attributes, diags := b.Body.JustAttributes()
	return boundedAttributes(attributes), diags
}

func boundedContent(content *hcl.BodyContent) *hcl.BodyContent {
	boundedAttributes(content.Attributes)
	for _, block := range content.Blocks {
		block.Body = boundedBody{block.Body}
	}
	return content
}

// boundedAttributes changes attributes, which package json makes anew for each caller.
func boundedAttributes(attributes hcl.Attributes) hcl.Attributes {
	for _, attribute := range attributes {
		attribute.Expr = newBoundedExpression(attribute.Expr)
	}
	return attributes
}

// boundedExpression is an expression in JSON. HCL parses its strings each time it evaluates them,
// so that nobody can prepare the loops in them. Strings that have any are evaluated before, by the
// prepared templates.
type boundedExpression struct {
	hcl.Expression
	templates func() []hclsyntax.Expression
}

func newBoundedExpression(expr hcl.Expression) *boundedExpression {
	return &boundedExpression{Expression: expr, templates: sync.OnceValue(func() []hclsyntax.Expression {
		return appendUnboundedTemplates(nil, expr)
	})}
}

// Value implements [hcl.Expression].
func (e *boundedExpression) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if ctx == nil { // strings are no templates
		return e.Expression.Value(nil)
	}
	for _, template := range e.templates() {
		_, diags := template.Value(ctx)
		if diags.HasErrors() || bounds.Exceeded(ctx) {
			return cty.DynamicVal, diags
		}
	}
	return e.Expression.Value(ctx)
}

// ExprList implements the interface of [hcl.ExprList].
func (e *boundedExpression) ExprList() []hcl.Expression {
	elements, diags := hcl.ExprList(e.Expression)
	if diags.HasErrors() {
		return nil
	}
	for i, element := range elements {
		elements[i] = newBoundedExpression(element)
	}
	return elements
}

// ExprMap implements the interface of [hcl.ExprMap].
func (e *boundedExpression) ExprMap() []hcl.KeyValuePair {
	pairs, diags := hcl.ExprMap(e.Expression)
	if diags.HasErrors() {
		return nil
	}
	for i, pair := range pairs {
		pairs[i] = hcl.KeyValuePair{Key: newBoundedExpression(pair.Key), Value: newBoundedExpression(pair.Value)}
	}
	return pairs
}

// UnwrapExpression leads package hcl to the other static forms of the expression.
func (e *boundedExpression) UnwrapExpression() hcl.Expression { return e.Expression }

// appendUnboundedTemplates appends the strings of an expression that have loops or operators, as
// HCL parses them.
func appendUnboundedTemplates(found []hclsyntax.Expression, expr hcl.Expression) []hclsyntax.Expression {
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		for _, pair := range pairs {
			found = appendUnboundedTemplates(appendUnboundedTemplates(found, pair.Key), pair.Value)
		}
		return found
	}
	if elements, diags := hcl.ExprList(expr); !diags.HasErrors() {
		for _, element := range elements {
			found = appendUnboundedTemplates(found, element)
		}
		return found
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String || value.IsNull() || !strings.Contains(value.AsString(), "{") {
		return found
	}
	start := expr.Range().Start
	start.Column++ // after the quote
	start.Byte++
	template, diags := hclsyntax.ParseTemplate([]byte(value.AsString()), expr.Range().Filename, start)
	if diags.HasErrors() || !bounds.Prepare(template) {
		return found
	}
	return append(found, template)
}
