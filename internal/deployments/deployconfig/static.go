// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// static evaluates expressions without external values (rule D3).
type static struct {
	*Evaluator
	locals  map[string]cty.Value
	outputs map[string]*stackconfig.OutputValue // of the stack; nil while it is not known
}

func newStatic(config *Config) *static {
	return &static{locals: map[string]cty.Value{}, Evaluator: NewEvaluator(config, lang.Options{
		BaseDir: config.Dir, Within: config.filesWithin, Allowance: lang.AllowanceFor(config.filesWithin), PureOnly: true,
	})}
}

// contextType is that of the object "context" in checks.
var contextType = cty.Object(map[string]cty.Type{
	"operation": cty.String,
	"success":   cty.Bool,
	"errors":    cty.Set(messageType),
	"warnings":  cty.Set(messageType),
	"plan": cty.Object(map[string]cty.Type{
		"mode":              cty.String,
		"applyable":         cty.Bool,
		"changes":           changesType,
		"component_changes": cty.Map(changesType),
		"replans":           cty.Number,
		"deployment":        DeploymentType,
	}),
})

var (
	messageType = cty.Object(map[string]cty.Type{"summary": cty.String, "detail": cty.String})
	changesType = cty.Object(map[string]cty.Type{
		"add": cty.Number, "change": cty.Number, "import": cty.Number, "remove": cty.Number, "total": cty.Number,
		"defer": cty.Number, "move": cty.Number, "forget": cty.Number,
	})

	// DeploymentType is that of deployment.NAME and context.plan.deployment in checks, which can be
	// compared.
	DeploymentType = cty.Object(map[string]cty.Type{"deployment_name": cty.String})
)

// DeploymentObject is the object that stands for a deployment in checks.
func DeploymentObject(name string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"deployment_name": cty.StringVal(name)})
}

// ContextType returns the type of the object "context" in the checks of rules.
func ContextType() cty.Type { return contextType }

// checkLocals evaluates all local values, each after those that it refers to, and reports their
// mistakes.
func (s *static) checkLocals() hcl.Diagnostics {
	var diags hcl.Diagnostics
	var chain []string // of locals that are being evaluated
	inCycle := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if _, done := s.locals[name]; done {
			return
		}
		if at := slices.Index(chain, name); at >= 0 {
			if cycle := chain[at:]; !slices.ContainsFunc(cycle, func(n string) bool { return inCycle[n] }) {
				diags = append(diags, s.cycle(cycle))
				for _, n := range cycle {
					inCycle[n] = true
				}
			}
			return
		}
		local := s.config.Locals[name]
		chain = append(chain, name)
		for _, used := range s.localsIn(local.Value) {
			visit(used)
		}
		chain = chain[:len(chain)-1]
		if inCycle[name] {
			s.locals[name] = cty.DynamicVal
		}
		value, moreDiags := s.value(local.Value, InLocals)
		diags = append(diags, moreDiags...)
		s.locals[name] = value
		if inCycle[name] || moreDiags.HasErrors() {
			s.locals[name] = cty.DynamicVal
		}
	}
	for _, name := range sortedByPlace(s.config.Locals, func(l *Local) hcl.Range { return l.Range }) {
		visit(name)
	}
	return diags
}

// cycle reports local values that depend on each other.
func (s *static) cycle(names []string) *hcl.Diagnostic {
	first := 0 // the diagnostic begins with the smallest name, wherever the cycle was entered
	for i, name := range names {
		if name < names[first] {
			first = i
		}
	}
	names = append(slices.Clone(names[first:]), names[:first]...)
	local := s.config.Locals[names[0]]
	if len(names) == 1 {
		return problem(local.Range, "Item depends on itself", "local.%s is computed from itself. Remove the reference.", names[0])
	}
	return problem(local.Range, "Items depend on each other in a circle", "None of these can be computed before the others: local.%s, and "+
		"local.%[2]s again. Break the cycle by removing one of the references.",
		strings.Join(names, ", which uses local."), names[0])
}

// localsIn are the declared local values that an expression refers to.
func (s *static) localsIn(expr hcl.Expression) []string {
	var names []string
	for _, traversal := range expr.Variables() {
		if traversal.RootName() != "local" {
			continue
		}
		if steps := stepNames(traversal[1:]); len(steps) > 0 && s.config.Locals[steps[0]] != nil {
			names = append(names, steps[0])
		}
	}
	return names
}

// value evaluates an expression with values that are unknown.
func (s *static) value(expr hcl.Expression, in Place) (cty.Value, hcl.Diagnostics) {
	// Loading has no context.
	return s.Value(context.Background(), expr, in, func(_ context.Context, ref Reference) (cty.Value, hcl.Diagnostics) {
		return s.unknown(ref, in), nil
	})
}

// unknown is the value of a reference without external values.
func (s *static) unknown(ref Reference, in Place) cty.Value {
	switch ref.Root {
	case "context":
		return cty.UnknownVal(contextType)
	case "local":
		if value, ok := s.locals[ref.Name]; ok {
			return value
		}
	case "identity_token":
		return cty.UnknownVal(cty.String).RefineNotNull().Mark(marks.Ephemeral)
	case "store":
		if !ref.Stable {
			return cty.DynamicVal.Mark(marks.Ephemeral)
		}
	case "deployment":
		if in.what == InChecks.what {
			return DeploymentObject(ref.Name)
		}
		if output := s.outputs[ref.Attr]; output != nil {
			return marks.Declared(cty.UnknownVal(output.Type.WithoutOptional()), output.Sensitive, output.Ephemeral)
		}
	}
	return cty.DynamicVal
}

// check evaluates the expressions of deployments, rules and published outputs, and reports their
// mistakes.
func (s *static) check() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range s.config.Order {
		deployment := s.config.Deployments[name]
		value, moreDiags := s.value(deployment.Inputs, InInputs)
		deployment.value, deployment.broken, deployment.mistakes = value, deployment.broken || moreDiags.HasErrors(), moreDiags
		diags = append(diags, moreDiags...)
		if !deployment.broken && !isAttributes(value) {
			deployment.broken = true
			diags = append(diags, problem(deployment.Inputs.Range(), "Unsuitable deployment input",
				"The inputs argument must be an object with the variables of the stack as attributes."))
		}
		diags = append(diags, s.checkStores(deployment)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.config.Rules)) {
		diags = append(diags, s.checkChecks(s.config.Rules[name].Checks)...)
	}
	for _, orchestrate := range s.config.Orchestrate {
		diags = append(diags, s.checkChecks(orchestrate.Checks)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.config.Published)) {
		published := s.config.Published[name]
		value, moreDiags := s.value(published.Value, InPublished)
		diags = append(diags, moreDiags...)
		published.broken = published.broken || moreDiags.HasErrors()
		if !published.broken && marks.Contains(value, marks.Ephemeral) {
			published.broken = true
			diags = append(diags, ephemeralPublished(published))
		}
	}
	return diags
}

func ephemeralPublished(published *PublishedOutput) *hcl.Diagnostic {
	return problem(published.Value.Range(), "Ephemeral published value",
		"Published values are kept, and this value exists only during one operation. Publish a value that is not ephemeral.")
}

// isAttributes reports whether a value can be that of an inputs argument.
func isAttributes(value cty.Value) bool {
	value, _ = value.Unmark()
	ty := value.Type()
	if ty == cty.DynamicPseudoType {
		return !value.IsKnown()
	}
	return !value.IsNull() && (ty.IsObjectType() || ty.IsMapType())
}

func (s *static) checkChecks(checks []*Check) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, check := range checks {
		condition, moreDiags := s.value(check.Condition, InChecks)
		diags = append(diags, moreDiags...)
		if !moreDiags.HasErrors() && !converts(condition, cty.Bool) {
			diags = append(diags, problem(check.Condition.Range(), "Unsuitable check condition",
				"The condition must be either true or false for each plan."))
		}
		reason, moreDiags := s.value(check.Reason, InChecks)
		diags = append(diags, moreDiags...)
		switch {
		case moreDiags.HasErrors():
		case !converts(reason, cty.String):
			diags = append(diags, problem(check.Reason.Range(), "Unsuitable check reason", "The reason must be a string."))
		case marks.Contains(reason, marks.Ephemeral) || marks.Contains(reason, marks.Sensitive):
			diags = append(diags, problem(check.Reason.Range(), "Unsuitable check reason", "The reason is shown and recorded, and this one "+
				"contains a value that must not be: a token, or a variable of a store."))
		}
	}
	return diags
}

// converts reports whether a value is of a type, or may turn out to be.
func converts(value cty.Value, ty cty.Type) bool {
	value, _ = value.UnmarkDeep()
	converted, err := bounds.Convert(value, ty)
	return err == nil && !converted.IsNull()
}

// Uses are the external values that expressions need.
type Uses struct {
	Tokens    []string                        // names, sorted
	Stores    map[StoreKey]*StoreUses         // by store
	Upstreams map[string]map[string]hcl.Range // outputs of upstream inputs, with the place of one reference
}

// StoreUses are the variables of a store that are read, with the place of one reference.
type StoreUses struct{ Keys, Stable map[string]hcl.Range }

// Uses returns the external values that an expression needs, also by way of local values.
func (c *Config) Uses(expr hcl.Expression) Uses {
	uses := Uses{Stores: map[StoreKey]*StoreUses{}, Upstreams: map[string]map[string]hcl.Range{}}
	c.follow(expr, InInputs, uses.add)
	slices.Sort(uses.Tokens)
	return uses
}

func (u *Uses) add(ref Reference) {
	switch ref.Root {
	case "identity_token":
		if !slices.Contains(u.Tokens, ref.Name) {
			u.Tokens = append(u.Tokens, ref.Name)
		}
	case "upstream_input":
		if u.Upstreams[ref.Name] == nil {
			u.Upstreams[ref.Name] = map[string]hcl.Range{}
		}
		keepFirst(u.Upstreams[ref.Name], ref)
	case "store":
		store := u.Stores[ref.Key]
		if store == nil {
			store = &StoreUses{Keys: map[string]hcl.Range{}, Stable: map[string]hcl.Range{}}
			u.Stores[ref.Key] = store
		}
		if ref.Stable {
			keepFirst(store.Stable, ref)
		} else {
			keepFirst(store.Keys, ref)
		}
	}
}

// keepFirst notes the place of a reference, of several the first.
func keepFirst(places map[string]hcl.Range, ref Reference) {
	if first, ok := places[ref.Attr]; !ok || identity.ComparePlaces(&ref.Range, &first) < 0 {
		places[ref.Attr] = ref.Range
	}
}

// checkStores reports variables of stores that a deployment reads as a value that is kept, and also
// as one that is not.
func (s *static) checkStores(deployment *Deployment) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for key, store := range s.config.Uses(deployment.Inputs).Stores {
		for name, unstable := range store.Keys {
			stable, both := store.Stable[name]
			if !both {
				continue
			}
			second, first := unstable, stable
			if identity.ComparePlaces(&unstable, &stable) < 0 {
				second, first = stable, unstable
			}
			diags = append(diags, problem(second, "Unusable store reference",
				"deployment.%s reads %s.%s and %[2]s.stable.%[3]s, the other one at %s. A value is kept or it is not: use one of the two.",
				deployment.Name, key, name, fmt.Sprintf("%s line %d", first.Filename, first.Start.Line)))
		}
	}
	return diags
}
