// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package jsonview writes the events of an operation as JSON, one object a line ([Events]). Lines
// hold no sensitive values.
package jsonview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Events writes events as one JSON object a line. It is safe for concurrent use: lines never mix.
type Events struct {
	now func() time.Time

	reason engine.Reason // of the engine in the first line

	mu struct {
		sync.Mutex
		w   io.Writer
		err error // the first failure to write
	}
}

// NewEvents returns events that are written to w. The clock may be nil.
func NewEvents(w io.Writer, now func() time.Time) *Events {
	if now == nil {
		now = time.Now
	}
	e := &Events{now: now}
	e.mu.w = w
	return e
}

// Err returns the first error of writing. After it nothing more was written.
func (e *Events) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.err
}

// The levels of lines.
const (
	levelInfo    = "info"
	levelWarning = "warn"
	levelError   = "error"
)

// line is one line. Names sort as terraform writes them: those with @ first.
type line map[string]any

func (e *Events) emit(level, kind, message string, more line) {
	l := line{
		"@level": level, "@message": message, "@module": "cairn.ui",
		"@timestamp": e.now().UTC().Format("2006-01-02T15:04:05.000000Z07:00"),
		"type":       kind,
	}
	for name, value := range more {
		l[name] = value
	}
	e.write(l)
}

func (e *Events) write(v any) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)

	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.err != nil {
		return
	}
	if err == nil {
		_, err = e.mu.w.Write(b.Bytes())
	}
	e.mu.err = err
}

// Version writes the line that comes first. Nothing else may be written at the same time.
func (e *Events) Version(cairn string, info engine.Info, why engine.Reason) {
	e.reason = why
	message := "cairn " + cairn
	more := line{"cairn": cairn, "format_version": document.FormatVersion}
	if info.Name != "" {
		more["engine"] = document.NewEngine(info, why)
		message += " with " + info.Name + " " + info.Version
	}
	e.emit(levelInfo, "version", message, more)
}

// Diagnostic writes a diagnostic. The component may be "".
func (e *Events) Diagnostic(component string, d diagnostic.Diagnostic) {
	level, title := levelError, "Error: "
	if d.Severity == "warning" {
		level, title = levelWarning, "Warning: "
	}
	e.emit(level, "diagnostic", title+d.Summary, withComponent(component, line{"diagnostic": d}))
}

func withComponent(component string, l line) line {
	if component != "" {
		l["component"] = component
	}
	return l
}

// ChangeSummary writes the numbers of changes of all components. The operation
// is "plan", "apply" or "destroy".
func (e *Events) ChangeSummary(operation string, counts stackplan.Counts) {
	e.changeSummary(operation, eventtext.Summary(operation, counts), counts, nil)
}

// IncompleteSummary is [Events.ChangeSummary] for an apply or a destroy that did not do all of it.
func (e *Events) IncompleteSummary(operation string, interrupted bool, counts stackplan.Counts) {
	e.changeSummary(operation, eventtext.IncompleteSummary(operation, interrupted, counts), counts, nil)
}

func (e *Events) changeSummary(operation, message string, n stackplan.Counts, more line) {
	changes := line{
		"add": n.Add, "change": n.Change, "remove": n.Remove, "import": n.Import,
		"move": n.Move, "forget": n.Forget, "defer": n.Defer, "operation": operation,
	}
	if n.Invoke > 0 {
		changes["action_invocation"] = n.Invoke
	}
	if n.InvokeFailed > 0 {
		changes["action_fail"] = n.InvokeFailed
	}
	l := line{"changes": changes}
	maps.Copy(l, more)
	e.emit(levelInfo, "change_summary", message, l)
}

// planned writes the numbers of changes of a component, and the engine that planned it.
func (e *Events) planned(plan *stackplan.Component) {
	more := line{"component": plan.Addr.String()}
	if plan.Engine != (engine.Info{}) {
		more["engine"] = document.EngineOf(plan, e.reason)
	}
	e.changeSummary("plan", plan.Addr.String()+": "+eventtext.Summary("plan", plan.Counts()), plan.Counts(), more)
}

// Outputs writes the root outputs after an apply. Values that are sensitive in
// any part are left out.
func (e *Events) Outputs(values map[string]cty.Value) {
	all := line{}
	for name, v := range document.NewOutputs(values) {
		output := line{"sensitive": v.Sensitive, "type": v.Type}
		if !v.Sensitive {
			output["value"] = v.Value
		}
		if v.Unknown != nil {
			output["unknown"] = v.Unknown
		}
		all[name] = output
	}
	e.emit(levelInfo, "outputs", fmt.Sprintf("Outputs: %d", len(values)), line{"outputs": all})
}

// Moved writes that component instances get other addresses, or have got them.
func (e *Events) Moved(renames []stackaddrs.Rename) {
	for _, rename := range renames {
		e.emit(levelInfo, "component_moved", rename.From.String()+" has moved to "+rename.To.String(),
			line{"component": rename.To.String(), "previous_address": rename.From.String()})
	}
}

// Resuming writes that an apply goes on with a plan of which a part was done; see
// [eventtext.Resuming].
func (e *Events) Resuming(done, begun, total int) {
	e.emit(levelInfo, "resuming", eventtext.Resuming(done, begun, total),
		line{"components": line{"done": done, "begun": begun, "total": total}})
}

// AlreadyApplied writes that all of a plan was done before.
func (e *Events) AlreadyApplied() {
	e.emit(levelInfo, "already_applied", eventtext.AlreadyApplied, line{})
}

// ProviderFetch writes that the package of a provider is fetched: begun, arriving, or fetched.
// Numbers that are -1 are not known.
func (e *Events) ProviderFetch(provider, version, platform, stage string, done, total int64) {
	text, fields := eventtext.ProviderFetched(provider+" "+version, platform), line{
		"provider": provider, "version": version,
		"platform": platform, "stage": stage,
	}
	if stage != "fetched" {
		text = eventtext.ProviderFetch(provider+" "+version, platform, done, total)
	}
	if stage == "arriving" {
		fields["bytes"] = done
		if total >= 0 {
			fields["total_bytes"] = total
		}
	}
	e.emit(levelInfo, "provider_fetch", text, fields)
}

// OutputChanges writes the changes of a plan to the root outputs.
func (e *Events) OutputChanges(changes map[string]*stackplan.OutputChange) {
	all := line{}
	for name, change := range changes {
		hidden := marks.Contains(change.After, marks.Sensitive) || marks.Contains(change.Before, marks.Sensitive)
		all[name] = line{"sensitive": hidden, "action": string(change.Action)}
	}
	e.emit(levelInfo, "outputs", fmt.Sprintf("Outputs: %d", len(changes)), line{"outputs": all})
}

// Hooks returns hooks that write events of the operation, which is "plan",
// "apply" or "destroy".
func (e *Events) Hooks(operation string) hooks.Hooks {
	return hooks.Hooks{
		ComponentStatus: func(component stackaddrs.AbsComponentInstance, status hooks.Status) {
			e.emit(statusLevel(status), "component_status", component.String()+": "+eventtext.Status(status),
				line{"component": component.String(), "status": string(status)})
		},
		ComponentEvent: func(component stackaddrs.AbsComponentInstance, event engine.Event) {
			e.engineEvent(component.String(), event)
		},
		ComponentPlanned: func(plan *stackplan.Component) {
			e.checks(plan.Addr, plan.Checks)
			e.planned(plan)
		},
		ComponentChecks: e.checks,
		ComponentApplied: func(component stackaddrs.AbsComponentInstance, counts stackplan.Counts) {
			e.changeSummary(operation, component.String()+": "+eventtext.Summary(operation, counts), counts, line{"component": component.String()})
		},
	}
}

// checks writes the results of checks and conditions, if there are any.
func (e *Events) checks(component stackaddrs.AbsComponentInstance, checks []engine.CheckResult) {
	if len(checks) == 0 {
		return
	}
	n := map[engine.CheckStatus]int{}
	for _, check := range checks {
		n[check.Status]++
	}
	level := levelInfo
	if n[engine.CheckFail]+n[engine.CheckError] > 0 {
		level = levelWarning
	}
	e.emit(level, "checks", fmt.Sprintf("%s: Checks: %d passed, %d failed, %d known after apply", component,
		n[engine.CheckPass], n[engine.CheckFail]+n[engine.CheckError], n[engine.CheckUnknown]),
		line{"component": component.String(), "checks": terraformjson.Checks(checks)})
}

func statusLevel(status hooks.Status) string {
	if status == hooks.Failed {
		return levelError
	}
	return levelInfo
}

// engineEvent passes on the line of the engine, or makes one of the same shape.
func (e *Events) engineEvent(component string, event engine.Event) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(event.Raw, &raw); err == nil && raw != nil {
		if name, err := json.Marshal(component); err == nil {
			raw["component"] = name
			e.write(raw)
			return
		}
	}
	level := levelInfo
	switch event.Type {
	case engine.ApplyErrored, engine.ProvisionErrored, engine.ActionErrored:
		level = levelError
	}
	e.emit(level, string(event.Type), eventtext.Message(event), line{
		"component": component, eventDetailName(event.Type): eventDetail(event),
	})
}

func eventDetailName(kind engine.EventType) string {
	switch kind {
	case engine.PlannedChange, engine.ResourceDrift:
		return "change"
	case engine.PlannedInvocation:
		return "invocation"
	}
	return "hook"
}

// invocationDetail adds the details of an event about an action.
func invocationDetail(event engine.Event, i *engine.Invocation, detail line) line {
	detail["action"] = line{"addr": i.Addr.String(), "provider": i.Provider.String()}
	switch caller := i.Trigger.Caller(); {
	case !i.Trigger.IsRequest():
		detail["trigger"] = line{
			"event": string(i.Trigger.Event), "action_trigger_block_index": i.Trigger.Block,
			"actions_list_index": i.Trigger.Position,
		}
	case caller != "":
		detail["invoke_trigger"] = line{"calling_resource_address": caller}
	default:
		delete(detail, "resource") // there is none
		detail["invoke_trigger"] = line{}
	}
	switch event.Type {
	case engine.ActionProgress:
		detail["message"] = event.Message
	case engine.ActionComplete, engine.ActionErrored:
		detail["elapsed_seconds"] = int(event.Elapsed.Round(time.Second).Seconds())
	}
	return detail
}

func eventDetail(event engine.Event) line {
	detail := line{"resource": line{"addr": event.Resource}}
	if i := event.Invocation; i != nil {
		return invocationDetail(event, i, detail)
	}
	if event.Action != "" {
		detail["action"] = event.Action
	}
	if event.IDKey != "" {
		detail["id_key"], detail["id_value"] = event.IDKey, event.IDValue
	}
	if event.Previous != "" {
		detail["previous_resource"] = line{"addr": event.Previous}
	}
	if event.ImportID != "" {
		detail["importing"] = line{"id": event.ImportID}
	}
	if strings.HasPrefix(string(event.Type), "apply_") && event.Type != engine.ApplyStart {
		detail["elapsed_seconds"] = int(event.Elapsed.Round(time.Second).Seconds())
	}
	return detail
}
