// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terraformplan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/internal/deferral"
	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// The versions of the documents that terraform 1.11 writes.
const (
	planFormat  = "1.2"
	stateFormat = "1.0"
)

// Document is terraform's document of a plan.
type Document struct {
	FormatVersion    string                     `json:"format_version"`
	TerraformVersion string                     `json:"terraform_version"`
	Variables        map[string]variable        `json:"variables,omitempty"`
	PlannedValues    values                     `json:"planned_values"`
	ResourceDrift    []resourceChange           `json:"resource_drift,omitempty"`
	ResourceChanges  []resourceChange           `json:"resource_changes,omitempty"`
	DeferredChanges  []deferredChange           `json:"deferred_changes,omitempty"`
	OutputChanges    map[string]outputChange    `json:"output_changes,omitempty"`
	PriorState       *state                     `json:"prior_state,omitempty"`
	Configuration    configuration              `json:"configuration"`
	Checks           []tfjson.CheckResultStatic `json:"checks,omitempty"`
	Timestamp        string                     `json:"timestamp"`
	Applyable        bool                       `json:"applyable"`
	Complete         bool                       `json:"complete"`
	Errored          bool                       `json:"errored"`
}

// Source has the contents of a document.
type Source struct {
	Plan      *stackplan.Plan
	Component *stackplan.Component // of the plan

	// Prior is the state that was planned against, with the previous outputs. Nil if it is not at
	// hand.
	Prior *stackstate.State

	// Tree are the modules of the component as they were planned. Nil if the configuration has them
	// no more: then there is no configuration, and there are no defaults of variables.
	Tree *module.Tree

	// Schemas are those of the providers, by the addresses that the modules have for them.
	Schemas map[stackaddrs.Provider]*schema.Provider

	// Providers are the configurations that the stack passes to the root of the tree. Root modules
	// have blocks of their own.
	Providers map[engine.ProviderSlot]hcl.Body
}

// New returns the document of a component.
//
// Errors: the refreshed state in the plan cannot be read.
func New(s Source) (*Document, error) {
	c := s.Component
	m := &maker{Source: s, version: s.terraformVersion()}
	prior, err := m.priorState()
	if err != nil {
		return nil, fmt.Errorf("reading the state in the plan of %s: %w", c.Addr, err)
	}
	doc := &Document{
		FormatVersion: planFormat, TerraformVersion: m.version,
		Variables: m.variables(), PlannedValues: m.plannedValues(),
		ResourceDrift: changes(c.Drift), ResourceChanges: changes(c.Changes), DeferredChanges: deferred(c.Deferred),
		OutputChanges: m.outputChanges(), PriorState: prior, Configuration: m.configuration(),
		Checks:    checks(c.Checks),
		Timestamp: s.Plan.Timestamp.UTC().Format(time.RFC3339),
		Applyable: c.Applyable && m.changesSomething(), Complete: c.Complete, Errored: deferral.Failed(s.Plan, c),
	}
	return doc, nil
}

// changesSomething reports whether applying the plan would do more than write the same state again.
func (m *maker) changesSomething() bool {
	c := m.Component
	if len(c.Invocations) > 0 || c.Mode.KeepsObjects() && len(c.Drift) > 0 {
		return true
	}
	if slices.ContainsFunc(c.Changes, func(one *engine.Change) bool { return !one.IsNoOp() }) {
		return true
	}
	for _, output := range m.outputChanges() {
		if output.Actions[0] != string(stackplan.NoOp) {
			return true
		}
	}
	return false
}

// terraformVersion is the version of the binary that has planned, or else that of the language.
func (s Source) terraformVersion() string {
	if made := s.Component.Engine; made.Name == toolchain.Terraform || made.Name == toolchain.Tofu {
		return made.Version
	}
	return toolchain.NativeTerraform
}

// maker makes one document.
type maker struct {
	Source
	version string
}

// schemaOf returns the schema of a type of resources, or nil if it is not known.
func (m *maker) schemaOf(provider stackaddrs.Provider, resource stackaddrs.Resource) *schema.Schema {
	known := m.Schemas[provider]
	if known == nil {
		return nil
	}
	if resource.Mode == stackaddrs.DataResource {
		return known.Data[resource.Type]
	}
	return known.Managed[resource.Type]
}

// resourceChange is that of tfjson, which leaves out nulls.
type resourceChange struct {
	*tfjson.ResourceChange
	Change *change `json:"change,omitempty"` // takes the place of tfjson's
}

// change is the values of a change.
type change struct {
	*tfjson.Change
	After json.RawMessage `json:"after,omitempty"` // null where there will be no object (rule T2)
}

func changes(list []*engine.Change) []resourceChange {
	made := make([]resourceChange, 0, len(list))
	for _, one := range inOrder(list) {
		made = append(made, newChange(one))
	}
	return made
}

// inOrder returns changes as terraform writes them: by the depth of their modules first, and data
// sources of a module before its resources.
func inOrder(list []*engine.Change) []*engine.Change {
	return slices.SortedStableFunc(slices.Values(list), func(a, b *engine.Change) int {
		return cmp.Or(
			cmp.Compare(len(a.Addr.Module.Path()), len(b.Addr.Module.Path())), a.Addr.Module.Compare(b.Addr.Module),
			strings.Compare(a.Addr.Resource.Mode.String(), b.Addr.Resource.Mode.String()), a.Addr.Compare(b.Addr), cmp.Compare(a.Deposed, b.Deposed),
		)
	})
}

func newChange(planned *engine.Change) resourceChange {
	made := resourceChange{ResourceChange: terraformjson.ResourceChange(planned)}
	if bare := made.ResourceChange.Change; bare != nil {
		made.Change = &change{Change: bare, After: written(bare.After)}
	}
	return made
}

// written encodes a value.
func written(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("encoding a value: " + err.Error()) // it is made of maps, lists, texts and numbers
	}
	return text
}

// deferredChange is a change that waits for a later plan.
type deferredChange struct {
	Reason string         `json:"reason"`
	Change resourceChange `json:"resource_change"`
}

func deferred(list []engine.DeferredChange) []deferredChange {
	made := make([]deferredChange, 0, len(list))
	for _, one := range list {
		made = append(made, deferredChange{one.Reason, newChange(one.Change)})
	}
	return made
}

func checks(results []engine.CheckResult) []tfjson.CheckResultStatic {
	list := terraformjson.Checks(results)
	slices.SortStableFunc(list, func(a, b tfjson.CheckResultStatic) int {
		return strings.Compare(a.Address.ToDisplay, b.Address.ToDisplay)
	})
	return list
}
