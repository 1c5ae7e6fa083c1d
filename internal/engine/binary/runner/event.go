// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Event is one line of a process's standard output.
type Event struct {
	// Type is one of the Event… constants, or another that a newer engine writes; [EventLog] also
	// where the engine writes a message without one, as tofu does while it installs. It is empty for a
	// line that is not an event at all, such as the state printed when the disk is full; Message is
	// then the line.
	Type string `json:"type"`

	Level     string    `json:"@level"` // "info", "warn", "error"
	Message   string    `json:"@message"`
	Timestamp time.Time `json:"@timestamp"`

	// The subject of the event; at most one is set, depending on Type.
	Change     *PlannedChange         `json:"change"`     // planned_change, resource_drift
	Hook       *Hook                  `json:"hook"`       // apply_*, refresh_*, provision_*, ephemeral_op_*
	Summary    *ChangeSummary         `json:"changes"`    // change_summary
	Outputs    map[string]Output      `json:"outputs"`    // outputs
	Diagnostic *diagnostic.Diagnostic `json:"diagnostic"` // diagnostic
	Terraform  string                 `json:"terraform"`  // version, of terraform
	Tofu       string                 `json:"tofu"`       // version, of tofu

	// Line is the number of the line, from 1.
	Line int64 `json:"-"`

	// Raw is the line without its end. It belongs to the receiver.
	Raw []byte `json:"-"`
}

// The types of events that terraform and tofu write.
const (
	EventVersion           = "version"
	EventLog               = "log"
	EventDiagnostic        = "diagnostic"
	EventPlannedChange     = "planned_change"
	EventResourceDrift     = "resource_drift"
	EventChangeSummary     = "change_summary"
	EventOutputs           = "outputs"
	EventRefreshStart      = "refresh_start"
	EventRefreshComplete   = "refresh_complete"
	EventApplyStart        = "apply_start"
	EventApplyProgress     = "apply_progress"
	EventApplyComplete     = "apply_complete"
	EventApplyErrored      = "apply_errored"
	EventProvisionStart    = "provision_start"
	EventProvisionProgress = "provision_progress"
	EventProvisionComplete = "provision_complete"
	EventProvisionErrored  = "provision_errored"
	EventEphemeralStart    = "ephemeral_op_start"
	EventEphemeralProgress = "ephemeral_op_progress"
	EventEphemeralComplete = "ephemeral_op_complete"
	EventEphemeralErrored  = "ephemeral_op_errored"
)

// Resource names a resource instance in an event.
type Resource struct {
	Addr            string          `json:"addr"`
	Module          string          `json:"module"`
	Resource        string          `json:"resource"` // Addr without Module
	ImpliedProvider string          `json:"implied_provider"`
	Type            string          `json:"resource_type"`
	Name            string          `json:"resource_name"`
	Key             json.RawMessage `json:"resource_key"` // number, string or null
}

// PlannedChange is a planned change of a resource instance, or its drift.
type PlannedChange struct {
	Resource         Resource   `json:"resource"`
	PreviousResource *Resource  `json:"previous_resource"` // if it was moved
	Action           string     `json:"action"`            // "create", "replace", …; "remove" for forget
	Reason           string     `json:"reason"`
	Importing        *Importing `json:"importing"`
}

// Importing says which existing object is imported.
type Importing struct {
	ID string `json:"id"`
}

// Hook is the progress of one operation on a resource instance.
type Hook struct {
	Resource       Resource `json:"resource"`
	Action         string   `json:"action"`
	IDKey          string   `json:"id_key"` // attribute that identifies the object, with its value
	IDValue        string   `json:"id_value"`
	ElapsedSeconds float64  `json:"elapsed_seconds"`
	Provisioner    string   `json:"provisioner"`
	Output         string   `json:"output"` // of the provisioner
}

// ChangeSummary counts the changes of an operation.
type ChangeSummary struct {
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Import    int    `json:"import"`
	Remove    int    `json:"remove"`
	Forget    int    `json:"forget"`    // tofu only
	Operation string `json:"operation"` // "plan", "apply", "destroy"
}

// Output is the value of a root module's output after apply, or its planned change. Value is absent
// when it is sensitive or not known yet.
type Output struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type"`
	Value     json.RawMessage `json:"value"`
	Action    string          `json:"action"`
}

// parseEvent decodes a line, which it keeps.
func parseEvent(line []byte) Event {
	var ev Event
	if bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, &ev) == nil && (ev.Type != "" || ev.Level != "") {
		if ev.Type == "" {
			ev.Type = EventLog
		}
		ev.Raw = line
		return ev
	}
	return Event{Message: string(line), Raw: line}
}

// Progress returns the event in the form that all engines report.
func (ev Event) Progress() engine.Event {
	out := engine.Event{Position: engine.Position(ev.Line), Type: engine.EventType(ev.Type), Message: ev.Message, Raw: ev.Raw}
	switch {
	case ev.Change != nil:
		out.Resource, out.Action = ev.Change.Resource.Addr, ev.Change.Action
	case ev.Hook != nil:
		out.Resource, out.Action = ev.Hook.Resource.Addr, ev.Hook.Action
		out.IDKey, out.IDValue = ev.Hook.IDKey, ev.Hook.IDValue
		out.Elapsed = time.Duration(ev.Hook.ElapsedSeconds * float64(time.Second))
	}
	return out
}
