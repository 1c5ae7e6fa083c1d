// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/providerfunc"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// StackConfig is a stack as written, and the scope of its static checks.
type StackConfig struct {
	main *Main
	addr stackaddrs.Stack
	decl *stackconfig.Stack
	call *StackCallConfig // the call that embeds it; nil for the root, and for one that is only there to be removed

	symbols[*InputVariableConfig, *LocalValueConfig, *ProviderConfig, *ComponentConfig, *StackCallConfig]
	outputs map[string]*OutputValueConfig
	removed []*RemovedConfig        // in file and line order
	leaving map[string]*StackConfig // embedded stacks that only removed blocks name
}

func newStackConfig(main *Main, decl *stackconfig.Stack, call *StackCallConfig) *StackConfig {
	s := &StackConfig{main: main, addr: decl.Addr, decl: decl, call: call}
	s.applying = staticApplying
	s.variables = mapValues(decl.Variables, func(d *stackconfig.InputVariable) *InputVariableConfig { return newInputVariableConfig(s, d) })
	s.locals = mapValues(decl.Locals, func(d *stackconfig.LocalValue) *LocalValueConfig { return newLocalValueConfig(s, d) })
	s.outputs = mapValues(decl.Outputs, func(d *stackconfig.OutputValue) *OutputValueConfig { return newOutputValueConfig(s, d) })
	s.providers = mapValues(decl.Providers, func(d *stackconfig.ProviderConfig) *ProviderConfig { return newProviderConfig(s, d) })
	s.components = mapValues(decl.Components, func(d *stackconfig.Component) *ComponentConfig { return newComponentConfig(s, d) })
	s.calls = mapValues(decl.Calls, func(d *stackconfig.StackCall) *StackCallConfig { return newStackCallConfig(s, d) })
	for _, d := range decl.Removed {
		s.removed = append(s.removed, newRemovedConfig(s, d))
	}
	s.leaving = make(map[string]*StackConfig)
	for name, child := range decl.Children {
		if s.calls[name] == nil {
			s.leaving[name] = newStackConfig(main, child, nil)
		}
	}
	return s
}

func mapValues[K comparable, A, B any](in map[K]A, f func(A) B) map[K]B {
	out := make(map[K]B, len(in))
	for k, v := range in {
		out[k] = f(v)
	}
	return out
}

// ResolveExpressionReference implements [expr.EvaluationScope].
func (s *StackConfig) ResolveExpressionReference(_ context.Context, ref stackaddrs.Reference) (expr.Referenceable, hcl.Diagnostics) {
	return resolve(s.decl, ref, s.lookUp)
}

// Functions implements [expr.EvaluationScope].
func (s *StackConfig) Functions() map[string]function.Function { return s.main.funcs }

// FunctionOptions implements [expr.FunctionScope].
func (s *StackConfig) FunctionOptions() lang.Options { return s.main.functionOptions }

// Validate checks the properties of the stack as a whole.
func (s *StackConfig) Validate(context.Context) hcl.Diagnostics {
	return s.checkLocksWithoutConfig()
}

// descendant finds the configuration of a stack below this one; nil when there is none.
func (s *StackConfig) descendant(addr stackaddrs.Stack) *StackConfig {
	if addr == s.addr {
		return s
	}
	caller, name, ok := addr.Parent()
	if !ok {
		return nil
	}
	parent := s.descendant(caller)
	if parent == nil {
		return nil
	}
	if call := parent.calls[name]; call != nil {
		return call.child
	}
	return parent.leaving[name]
}

// checkLocksWithoutConfig checks providers that the stack requires but has no
// configuration of: those with one are checked at their block.
func (s *StackConfig) checkLocksWithoutConfig() hcl.Diagnostics {
	var diags hcl.Diagnostics
	if s.decl.RequiredProviders == nil {
		return nil
	}
	configured := make(map[string]bool)
	for ref := range s.providers {
		configured[ref.LocalName] = true
	}
	for name, req := range s.decl.RequiredProviders.Providers {
		if !configured[name] {
			diags = diags.Extend(s.checkLock(req.Provider, req.Range.Ptr()))
		}
	}
	return diags
}

// checkLock checks the selected version of a provider against the stack's constraint.
func (s *StackConfig) checkLock(provider stackaddrs.Provider, subject *hcl.Range) hcl.Diagnostics {
	if s.main.locks == nil || provider.IsBuiltin() {
		return nil
	}
	locked, ok := s.main.locks[provider]
	if !ok {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Provider not locked",
			Detail:   fmt.Sprintf("The lock file has no entry for %s. Select a version of it, and try again.", provider),
			Subject:  subject,
			Extra:    fault.ProviderNotLocked,
		}}
	}
	if req := s.decl.RequiredProviders.Of(provider); locked != "" && req != nil && !versionAllowed(locked, req.Version) {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Locked provider version not acceptable",
			Detail: fmt.Sprintf("%s is locked at %s but the configuration asks for %q. Change that, or select another version.",
				provider, locked, req.Version),
			Subject: subject,
			Extra:   fault.LockedVersionRejected,
		}}
	}
	return nil
}

// versionAllowed reports whether a version satisfies a constraint. Malformed ones are reported
// elsewhere.
func versionAllowed(v, constraint string) bool {
	if constraint == "" {
		return true
	}
	parsed, err := version.NewVersion(v)
	if err != nil {
		return true
	}
	constraints, err := version.NewConstraint(constraint)
	return err != nil || constraints.Check(parsed)
}

// checkDependsOn checks the depends_on argument of a component or stack call.
func (s *StackConfig) checkDependsOn(dependsOn []hcl.Traversal) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, traversal := range dependsOn {
		ref, rest, moreDiags := stackaddrs.ParseReference(traversal)
		if moreDiags.HasErrors() || !s.canDependOn(ref.Target) {
			diags = diags.Append(failure.At(traversal.SourceRange(), "depends_on target unusable",
				"Name a component or an embedded stack that is declared in this stack."))
			continue
		}
		if len(rest) > 0 {
			diags = diags.Append(failure.WarningAt(rest.SourceRange(), "depends_on target too specific",
				"Only the whole object %s is considered.", ref.Target))
		}
	}
	return diags
}

func (s *StackConfig) canDependOn(target stackaddrs.Referenceable) bool {
	switch target := target.(type) {
	case stackaddrs.Component:
		return s.components[target.Name] != nil || s.decl.Incomplete
	case stackaddrs.StackCall:
		return s.calls[target.Name] != nil || s.decl.Incomplete
	default:
		return false
	}
}

// sortedKeys returns the keys of a map with names, in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// places are the declarations of the stack and those below it, by address.
func (s *StackConfig) places() map[string]hcl.Range {
	places := make(map[string]hcl.Range)
	s.collectPlaces(places)
	return places
}

func (s *StackConfig) collectPlaces(places map[string]hcl.Range) {
	for v := range maps.Values(s.variables) {
		places[v.addr.String()] = v.decl.Range
	}
	for l := range maps.Values(s.locals) {
		places[l.addr.String()] = l.decl.Range
	}
	for o := range maps.Values(s.outputs) {
		places[o.addr.String()] = o.decl.Range
	}
	for p := range maps.Values(s.providers) {
		places[p.addr.String()] = p.decl.Range
	}
	for c := range maps.Values(s.components) {
		places[c.addr.String()] = c.decl.Range
	}
	for c := range maps.Values(s.calls) {
		places[c.addr.String()] = c.decl.Range
		if c.child != nil {
			c.child.collectPlaces(places)
		}
	}
}

// ProviderFunction implements [expr.FunctionScope]. It warns of functions that
// are deprecated: each expression is evaluated in the scope of a Config object once.
func (s *StackConfig) ProviderFunction(ctx context.Context, call lang.ProviderCall) (function.Function, hcl.Diagnostics) {
	provider, diags := providerfunc.Provider(s.decl, call)
	if diags.HasErrors() {
		return function.Function{}, diags
	}
	if provider == nil || s.checkLock(provider.Provider, nil).HasErrors() {
		return providerfunc.Unusable, nil // reported where it is declared
	}
	found, diags := s.main.functions.Find(ctx, provider.Provider, call)
	if diags.HasErrors() {
		return function.Function{}, diags
	}
	if found == nil {
		return providerfunc.Unusable, diags
	}
	_, name, _ := call.Parts()
	if deprecated := found.Deprecation(); deprecated != "" {
		diags = diags.Append(failure.WarningAt(call.Range, "Deprecated function",
			"Provider %s is going to drop the function %q. It says: %s", provider.Provider, name, deprecated))
	}
	return found.Function(ctx), diags
}
