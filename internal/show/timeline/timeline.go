// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package timeline knows when the steps of a run began and ended, and which ones waited for which:
// it finds the critical path, and draws all of them along the time.
//
// The times are those of one clock. Steps that overlap with those that they have waited for, as
// after that clock was set back, count as if they had begun at the end of these.
package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/safetext"
)

// Timeline is a run. It does not change.
type Timeline struct{ Rows []Row }

// Row is what one name of the run stands for: a unit, or a component instance.
type Row struct {
	Name  string
	State string // "ok", "failed" …, as reports have it
	Steps []Step // in the order of their beginnings
}

// Step is a step of a row, with its form in reports.
type Step struct {
	Phase   string    `json:"phase"` // plan, apply or run
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`

	After      []string `json:"after,omitempty"`      // names of rows that it has waited for directly
	Components []Work   `json:"components,omitempty"` // in the order of their beginnings
}

// Work is the work of an engine on a component instance within a step.
type Work struct {
	Component string    `json:"component"`
	Kind      string    `json:"work"` // plan, refresh, apply …
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`
	Failed    bool      `json:"failed,omitempty"`
}

func after(started time.Time, seconds float64) time.Time {
	return started.Add(duration(seconds))
}

// Ended returns the end of the step.
func (s Step) Ended() time.Time { return after(s.Started, s.Seconds) }

// Ended returns the end of the work.
func (w Work) Ended() time.Time { return after(w.Started, w.Seconds) }

// Path is the critical path of a run, with its form in reports: the steps that its end has waited
// for, each for the one before. Faster work on anything else would not have ended it earlier.
type Path struct {
	Seconds float64  `json:"seconds"` // of the steps
	Of      float64  `json:"of"`      // seconds of the whole run
	Names   []string `json:"names"`   // of rows, in the order of their work
}

// Text shows the path in a line: "43s of 1m1s: network → database → app".
func (p Path) Text() string {
	names := make([]string, len(p.Names))
	for i, name := range p.Names {
		names[i] = safetext.Name(name)
	}
	shown := whole
	if p.Of < LeastSaid.Seconds() { // in whole seconds, a short run would be "0s of 0s"
		shown = fine
	}
	return shown(duration(p.Seconds)) + " of " + shown(duration(p.Of)) + ": " + strings.Join(names, " → ")
}

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}

func whole(d time.Duration) string { return d.Round(time.Second).String() }

// LeastSaid is how long a run takes at least of which the path is worth saying.
const LeastSaid = 10 * time.Second

// WorthSaying reports whether a person gains something by the path: the run has taken so long,
// and there is more than one row on it.
func (p Path) WorthSaying() bool { return p.Of >= LeastSaid.Seconds() && len(p.Names) > 1 }

// at is the place of a step.
type at struct{ row, step int }

// CriticalPath returns the critical path. Without steps, it has no names.
func (t Timeline) CriticalPath() Path {
	path, names := Path{}, []string{}
	for _, place := range t.criticalSteps() {
		row := &t.Rows[place.row]
		path.Seconds += row.Steps[place.step].Seconds
		if len(names) == 0 || names[len(names)-1] != row.Name {
			names = append(names, row.Name)
		}
	}
	begin, end := t.bounds()
	path.Of, path.Names = end.Sub(begin).Seconds(), names
	return path
}

// criticalSteps returns the places of the steps on the critical path, in the order of their work.
func (t Timeline) criticalSteps() []at {
	rows := map[string]int{}
	last, found := at{}, false
	for r, row := range t.Rows {
		rows[row.Name] = r
		for s := range row.Steps {
			if here := (at{r, s}); !found || t.endsAfter(here, last) {
				last, found = here, true
			}
		}
	}
	var path []at
	for found {
		path = append(path, last)
		last, found = t.before(last, rows)
	}
	slices.Reverse(path)
	return path
}

// before returns the step for whose end a step has waited: of those that it comes after, the one
// that ended last. Each begins before the step does, so that a path comes to its end whatever a
// report says.
func (t Timeline) before(place at, rows map[string]int) (at, bool) {
	step := t.step(place)
	latest, found := at{}, false
	consider := func(r int) {
		for s := len(t.Rows[r].Steps) - 1; s >= 0; s-- {
			here := at{r, s}
			if here == place || !t.step(here).Started.Before(step.Started) {
				continue
			}
			if !found || t.endsAfter(here, latest) {
				latest, found = here, true
			}
			return
		}
	}
	consider(place.row)
	for _, name := range step.After {
		if r, known := rows[name]; known {
			consider(r)
		}
	}
	return latest, found
}

// endsAfter reports whether a step ended after another one, or as it did and began later.
func (t Timeline) endsAfter(a, b at) bool {
	return cmp.Or(t.step(a).Ended().Compare(t.step(b).Ended()), t.step(a).Started.Compare(t.step(b).Started)) > 0
}

func (t Timeline) step(place at) *Step { return &t.Rows[place.row].Steps[place.step] }

// bounds returns the beginning of the first step and the end of the last one.
func (t Timeline) bounds() (begin, end time.Time) {
	for _, row := range t.Rows {
		for _, step := range row.Steps {
			if begin.IsZero() || step.Started.Before(begin) {
				begin = step.Started
			}
			if step.Ended().After(end) {
				end = step.Ended()
			}
		}
	}
	return begin, end
}
