// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package variables_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/variables"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func declare(change func(*stackconfig.InputVariable)) *stackconfig.InputVariable {
	decl := &stackconfig.InputVariable{Name: "v", Type: stackconfig.Type{Constraint: cty.List(cty.String)}}
	if change != nil {
		change(decl)
	}
	return decl
}

func texts(values ...string) cty.Value {
	list := make([]cty.Value, len(values))
	for i, value := range values {
		list[i] = cty.StringVal(value)
		if value == "?" {
			list[i] = cty.UnknownVal(cty.String)
		}
	}
	return cty.ListVal(list)
}

func summaries(diags hcl.Diagnostics) string {
	var all []string
	for _, diag := range diags {
		all = append(all, diag.Summary)
	}
	return strings.Join(all, ", ")
}

func TestGiven(t *testing.T) {
	withDefault := declare(func(v *stackconfig.InputVariable) { v.Default = texts("default") })
	for name, test := range map[string]struct {
		decl  *stackconfig.InputVariable
		given cty.Value
		want  cty.Value
		says  string
	}{
		"value":            {declare(nil), cty.TupleVal([]cty.Value{cty.NumberIntVal(1)}), texts("1"), ""},
		"default":          {withDefault, cty.NilVal, texts("default"), ""},
		"default for null": {withDefault, cty.NullVal(cty.List(cty.String)), texts("default"), ""},
		"none":             {declare(nil), cty.NilVal, cty.NilVal, "Value needed for variable"},
		"null":             {declare(nil), cty.NullVal(cty.DynamicPseudoType), cty.NilVal, "Value needed for variable"},
		"of another type":  {withDefault, cty.True, cty.NilVal, "Value does not fit the variable"},
		"not known yet":    {declare(nil), cty.DynamicVal, cty.UnknownVal(cty.List(cty.String)), ""},
	} {
		got, diags := variables.Given(test.decl, test.given)
		if says := summaries(diags); says != test.says || got != cty.NilVal && !got.RawEquals(test.want) ||
			got == cty.NilVal && test.want != cty.NilVal {
			t.Errorf("%s: %#v, %q, want %#v, %q", name, got, says, test.want, test.says)
		}
	}
}

func TestAtApply(t *testing.T) {
	ephemeral := declare(func(v *stackconfig.InputVariable) { v.Ephemeral = true })
	planned := func(value cty.Value) *stackplan.InputChange { return &stackplan.InputChange{After: value} }
	required := &stackplan.InputChange{After: cty.NullVal(cty.List(cty.String)), RequiredOnApply: true}
	for name, test := range map[string]struct {
		decl *stackconfig.InputVariable
		at   variables.AtApply
		want cty.Value
		says string
	}{
		"as planned": {declare(nil), variables.AtApply{Planned: planned(texts("a"))}, texts("a"), ""},
		"the same again": {
			declare(nil),
			variables.AtApply{Planned: planned(texts("a")), Given: texts("a"), IsGiven: true},
			texts("a"),
			"",
		},
		"another": {
			declare(nil),
			variables.AtApply{Planned: planned(texts("a")), Given: texts("b"), IsGiven: true},
			cty.NilVal,
			"Variable changed since planning",
		},
		"not known while planning": {
			declare(nil),
			variables.AtApply{Planned: planned(texts("a", "?")), Given: texts("a", "b"), IsGiven: true},
			texts("a", "b"),
			"",
		},
		"contradicts what was": {
			declare(nil),
			variables.AtApply{Planned: planned(texts("a", "?")), Given: texts("b", "b"), IsGiven: true},
			cty.NilVal,
			"Value contradicting the plan",
		},
		"still not known": {
			declare(nil),
			variables.AtApply{Planned: planned(texts("a", "?")), Given: texts("a", "?"), IsGiven: true},
			cty.NilVal,
			"Value still not known",
		},
		"left unknown":          {declare(nil), variables.AtApply{Planned: planned(texts("?")), LeaveUnknown: true}, texts("?"), ""},
		"unknown and not given": {declare(nil), variables.AtApply{Planned: planned(texts("?"))}, cty.NilVal, "Value needed for variable"},
		"ephemeral":             {ephemeral, variables.AtApply{Planned: required, Given: texts("b"), IsGiven: true}, texts("b"), ""},
		"ephemeral, not given":  {ephemeral, variables.AtApply{Planned: required}, cty.NilVal, "Value needed for variable"},
		"not in the plan":       {declare(nil), variables.AtApply{Given: texts("a"), IsGiven: true}, texts("a"), ""},
		"sensitive in the plan": {
			declare(nil),
			variables.AtApply{Planned: planned(texts("a", "?").Mark(marks.Sensitive)), Given: texts("a", "b"), IsGiven: true},
			texts("a", "b").Mark(marks.Sensitive), "",
		},
	} {
		got, diags := test.at.Value(test.decl)
		if says := summaries(diags); says != test.says || got != cty.NilVal && !got.RawEquals(test.want) ||
			got == cty.NilVal && test.want != cty.NilVal {
			t.Errorf("%s: %#v, %q, want %#v, %q", name, got, says, test.want, test.says)
		}
	}
}

// A secret may be the key of a map, which a path has in it.
func TestContradictionOfSecret(t *testing.T) {
	decl := declare(func(v *stackconfig.InputVariable) {
		v.Type.Constraint, v.Sensitive = cty.Map(cty.String), true
	})
	planned := cty.MapVal(map[string]cty.Value{"hunter2": cty.StringVal("a"), "other": cty.UnknownVal(cty.String)})
	given := cty.MapVal(map[string]cty.Value{"hunter2": cty.StringVal("b"), "other": cty.StringVal("c")})
	_, diags := variables.AtApply{Planned: &stackplan.InputChange{After: planned}, Given: given, IsGiven: true}.Value(decl)
	if got := summaries(diags); got != "Value contradicting the plan" || strings.Contains(diags[0].Detail, "hunter2") {
		t.Errorf("got %s: %s", got, diags[0].Detail)
	}
}

// noFunctions is the stack that declares the variable.
type noFunctions struct{}

func (noFunctions) Functions() map[string]function.Function { return nil }
func (noFunctions) FunctionOptions() lang.Options           { return lang.Options{} }
func (noFunctions) ProviderFunction(context.Context, lang.ProviderCall) (function.Function, hcl.Diagnostics) {
	return function.Function{}, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "No functions"}}
}

func rule(t *testing.T, condition, message string) func(*stackconfig.InputVariable) {
	t.Helper()
	parse := func(text string) hcl.Expression {
		e, diags := hclsyntax.ParseExpression([]byte(text), "main.tfcomponent.hcl", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return e
	}
	return func(v *stackconfig.InputVariable) {
		v.Validations = append(v.Validations, &stackconfig.CheckRule{Condition: parse(condition), ErrorMessage: parse(message)})
	}
}

func TestCheckRules(t *testing.T) {
	for name, test := range map[string]struct {
		condition, message string
		value              cty.Value
		want               string
	}{
		"holds":              {`var.v == "a"`, `"No."`, cty.StringVal("a"), ""},
		"does not hold":      {`var.v == "b"`, `"No."`, cty.StringVal("a"), "Variable value rejected"},
		"not known":          {`var.v == "b"`, `"No."`, cty.UnknownVal(cty.String), ""},
		"null condition":     {`null`, `"No."`, cty.StringVal("a"), "Validation condition gave no yes/no answer"},
		"no condition":       {`"a"`, `"No."`, cty.StringVal("a"), "Validation condition gave no yes/no answer"},
		"bad message, holds": {`true`, `[]`, cty.StringVal("a"), "Unusable validation message"},
		"sensitive message": {
			`false`,
			`var.v`,
			cty.StringVal("a").Mark(marks.Sensitive),
			"Validation message would reveal a sensitive value, Variable value rejected",
		},
		"refers to another":       {`local.l`, `"No."`, cty.StringVal("a"), "Reference not allowed here"},
		"message of what is open": {`false`, `var.v`, cty.UnknownVal(cty.String), "Unusable validation message"},
	} {
		diags := variables.CheckRules(t.Context(), declare(rule(t, test.condition, test.message)), test.value, expr.PlanPhase, noFunctions{})
		if got := summaries(diags); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}

	twice := declare(func(v *stackconfig.InputVariable) {
		rule(t, "false", `"First."`)(v)
		rule(t, "false", `"Second."`)(v)
	})
	if diags := variables.CheckRules(t.Context(), twice, cty.True, expr.PlanPhase, noFunctions{}); len(diags) != 2 {
		t.Errorf("each rule is checked by itself: got %v", diags)
	}
}

func TestCheckRuleReferences(t *testing.T) {
	decl := declare(rule(t, "local.a", "local.b"))
	if got := summaries(variables.CheckRuleReferences(t.Context(),
		decl, noFunctions{})); got != "Reference not allowed here, Reference not allowed here" {
		t.Errorf("got %q", got)
	}
}
