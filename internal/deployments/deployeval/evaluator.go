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
	"github.com/zclconf/go-cty/cty/function"

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
var ErrNotYet = errors.New("nothing is known yet of what the stack publishes")

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

	functions map[string]function.Function

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
		functions: lang.Functions(lang.Options{BaseDir: dir}),
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
	value, diags := e.value(ctx, deployment.Inputs, nil)
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

// value evaluates an expression. Further are the objects of this kind of expression, by the first
// name of references.
func (e *Evaluator) value(ctx context.Context, expr hcl.Expression, further resolver) (cty.Value, hcl.Diagnostics) {
	traversals := expr.Variables()
	var diags hcl.Diagnostics
	tree := tree{}
	for _, traversal := range traversals {
		diags = diags.Extend(e.resolve(ctx, traversal, tree, further))
	}
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	evalCtx := &hcl.EvalContext{Variables: tree.variables(), Functions: e.functions}
	value, moreDiags := lang.Evaluate(ctx, expr, evalCtx)
	for _, diag := range moreDiags {
		if diag.EvalContext == nil {
			diag.Expression, diag.EvalContext = expr, evalCtx
		}
	}
	return value, diags.Extend(moreDiags)
}

// resolver finds the value of a reference, and how many of its steps name that; ok is false for
// references of other kinds.
type resolver func(ctx context.Context, path []string, at hcl.Range) (value cty.Value, steps int, ok bool, diags hcl.Diagnostics)

// resolve puts the target of a traversal into a tree.
func (e *Evaluator) resolve(ctx context.Context, traversal hcl.Traversal, into tree, further resolver) hcl.Diagnostics {
	path, at := names(traversal), traversal.SourceRange()
	if further != nil {
		if value, steps, ok, diags := further(ctx, path, at); ok {
			into.set(path[:steps], value)
			return diags
		}
	}
	name := func(n int) string {
		if n < len(path) {
			return path[n]
		}
		return ""
	}
	var value cty.Value
	var steps int
	var diags hcl.Diagnostics
	switch path[0] {
	case "local":
		steps = 2
		value, diags = e.local(ctx, name(1), at)
	case "identity_token":
		steps = 3
		value, diags = e.token(ctx, name(1), at)
	case "store":
		key := deployconfig.StoreKey{Type: name(1), Name: name(2)}
		steps = 4
		if name(3) == "stable" {
			steps = 5
			value, diags = e.stableValue(ctx, key, name(4), at)
		} else {
			value, diags = e.storeValue(ctx, key, name(3), at)
		}
	case "upstream_input":
		steps = 3
		value, diags = e.upstream(ctx, name(1), name(2), at)
	}
	if diags.HasErrors() {
		return diags
	}
	if value == cty.NilVal || steps > len(path) {
		return diags.Append(e.problem(at, "Unknown reference", "Nothing of that name has a value here."))
	}
	into.set(path[:steps], value)
	return diags
}

func (e *Evaluator) local(ctx context.Context, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	if value, ok := e.locals[name]; ok {
		return value, nil
	}
	local := e.config.Locals[name]
	if local == nil {
		return cty.NilVal, hcl.Diagnostics{e.problem(at, "Unknown reference", "There is no local value %q.%s", name,
			nearest.DidYouMean(name, slices.Collect(maps.Keys(e.config.Locals))))}
	}
	value, diags := e.value(ctx, local.Value, nil)
	if !diags.HasErrors() {
		e.locals[name] = value
	}
	return value, diags
}

func (e *Evaluator) token(ctx context.Context, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	if value, ok := e.tokens[name]; ok {
		return value, nil
	}
	declared := e.config.Tokens[name]
	if declared == nil {
		return cty.NilVal, nil
	}
	token, err := e.sources.Token(ctx, declared)
	if err != nil {
		return e.fetchFailed(declared, at, err)
	}
	value := secret(cty.StringVal(token)).Mark(marks.Ephemeral)
	e.tokens[name] = value
	return value, nil
}

func (e *Evaluator) storeValue(ctx context.Context, key deployconfig.StoreKey, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	stored, diags := e.stored(ctx, key, name, at)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	return markStored(stored).Mark(marks.Ephemeral), diags
}

func (e *Evaluator) stableValue(ctx context.Context, key deployconfig.StoreKey, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	stored, diags := e.stored(ctx, key, name, at)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	value := markStored(stored)
	stable := StableKey{key.Type, key.Name, name}
	e.stable[stable], e.used[stable] = value, at
	return value, diags
}

func markStored(stored varset.Value) cty.Value {
	if stored.Sensitive {
		return secret(stored.Value)
	}
	return stored.Value
}

func secret(value cty.Value) cty.Value { return value.Mark(marks.Sensitive) }

func (e *Evaluator) stored(ctx context.Context, key deployconfig.StoreKey, name string, at hcl.Range) (varset.Value, hcl.Diagnostics) {
	set, ok := e.sets[key]
	if !ok {
		declared := e.config.Stores[key]
		if declared == nil {
			return varset.Value{}, hcl.Diagnostics{e.problem(at, "Unknown reference", "There is no store %q %q.", key.Type, key.Name)}
		}
		var err error
		if set, err = e.sources.Set(ctx, declared); err != nil {
			_, diags := e.fetchFailed(declared, at, err)
			return varset.Value{}, diags
		}
		e.sets[key] = set
	}
	stored, ok := set[name]
	if !ok {
		return varset.Value{}, hcl.Diagnostics{e.problem(at, "Value missing in store", "The set of the store %q has no value %q.%s", key.Name, name,
			nearest.DidYouMean(name, slices.Collect(maps.Keys(set))))}
	}
	return stored, nil
}

func (e *Evaluator) upstream(ctx context.Context, name, output string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	published, ok := e.upstreams[name]
	declared := e.config.Upstreams[name]
	if declared == nil {
		return cty.NilVal, nil
	}
	if !ok {
		var err error
		published, err = e.sources.Upstream(ctx, declared)
		if errors.Is(err, ErrNotYet) {
			return cty.DynamicVal, nil
		}
		if err != nil {
			return e.fetchFailed(declared, at, err)
		}
		e.upstreams[name] = published
	}
	value, ok := published[output]
	if !ok && e.Destroying {
		return cty.DynamicVal, nil
	}
	if !ok {
		return cty.NilVal, hcl.Diagnostics{e.problem(at, "Output not published", "The stack %s has published no %q.%s It publishes with its next apply what it "+
			"declares in publish_output blocks.", declared.Source, output, nearest.DidYouMean(output, slices.Collect(maps.Keys(published))))}
	}
	e.taken["upstream_input."+name+"."+output] = value
	return value, nil
}

// fetchFailed reports, once, that something could not be fetched.
func (e *Evaluator) fetchFailed(what any, at hcl.Range, err error) (cty.Value, hcl.Diagnostics) {
	if e.failed[what] {
		return cty.DynamicVal, hcl.Diagnostics{}
	}
	e.failed[what] = true
	diags := failure.Diagnostics(err)
	for _, diag := range diags {
		if diag.Subject == nil {
			diag.Subject = at.Ptr()
		}
	}
	return cty.NilVal, diags
}

func (e *Evaluator) problem(at hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	diag := failure.New(summary, detail, args...)
	diag.Subject = at.Ptr()
	return diag
}

// names returns the names that a traversal begins with.
func names(traversal hcl.Traversal) []string {
	var path []string
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			path = append(path, step.Name)
		case hcl.TraverseAttr:
			path = append(path, step.Name)
		case hcl.TraverseIndex:
			if step.Key.Type() != cty.String || !step.Key.IsKnown() || step.Key.IsNull() {
				return path
			}
			path = append(path, step.Key.AsString())
		default:
			return path
		}
	}
	return path
}

// tree holds values by their names in references.
type tree map[string]any // of cty.Value or tree

func (t tree) set(path []string, value cty.Value) {
	for _, name := range path[:len(path)-1] {
		if _, whole := t[name].(cty.Value); whole {
			return // of which this is a part
		}
		inner, ok := t[name].(tree)
		if !ok {
			inner = tree{}
			t[name] = inner
		}
		t = inner
	}
	t[path[len(path)-1]] = value
}

func (t tree) variables() map[string]cty.Value {
	variables := make(map[string]cty.Value, len(t))
	for name, child := range t {
		switch child := child.(type) {
		case tree:
			variables[name] = cty.ObjectVal(child.variables())
		case cty.Value:
			variables[name] = child
		}
	}
	return variables
}
