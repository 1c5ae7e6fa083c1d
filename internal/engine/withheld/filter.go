// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package withheld

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/redact"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// The statements about a value that is not shown, in place of the value.
const (
	sensitiveStatement = "has a sensitive value"
	ephemeralStatement = "has an ephemeral value"
)

// Filter has the sensitive and ephemeral values of one component instance (rule E4 of package
// engine). They are hidden in all texts that come from an engine's process, a provider or a
// provisioner: each may repeat its arguments. The values are collected when there first is a text,
// since that takes time and few components have texts.
//
// Events may be filtered by several goroutines; diagnostics and checks by one, when there are no
// more events.
type Filter struct {
	inputs map[string]cty.Value

	// statements has the statement about each variable that some module of the tree declares sensitive
	// or ephemeral. Nil if the inputs are not known.
	statements func() map[string]string

	given  func() *redact.Set // values that the engine was given
	stored func() *redact.Set // and sensitive values of the prior state
}

// NewFilter returns the filter for an instance of a module that is planned or applied with these
// arguments.
func NewFilter(root *module.Node, inputs map[string]cty.Value, providers map[engine.ProviderSlot]engine.ProviderConfig,
	prior engine.State,
) *Filter {
	collect := func() *redact.Set {
		set := &redact.Set{}
		for name, value := range inputs {
			if variable := root.Variables[name]; variable != nil && (variable.Sensitive || variable.Ephemeral) {
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
	return &Filter{
		inputs: inputs, given: sync.OnceValue(collect), stored: withStored(collect, prior),
		statements: sync.OnceValue(func() map[string]string {
			statements := map[string]string{}
			addStatements(statements, root, map[*module.Directory]bool{})
			return statements
		}),
	}
}

// NewStateFilter returns the filter of a run that another program has started: its inputs are not
// known.
func NewStateFilter(prior engine.State) *Filter {
	none := func() *redact.Set { return &redact.Set{} }
	return &Filter{given: sync.OnceValue(none), stored: withStored(none, prior)}
}

func withStored(collect func() *redact.Set, prior engine.State) func() *redact.Set {
	return sync.OnceValue(func() *redact.Set {
		set := collect()
		addState(set, prior)
		return set
	})
}

func addStatements(statements map[string]string, node *module.Node, known map[*module.Directory]bool) {
	if known[node.Directory] {
		return
	}
	known[node.Directory] = true
	for name, variable := range node.Variables {
		switch {
		case variable.Sensitive:
			statements[name] = sensitiveStatement
		case variable.Ephemeral:
			statements[name] = ephemeralStatement
		}
	}
	for _, child := range node.Children {
		addStatements(statements, child, known)
	}
}

// Event returns an event without secrets. Most events have only addresses and the id of an object
// in them.
func (s *Filter) Event(ev engine.Event) engine.Event {
	if ev.Message == "" && ev.IDValue == "" && len(ev.Raw) == 0 {
		return ev
	}
	set := s.given()
	if strings.HasPrefix(string(ev.Type), "provision_") {
		set = s.stored()
	}
	ev.Message = set.Text(ev.Message, ev.Resource)
	ev.IDValue = set.Text(ev.IDValue)
	if len(ev.Raw) > 0 && set.Text(string(ev.Raw)) != string(ev.Raw) {
		ev.Raw = redactEvent(set, ev.Raw, ev.Resource)
	}
	return ev
}

// Observer passes on events without secrets. The result is nil for nil.
func (s *Filter) Observer(observe engine.Observer) engine.Observer {
	if observe == nil {
		return nil
	}
	return func(ev engine.Event) { observe(s.Event(ev)) }
}

// names are members of events that hold no values.
var names = []string{
	"@level", "@module", "@timestamp", "type", "resource", "previous_resource", "action", "reason", "id_key", "provisioner", "operation",
}

func redactEvent(set *redact.Set, raw json.RawMessage, address string) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var event map[string]any
	if err := decoder.Decode(&event); err != nil {
		return nil // it is written anew
	}
	var walk func(part any) any
	walk = func(part any) any {
		switch part := part.(type) {
		case string:
			return set.Text(part, address)
		case map[string]any:
			for name, member := range part {
				if !slices.Contains(names, name) {
					part[name] = walk(member)
				}
			}
		case []any:
			for i := range part {
				part[i] = walk(part[i])
			}
		}
		return part
	}
	walk(event)
	redacted, err := json.Marshal(event)
	if err != nil {
		return nil
	}
	return redacted
}

// Diagnostics returns diagnostics without secrets. Those that the given states and changes call
// sensitive are hidden, too.
func (s *Filter) Diagnostics(diags hcl.Diagnostics, states []engine.State, changes ...[]*engine.Change) hcl.Diagnostics {
	if len(diags) == 0 {
		return diags
	}
	set := s.stored()
	for _, state := range states {
		addState(set, state)
	}
	for _, list := range changes {
		for _, change := range list {
			set.AddMarked(change.Before)
			set.AddMarked(change.After)
		}
	}
	return Diagnostics(diags, set, func(data *engine.DiagnosticData) *engine.DiagnosticData { return s.data(set, data) })
}

// data hides the values of references.
func (s *Filter) data(set *redact.Set, data *engine.DiagnosticData) *engine.DiagnosticData {
	copied := *data
	copied.References = slices.Clone(data.References)
	if s.statements == nil { // any variable may be sensitive
		copied.References = nil
	}
	for i := range copied.References {
		value := &copied.References[i]
		if statement := s.statement(value.Reference); statement != "" {
			value.Statement = statement
		} else if set.Text(value.Statement) != value.Statement {
			value.Statement = sensitiveStatement
		}
		value.Reference = set.Text(value.Reference)
	}
	return &copied
}

// statement returns the statement about a variable whose value is not to be shown, however short
// that is; "" for others. While it evaluates the rule for a variable, terraform takes none for
// sensitive.
func (s *Filter) statement(reference string) string {
	traversal, diags := hclsyntax.ParseTraversalAbs([]byte(reference), "", hcl.InitialPos)
	if diags.HasErrors() || traversal.RootName() != "var" || len(traversal) < 2 {
		return ""
	}
	attr, ok := traversal[1].(hcl.TraverseAttr)
	if !ok {
		return ""
	}
	if statement := s.statements()[attr.Name]; statement != "" {
		return statement
	}
	value := s.inputs[attr.Name]
	for _, step := range traversal[2:] {
		if value == cty.NilVal || value.IsMarked() {
			break
		}
		next, diags := step.TraversalStep(value)
		if diags.HasErrors() {
			return ""
		}
		value = next
	}
	switch {
	case value == cty.NilVal:
		return ""
	case marks.Has(value, marks.Ephemeral):
		return ephemeralStatement
	case marks.Has(value, marks.Sensitive):
		return sensitiveStatement
	default:
		return ""
	}
}

// Checks returns results of checks without secrets in their messages.
func (s *Filter) Checks(checks []engine.CheckResult) []engine.CheckResult {
	hidden := slices.Clone(checks)
	for i := range hidden {
		hidden[i].Objects = slices.Clone(hidden[i].Objects)
		for j := range hidden[i].Objects {
			object := &hidden[i].Objects[j]
			object.Messages = slices.Clone(object.Messages)
			for k, message := range object.Messages {
				object.Messages[k] = s.stored().Text(message)
			}
		}
	}
	return hidden
}
