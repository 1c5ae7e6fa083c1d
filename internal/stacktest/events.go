// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacktest

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Events are the calls of hooks, a line each:
//
//	component.c expanded 2
//	component.a planning
//	component.a fake_resource.this apply_start create
//	component.a action.fake_action.x action_progress half way
//	component.a planned add 1, move 2
//	component.a applied nothing
type Events struct {
	mu    sync.Mutex
	lines []string
}

// Watch records the calls of hooks from now on, in place of those set before.
func (s *Stack) Watch() *Events {
	events := new(Events)
	s.Hooks = hooks.Hooks{
		ComponentExpanded: func(component stackaddrs.AbsComponent, instances []stackaddrs.AbsComponentInstance) {
			events.add("%s expanded %d", component, len(instances))
		},
		ComponentStatus: func(component stackaddrs.AbsComponentInstance, status hooks.Status) {
			events.add("%s %s", component, status)
		},
		ComponentEvent: func(component stackaddrs.AbsComponentInstance, event engine.Event) {
			if event.Invocation != nil {
				events.add("%s %s %s %s", component, event.Invocation.Addr, event.Type, event.Message)
				return
			}
			events.add("%s %s %s %s", component, event.Resource, event.Type, event.Action)
		},
		ComponentPlanned: func(plan *stackplan.Component) {
			events.add("%s planned %s", plan.Addr, countsText(plan.Counts()))
		},
		ComponentApplied: func(component stackaddrs.AbsComponentInstance, counts stackplan.Counts) {
			events.add("%s applied %s", component, countsText(counts))
		},
	}
	return events
}

func (e *Events) add(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// Lines returns the lines in the order in which the hooks were called.
func (e *Events) Lines() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.lines...)
}

// Of returns the lines that begin with one of the prefixes and a space, as one text.
func (e *Events) Of(prefixes ...string) string {
	var b strings.Builder
	for _, line := range e.Lines() {
		for _, prefix := range prefixes {
			if strings.HasPrefix(line, prefix+" ") {
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String()
}

func countsText(counts stackplan.Counts) string {
	var parts []string
	for _, part := range []struct {
		n    int
		name string
	}{
		{counts.Add, "add"},
		{counts.Change, "change"},
		{counts.Remove, "remove"},
		{counts.Import, "import"},
		{counts.Move, "move"},
		{counts.Forget, "forget"},
		{counts.Defer, "defer"},
		{counts.Invoke, "invoke"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", part.name, part.n))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
