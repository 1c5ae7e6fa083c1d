// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// providerDiagnostic is the Extra of what a provider says about its configuration. Each component that uses the
// configuration hears it anew, until [mergeProviderDiagnostics] makes one of it.
type providerDiagnostic struct { //nolint:recvcheck // a copy is the Extra of a diagnostic, and only what is gathered changes
	config     stackaddrs.AbsProviderConfigInstance
	components []stackaddrs.AbsComponentInstance
	written    string // the address in the words of the stack's files
}

// Address returns the component instance that the diagnostic is about, "" if there are several.
func (d providerDiagnostic) Address() string {
	if len(d.components) != 1 {
		return ""
	}
	return d.components[0].String()
}

// engineDiagnostics places what an engine says about a component instance: in the component, or where the provider
// configuration concerned is written.
func (i *managedInstance) engineDiagnostics(ctx context.Context, diags hcl.Diagnostics) hcl.Diagnostics {
	placed := withComponent(diags, i.addr)
	for _, diag := range placed {
		about, ok := hcl.DiagnosticExtra[engine.AboutProvider](diag)
		if !ok || about.ProviderArgument() == nil {
			continue
		}
		if inst := i.providerIn(ctx, about.ProviderArgument().Slot); inst != nil {
			config := inst.provider.config
			diag.Subject = config.placeOf(ctx, about.ProviderArgument().Path).Ptr()
			diag.Extra = providerDiagnostic{
				config:     inst.addr,
				components: []stackaddrs.AbsComponentInstance{i.addr},
				written:    inst.written(),
			}
		}
	}
	return placed
}

// providerIn returns the configuration in a slot, nil if that is not known.
func (i *managedInstance) providerIn(ctx context.Context, slot engine.ProviderSlot) *ProviderInstance {
	at := slices.IndexFunc(i.use.providers, func(assigned stackconfig.ProviderAssignment) bool { return assigned.Slot == slot })
	if at < 0 {
		return nil
	}
	result, diags := expr.EvalExprAndEvalContext(ctx, i.use.providers[at].Value, i.main.phase, i.scope)
	ref, _ := result.Value.Unmark()
	if _, isRef := stackconfig.ProviderOfRefType(ref.Type()); !isRef || diags.HasErrors() || !ref.IsKnown() || ref.IsNull() {
		return nil
	}
	return i.main.providerInstance(ctx, stackconfig.ProviderRefTarget(ref))
}

// placeOf returns where a part of the configuration is written, or the closest around it that is.
func (p *ProviderConfig) placeOf(ctx context.Context, path cty.Path) hcl.Range {
	if spec := p.Spec(ctx); spec != nil {
		if place, ok := placeInBody(p.decl.Config, spec, path); ok {
			return place
		}
	}
	return p.decl.Range
}

func placeInBody(body hcl.Body, spec hcldec.Spec, path cty.Path) (hcl.Range, bool) {
	if len(path) == 0 {
		return hcl.Range{}, false
	}
	step, isAttr := path[0].(cty.GetAttrStep)
	object, isObject := spec.(hcldec.ObjectSpec)
	if !isAttr || !isObject {
		return hcl.Range{}, false
	}
	content, _, _ := body.PartialContent(hcldec.ImpliedSchema(spec)) //nolint:errcheck // reported when it was evaluated
	if attr := content.Attributes[step.Name]; attr != nil {
		return attr.Expr.Range(), true
	}
	return placeInBlocks(content.Blocks.OfType(step.Name), object[step.Name], path[1:])
}

// placeInBlocks goes on in the nested blocks of one type. Which of several is meant cannot be said about a set of blocks:
// its elements have another order.
func placeInBlocks(blocks hcl.Blocks, spec hcldec.Spec, path cty.Path) (hcl.Range, bool) {
	var nested hcldec.Spec
	is := func(at int, _ *hcl.Block) bool { return at == elementIndex(path) }
	switch spec := spec.(type) {
	case *hcldec.DefaultSpec:
		return placeInBlocks(blocks, spec.Primary, path)
	case *hcldec.BlockSpec:
		nested, is = spec.Nested, func(int, *hcl.Block) bool { return true }
	case *hcldec.BlockListSpec:
		nested = spec.Nested
	case *hcldec.BlockTupleSpec:
		nested = spec.Nested
	case *hcldec.BlockSetSpec:
		nested, is = spec.Nested, func(int, *hcl.Block) bool { return len(blocks) == 1 }
	case *hcldec.BlockMapSpec:
		nested, is = spec.Nested, func(_ int, block *hcl.Block) bool { return isLabelled(block, path) }
	case *hcldec.BlockObjectSpec:
		nested, is = spec.Nested, func(_ int, block *hcl.Block) bool { return isLabelled(block, path) }
	}
	for at, block := range blocks {
		if nested == nil || !is(at, block) {
			continue
		}
		if len(path) > 0 {
			if _, isElement := path[0].(cty.IndexStep); isElement {
				path = path[1:]
			}
		}
		if place, ok := placeInBody(block.Body, nested, path); ok {
			return place, true
		}
		return block.DefRange, true
	}
	return hcl.Range{}, false
}

// elementIndex returns the index with which a path begins, -1 if it does not.
func elementIndex(path cty.Path) int {
	if len(path) == 0 {
		return -1
	}
	step, ok := path[0].(cty.IndexStep)
	if !ok || step.Key.Type() != cty.Number {
		return -1
	}
	index, _ := step.Key.AsBigFloat().Int64()
	return int(index)
}

func isLabelled(block *hcl.Block, path cty.Path) bool {
	if len(path) == 0 {
		return false
	}
	step, ok := path[0].(cty.IndexStep)
	return ok && step.Key.Type() == cty.String && slices.Equal(block.Labels, []string{step.Key.AsString()})
}

// requestID is a part of messages that differs from request to request.
var requestID = regexp.MustCompile(`[[:xdigit:]]{8}(-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12}`)

// mergeProviderDiagnostics makes one diagnostic of what a provider says to several components about the same
// configuration.
func mergeProviderDiagnostics(diags hcl.Diagnostics) hcl.Diagnostics {
	type identity struct {
		config          stackaddrs.AbsProviderConfigInstance
		severity        hcl.DiagnosticSeverity
		subject         hcl.Range
		summary, detail string
	}
	said := map[identity]*providerDiagnostic{}
	var merged hcl.Diagnostics
	for _, diag := range diags {
		about, ok := diag.Extra.(providerDiagnostic)
		if !ok {
			merged = merged.Append(diag)
			continue
		}
		id := identity{
			about.config, diag.Severity, *diag.Subject,
			requestID.ReplaceAllString(diag.Summary, ""), requestID.ReplaceAllString(diag.Detail, ""),
		}
		first := said[id]
		if first == nil {
			first = &providerDiagnostic{config: about.config, written: about.written}
			said[id] = first
			here := *diag
			here.Extra = first
			merged = merged.Append(&here)
		}
		first.components = append(first.components, about.components...)
	}
	for _, diag := range merged {
		if about, ok := diag.Extra.(*providerDiagnostic); ok {
			about.conclude(diag)
		}
	}
	return merged
}

// conclude adds to the text which configuration it is about and what uses that.
func (d *providerDiagnostic) conclude(diag *hcl.Diagnostic) {
	slices.SortFunc(d.components, stackaddrs.AbsComponentInstance.Compare)
	d.components = slices.Compact(d.components)
	use := "uses"
	if len(d.components) > 1 {
		use = "use"
	}
	if diag.Detail != "" {
		diag.Detail += "\n\n"
	}
	diag.Detail += fmt.Sprintf("The provider says so about the configuration %s, which %s %s.", d.written, enumerate(d.components), use)
}
