// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package progress

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// LiveOptions say how a live display behaves.
type LiveOptions struct {
	Operation string // "plan", "apply" or "destroy"
	Style     textstyle.Style

	// Size returns the size of the terminal.
	Size func() live.Size

	// Concise leaves out lines for components without changes.
	Concise bool
}

// Live is a display that is redrawn in place. It is safe for concurrent use.
type Live struct {
	*live.Display
	options LiveOptions

	// These are only used within [live.Display.Update] and by the frame.
	model    Model
	outcomes map[string]string
}

// NewLive returns a display that writes to a terminal. It draws nothing before During.
func NewLive(w io.Writer, options LiveOptions) *Live {
	l := &Live{options: options, outcomes: map[string]string{}}
	l.Display = live.NewDisplay(w, live.Options{Size: options.Size, Frame: func(now time.Time, size live.Size) []string {
		return l.model.Frame(now, size, options.Style)
	}})
	l.model = Model{Operation: options.Operation, Started: time.Now(), Components: map[string]*Component{}}
	return l
}

// Hooks returns the hooks to watch an operation with.
func (l *Live) Hooks() hooks.Hooks {
	return hooks.Hooks{
		ComponentExpanded: func(_ stackaddrs.AbsComponent, instances []stackaddrs.AbsComponentInstance) {
			l.Update(func() string {
				for _, addr := range instances {
					l.model.component(addr.String())
				}
				return ""
			})
		},
		ComponentStatus: l.status,
		ComponentEvent:  l.event,
		// Numbers that are 0 are left out: the table below has them, and these lines are to fit a
		// terminal.
		ComponentPlanned: func(plan *stackplan.Component) {
			l.setOutcome(plan.Addr.String(), changesText(plan.Counts(), eventtext.BriefPlanCounts))
		},
		ComponentApplied: func(component stackaddrs.AbsComponentInstance, counts stackplan.Counts) {
			l.setOutcome(component.String(), changesText(counts, eventtext.BriefAppliedCounts))
		},
	}
}

func (l *Live) setOutcome(addr, text string) {
	l.Update(func() string {
		l.outcomes[addr] = text
		return ""
	})
}

func (l *Live) status(component stackaddrs.AbsComponentInstance, status hooks.Status) {
	addr, now := component.String(), time.Now()
	l.Update(func() string {
		c := l.model.component(addr)
		began := c.Since
		c.Status = status
		if c.running() {
			c.Since, c.Current = now, ""
			return ""
		}
		line := l.statusLine(addr, status)
		if line != "" && !began.IsZero() && now.Sub(began) >= time.Second {
			line += l.options.Style.Dim(" (" + live.Elapsed(now, began) + ")")
		}
		return foldLine(line, l.options.Size().Width)
	})
}

// foldLine breaks a line that is wider than a terminal, and indents its continuation.
func foldLine(line string, width int) string {
	const indent = "  "
	return strings.ReplaceAll(textstyle.Fold(line, max(width-len(indent), 0)), "\n", "\n"+indent)
}

// statusLine is the line for a component that does not run any more, or "".
func (l *Live) statusLine(addr string, status hooks.Status) string {
	style := l.options.Style
	text := addr + ": " + eventtext.Status(status)
	switch status {
	case hooks.Planned, hooks.Applied:
		if status == hooks.Planned && l.options.Operation != "plan" {
			return ""
		}
		outcome := l.outcomes[addr]
		delete(l.outcomes, addr)
		if outcome == unchangedText && l.options.Concise {
			return ""
		}
		if outcome != "" {
			text += ": " + outcome
		}
		return style.Green("✓") + " " + text
	case hooks.Failed:
		return style.Red("✗") + " " + text
	case hooks.Deferred, hooks.Skipped, hooks.Interrupted:
		return style.Yellow("-") + " " + text
	}
	return ""
}

func (l *Live) event(component stackaddrs.AbsComponentInstance, event engine.Event) {
	message := eventtext.Message(event)
	first, _, _ := strings.Cut(message, "\n")
	l.Update(func() string {
		l.model.component(component.String()).Current = first
		switch event.Type {
		case engine.ApplyErrored, engine.ProvisionErrored, engine.ActionErrored:
			return foldLine(fmt.Sprintf("%s %s: %s", l.options.Style.Red("✗"), component, message), l.options.Size().Width)
		}
		return ""
	})
}
