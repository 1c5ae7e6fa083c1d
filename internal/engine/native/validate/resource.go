// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/redact"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Resource implements [eval.Visitor].
func (c *checker) Resource(ctx context.Context, r *eval.Resource) {
	at, _ := r.Place(ctx, stackaddrs.NoKey)
	c.resource = at.Resource
	defer func() { c.resource = "" }()
	r.Slot(at)
	ofAll := at
	ofAll.Repetition = eval.Repetition{}
	r.Module.Scope(ctx, r.Config.DependsOn, ofAll)
	t := &resource.Target{Addr: r.Addr(stackaddrs.NoKey), Address: at.Resource, Resource: r, At: at}
	if p := c.Schemas.Schema(r.Config.ProviderAddr); p != nil {
		if !c.Describe(t, r.Config.ProviderAddr, p) {
			return
		}
		c.configured(ctx, t, func(config cty.Value) provider.Diagnostics {
			return c.Validator.ValidateResource(ctx, t.Of, t.Addr.Resource.Mode, t.Name, config)
		})
		c.ignored(t)
	}
	r.Module.PreventsDestroy(ctx, r.Config, at.Resource)
	r.Preconditions(ctx, at)
	at.Self, _ = c.Object(ctx, r, stackaddrs.NoKey)
	r.Postconditions(ctx, at)
	for _, expr := range r.Config.ReplaceTriggeredBy {
		r.Trigger(ctx, expr, t.At)
	}
	for _, trigger := range r.Config.ActionTriggers {
		c.actionTrigger(ctx, t, trigger, at)
	}
	c.provisioners(ctx, r.Module, r.Config.Provisioners, r.Config.Connection, at)
}

// configured checks the part of a block that its schema describes, and asks the provider about it.
func (c *checker) configured(ctx context.Context, t *resource.Target, ask func(config cty.Value) provider.Diagnostics) {
	c.deprecated(t.Body(), t.Block)
	config, ok := c.Evaluate(ctx, t)
	if !ok || c.Validator == nil {
		return
	}
	bare, _ := config.UnmarkDeep()
	answer := ask(bare)
	if len(answer) == 0 {
		return
	}
	var secrets redact.Set
	secrets.AddMarked(config)
	for i := range answer {
		answer[i].Summary, answer[i].Detail = secrets.Text(answer[i].Summary), secrets.Text(answer[i].Detail)
	}
	c.Said(t, answer)
}

// deprecated warns of arguments that will go.
func (c *checker) deprecated(body hcl.Body, block *schema.Block) {
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
	for name, attr := range content.Attributes {
		c.warn(attr.Expr.Range(), "Deprecated argument", fmt.Sprintf("The provider will drop the argument %q. %s", name, texts[name]))
	}
}

// ignored checks the paths in ignore_changes.
func (c *checker) ignored(t *resource.Target) {
	for _, path := range t.Config().IgnoreChanges {
		if _, diags := path.TraverseRel(cty.UnknownVal(t.Object)); diags.HasErrors() {
			c.Eval.Diagnostics.AddTo(t.Address, diags...)
			continue
		}
		attr, ok := path[0].(hcl.TraverseAttr)
		if !ok || len(path) > 1 {
			continue
		}
		for _, known := range t.Block.Attributes {
			if known.Name == attr.Name && known.Computed && !known.Optional {
				c.warn(t.Config().Range, "Redundant ignore_changes element", fmt.Sprintf(
					"Only the provider decides on %q, so that the configuration has no changes of it to be ignored.", attr.Name))
			}
		}
	}
}
