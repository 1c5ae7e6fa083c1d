// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"fmt"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/engine/native/configs"
	"github.com/cairnstacks/cairn/internal/engine/native/refs"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func (m *moduleChecker) resource(r *configs.Resource) {
	defer m.about(r, len(m.diags))
	m.slot(r)
	m.repeat(r.Repeat, place{own: r, check: r.Check})
	m.references(r.DependsOn, place{own: r, check: r.Check})
	found, missing := m.schemaOf(r.ProviderAddr, r.Addr)
	if missing {
		m.unknownType(r)
		return
	}
	at := place{repeat: r.Repeat, own: r, check: r.Check}
	if found != nil {
		m.body(r, found.Block, at)
		m.ignored(r, found.Block)
	}
	m.conditions(r, at)
	m.triggers(r, at)
	m.provisioners(r)
}

// about says of the diagnostics from a position on which resource they are about.
func (m *moduleChecker) about(r *configs.Resource, from int) {
	addr := r.Addr.String()
	for tree := m.tree; tree.Parent != nil; tree = tree.Parent {
		addr = "module." + tree.Call.Name + "." + addr
	}
	for _, diag := range m.diags[from:] {
		if diag.Extra == nil {
			diag.Extra = &engine.DiagnosticData{Resource: addr}
		}
	}
}

// unknownType reports a resource type that the provider does not have.
func (m *moduleChecker) unknownType(r *configs.Resource) {
	p := m.opts.Schemas.Schema(r.ProviderAddr)
	detail := fmt.Sprintf("The provider %s has no type %q of this kind.", r.ProviderAddr, r.Addr.Type)
	for mode, keyword := range map[stackaddrs.ResourceMode]string{stackaddrs.ManagedResource: "resource", stackaddrs.DataResource: "data", stackaddrs.EphemeralResource: "ephemeral"} {
		if types(p, mode)[r.Addr.Type] != nil {
			m.problem(r.Range, "Unknown resource type", fmt.Sprintf("%s There is one for blocks that begin with %q.", detail, keyword))
			return
		}
	}
	m.problem(r.Range, "Unknown resource type", detail+m.hints.DidYouMean(r.Addr.Type, maps.Keys(types(p, r.Addr.Mode))))
}

// slot reports a provider configuration that no call passes.
func (m *moduleChecker) slot(r *configs.Resource) {
	if r.ProviderAddr.IsBuiltin() && r.Provider.Alias == "" {
		return
	}
	if _, filled := m.tree.Slots[r.Provider]; !filled {
		m.problem(r.ProviderRange, "Provider configuration missing", fmt.Sprintf("%s uses the provider configuration %s, which the calls of this module do not pass to it.", r.Addr, r.Provider))
	}
}

// body checks what the schema describes, and asks the provider about it.
func (m *moduleChecker) body(r *configs.Resource, block *schema.Block, at place) {
	decoder := m.decoder(block)
	found := r.Refs
	if _, native := r.Body.(*hclsyntax.Body); !native { // without the schema, a few too many are found
		var diags hcl.Diagnostics
		if found, diags = refs.InTraversals(decoder.Variables(r.Body)); !m.add(diags) {
			return
		}
	}
	if !m.references(found, at) {
		return
	}
	config, diags := decoder.Decode(r.Body, m.scope(found, at))
	m.deprecated(r.Body, block)
	if !m.add(diags) || !m.persistent(r, decoder, block, config) || m.opts.Validator == nil {
		return
	}
	bare, _ := config.UnmarkDeep()
	for _, said := range m.opts.Validator.ValidateResource(m.ctx, r.ProviderAddr, r.Addr.Mode, r.Addr.Type, bare) {
		m.said(r, decoder, said)
	}
}

// persistent reports ephemeral values where they would be stored.
func (m *moduleChecker) persistent(r *configs.Resource, decoder *body.Decoder, block *schema.Block, config cty.Value) bool {
	if r.Addr.Mode == stackaddrs.EphemeralResource || !marks.Contains(config, marks.Ephemeral) {
		return true
	}
	bare, found := config.UnmarkDeepWithPaths()
	ok := true
	for _, at := range change.WithoutWriteOnlyMarks(block, bare, found) {
		if _, ephemeral := at.Marks[marks.Ephemeral]; !ephemeral {
			continue
		}
		ok = false
		subject := r.Range
		if found := decoder.Range(r.Body, at.Path); found != nil {
			subject = *found
		}
		m.problem(subject, "Invalid use of ephemeral value", "The value of "+marks.DescribePath(at.Path)+" would be stored, but ephemeral values never are. Only write-only attributes accept them.")
	}
	return ok
}

// said reports what the provider said.
func (m *moduleChecker) said(r *configs.Resource, decoder *body.Decoder, said provider.Diagnostic) {
	at := &r.Range
	if found := decoder.Range(r.Body, said.Path); found != nil && len(said.Path) > 0 {
		at = found
	}
	severity := hcl.DiagError
	if said.Severity == provider.Warning {
		severity = hcl.DiagWarning
	}
	m.diags = append(m.diags, &hcl.Diagnostic{Severity: severity, Summary: said.Summary, Detail: said.Detail, Subject: at})
}

// deprecated warns of arguments that will go.
func (m *moduleChecker) deprecated(body hcl.Body, block *schema.Block) {
	var wanted hcl.BodySchema
	texts := map[string]string{}
	for _, attr := range block.Attributes {
		if attr.Deprecated {
			wanted.Attributes = append(wanted.Attributes, hcl.AttributeSchema{Name: attr.Name})
			texts[attr.Name] = attr.Deprecation
		}
	}
	if len(texts) == 0 {
		return
	}
	content, _, _ := body.PartialContent(&wanted) //nolint:errcheck // decoding the body reports what is wrong in it
	for _, name := range sorted(content.Attributes) {
		m.warn(content.Attributes[name].Expr.Range(), "Deprecated argument", fmt.Sprintf("The provider will drop the argument %q. %s", name, texts[name]))
	}
}
