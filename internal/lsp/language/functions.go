// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Signature is the signature of a function.
type Signature struct {
	Name       string
	Parameters []Parameter
	Variadic   bool // the last parameter stands for any number
	Return     string
	Doc        string
	Deprecated string // the replacement, or ""
}

// Parameter is one of a function.
type Parameter struct{ Name, Type string }

// Label writes the signature in one line, with the places of the parameters in it.
func (f Signature) Label() (label string, parameters [][2]int) {
	var b strings.Builder
	b.WriteString(f.Name + "(")
	for i, parameter := range f.Parameters {
		if i > 0 {
			b.WriteString(", ")
		}
		start := b.Len()
		b.WriteString(parameter.Name)
		if f.Variadic && i == len(f.Parameters)-1 {
			b.WriteString("…")
		}
		if parameter.Type != "" {
			b.WriteString(": " + parameter.Type)
		}
		parameters = append(parameters, [2]int{start, b.Len()})
	}
	b.WriteString(")")
	if f.Return != "" {
		b.WriteString(" → " + f.Return)
	}
	return b.String(), parameters
}

// functionTable has a line for each built-in function: its call, a tab, its result. The lines are
// those of the tables in docs/functions.md.
//
//go:embed functions.txt
var functionTable string

// builtin are the functions of the language by name.
var builtin = sync.OnceValue(func() map[string]Signature {
	functions := map[string]Signature{}
	for line := range strings.Lines(functionTable) {
		call, doc, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name, arguments, ok := strings.Cut(strings.TrimSuffix(call, ")"), "(")
		if !ok {
			continue
		}
		f := Signature{Name: name, Doc: doc}
		for argument := range strings.SplitSeq(arguments, ",") {
			argument = strings.TrimSpace(argument)
			if argument == "" {
				continue
			}
			var rest bool
			argument, rest = strings.CutSuffix(argument, "…")
			f.Variadic = f.Variadic || rest
			f.Parameters = append(f.Parameters, Parameter{Name: argument})
		}
		functions[name] = f
	}
	return functions
})

// signature returns how a function is called.
func (s *Stack) signature(dir *directory, name string) (Signature, bool) {
	base := strings.TrimPrefix(name, "core::")
	if f, ok := builtin()[base]; ok {
		f.Name = name
		return s.typed(f, base), true
	}
	parts := strings.Split(name, "::")
	if len(parts) != 3 || parts[0] != "provider" {
		return Signature{}, false
	}
	f := s.providerFunctions(dir, parts[1])[parts[2]]
	if f == nil {
		return Signature{}, false
	}
	return providerSignature(name, f), true
}

// typed adds the types that the function itself declares.
func (s *Stack) typed(f Signature, name string) Signature {
	declared, ok := s.view.Functions[name]
	if !ok {
		return f
	}
	f.Parameters = slices.Clone(f.Parameters)
	params := declared.Params()
	types := make([]cty.Type, 0, len(params)+1)
	for i, param := range params {
		types = append(types, param.Type)
		if i < len(f.Parameters) {
			f.Parameters[i].Type = typeText(param.Type)
		}
	}
	if variadic := declared.VarParam(); variadic != nil {
		types = append(types, variadic.Type)
		if f.Variadic && len(f.Parameters) == len(params)+1 {
			f.Parameters[len(params)].Type = typeText(variadic.Type)
		}
	}
	if result, err := declared.ReturnType(types); err == nil {
		f.Return = typeText(result)
	}
	return f
}

func providerSignature(name string, f *engine.Function) Signature {
	signature := Signature{Name: name, Doc: f.Summary, Deprecated: f.Deprecated, Return: typeText(f.Return)}
	for _, parameter := range f.Parameters {
		signature.Parameters = append(signature.Parameters, Parameter{parameter.Name, typeText(parameter.Type)})
	}
	if f.Variadic != nil {
		signature.Variadic = true
		signature.Parameters = append(signature.Parameters, Parameter{f.Variadic.Name, typeText(f.Variadic.Type)})
	}
	return signature
}

// providerFunctions returns the functions of a provider by its local name.
func (s *Stack) providerFunctions(dir *directory, localName string) map[string]*engine.Function {
	provider, ok := dir.provider(localName)
	if !ok || s.view.ProviderFunctions == nil {
		return nil
	}
	return s.view.ProviderFunctions(provider)
}

// provider returns the provider that a stack knows by a local name.
func (d *directory) provider(localName string) (provider stackaddrs.Provider, ok bool) {
	decl := d.get(Requirement, localName)
	if decl == nil {
		return stackaddrs.BuiltinProvider, localName == "terraform"
	}
	return requiredSource(decl.argument)
}

// functionNames returns the names of all functions that a stack can call, sorted.
func (s *Stack) functionNames(dir *directory) []string {
	names := slices.Collect(maps.Keys(builtin()))
	for _, required := range dir.all(Requirement) {
		for name := range s.providerFunctions(dir, required.Name) {
			names = append(names, "provider::"+required.Name+"::"+name)
		}
	}
	slices.Sort(names)
	return names
}

// providerOfFunction returns the local name in the name of a function of a provider.
func providerOfFunction(call *syntax.Call) (local string, at hcl.Range, ok bool) {
	const prefix = "provider::"
	rest, ok := strings.CutPrefix(call.Name, prefix)
	if !ok {
		return "", at, false
	}
	local, _, ok = strings.Cut(rest, "::")
	if !ok || call.NameRange.End.Byte-call.NameRange.Start.Byte != len(call.Name) {
		return "", at, false // there is space in it
	}
	at = call.NameRange
	at.Start.Byte += len(prefix)
	at.Start.Column += len(prefix)
	at.End = at.Start
	at.End.Byte += len(local)
	at.End.Column += len(local)
	return local, at, true
}
