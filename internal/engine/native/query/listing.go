// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package query

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/redact"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// defaultLimit is how many objects are asked for without the argument limit.
const defaultLimit = 100

// listing is an instance of a list block.
type listing struct {
	eval   *eval.Evaluation
	types  *resource.Types
	list   *eval.List
	key    stackaddrs.InstanceKey
	inputs map[string]cty.Value // of the component; nil while checking

	ty       *resource.Type // of the configuration
	objects  *resource.Type // of the objects
	provider provider.Provider

	config  cty.Value // with marks
	include cty.Value // bool
	limit   cty.Value // number

	found []*engine.FoundObject
	whole []cty.Value // the objects of found, without marks; [cty.NilVal] where the provider leaves one out
}

// describe finds the types of the configuration and of the objects.
func (l *listing) describe(of stackaddrs.Provider, p *schema.Provider) bool {
	config := l.list.Config
	if l.ty = l.types.OfList(of, p, config.Type); l.ty == nil {
		hint := l.eval.Diagnostics.DidYouMean(config.Type, maps.Keys(p.List))
		switch {
		case len(p.List) == 0:
			hint = " It cannot list anything; a newer version of it may."
		case hint == "" && p.Managed[config.Type] != nil:
			hint = " Objects of this type exist, but cannot be listed."
		}
		return l.problem("Unknown list resource type", fmt.Sprintf("The provider %s has no list resource %q.%s", of, config.Type, hint))
	}
	l.objects = l.types.Of(of, p, stackaddrs.Resource{Type: config.Type})
	if l.objects == nil || l.objects.Identity == nil {
		return l.problem("Unusable list resource type", fmt.Sprintf("The provider %s lists objects of the type %q, of which it has no resource "+
			"with an identity. That is a mistake in the provider.", of, config.Type))
	}
	return true
}

// problem reports an error about the block.
func (l *listing) problem(summary, detail string) bool {
	return l.eval.Diagnostics.Problem(l.list.Config.Range, summary, detail)
}

// evaluate evaluates the arguments of the block.
func (l *listing) evaluate(ctx context.Context) bool {
	at, ok := l.list.Place(ctx, l.key)
	if !ok {
		return false
	}
	config := l.list.Config
	var whole [3]bool
	l.config, whole[0] = l.decode(ctx, config.Config, at)
	l.limit, whole[1] = l.argument(ctx, config.Limit, at, cty.NumberIntVal(defaultLimit))
	l.include, whole[2] = l.argument(ctx, config.IncludeResource, at, cty.False)
	if whole[1] && l.limit.IsKnown() {
		if limit := l.limit.AsBigFloat(); !limit.IsInt() || limit.Sign() <= 0 {
			return l.eval.Diagnostics.Problem(config.Limit.Range(), "Invalid list argument", "The limit must be a whole number, one or more.")
		}
	}
	return whole == [3]bool{true, true, true}
}

// decode evaluates the body of the block config.
func (l *listing) decode(ctx context.Context, body hcl.Body, at eval.Place) (cty.Value, bool) {
	traversals := l.ty.Decoder.Variables(body)
	references, diags := refs.InTraversals(traversals)
	if !l.eval.Diagnostics.Add(diags...) {
		return cty.NilVal, false
	}
	scope, ok := l.list.Module.Scope(ctx, references, at)
	if !ok {
		return cty.NilVal, false
	}
	value, diags := l.ty.Decoder.Decode(ctx, body, scope)
	if !l.eval.Diagnostics.Add(lang.WithholdSecrets(diags, traversals, scope)...) {
		return cty.NilVal, false
	}
	return l.list.Module.Used(value, func(path cty.Path) hcl.Range { return *l.ty.Decoder.Range(body, path) }), true
}

// argument evaluates an argument of the block, of the type of its default.
func (l *listing) argument(ctx context.Context, expr *module.Expr, at eval.Place, byDefault cty.Value) (cty.Value, bool) {
	if expr == nil {
		return byDefault, true
	}
	result, ok := l.list.Module.Eval(ctx, expr, at)
	if !ok {
		return cty.NilVal, false
	}
	bare, _ := result.Value.Unmark()
	value, err := convert.Convert(bare, byDefault.Type())
	switch {
	case err != nil:
		return cty.NilVal, l.eval.Diagnostics.Add(result.Error("Invalid list argument",
			"The value cannot be used: "+marks.DescribeError(result.Value, err)+"."))
	case value.IsNull():
		return byDefault, true
	}
	return value, true
}

// settled reports whether all arguments are known. Unknown ones are errors, which name the inputs
// that they come from.
func (l *listing) settled() bool {
	if l.config.IsWhollyKnown() && l.limit.IsKnown() && l.include.IsKnown() {
		return true
	}
	var names []string
	for ref := range l.list.Module.Config.Follow(l.list.Config.References()) {
		if ref.Subject.Kind != refs.Variable {
			continue
		}
		if given, ok := l.inputs[ref.Subject.Name]; ok && !given.IsWhollyKnown() {
			names = append(names, fmt.Sprintf("%q", ref.Subject.Name))
		}
	}
	slices.Sort(names)
	detail := fmt.Sprintf("%s depends on values that are known after apply only", l.address())
	if len(names) > 0 {
		detail += ": on the inputs " + strings.Join(names, ", ") + " of the component. Apply the components that they come from first, then query"
	}
	return l.problem("Unknown list arguments", detail+".")
}

func (l *listing) address() string { return l.list.Address(l.key) }

// ask asks the provider for the objects.
func (q *querier) ask(ctx context.Context, l *listing) bool {
	select {
	case q.Calls <- struct{}{}:
		defer func() { <-q.Calls }()
	case <-ctx.Done():
		return false
	}
	config, _ := l.config.UnmarkDeep()
	if !l.said(l.provider.ValidateList(ctx, provider.ValidateListRequest{
		Type: l.ty.Name, Config: config, IncludeObject: l.include, Limit: l.limit,
	})) {
		return false
	}
	limit, _ := l.limit.AsBigFloat().Int64()
	response := l.provider.List(ctx, provider.ListRequest{
		Type: l.ty.Name, Config: config, Limit: limit, IncludeObject: l.include.True() || q.Generate,
	})
	for i := range response.Objects {
		if !l.add(&response.Objects[i]) {
			return false
		}
	}
	return l.said(response.Diagnostics)
}

// add adds an object that was found.
func (l *listing) add(listed *provider.ListedObject) bool {
	found := &engine.FoundObject{
		List: l.address(), Type: l.ty.Name, Provider: l.ty.Of, Identity: listed.Identity, DisplayName: listed.DisplayName, Object: cty.NilVal,
	}
	l.found, l.whole = append(l.found, found), append(l.whole, cty.NilVal)
	if listed.Object.IsNull() {
		return true
	}
	if errs := change.Conform(l.objects.Block, listed.Object); len(errs) > 0 {
		return l.problem("Provider produced invalid object", fmt.Sprintf("The provider %s has listed an object with mistakes: %s. That is a "+
			"mistake in the provider, which its authors should hear of.", l.ty.Of, marks.DescribeError(cty.NilVal, errs[0])))
	}
	l.whole[len(l.whole)-1] = listed.Object
	if l.include.True() {
		found.Object = l.objects.Mark(listed.Object, nil)
	}
	return true
}

// said reports the diagnostics of the provider, and whether none of them is an error.
func (l *listing) said(diags provider.Diagnostics) bool {
	if len(diags) == 0 {
		return true
	}
	var secrets redact.Set
	secrets.AddMarked(l.config)
	config := l.list.Config
	for _, diag := range diags {
		diag.Summary, diag.Detail = secrets.Text(diag.Summary), secrets.Text(diag.Detail)
		l.eval.Diagnostics.Add(resource.Placed(diag, l.ty.Decoder, config.Config, config.Range.Ptr()))
	}
	return !diags.HasErrors()
}

// value returns the results as references to the block see them.
func (l *listing) value() cty.Value {
	data := make([]cty.Value, len(l.found))
	for i, found := range l.found {
		object := found.Object
		if object == cty.NilVal {
			object = l.objects.Null()
		}
		data[i] = cty.ObjectVal(map[string]cty.Value{
			"display_name": cty.StringVal(found.DisplayName), "identity": found.Identity, "state": object,
		})
	}
	return cty.ObjectVal(map[string]cty.Value{"data": cty.TupleVal(data), "config": l.config})
}
