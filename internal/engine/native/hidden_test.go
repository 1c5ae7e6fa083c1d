// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Rule E4 of package engine: secrets that a provider repeats are not shown.
func TestHidden(t *testing.T) {
	tree := &module.Node{Directory: &module.Directory{Variables: map[string]*module.Variable{"declared": {Variable: &engine.Variable{Sensitive: true}}}}}
	inputs := map[string]cty.Value{"declared": cty.StringVal("hush-hush"), "plain": cty.StringVal("plain-text")}
	providers := map[engine.ProviderSlot]engine.ProviderConfig{{}: {Config: cty.StringVal("pass-word").Mark(marks.Sensitive)}}
	h := newHidden(tree, inputs, providers, nil)

	var got engine.Event
	h.observer(func(event engine.Event) { got = event })(engine.Event{Message: "hush-hush, plain-text and pass-word", IDValue: "hush-hush"})
	if want := "(sensitive value), plain-text and (sensitive value)"; got.Message != want || got.IDValue != "(sensitive value)" {
		t.Errorf("event: got %q and %q, want %q", got.Message, got.IDValue, want)
	}

	change := &engine.Change{After: cty.StringVal("planned-secret").Mark(marks.Sensitive)}
	diags := h.diagnostics(hcl.Diagnostics{{Summary: "Failed", Detail: "hush-hush and planned-secret"}}, nil, []*engine.Change{change})
	if want := "(sensitive value) and (sensitive value)"; diags[0].Detail != want {
		t.Errorf("diagnostic: got %q, want %q", diags[0].Detail, want)
	}
}
