// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package withheld keeps the values out of the texts of engines that no text may show (rule E4 of
// package engine): sensitive and ephemeral ones of inputs, provider configurations, states and
// planned changes.
package withheld

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/document/stateobject"
	"github.com/cairnstacks/cairn/internal/redact"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// addState adds the sensitive values of a state. One that cannot be read has none: reading it for
// its content reports the error.
func addState(set *redact.Set, state engine.State) {
	doc, err := tfstate.Parse(state)
	if err != nil {
		return
	}
	objects, err := doc.Objects()
	if err != nil {
		return
	}
	for _, object := range objects {
		if len(object.SensitiveAttributes) == 0 {
			continue
		}
		if attributes, err := stateobject.Decode(object); err == nil {
			addFlagged(set, attributes.Values, attributes.Sensitive)
		}
	}
}

// addFlagged adds the parts of a value that are true in a parallel tree.
func addFlagged(set *redact.Set, value, flags any) {
	switch flags := flags.(type) {
	case bool:
		if flags {
			addAll(set, value)
		}
	case map[string]any:
		if parts, ok := value.(map[string]any); ok {
			for name, flag := range flags {
				addFlagged(set, parts[name], flag)
			}
		}
	case []any:
		if elements, ok := value.([]any); ok {
			for i, flag := range flags {
				addFlagged(set, elements[i], flag)
			}
		}
	}
}

func addAll(set *redact.Set, value any) {
	switch value := value.(type) {
	case string:
		set.AddString(value)
	case json.Number:
		if number, err := cty.ParseNumberVal(value.String()); err == nil {
			set.Add(number)
		}
	case map[string]any:
		for _, part := range value {
			addAll(set, part)
		}
	case []any:
		for _, part := range value {
			addAll(set, part)
		}
	}
}

// Diagnostics returns copies of diagnostics whose texts have no secrets of a set. Their data is
// replaced by the result of the function data.
func Diagnostics(diags hcl.Diagnostics, set *redact.Set, data func(*engine.DiagnosticData) *engine.DiagnosticData) hcl.Diagnostics {
	hidden := make(hcl.Diagnostics, len(diags))
	for i, diag := range diags {
		copied := *diag
		address := ""
		if known, ok := diag.Extra.(*engine.DiagnosticData); ok {
			address = known.Resource
			copied.Extra = data(known)
		}
		copied.Summary, copied.Detail = set.Text(diag.Summary, address), set.Text(diag.Detail, address)
		hidden[i] = &copied
	}
	return hidden
}
