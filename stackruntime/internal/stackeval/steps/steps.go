// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package steps checks the steps that follow a reference to a component: results have no value
// before planning, but the names of outputs are known, and if for_each says so, those of instances.
package steps

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
)

// Component is the knowledge of a component before planning.
type Component struct {
	Addr   string
	Module *engine.Module

	Instances func() foreach.Set // the known part of its for_each; nil if it has none
}

// Check reports mistakes in the steps that follow a reference to the component.
func (c Component) Check(steps hcl.Traversal) hcl.Diagnostics {
	if len(steps) == 0 {
		return nil
	}
	if c.Instances == nil {
		return c.checkOutputStep(c.Addr, steps[0])
	}
	key, ok := stepName(steps[0])
	if !ok {
		return nil
	}
	set := c.Instances()
	if set.Kind == foreach.Keyed {
		if _, exists := set.Elements[key]; !exists {
			return c.unknownInstance(key, set, steps[0])
		}
	} else if _, isAttr := steps[0].(hcl.TraverseAttr); isAttr && c.Module.Outputs[key] != nil {
		return hcl.Diagnostics{failure.WarningAt(steps[0].SourceRange(), "Missing instance key", "%s has for_each, so that its outputs are "+
			"those of its instances, like %[1]s[\"KEY\"].%s. This expression is the instance with the key %[2]q.", c.Addr, key)}
	}
	if len(steps) == 1 {
		return nil
	}
	return c.checkOutputStep(fmt.Sprintf("%s[%q]", c.Addr, key), steps[1])
}

// mostKeys is how many keys are looked through for one that may be meant, which takes its time for
// each mistake.
const mostKeys = 2000

func (c Component) unknownInstance(key string, set foreach.Set, step hcl.Traverser) hcl.Diagnostics {
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Subject: step.SourceRange().Ptr()}
	if _, isAttr := step.(hcl.TraverseAttr); isAttr && c.Module.Outputs[key] != nil {
		diag.Summary = "Missing instance key"
		diag.Detail = fmt.Sprintf("%s has for_each, so that its outputs are those of its instances, like %[1]s[\"KEY\"].%s.", c.Addr, key)
	} else {
		diag.Summary = "Unknown component instance"
		diag.Detail = fmt.Sprintf("The for_each of %s has no key %q.", c.Addr, key)
	}
	if len(set.Elements) <= mostKeys {
		offerMeant(diag, key, slices.Collect(maps.Keys(set.Elements)), step)
	}
	return hcl.Diagnostics{diag}
}

// checkOutputStep checks a step that leads from an instance to one of its outputs.
func (c Component) checkOutputStep(instance string, step hcl.Traverser) hcl.Diagnostics {
	name, ok := stepName(step)
	if ok && c.Module.Outputs[name] != nil {
		return nil
	}
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Subject: step.SourceRange().Ptr()}
	if _, isIndex := step.(hcl.TraverseIndex); isIndex && c.Instances == nil {
		diag.Summary = "Component without instance keys"
		diag.Detail = fmt.Sprintf("%s has no for_each, so that there is one of it, without a key: write %[1]s and the name of an output.", c.Addr)
		return hcl.Diagnostics{diag}
	}
	if !ok {
		return nil
	}
	diag.Summary = "Unknown module output"
	diag.Detail = fmt.Sprintf("The module of %s has no output %q.", instance, name)
	offerMeant(diag, name, slices.Collect(maps.Keys(c.Module.Outputs)), step)
	if names := slices.Sorted(maps.Keys(c.Module.Outputs)); len(names) == 0 {
		diag.Detail += " It has none."
	} else if !strings.HasSuffix(diag.Detail, "?") && len(names) <= 10 {
		diag.Detail += " It has " + strings.Join(names, ", ") + "."
	}
	return hcl.Diagnostics{diag}
}

// offerMeant adds the nearest of some names to a diagnostic about one that there is not: to its
// text, and for programs as a step of the same kind.
func offerMeant(diag *hcl.Diagnostic, given string, names []string, step hcl.Traverser) {
	best := nearest.Name(given, names)
	if best == "" {
		return
	}
	diag.Detail += nearest.DidYouMean(best, []string{best})
	if _, isAttr := step.(hcl.TraverseAttr); isAttr && hclsyntax.ValidIdentifier(best) {
		diag.Extra = fault.Meant{Text: "." + best}
	} else {
		diag.Extra = fault.Meant{Text: "[" + string(hclwrite.TokensForValue(cty.StringVal(best)).Bytes()) + "]"}
	}
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
