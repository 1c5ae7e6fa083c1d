// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
)

var _ expr.StepChecker = (*ComponentConfig)(nil)

// CheckSteps implements [expr.StepChecker]: results have a value before planning no more than instances do, but the
// names of outputs and, if for_each says so, of instances are known.
func (c *ComponentConfig) CheckSteps(ctx context.Context, steps hcl.Traversal) hcl.Diagnostics {
	module := c.Module(ctx)
	if len(steps) == 0 || module == nil || !c.isSound(ctx) {
		return nil
	}
	if c.decl.ForEach == nil {
		return c.checkOutputStep(module, c.addr.String(), steps[0])
	}
	key, ok := stepName(steps[0])
	if !ok {
		return nil
	}
	set := c.staticSet(ctx)
	if set.Kind == foreach.Keyed {
		if _, exists := set.Elements[key]; !exists {
			return c.unknownInstance(module, key, set, steps[0])
		}
	} else if _, isAttr := steps[0].(hcl.TraverseAttr); isAttr && module.Outputs[key] != nil {
		return hcl.Diagnostics{{
			Severity: hcl.DiagWarning,
			Summary:  "Missing instance key",
			Detail: fmt.Sprintf("%s has for_each, so that its outputs are those of its instances, like %[1]s[\"KEY\"].%s. "+
				"What is written here is the instance with the key %[2]q.", c.addr, key),
			Subject: steps[0].SourceRange().Ptr(),
		}}
	}
	if len(steps) == 1 {
		return nil
	}
	return c.checkOutputStep(module, fmt.Sprintf("%s[%q]", c.addr, key), steps[1])
}

func (c *ComponentConfig) unknownInstance(module *engine.Module, key string, set foreach.Set, step hcl.Traverser) hcl.Diagnostics {
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Subject: step.SourceRange().Ptr()}
	if _, isAttr := step.(hcl.TraverseAttr); isAttr && module.Outputs[key] != nil {
		diag.Summary = "Missing instance key"
		diag.Detail = fmt.Sprintf("%s has for_each, so that its outputs are those of its instances, like %[1]s[\"KEY\"].%s.", c.addr, key)
	} else {
		diag.Summary = "Unknown component instance"
		diag.Detail = fmt.Sprintf("The for_each of %s has no key %q.", c.addr, key)
	}
	if len(set.Elements) <= mostMeant {
		diag.Detail += nearest.DidYouMean(key, slices.Collect(maps.Keys(set.Elements)))
	}
	return hcl.Diagnostics{diag}
}

// checkOutputStep checks a step that leads from an instance to one of its outputs.
func (c *ComponentConfig) checkOutputStep(module *engine.Module, instance string, step hcl.Traverser) hcl.Diagnostics {
	name, ok := stepName(step)
	if ok && module.Outputs[name] != nil {
		return nil
	}
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Subject: step.SourceRange().Ptr()}
	if _, isIndex := step.(hcl.TraverseIndex); isIndex && c.decl.ForEach == nil {
		diag.Summary = "Component without instance keys"
		diag.Detail = fmt.Sprintf("%s has no for_each, so that there is one of it, without a key: write %[1]s and the name of an output.", c.addr)
		return hcl.Diagnostics{diag}
	}
	if !ok {
		return nil
	}
	diag.Summary = "Unknown module output"
	diag.Detail = fmt.Sprintf("The module of %s has no output %q.%s", instance, name, nearest.DidYouMean(name, slices.Collect(maps.Keys(module.Outputs))))
	if names := sortedKeys(module.Outputs); len(names) == 0 {
		diag.Detail += " It has none."
	} else if !strings.HasSuffix(diag.Detail, "?") && len(names) <= 10 {
		diag.Detail += " It has " + strings.Join(names, ", ") + "."
	}
	return hcl.Diagnostics{diag}
}

// stepName is the name that a step looks up, written as an attribute or as a literal index.
func stepName(step hcl.Traverser) (string, bool) {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return step.Name, true
	case hcl.TraverseIndex:
		if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key.AsString(), true
		}
	}
	return "", false
}

// staticSet is what is known of for_each without values.
func (c *ComponentConfig) staticSet(ctx context.Context) foreach.Set {
	return c.set.Value(ctx, func() memo.Aspect[foreach.Set] {
		return memo.Aspect[foreach.Set]{
			Name:        c.addr.String() + " for_each",
			Placeholder: foreach.FailedSet,
			Compute: func(ctx context.Context) (foreach.Set, hcl.Diagnostics) {
				result, diags := expr.EvalExprAndEvalContext(ctx, c.decl.ForEach, expr.ValidatePhase, c.stack)
				if diags.HasErrors() {
					return foreach.FailedSet, nil // reported with the other checks
				}
				set, diags := foreach.FromValue(result, "component")
				if diags.HasErrors() {
					return foreach.FailedSet, nil
				}
				return set, nil
			},
		}
	})
}
