// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"context"
	"errors"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Evaluate evaluates the body of a target's block. The value has marks, among them the ephemeral
// ones of write-only attributes.
func (rt *Runtime) Evaluate(ctx context.Context, t *Target) (cty.Value, bool) {
	references, diags := rt.Types.References(t)
	if !rt.Eval.Diagnostics.AddTo(t.Address, diags...) {
		return cty.NilVal, false
	}
	scope, ok := t.module().Scope(ctx, references, t.At)
	if !ok {
		return cty.NilVal, false
	}
	value, diags := t.Decoder.Decode(ctx, t.Body(), scope)
	if len(diags) > 0 && !rt.Eval.Diagnostics.AddTo(t.Address, lang.WithholdSecrets(diags, t.Decoder.Variables(t.Body()), scope)...) {
		return cty.NilVal, false
	}
	value = t.module().Used(value, t.rangeOf)
	ephemeral := t.Action == nil && t.Addr.Resource.Mode == stackaddrs.EphemeralResource
	return value, ephemeral || rt.withoutEphemeral(t, value) && rt.finite(t, value)
}

// rangeOf returns where in the target's block a part of its configuration is.
func (t *Target) rangeOf(path cty.Path) hcl.Range {
	return *t.Decoder.Range(t.Body(), path)
}

// AwaitReferences waits for the subjects of the references in the body of a target's block, for
// callers that do not evaluate it.
func (rt *Runtime) AwaitReferences(ctx context.Context, t *Target) {
	if references, diags := rt.Types.References(t); !diags.HasErrors() {
		t.Resource.Module.Scope(ctx, references, t.At)
	}
}

// withoutEphemeral reports ephemeral values where they would be kept.
func (rt *Runtime) withoutEphemeral(t *Target, value cty.Value) bool {
	if !marks.Contains(value, marks.Ephemeral) {
		return true
	}
	bare, found := value.UnmarkDeepWithPaths()
	ok := true
	for _, at := range change.WithoutWriteOnlyMarks(t.Block, bare, found) {
		if _, ephemeral := at.Marks[marks.Ephemeral]; !ephemeral {
			continue
		}
		diag := &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Invalid use of ephemeral value",
			Detail: "The value of " + marks.DescribePath(at.Path) + " would be stored, but ephemeral values never are. Only write-only " +
				"attributes accept them.",
			Subject: t.rangeOf(at.Path).Ptr(), Extra: &engine.DiagnosticData{Resource: t.Address},
		}
		ok = rt.Eval.Diagnostics.Add(diag)
	}
	return ok
}

// finite reports infinite numbers, which no plan and no state can have.
func (rt *Runtime) finite(t *Target, value cty.Value) bool {
	err := bounds.CheckFinite(value)
	at, ok := errors.AsType[cty.PathError](err)
	if !ok {
		return true
	}
	return rt.Eval.Diagnostics.AddTo(t.Address, failure.At(t.rangeOf(at.Path), "Infinite number", "The configuration cannot be stored: %s.",
		marks.DescribeError(value, err)))
}

// kept returns the sensitive paths of a configuration that apply to the object made of it: those
// inside of write-only attributes do not.
func kept(t *Target, config cty.Value) (bare cty.Value, sensitive []cty.Path) {
	if !config.ContainsMarked() {
		return config, nil
	}
	bare, found := config.UnmarkDeepWithPaths()
	for _, at := range change.KeptMarks(t.Block, bare, found) {
		if _, hidden := at.Marks[marks.Sensitive]; hidden {
			sensitive = append(sensitive, at.Path)
		}
	}
	return bare, sensitive
}

// meta evaluates the provider_meta block of the target's module.
func (rt *Runtime) meta(ctx context.Context, t *Target) (cty.Value, bool) {
	schema := t.Provider.Schema().Meta
	if schema == nil {
		return cty.NilVal, true
	}
	if t.Resource != nil {
		for _, block := range t.Resource.Module.Config.ProviderMeta {
			if block.Provider == t.Of {
				value, diags := rt.Types.Decoder(schema).Decode(ctx, block.Body, nil)
				return value, rt.Eval.Diagnostics.Add(diags...)
			}
		}
	}
	return cty.NullVal(schema.Block.Type()), true
}

// ignored returns the paths of the block's argument ignore_changes in objects of the type.
func (t *Target) ignored() []cty.Path {
	var paths []cty.Path
	for _, traversal := range t.Config().IgnoreChanges {
		paths = append(paths, pathOf(t.Object, traversal))
	}
	return paths
}

// pathOf returns a traversal as a path in values of a type: where that has maps, attributes are
// keys.
func pathOf(ty cty.Type, traversal hcl.Traversal) cty.Path {
	var path cty.Path
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			if ty.IsMapType() {
				path = path.Index(cty.StringVal(step.Name))
			} else {
				path = path.GetAttr(step.Name)
			}
			ty = below(ty, step.Name)
		case hcl.TraverseIndex:
			if ty.IsObjectType() && step.Key.Type() == cty.String {
				path = path.GetAttr(step.Key.AsString())
				ty = below(ty, step.Key.AsString())
				continue
			}
			path = path.Index(step.Key)
			ty = below(ty, "")
		}
	}
	return slices.Clip(path)
}

func below(ty cty.Type, name string) cty.Type {
	switch {
	case ty.IsObjectType() && ty.HasAttribute(name):
		return ty.AttributeType(name)
	case ty.IsCollectionType():
		return ty.ElementType()
	default:
		return cty.DynamicPseudoType
	}
}
