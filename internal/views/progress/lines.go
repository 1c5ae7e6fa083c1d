// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package progress

import (
	"io"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// LinesOptions choose the lines and their style.
type LinesOptions struct {
	Style   textstyle.Style
	Concise bool // none for unchanged objects
}

// Lines writes one line an event, each beginning with the address of the
// component. It is safe for concurrent use.
type Lines struct {
	style   textstyle.Style
	concise bool

	mu struct {
		sync.Mutex
		w        io.Writer
		outcomes map[stackaddrs.AbsComponentInstance]string // said together with the final status
		begun    map[stackaddrs.AbsComponentInstance]bool   // applying, and not said so yet
		written  bool
		err      error
	}
}

// NewLines returns a writer of lines.
func NewLines(w io.Writer, options LinesOptions) *Lines {
	l := &Lines{style: options.Style, concise: options.Concise}
	l.mu.w = w
	l.mu.outcomes = map[stackaddrs.AbsComponentInstance]string{}
	l.mu.begun = map[stackaddrs.AbsComponentInstance]bool{}
	return l
}

// Err returns the first error of writing. After it nothing more was written.
func (l *Lines) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.err
}

// Any reports whether there were lines.
func (l *Lines) Any() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.written
}

// Hooks returns the hooks to watch an operation with: "plan", "apply" or "destroy".
func (l *Lines) Hooks(operation string) hooks.Hooks {
	setOutcome := func(component stackaddrs.AbsComponentInstance, text string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.mu.outcomes[component] = text
	}
	return hooks.Hooks{
		ComponentStatus: l.status,
		ComponentEvent: func(component stackaddrs.AbsComponentInstance, event engine.Event) {
			if worthALine(event.Type) && (!l.concise || !changesNothing(event)) {
				l.mu.Lock()
				defer l.mu.Unlock()
				if l.mu.begun[component] {
					delete(l.mu.begun, component)
					l.write(component, eventtext.Status(hooks.Applying))
				}
				l.write(component, eventtext.Message(event))
			}
		},
		ComponentPlanned: func(plan *stackplan.Component) {
			setOutcome(plan.Addr, changesText(plan.Counts(), eventtext.PlanCounts))
		},
		ComponentApplied: func(component stackaddrs.AbsComponentInstance, counts stackplan.Counts) {
			setOutcome(component, changesText(counts, func(n stackplan.Counts) string { return eventtext.AppliedCounts(operation, n) }))
		},
	}
}

// worthALine leaves out events that a plan shows anyhow, and the second event of work that is over
// at once.
func worthALine(kind engine.EventType) bool {
	switch kind {
	case engine.PlannedChange, engine.PlannedInvocation, engine.ResourceDrift, engine.RefreshComplete, engine.Unplannable:
		return false
	}
	return true
}

// changesNothing reports whether an event is about reading only.
func changesNothing(event engine.Event) bool {
	switch event.Type {
	case engine.RefreshStart, engine.RefreshComplete, engine.EphemeralStart, engine.EphemeralComplete:
		return true
	case engine.ApplyStart, engine.ApplyProgress, engine.ApplyComplete:
		return event.Action == "read"
	}
	return false
}

const unchangedText = "no changes to resources"

// changesText puts numbers into words.
func changesText(counts stackplan.Counts, text func(stackplan.Counts) string) string {
	if counts.Total() == 0 {
		return unchangedText
	}
	return text(counts)
}

// status writes a line for a status. That a component is being applied is said
// together with the first thing that is done, so that one with nothing to do takes
// no more than the line for how it ended.
func (l *Lines) status(component stackaddrs.AbsComponentInstance, status hooks.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if status == hooks.Applying {
		l.mu.begun[component] = true
		return
	}
	delete(l.mu.begun, component)
	text := eventtext.Status(status)
	switch status {
	case hooks.Pending:
		return
	case hooks.Planning:
		if l.concise {
			return
		}
	case hooks.Planned, hooks.Applied:
		outcome := l.mu.outcomes[component]
		delete(l.mu.outcomes, component)
		if l.concise && outcome == unchangedText {
			return
		}
		if outcome != "" {
			text += ": " + outcome
		}
	case hooks.Failed:
		text = l.style.Red(text)
	case hooks.Deferred, hooks.Skipped, hooks.Interrupted:
		text = l.style.Yellow(text)
	}
	l.write(component, text)
}

// write writes the lines of a text. The caller has locked.
func (l *Lines) write(component stackaddrs.AbsComponentInstance, text string) {
	prefix := l.style.Bold(component.String()+":") + " "
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(prefix + line + "\n")
	}
	l.mu.written = true
	if l.mu.err == nil {
		_, l.mu.err = io.WriteString(l.mu.w, b.String())
	}
}
