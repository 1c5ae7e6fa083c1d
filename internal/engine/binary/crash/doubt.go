// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package crash finds the doubts after the process of an engine or of a provider has ended before
// it was done: changes that the state may not show, and the messages about them.
package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Doubt is a change to an object whose result may be missing from the state.
type Doubt struct {
	runner.Hook
	finished bool // the engine has said that it was done
}

// String describes the change, with the identity of the object as far as that is known.
func (d Doubt) String() string {
	text := d.Action + " " + d.Resource.Addr
	if d.IDValue != "" {
		text += fmt.Sprintf(" (%s %s)", d.IDKey, d.IDValue)
	}
	return text
}

// Log is the changes to objects in the events of an apply.
type Log struct {
	begun       []runner.Hook // and not ended, in the order in which they began
	finished    []runner.Hook // successfully
	failed      []runner.Hook
	provisioned map[string]bool // resource instances of which a provisioner was started
}

// Event takes note of the engine's event about a change.
func (l *Log) Event(ev runner.Event) {
	if ev.Hook == nil || workcopy.IsGenerated(ev.Hook.Resource.Addr) || ev.Hook.Action == "read" || ev.Hook.Action == "noop" {
		return
	}
	switch ev.Type {
	case runner.EventApplyStart:
		l.begun = append(l.begun, *ev.Hook)
	case runner.EventApplyComplete:
		l.end(ev.Hook)
		l.finished = append(l.finished, *ev.Hook)
	case runner.EventApplyErrored:
		l.end(ev.Hook)
		l.failed = append(l.failed, *ev.Hook)
	case runner.EventProvisionStart:
		if l.provisioned == nil {
			l.provisioned = map[string]bool{}
		}
		l.provisioned[ev.Hook.Resource.Addr] = true
	}
}

// AnyFinished reports whether a change was made.
func (l *Log) AnyFinished() bool { return len(l.finished) > 0 }

// end takes a change from those that have not ended.
func (l *Log) end(ended *runner.Hook) {
	i := slices.IndexFunc(l.begun, func(begun runner.Hook) bool {
		return begun.Resource.Addr == ended.Resource.Addr && begun.Action == ended.Action
	})
	if i >= 0 {
		l.begun = slices.Delete(l.begun, i, i+1)
	}
}

// Crashed returns the changes whose provider was gone before it had answered. The engine does not
// always say which they are: then they are those that failed without an error of their own.
func (l *Log) Crashed(outcome *runner.Result) []Doubt {
	nameless := false
	answered, gone := map[string]bool{}, map[string]bool{} // the provider, when it was to change the object
	for _, diag := range outcome.Diagnostics {
		switch {
		case diag.Severity != diagnostic.Error:
		case !providerGone[diag.Summary]:
			answered[diag.Address] = true
		case diag.Address == "":
			nameless = true
		default:
			gone[diag.Address] = true
		}
	}
	var doubts []Doubt
	for _, failed := range l.failed {
		addr := failed.Resource.Addr
		if gone[addr] || nameless && !answered[addr] {
			doubts = append(doubts, Doubt{failed, false})
		}
	}
	return doubts
}

// Doubts returns the changes that were finished or begun, and that the state does not show.
func (l *Log) Doubts(before, now engine.State) []Doubt {
	var doubts []Doubt
	states := comparison{objectsOf(before), objectsOf(now)}
	for _, finished := range l.finished {
		if !states.show(finished) {
			doubts = append(doubts, Doubt{finished, true})
		}
	}
	for _, begun := range l.begun {
		// A provisioner runs when the object is there, and is part of the change.
		if l.provisioned[begun.Resource.Addr] || !states.show(begun) {
			doubts = append(doubts, Doubt{begun, false})
		}
	}
	return doubts
}

// objectsOf returns the objects in a state. One that can't be read shows none.
func objectsOf(state engine.State) []tfstate.Object {
	objects, err := tfstate.ParseObjects(state)
	if err != nil {
		return nil
	}
	return objects
}

// comparison is of the objects before an apply with those in the newest state.
type comparison struct{ before, now []tfstate.Object }

// show reports whether the newest state shows that a change was made.
func (c comparison) show(change runner.Hook) bool {
	before, now := current(c.before, change.Resource.Addr), current(c.now, change.Resource.Addr)
	switch {
	case change.Action == "delete" && change.IDValue == "":
		return now == nil
	case change.Action == "delete":
		return now == nil || attribute(now, change.IDKey) != change.IDValue
	case now == nil:
		return false
	case change.Action == "create" && change.IDValue != "":
		return attribute(now, change.IDKey) == change.IDValue
	}
	return before == nil || !sameJSON(before.Attributes, now.Attributes)
}

// current returns the object of a resource instance that is not about to be replaced; nil if there
// is none.
func current(objects []tfstate.Object, addr string) *tfstate.Object {
	i := slices.IndexFunc(objects, func(object tfstate.Object) bool {
		return object.Addr.String() == addr && object.Deposed == ""
	})
	if i < 0 {
		return nil
	}
	return &objects[i]
}

func attribute(object *tfstate.Object, name string) string {
	var attributes map[string]any
	if json.Unmarshal(object.Attributes, &attributes) != nil {
		return ""
	}
	return fmt.Sprint(attributes[name])
}

func sameJSON(a, b json.RawMessage) bool {
	var left, right bytes.Buffer
	return json.Compact(&left, a) == nil && json.Compact(&right, b) == nil && bytes.Equal(left.Bytes(), right.Bytes())
}

// Addresses returns the resource instances of changes, sorted.
func Addresses(doubts []Doubt) []string {
	var addrs []string
	for _, d := range doubts {
		addrs = append(addrs, d.Resource.Addr)
	}
	slices.Sort(addrs)
	return slices.Compact(addrs)
}

// ExplainDoubts reports the changes that may be missing from a state, which is intact if the
// process has written it to its end.
func ExplainDoubts(doubts []Doubt, intact bool) *hcl.Diagnostic {
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Damaged component state"}
	var finished, begun []string
	for _, d := range doubts {
		if d.finished {
			finished = append(finished, "\n  "+d.String())
		} else {
			begun = append(begun, "\n  "+d.String())
		}
	}
	var parts []string
	switch {
	case !intact:
		parts = append(parts, "The state was not written to its end. It is taken from the newest copy that is complete.")
	case len(finished) > 0:
		parts = append(parts, "The state is that from before the engine was killed.")
	default:
		diag.Summary = "Unknown outcome of changes"
	}
	if len(finished) > 0 {
		parts = append(parts, "These changes were made after that, and are not in the state:\n"+strings.Join(finished, ""))
	}
	if len(begun) > 0 {
		parts = append(parts, "These changes were begun, and may have been made or not:\n"+strings.Join(begun, ""))
	}
	if len(doubts) > 0 {
		diag.Extra = &engine.DiagnosticData{InDoubt: Addresses(doubts)}
		parts = append(parts, "Compare the objects with the real ones before you plan again.")
	}
	diag.Detail = strings.Join(parts, "\n\n")
	return diag
}
