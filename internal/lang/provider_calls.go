// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/safehcl"
)

// providerPrefix stands before the names of functions of providers.
const providerPrefix = "provider::"

// ProviderCall is a call of a function of a provider, as it is written:
// provider::LOCALNAME::FUNCTION(...).
type ProviderCall struct {
	Name  string    // the whole name
	Range hcl.Range // of the name or, in JSON, of the expression it is in
}

// Parts returns the local name of the provider and the name of the function. ok is false for a name
// with another number of parts.
func (c ProviderCall) Parts() (localName, name string, ok bool) {
	localName, name, ok = strings.Cut(strings.TrimPrefix(c.Name, providerPrefix), "::")
	return localName, name, ok && localName != "" && name != "" && !strings.Contains(name, "::")
}

// findProviderFunction returns the function that is called, or says why there is none.
type findProviderFunction func(call ProviderCall) (function.Function, hcl.Diagnostics)

// providerCalls returns the calls of functions of providers in an expression, in the order of the
// text.
func providerCalls(e hcl.Expression) []ProviderCall {
	var calls []ProviderCall
	for _, call := range functionCalls(e) {
		if strings.HasPrefix(call.Name, providerPrefix) {
			calls = append(calls, call)
		}
	}
	return calls
}

// functionCalls returns all calls of functions in an expression.
func functionCalls(e hcl.Expression) []ProviderCall {
	node, ok := e.(hclsyntax.Node)
	if !ok {
		return callsInStrings(e)
	}
	var calls []ProviderCall
	visit := func(node hclsyntax.Node) hcl.Diagnostics {
		if call, ok := node.(*hclsyntax.FunctionCallExpr); ok {
			calls = append(calls, ProviderCall{call.Name, call.NameRange})
		}
		return nil
	}
	_ = hclsyntax.VisitAll(node, visit) //nolint:errcheck // visit finds nothing wrong
	return calls
}

// callsInStrings finds calls in an expression of the JSON syntax, where strings are templates.
// Without a context, HCL gives these as they are written.
func callsInStrings(e hcl.Expression) []ProviderCall {
	if e == nil {
		return nil
	}
	written, diags := e.Value(nil)
	if diags.HasErrors() {
		return nil // evaluating it says the same
	}
	written, _ = written.UnmarkDeep()
	var calls []ProviderCall
	add := func(text string) {
		if !strings.Contains(text, "${") && !strings.Contains(text, "%{") {
			return
		}
		template, diags := safehcl.ParseTemplate([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			return // likewise
		}
		for _, call := range functionCalls(template) {
			calls = append(calls, ProviderCall{call.Name, e.Range()})
		}
	}
	_ = cty.Walk(written, func(path cty.Path, value cty.Value) (bool, error) { //nolint:errcheck // it finds nothing wrong
		if step, ok := lastStep(path).(cty.GetAttrStep); ok {
			add(step.Name) // names of attributes are templates, too
		}
		if value.Type() == cty.String && value.IsKnown() && !value.IsNull() {
			add(value.AsString())
		}
		return true, nil
	})
	return calls
}

func lastStep(path cty.Path) cty.PathStep {
	if len(path) == 0 {
		return nil
	}
	return path[len(path)-1]
}

// ProviderFunctions returns the functions that expressions need besides the table of their scope to
// call functions of providers, themselves and in the templates that they render. Empty if they do
// not call any.
//
// The table is one that [Functions] made with the same options.
func ProviderFunctions(
	expressions []hcl.Expression, opts Options, table map[string]function.Function, find findProviderFunction,
) (map[string]function.Function, hcl.Diagnostics) {
	var calls []ProviderCall
	rendering := false
	for _, e := range expressions {
		for _, call := range functionCalls(e) {
			switch {
			case strings.HasPrefix(call.Name, providerPrefix):
				calls = append(calls, call)
			case slices.Contains(templateNames, strings.TrimPrefix(call.Name, corePrefix)):
				rendering = true
			}
		}
	}
	functions, diags := findAll(calls, find)
	if rendering {
		maps.Copy(functions, providerRenderers(opts, table, find))
	}
	return functions, diags
}

// providerRenderers returns the template functions for templates that can call the results of find.
func providerRenderers(opts Options, table map[string]function.Function, find findProviderFunction) map[string]function.Function {
	functions := renderers(opts, templateFunctions{inTemplates(table), find, opts.Allowance})
	addCoreNames(functions)
	return functions
}

// findAll finds each function once and reports every call that has none.
func findAll(calls []ProviderCall, find findProviderFunction) (map[string]function.Function, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	functions := make(map[string]function.Function, len(calls))
	for _, call := range calls {
		if _, found := functions[call.Name]; found {
			continue
		}
		f, moreDiags := find(call)
		diags = diags.Extend(moreDiags)
		if !moreDiags.HasErrors() {
			functions[call.Name] = f
		}
	}
	return functions, diags
}
