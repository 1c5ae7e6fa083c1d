// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// constraint decodes a type argument. Nil stands for a missing one, which was
// reported. If ok is false, the result is a placeholder.
func (d *decoder) constraint(expr hcl.Expression) (ty Type, ok bool) {
	placeholder := Type{Constraint: cty.DynamicPseudoType}
	if expr == nil {
		return placeholder, false
	}
	native, ok := d.staticExpression(expr)
	if !ok {
		return placeholder, false
	}
	t := typeDecoder{decoder: d, whole: expr.Range()}
	ty.Constraint, ty.Defaults = t.decode(native)
	if t.failed {
		return placeholder, false
	}
	return ty, true
}

// ParseType decodes a type constraint that stands elsewhere than in a configuration. In JSON it is
// a string. With errors, the result is a placeholder.
func ParseType(expr hcl.Expression) (Type, hcl.Diagnostics) {
	d := &decoder{loader: &loader{}, stack: &Stack{}}
	ty, _ := d.constraint(expr)
	return ty, d.diags
}

// typeDecoder decodes one type constraint and reports all its mistakes.
type typeDecoder struct {
	*decoder
	whole  hcl.Range
	failed bool
}

func (t *typeDecoder) reject(rng hcl.Range, format string, args ...any) (cty.Type, *typeexpr.Defaults) {
	t.fail(rng, "Not a type constraint", format, args...)
	return cty.DynamicPseudoType, nil
}

func (t *typeDecoder) fail(rng hcl.Range, summary, format string, args ...any) {
	t.failed = true
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &rng}
	t.diags = append(t.diags, t.keepInside(hcl.Diagnostics{diag}, t.whole)...)
}

// decode returns a type and the defaults of optional attributes in it, nil when
// there are none.
func (t *typeDecoder) decode(expr hcl.Expression) (cty.Type, *typeexpr.Defaults) {
	switch expr := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return t.keyword(expr)
	case *hclsyntax.FunctionCallExpr:
		return t.call(expr)
	default:
		return t.reject(expr.Range(), "A type is either bool, string or number, or composed like list(string).")
	}
}

func (t *typeDecoder) keyword(expr *hclsyntax.ScopeTraversalExpr) (cty.Type, *typeexpr.Defaults) {
	if len(expr.Traversal) > 1 {
		return t.reject(expr.Range(), "A type is a keyword, not a reference.")
	}
	switch name := expr.Traversal.RootName(); name {
	case "bool":
		return cty.Bool, nil
	case "string":
		return cty.String, nil
	case "number":
		return cty.Number, nil
	case "any":
		return t.reject(expr.Range(), "The keyword any is not available in stacks: write the exact type.")
	case "list", "set", "map":
		return t.reject(expr.Range(), "The type %s needs the type of its elements, like %s(string).", name, name)
	case "tuple":
		return t.reject(expr.Range(), "The type tuple needs the types of its elements, like tuple([string, number]).")
	case "object":
		return t.reject(expr.Range(), "The type object needs the types of its attributes, like object({ name = string }).")
	case "providerconfig":
		return t.reject(expr.Range(), "The type providerconfig needs the local name of a provider, like providerconfig(aws).")
	default:
		return t.reject(expr.Range(), "There is no type called %s.", name)
	}
}

func (t *typeDecoder) call(call *hclsyntax.FunctionCallExpr) (cty.Type, *typeexpr.Defaults) {
	switch call.Name {
	case "list", "set", "map", "tuple", "object", "providerconfig":
	case "optional":
		return t.reject(call.Range(), "The modifier optional can be used only for attributes of an object type.")
	case "bool", "string", "number", "any":
		return t.reject(call.Range(), "The keyword %s takes no arguments.", call.Name)
	default:
		return t.reject(call.NameRange, "There is no type called %s.", call.Name)
	}
	if len(call.Args) != 1 || call.ExpandFinal {
		return t.reject(argumentsRange(call), "The type %s takes exactly one argument.", call.Name)
	}
	arg := call.Args[0]
	switch call.Name {
	case "tuple":
		return t.tuple(arg)
	case "object":
		return t.object(arg)
	case "providerconfig":
		return t.providerConfig(arg)
	}
	elem, defaults := t.decode(arg)
	ty := map[string]func(cty.Type) cty.Type{"list": cty.List, "set": cty.Set, "map": cty.Map}[call.Name](elem)
	if defaults == nil {
		return ty, nil
	}
	return ty, &typeexpr.Defaults{Type: ty, Children: map[string]*typeexpr.Defaults{"": defaults}}
}

// argumentsRange covers the arguments of a call and the parentheses.
func argumentsRange(call *hclsyntax.FunctionCallExpr) hcl.Range {
	return hcl.RangeBetween(call.OpenParenRange, call.CloseParenRange)
}

func (t *typeDecoder) tuple(arg hclsyntax.Expression) (cty.Type, *typeexpr.Defaults) {
	cons, ok := arg.(*hclsyntax.TupleConsExpr)
	if !ok {
		return t.reject(arg.Range(), "The types of the elements are written as a list, like tuple([string, number]).")
	}
	types := make([]cty.Type, len(cons.Exprs))
	children := map[string]*typeexpr.Defaults{}
	for i, expr := range cons.Exprs {
		elem, defaults := t.decode(expr)
		types[i] = elem
		if defaults != nil {
			children[strconv.Itoa(i)] = defaults
		}
	}
	ty := cty.Tuple(types)
	if len(children) == 0 {
		return ty, nil
	}
	return ty, &typeexpr.Defaults{Type: ty, Children: children}
}

func (t *typeDecoder) object(arg hclsyntax.Expression) (cty.Type, *typeexpr.Defaults) {
	cons, ok := arg.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return t.reject(arg.Range(), "The types of the attributes are written as an object, like object({ name = string }).")
	}
	attrs := map[string]cty.Type{}
	var optional []string
	defaults := &typeexpr.Defaults{DefaultValues: map[string]cty.Value{}, Children: map[string]*typeexpr.Defaults{}}
	for _, item := range cons.Items {
		name := cty.NormalizeString(hcl.ExprAsKeyword(item.KeyExpr))
		if name == "" {
			t.reject(item.KeyExpr.Range(), "The names of attributes are written without quotes.")
			continue
		}
		if _, repeated := attrs[name]; repeated {
			t.reject(item.KeyExpr.Range(), "The object has two attributes called %s.", name)
			continue
		}
		attr := t.attribute(item.ValueExpr)
		attrs[name] = attr.ty
		if attr.optional {
			optional = append(optional, name)
		}
		if attr.deflt != cty.NilVal {
			defaults.DefaultValues[name] = attr.deflt
		}
		if attr.defaults != nil {
			defaults.Children[name] = attr.defaults
		}
	}
	ty := cty.ObjectWithOptionalAttrs(attrs, optional)
	if len(defaults.DefaultValues) == 0 && len(defaults.Children) == 0 {
		return ty, nil
	}
	defaults.Type = ty
	return ty, defaults
}

// attributeType is the written type of an attribute of an object type.
type attributeType struct {
	ty       cty.Type
	defaults *typeexpr.Defaults // inside ty
	optional bool
	deflt    cty.Value // cty.NilVal when there is none
}

func (t *typeDecoder) attribute(expr hclsyntax.Expression) attributeType {
	call, ok := expr.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "optional" {
		ty, defaults := t.decode(expr)
		return attributeType{ty: ty, defaults: defaults}
	}
	if len(call.Args) < 1 || len(call.Args) > 2 || call.ExpandFinal {
		t.reject(argumentsRange(call), "The modifier optional takes a type and, if there is one, a default.")
		return attributeType{ty: cty.DynamicPseudoType}
	}
	failedBefore := t.failed
	t.failed = false
	attr := attributeType{optional: true}
	attr.ty, attr.defaults = t.decode(call.Args[0])
	if len(call.Args) == 2 {
		attr.deflt = t.attributeDefault(call.Args[1], attr.ty, attr.defaults)
	}
	t.failed = t.failed || failedBefore
	return attr
}

// attributeDefault decodes the default of an attribute. If the type is a
// placeholder, the default is not compared with it.
func (t *typeDecoder) attributeDefault(expr hclsyntax.Expression, ty cty.Type, defaults *typeexpr.Defaults) cty.Value {
	written, diags := expr.Value(nil)
	if diags.HasErrors() {
		t.diags = append(t.diags, t.keepInside(diags, t.whole)...)
		t.failed = true
	}
	if t.failed {
		return cty.NilVal
	}
	converted, err := Type{ty, defaults}.Convert(written)
	if err != nil {
		t.fail(expr.Range(), "Attribute default does not fit its type", "The default cannot be used: %s.", conversionReason(err))
		return cty.NilVal
	}
	return converted
}

func (t *typeDecoder) providerConfig(arg hclsyntax.Expression) (cty.Type, *typeexpr.Defaults) {
	name := hcl.ExprAsKeyword(arg)
	if name == "" {
		return t.reject(arg.Range(), "The local name of a provider is written without quotes, like providerconfig(aws).")
	}
	provider, ok, reported := t.requirement(name)
	switch {
	case ok:
		return ProviderRefType(provider), nil
	case reported:
		t.failed = true
		return cty.DynamicPseudoType, nil
	default:
		return t.reject(arg.Range(), "required_providers has no entry named %s.", name)
	}
}

// pathText writes a path into a value as an expression would.
func pathText(path cty.Path) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			b.WriteString("." + step.Name)
		case cty.IndexStep:
			b.WriteString(indexText(step.Key))
		}
	}
	return b.String()
}

func indexText(key cty.Value) string {
	switch {
	case !key.IsKnown() || key.IsNull():
		return "[*]"
	case key.Type() == cty.String:
		return "[" + strconv.Quote(key.AsString()) + "]"
	case key.Type() == cty.Number:
		return "[" + key.AsBigFloat().Text('f', -1) + "]"
	default: // an element of a set
		return "[*]"
	}
}
