// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/withheld"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/redact"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// hidden has the sensitive and ephemeral values of one component, which providers and provisioners
// may repeat in their messages (rule E4 of package engine). The engine's own messages hide values
// where they are made. The values are collected when there first is a text.
type hidden struct {
	given  func() *redact.Set // values that the engine was given
	stored func() *redact.Set // and sensitive values of the prior state
}

func newHidden(tree *module.Node, inputs map[string]cty.Value, providers map[engine.ProviderSlot]engine.ProviderConfig, prior engine.State) *hidden {
	collect := func() *redact.Set {
		set := &redact.Set{}
		for name, value := range inputs {
			if variable := tree.Variables[name]; variable != nil && (variable.Sensitive || variable.Ephemeral) {
				set.Add(value)
			} else {
				set.AddMarked(value)
			}
		}
		for _, config := range providers {
			set.AddMarked(config.Config)
		}
		return set
	}
	return &hidden{given: sync.OnceValue(collect), stored: sync.OnceValue(func() *redact.Set {
		set := collect()
		withheld.AddStored(set, prior)
		return set
	})}
}

// observer passes on events without secrets. The result is nil for nil.
func (h *hidden) observer(observe engine.Observer) engine.Observer {
	if observe == nil {
		return nil
	}
	return func(event engine.Event) {
		if event.Message != "" || event.IDValue != "" {
			set := h.given()
			if strings.HasPrefix(string(event.Type), "provision_") {
				set = h.stored()
			}
			event.Message, event.IDValue = set.Text(event.Message, event.Resource), set.Text(event.IDValue)
		}
		observe(event)
	}
}

// diagnostics returns diagnostics without secrets, also those of a state and of changes.
func (h *hidden) diagnostics(diags hcl.Diagnostics, now engine.State, changes ...[]*engine.Change) hcl.Diagnostics {
	if len(diags) == 0 {
		return diags
	}
	set := h.stored()
	withheld.AddStored(set, now)
	for _, list := range changes {
		withheld.AddChanges(set, list)
	}
	return withheld.Diagnostics(diags, set, func(data *engine.DiagnosticData) *engine.DiagnosticData {
		said := *data
		said.References = slices.Clone(data.References)
		for i := range said.References {
			said.References[i].Statement = set.Text(said.References[i].Statement)
		}
		return &said
	})
}

// ofApply is diagnostics for those of an apply, which may have no result.
func (h *hidden) ofApply(diags hcl.Diagnostics, plan *planned.Plan, result *engine.ApplyResult) hcl.Diagnostics {
	changes := make([]*engine.Change, len(plan.Changes))
	for i, c := range plan.Changes {
		changes[i] = &engine.Change{Before: c.Before, After: c.After}
	}
	if result == nil {
		return h.diagnostics(diags, nil, changes)
	}
	return h.diagnostics(diags, result.State, changes)
}
