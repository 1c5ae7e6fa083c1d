// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package progress

import (
	"time"

	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// Model is the state of a running operation.
type Model struct {
	Operation  string // "plan", "apply" or "destroy"
	Started    time.Time
	Components map[string]*Component // by address
}

// Component is the state of a component instance.
type Component struct {
	Status  hooks.Status
	Since   time.Time // when it began to run
	Current string    // its activity, as the engine last reported
}

func (m *Model) component(addr string) *Component {
	c := m.Components[addr]
	if c == nil {
		c = &Component{Status: hooks.Pending}
		m.Components[addr] = c
	}
	return c
}

func (c *Component) running() bool {
	return c.Status == hooks.Planning || c.Status == hooks.Applying
}

func (c *Component) activity() string {
	if c.Current != "" {
		return c.Current
	}
	return eventtext.Status(c.Status)
}

// counts sorts the components by the categories that matter to a person.
func (m *Model) counts() live.Counts {
	var counts live.Counts
	for _, c := range m.Components {
		switch {
		case c.running():
			counts.Running++
		case c.Status == hooks.Failed:
			counts.Failed++
		case c.Status == hooks.Skipped, c.Status == hooks.Interrupted:
			counts.Skipped++
		case c.Status == hooks.Deferred:
			counts.Deferred++
		case c.Status == hooks.Applied, c.Status == hooks.Planned && m.Operation == "plan":
			counts.Done++
		default:
			counts.Waiting++
		}
	}
	return counts
}

var operationTitles = map[string]string{"plan": "Planning", "apply": "Applying", "destroy": "Destroying"}

// Frame returns the lines of the display.
func (m *Model) Frame(now time.Time, size live.Size, style textstyle.Style) []string {
	table := live.Table{Title: operationTitles[m.Operation], Started: m.Started, Counts: m.counts()}
	for addr, c := range m.Components {
		if c.running() {
			table.Rows = append(table.Rows, live.Row{Name: addr, Since: c.Since, Activity: c.activity()})
		}
	}
	return table.Lines(now, size, style)
}
