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
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/redact"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func (m *moduleChecker) resource(r *module.Resource) {
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
	for _, trigger := range r.ActionTriggers {
		m.actionTrigger(r, trigger, at)
	}
	m.provisioners(r)
}

// about says of the diagnostics from a position on which resource they are about.
func (m *moduleChecker) about(r *module.Resource, from int) {
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
func (m *moduleChecker) unknownType(r *module.Resource) {
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
func (m *moduleChecker) slot(r *module.Resource) {
	if r.ProviderAddr.IsBuiltin() && r.Provider.Alias == "" {
		return
	}
	m.filled(r.Addr.String(), r.Provider, r.ProviderRange)
}

func (m *moduleChecker) filled(user string, slot engine.ProviderSlot, at hcl.Range) {
	if _, filled := m.tree.Slots[slot]; !filled {
		m.problem(at, "Provider configuration missing", fmt.Sprintf("%s uses the provider configuration %s, which the calls of this module do not pass to it.", user, slot))
	}
}

// body checks the part that the schema describes, and asks the provider about it.
func (m *moduleChecker) body(r *module.Resource, block *schema.Block, at place) {
	w := &written{body: r.Body, refs: r.Refs, at: r.Range, block: block, decoder: m.decoder(block)}
	config, ok := m.decode(w, at)
	if !ok || r.Addr.Mode != stackaddrs.EphemeralResource && !m.persistent(w, config) || m.opts.Validator == nil {
		return
	}
	bare, _ := config.UnmarkDeep()
	m.said(w, config, m.opts.Validator.ValidateResource(m.ctx, r.ProviderAddr, r.Addr.Mode, r.Addr.Type, bare))
}

// written is a block that is decoded by a schema.
type written struct {
	body    hcl.Body
	refs    []refs.Reference // found without the schema
	at      hcl.Range        // of its head
	block   *schema.Block
	decoder *body.Decoder
}

// decode checks the references in a block, and evaluates it.
func (m *moduleChecker) decode(w *written, at place) (cty.Value, bool) {
	found := w.refs
	if _, native := w.body.(*hclsyntax.Body); !native { // without the schema, a few too many are found
		var diags hcl.Diagnostics
		if found, diags = refs.InTraversals(w.decoder.Variables(w.body)); !m.add(diags) {
			return cty.DynamicVal, false
		}
	}
	if !m.references(found, at) {
		return cty.DynamicVal, false
	}
	config, diags := w.decoder.Decode(m.ctx, w.body, m.scope(found, at))
	m.deprecated(w.body, w.block)
	return config, m.add(diags)
}

// persistent reports ephemeral values where they would be stored.
func (m *moduleChecker) persistent(w *written, config cty.Value) bool {
	if !marks.Contains(config, marks.Ephemeral) {
		return true
	}
	bare, found := config.UnmarkDeepWithPaths()
	ok := true
	for _, at := range change.WithoutWriteOnlyMarks(w.block, bare, found) {
		if _, ephemeral := at.Marks[marks.Ephemeral]; !ephemeral {
			continue
		}
		ok = false
		subject := w.at
		if found := w.decoder.Range(w.body, at.Path); found != nil {
			subject = *found
		}
		m.problem(subject, "Invalid use of ephemeral value", "The value of "+marks.DescribePath(at.Path)+" would be stored, but ephemeral values never are. Only write-only attributes accept them.")
	}
	return ok
}

// said reports the provider's diagnostics about a configuration, without secrets in them.
func (m *moduleChecker) said(w *written, config cty.Value, diags provider.Diagnostics) {
	var secrets redact.Set
	if len(diags) > 0 {
		secrets.AddMarked(config)
	}
	for _, said := range diags {
		at := &w.at
		if found := w.decoder.Range(w.body, said.Path); found != nil && len(said.Path) > 0 {
			at = found
		}
		severity := hcl.DiagError
		if said.Severity == provider.Warning {
			severity = hcl.DiagWarning
		}
		m.diags = append(m.diags, &hcl.Diagnostic{
			Severity: severity, Summary: secrets.Text(said.Summary), Detail: secrets.Text(said.Detail), Subject: at,
		})
	}
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
	content, _, _ := body.PartialContent(&wanted) //nolint:errcheck // decoding the body reports its errors
	for _, name := range sorted(content.Attributes) {
		m.warn(content.Attributes[name].Expr.Range(), "Deprecated argument", fmt.Sprintf("The provider will drop the argument %q. %s", name, texts[name]))
	}
}
