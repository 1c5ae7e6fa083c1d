// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/lang"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// ProviderFunction implements [expr.FunctionScope]. It warns of functions that
// are deprecated: each expression is evaluated in the scope of a Config object once.
func (s *StackConfig) ProviderFunction(ctx context.Context, call lang.ProviderCall) (function.Function, hcl.Diagnostics) {
	provider, diags := calledProvider(s.decl, call)
	if diags.HasErrors() {
		return function.Function{}, diags
	}
	if provider == nil || s.checkLock(provider.Provider, nil).HasErrors() {
		return unusableFunction, nil // reported where it is declared
	}
	found, diags := s.main.providerFunction(ctx, provider.Provider, call)
	if diags.HasErrors() {
		return function.Function{}, diags
	}
	if found == nil {
		return unusableFunction, diags
	}
	if deprecated := found.signature.Deprecated; deprecated != "" {
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagWarning,
			Summary:  "Deprecated function",
			Detail:   fmt.Sprintf("Provider %s is going to drop the function %q. It says: %s", provider.Provider, found.name, deprecated),
			Subject:  call.Range.Ptr(),
		})
	}
	return found.function(ctx), diags
}

// ProviderFunction implements [expr.FunctionScope].
func (s *Stack) ProviderFunction(ctx context.Context, call lang.ProviderCall) (function.Function, hcl.Diagnostics) {
	provider, diags := calledProvider(s.decl(), call)
	if diags.HasErrors() {
		return function.Function{}, diags
	}
	if provider == nil {
		return unusableFunction, nil
	}
	found, diags := s.main.providerFunction(ctx, provider.Provider, call)
	if diags.HasErrors() {
		return function.Function{}, diags
	}
	return found.function(ctx), diags
}

// calledProvider finds the provider by its local name. It is nil if its
// declaration is among what could not be decoded.
func calledProvider(decl *stackconfig.Stack, call lang.ProviderCall) (*stackconfig.ProviderRequirement, hcl.Diagnostics) {
	localName, name, ok := call.Parts()
	if !ok {
		return nil, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Invalid function name",
			Detail:   fmt.Sprintf("The name of a function of a provider has three parts, like provider::aws::arn_parse; this one is %s.", call.Name),
			Subject:  call.Range.Ptr(),
		}}
	}
	requirements := decl.RequiredProviders
	if provider := requirements.Named(localName); provider != nil {
		return provider, nil
	}
	if decl.Incomplete || requirements != nil && requirements.Rejected[localName] {
		return nil, nil
	}
	detail := fmt.Sprintf("The required_providers block of this stack has no provider %q. Declare it there to call its functions.", localName)
	if other := declaredByType(requirements, localName); other != "" {
		detail = fmt.Sprintf("This stack calls the provider %q by the local name %[2]q. Write provider::%[2]s::%[3]s.", localName, other, name)
	}
	return nil, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Provider not declared",
		Detail:   detail,
		Subject:  call.Range.Ptr(),
	}}
}

// declaredByType returns the local name of a provider of this type, "" if there is none.
func declaredByType(requirements *stackconfig.ProviderRequirements, providerType string) string {
	if requirements == nil {
		return ""
	}
	for _, localName := range sortedKeys(requirements.Providers) {
		if requirements.Providers[localName].Provider.Type == providerType {
			return localName
		}
	}
	return ""
}

// unusableFunction stands for a function that could not be found out about, for
// a reason which somebody else reports.
var unusableFunction = function.New(&function.Spec{
	VarParam: &function.Parameter{
		Name: "arguments", Type: cty.DynamicPseudoType,
		AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	},
	Type: function.StaticReturnType(cty.DynamicPseudoType),
	Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return expr.Placeholder(cty.DynamicPseudoType), nil },
})

// providerFunction is a function of a provider.
type providerFunction struct {
	main      *Main
	caller    engine.FunctionCaller
	provider  stackaddrs.Provider
	name      string
	signature *engine.Function
}

// providerFunction finds a function of a provider. It is nil without an error if there are no providers when a
// configuration is validated.
func (m *Main) providerFunction(ctx context.Context, provider stackaddrs.Provider, call lang.ProviderCall) (*providerFunction, hcl.Diagnostics) {
	problem := func(summary, detail string, args ...any) hcl.Diagnostics {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: call.Range.Ptr()}}
	}
	_, name, _ := call.Parts()
	var functions map[string]*engine.Function
	if m.functions != nil {
		var err error
		functions, err = m.functions.Functions(maintask.StopContext(ctx), provider)
		if errors.Is(err, engine.ErrNoProviders) && m.phase == expr.ValidatePhase {
			return nil, nil
		}
		if err != nil {
			return nil, problem("Provider functions unavailable",
				"It cannot be found out which functions provider %s has: %s.", provider, strings.TrimSuffix(err.Error(), "."))
		}
	}
	signature, ok := functions[name]
	switch {
	case ok:
		return &providerFunction{m, m.functions, provider, name, signature}, nil
	case len(functions) == 0:
		return nil, problem("Unknown provider function", "Provider %s has no functions that can be called in a stack.", provider)
	default:
		return nil, problem("Unknown provider function",
			"Provider %s has no function %q. It has: %s.", provider, name, strings.Join(sortedKeys(functions), ", "))
	}
}

// function makes the function that HCL calls during one evaluation. All the
// special cases of arguments are dealt with here, because cty would lose marks.
func (f *providerFunction) function(ctx context.Context) function.Function {
	spec := &function.Spec{
		Description: f.signature.Summary,
		Type:        function.StaticReturnType(f.signature.Return),
		Impl: func(args []cty.Value, returnType cty.Type) (cty.Value, error) {
			bare := make([]cty.Value, len(args))
			argMarks := make([]cty.ValueMarks, len(args))
			marked, ephemeral := false, false
			for i, arg := range args {
				bare[i], argMarks[i] = arg.UnmarkDeep()
				_, isEphemeral := argMarks[i][marks.Ephemeral]
				marked, ephemeral = marked || len(argMarks[i]) > 0, ephemeral || isEphemeral
			}
			result, err := f.call(ctx, bare, returnType)
			if err == nil && !ephemeral { // nothing that derives from ephemeral values is kept
				err = f.main.called.record(f, bare, result)
			}
			if err != nil {
				return cty.NilVal, describeFailure(err, len(args), marked)
			}
			return result.WithMarks(argMarks...), nil
		},
	}
	for _, parameter := range f.signature.Parameters {
		spec.Params = append(spec.Params, functionParameter(parameter))
	}
	if f.signature.Variadic != nil {
		variadic := functionParameter(*f.signature.Variadic)
		spec.VarParam = &variadic
	}
	return function.New(spec)
}

func functionParameter(p engine.FunctionParameter) function.Parameter {
	return function.Parameter{
		Name: p.Name, Type: p.Type,
		AllowNull: p.AllowNull, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	}
}

// call calls the function with arguments without marks, unless one of them is
// unknown that must not be.
func (f *providerFunction) call(ctx context.Context, args []cty.Value, returnType cty.Type) (cty.Value, error) {
	for i, arg := range args {
		if stackconfig.HasProviderRef(arg.Type()) {
			return cty.NilVal, function.NewArgErrorf(i, "provider configurations cannot be given to functions")
		}
		if !f.signature.Parameter(i).AllowUnknown && !arg.IsWhollyKnown() {
			return cty.UnknownVal(returnType), nil
		}
	}
	result, err := f.caller.CallFunction(maintask.StopContext(ctx), f.provider, f.name, args)
	if err != nil {
		return cty.NilVal, err
	}
	if len(result.Type().TestConformance(returnType)) > 0 {
		return cty.NilVal, fmt.Errorf("provider %s returned a %s and not a %s, which is a mistake in the provider",
			f.provider, result.Type().FriendlyName(), returnType.FriendlyName())
	}
	return result, nil
}

// describeFailure makes the error that HCL shows of one of a call. If an
// argument carries marks, nothing is shown that may quote it.
func describeFailure(err error, arguments int, marked bool) error {
	var failure *engine.FunctionError
	if !errors.As(err, &failure) {
		return err
	}
	text := failure.Error()
	if marked {
		text = "the details are hidden, because an argument is sensitive or ephemeral"
		if failure.Problem != "" {
			text = failure.Problem + " (" + text + ")"
		}
	}
	text = strings.TrimSuffix(text, ".")
	if failure.Argument >= 0 && failure.Argument < arguments {
		return function.NewArgErrorf(failure.Argument, "%s", text)
	}
	return errors.New(text)
}
