// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployeval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/deployments/varset"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Sources are where values come from that the files only name. Errors are shown at the reference.
type Sources interface {
	Token(ctx context.Context, token *deployconfig.IdentityToken) (string, error)
	Set(ctx context.Context, store *deployconfig.Store) (map[string]varset.Value, error)
	Upstream(ctx context.Context, upstream *deployconfig.UpstreamInput) (map[string]cty.Value, error)
}

// ErrNotYet is an error of [Sources.Upstream] about a stack whose published outputs nobody can list
// yet: all of them are unknown.
var ErrNotYet = errors.New("nothing is known yet of the outputs that the stack publishes")

// StableKey names a stable value of a store.
type StableKey struct{ Type, Store, Key string }

// String returns the reference to the value.
func (k StableKey) String() string {
	return fmt.Sprintf("store.%s.%s.stable.%s", k.Type, k.Store, k.Key)
}

// Evaluator evaluates expressions of deployment files for one deployment and one operation. It is
// used by one goroutine at a time.
type Evaluator struct {
	// Destroying is set where everything is destroyed: outputs that stacks do not publish, or not any
	// more, are unknown then.
	Destroying bool

	config  *deployconfig.Config
	sources Sources

	evaluator *deployconfig.Evaluator

	tokens    map[string]cty.Value
	sets      map[deployconfig.StoreKey]map[string]varset.Value
	upstreams map[string]map[string]cty.Value
	taken     map[string]cty.Value // published values that were used, by their references
	locals    map[string]cty.Value
	stable    map[StableKey]cty.Value
	used      map[StableKey]hcl.Range
	failed    map[any]bool // sources that could not be fetched, and were reported
}

// New returns an evaluator of which nothing is fetched yet. Functions that read files start from
// the directory of the stack.
func New(config *deployconfig.Config, dir string, sources Sources) *Evaluator {
	return &Evaluator{
		config: config, sources: sources,
		evaluator: deployconfig.NewEvaluator(config, lang.Options{BaseDir: dir}),
		tokens:    map[string]cty.Value{},
		sets:      map[deployconfig.StoreKey]map[string]varset.Value{},
		upstreams: map[string]map[string]cty.Value{},
		taken:     map[string]cty.Value{},
		locals:    map[string]cty.Value{},
		stable:    map[StableKey]cty.Value{},
		used:      map[StableKey]hcl.Range{},
		failed:    map[any]bool{},
	}
}

// Inputs evaluates the inputs of a deployment.
//
// Marks: sensitive and ephemeral ones as rule V3 says. Unknown: outputs that an upstream does not
// know yet. With errors there are those that could be evaluated.
func (e *Evaluator) Inputs(ctx context.Context, deployment *deployconfig.Deployment) (map[string]cty.Value, hcl.Diagnostics) {
	value, diags := e.value(ctx, deployment.Inputs, deployconfig.InInputs, nil)
	if diags.HasErrors() {
		return nil, diags
	}
	unmarked, sensitive := value.Unmark()
	if ty := unmarked.Type(); !ty.IsObjectType() && !ty.IsMapType() || !unmarked.IsKnown() || unmarked.IsNull() {
		return nil, diags.Append(e.problem(deployment.Inputs.Range(), "Invalid inputs of deployment",
			"The inputs must be an object with a value for each variable, or a map."))
	}
	inputs := unmarked.AsValueMap()
	for name, input := range inputs {
		inputs[name] = input.WithMarks(sensitive)
	}
	return inputs, diags
}

// Stable returns the stable values of stores that were used, which the state of the deployment is
// to keep, and where.
func (e *Evaluator) Stable() (map[StableKey]cty.Value, map[StableKey]hcl.Range) {
	return e.stable, e.used
}

// Taken returns the published values of other stacks that were used, by their references. Unknown
// and marks: as of [Sources].
func (e *Evaluator) Taken() map[string]cty.Value { return e.taken }

// Ephemeral reports whether inputs of a deployment are made of values that are fetched again for
// each operation.
func Ephemeral(inputs map[string]cty.Value) bool {
	for _, value := range inputs {
		if marks.Contains(value, marks.Ephemeral) {
			return true
		}
	}
	return false
}

// value evaluates an expression. Further has the values of references that are none to sources; nil
// where there are no such references.
func (e *Evaluator) value(ctx context.Context, expr hcl.Expression, in deployconfig.Place,
	further deployconfig.Values,
) (cty.Value, hcl.Diagnostics) {
	return e.evaluator.Value(ctx, expr, in, func(ctx context.Context, ref deployconfig.Reference) (cty.Value, hcl.Diagnostics) {
		switch {
		case ref.Root == "local":
			return e.local(ctx, ref.Name)
		case ref.Root == "identity_token":
			return e.token(ctx, ref)
		case ref.Root == "store" && ref.Stable:
			return e.stableValue(ctx, ref)
		case ref.Root == "store":
			return e.storeValue(ctx, ref)
		case ref.Root == "upstream_input":
			return e.upstream(ctx, ref)
		case further == nil:
			return cty.DynamicVal, hcl.Diagnostics{e.problem(ref.Range, "Unknown reference", "Nothing of that name has a value here.")}
		}
		return further(ctx, ref)
	})
}

func (e *Evaluator) local(ctx context.Context, name string) (cty.Value, hcl.Diagnostics) {
	if value, ok := e.locals[name]; ok {
		return value, nil
	}
	value, diags := e.value(ctx, e.config.Locals[name].Value, deployconfig.InLocals, nil)
	if !diags.HasErrors() {
		e.locals[name] = value
	}
	return value, diags
}

func (e *Evaluator) token(ctx context.Context, ref deployconfig.Reference) (cty.Value, hcl.Diagnostics) {
	if value, ok := e.tokens[ref.Name]; ok {
		return value, nil
	}
	declared := e.config.Tokens[ref.Name]
	token, err := e.sources.Token(ctx, declared)
	if err != nil {
		return e.fetchFailed(declared, ref, err)
	}
	value := secret(cty.StringVal(token)).Mark(marks.Ephemeral)
	e.tokens[ref.Name] = value
	return value, nil
}

func (e *Evaluator) storeValue(ctx context.Context, ref deployconfig.Reference) (cty.Value, hcl.Diagnostics) {
	stored, diags := e.stored(ctx, ref)
	return stored.Mark(marks.Ephemeral), diags
}

func (e *Evaluator) stableValue(ctx context.Context, ref deployconfig.Reference) (cty.Value, hcl.Diagnostics) {
	value, diags := e.stored(ctx, ref)
	if !diags.HasErrors() {
		stable := StableKey{ref.Key.Type, ref.Key.Name, ref.Attr}
		e.stable[stable], e.used[stable] = value, ref.Range
	}
	return value, diags
}

func secret(value cty.Value) cty.Value { return value.Mark(marks.Sensitive) }

// stored returns a value of a store, marked as sensitive where its set says so.
func (e *Evaluator) stored(ctx context.Context, ref deployconfig.Reference) (cty.Value, hcl.Diagnostics) {
	set, ok := e.sets[ref.Key]
	if !ok {
		declared := e.config.Stores[ref.Key]
		var err error
		if set, err = e.sources.Set(ctx, declared); err != nil {
			return e.fetchFailed(declared, ref, err)
		}
		e.sets[ref.Key] = set
	}
	stored, ok := set[ref.Attr]
	switch {
	case !ok:
		return cty.DynamicVal, hcl.Diagnostics{e.problem(ref.Range, "Value missing in store", "The set of the store %q has no value %q.%s",
			ref.Name, ref.Attr,
			nearest.DidYouMean(ref.Attr, slices.Collect(maps.Keys(set))))}
	case stored.Sensitive:
		return secret(stored.Value), nil
	}
	return stored.Value, nil
}

func (e *Evaluator) upstream(ctx context.Context, ref deployconfig.Reference) (cty.Value, hcl.Diagnostics) {
	published, ok := e.upstreams[ref.Name]
	declared := e.config.Upstreams[ref.Name]
	if !ok {
		var err error
		published, err = e.sources.Upstream(ctx, declared)
		if errors.Is(err, ErrNotYet) {
			return cty.DynamicVal, nil
		}
		if err != nil {
			return e.fetchFailed(declared, ref, err)
		}
		e.upstreams[ref.Name] = published
	}
	value, ok := published[ref.Attr]
	switch {
	case ok:
		e.taken["upstream_input."+ref.Name+"."+ref.Attr] = value
		return value, nil
	case e.Destroying:
		return cty.DynamicVal, nil
	}
	return cty.DynamicVal, hcl.Diagnostics{e.problem(ref.Range, "Output not published", "The stack %s has published no %q.%s It publishes "+
		"with its next apply what it declares in publish_output blocks.", declared.Source, ref.Attr, nearest.DidYouMean(ref.Attr,
		slices.Collect(maps.Keys(published))))}
}

// fetchFailed reports, once, that something could not be fetched.
func (e *Evaluator) fetchFailed(source any, ref deployconfig.Reference, err error) (cty.Value, hcl.Diagnostics) {
	if e.failed[source] {
		return cty.DynamicVal, hcl.Diagnostics{}
	}
	e.failed[source] = true
	diags := failure.Diagnostics(err)
	for _, diag := range diags {
		if diag.Subject == nil {
			diag.Subject = ref.Range.Ptr()
		}
	}
	return cty.DynamicVal, diags
}

func (e *Evaluator) problem(at hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	diag := failure.New(summary, detail, args...)
	diag.Subject = at.Ptr()
	return diag
}
