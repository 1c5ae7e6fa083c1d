// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/planset"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// SavedSet is a set of plans, as far as its index, its progress and the states of its units tell.
type SavedSet struct {
	Number   int // in links
	Dir      string
	Set      *planset.Set // nil if it cannot be read
	Progress map[string]planset.Progress
	Refused  hcl.Diagnostics // why it cannot be read, or not be applied
	Changed  int             // units that are not applied, with states that were changed since
}

// progress says how far a unit was applied.
func (s *SavedSet) progress(unit string) planset.Progress { return s.Progress[unit] }

// Fit says whether the plan of a unit can be applied.
type Fit struct {
	Reason  error // why it cannot
	Unknown error // why that is not known
}

// SetRow is a row of the overview, and the head of the page of a set.
type SetRow struct {
	Number       int
	Directory    string
	Made         Time
	Age          string
	By           string
	Version      string
	Commit, Tree string
	Units        int
	Counts       string
	Status       []Concern
	Problems     []string // the whole reasons
}

// NewSetRow returns the row of a set.
func NewSetRow(s *SavedSet, now time.Time) SetRow {
	row := SetRow{Number: s.Number, Directory: Text(s.Dir)}
	for _, diag := range s.Refused {
		if status := (Concern{"bad", Text(diag.Summary)}); !slices.Contains(row.Status, status) {
			row.Status = append(row.Status, status)
		}
		if len(row.Problems) < mostProblems {
			row.Problems = append(row.Problems, problemText(diag))
		}
	}
	if more := len(s.Refused) - mostProblems; more > 0 {
		row.Problems = append(row.Problems, fmt.Sprintf("And %d more.", more))
	}
	if s.Set == nil {
		return row
	}
	row.Made, row.Age, row.By = NewTime(s.Set.Created), show.Age(now.Sub(s.Set.Created)), Text(s.Set.MadeBy)
	row.Version, row.Commit, row.Tree, row.Units = Text(s.Set.CairnVersion), Text(s.Set.Commit), Text(s.Set.Tree), len(s.Set.Units)
	var counts stackplan.Counts
	begun := 0
	for i := range s.Set.Units {
		if unit := &s.Set.Units[i]; unit.Counts != nil {
			counts = counts.Plus(*unit.Counts)
		}
		if s.progress(s.Set.Units[i].Name) == planset.Begun {
			begun++
		}
	}
	row.Counts = eventtext.PlanCounts(counts)
	if applied := s.Set.Applied(s.progress); applied != "" {
		row.Status = append(row.Status, Concern{"attention", applied})
	}
	if begun > 0 {
		row.Status = append(row.Status, Concern{"attention", count(begun, "plan") + " applied in part"})
	}
	if s.Changed > 0 {
		row.Status = append(row.Status, Concern{"attention", count(s.Changed, "state") + " changed since it was made"})
	}
	if len(row.Status) == 0 {
		row.Status = []Concern{{"good", "not applied yet"}}
	}
	return row
}

// mostProblems is how many reasons are shown of one set.
const mostProblems = 20

func problemText(diag *hcl.Diagnostic) string { return Text(diag.Summary + ": " + diag.Detail) }

// Set is the page of a set.
type Set struct {
	Pages
	SetRow
	Members []Member
}

// Member is the row of a unit of a set.
type Member struct {
	ID        string // that links have; not for people
	Place     int    // in the order of the set, from 1 on
	Name      string
	Kind      string
	Directory string
	Counts    string
	Removes   bool // it destroys or replaces objects
	After     []string
	Status    []Concern
	Problem   string // the whole reason

	unit *planset.Unit
}

// NewSet returns the page of a set that is asked for: units that destroy or replace something come
// first, all others in the order of the set.
func NewSet(s *SavedSet, q Query, now time.Time) Set {
	page := Set{SetRow: NewSetRow(s, now)}
	if s.Set == nil {
		page.Pages, _, _ = pageOf(q, 0)
		return page
	}
	var first, others []Member
	for i := range s.Set.Units {
		unit := &s.Set.Units[i]
		member := Member{ID: unit.Name, Place: i + 1, unit: unit, Removes: unit.Counts != nil && unit.Counts.Remove > 0}
		switch {
		case !q.matches(unit.Name, unit.Path):
		case member.Removes:
			first = append(first, member)
		default:
			others = append(others, member)
		}
	}
	all := slices.Concat(first, others)
	var from, to int
	page.Pages, from, to = pageOf(q, len(all))
	page.Members = all[from:to]
	for i := range page.Members {
		page.Members[i].fill(s)
	}
	return page
}

// fill adds the texts of a row that is shown.
func (m *Member) fill(s *SavedSet) {
	u := m.unit
	m.Name, m.Kind, m.Directory, m.After = Text(u.Name), Text(u.Kind), Text(strings.TrimPrefix(u.Path, "/")), texts(u.After)
	if len(m.After) > mostAfter {
		m.After = append(m.After[:mostAfter:mostAfter], fmt.Sprintf("and %d more", len(m.After)-mostAfter))
	}
	switch {
	case u.Counts != nil:
		m.Counts = eventtext.PlanCounts(*u.Counts)
	case u.Changes:
		m.Counts = "changes, which only its engine can count"
	default:
		m.Counts = "no changes"
	}
	switch s.progress(u.Name) {
	case planset.Done:
		m.Status = []Concern{{"quiet", "applied"}}
	case planset.Begun:
		m.Status = []Concern{{"attention", "applied in part"}}
	}
}

// mostAfter is how many predecessors of a unit are shown.
const mostAfter = 10

// Unchecked returns the shown units that no apply has begun with: the plans of these have to fit.
func (p *Set) Unchecked() []*planset.Unit {
	var units []*planset.Unit
	for i := range p.Members {
		if len(p.Members[i].Status) == 0 {
			units = append(units, p.Members[i].unit)
		}
	}
	return units
}

// AddFits adds whether the plans of [Set.Unchecked] fit, in their order.
func (p *Set) AddFits(fits []Fit) {
	unfit := 0
	for i := range p.Members {
		m := &p.Members[i]
		if len(m.Status) > 0 {
			continue
		}
		fit := fits[0]
		fits = fits[1:]
		switch {
		case fit.Reason != nil:
			unfit++
			m.refuse("bad", fit.Reason)
		case fit.Unknown != nil:
			m.refuse("quiet", fit.Unknown)
		default:
			m.Status = []Concern{{"good", "fits"}}
		}
	}
	if unfit > 0 {
		p.Status = append(p.Status, Concern{"bad", count(unfit, "plan") + " on this page cannot be applied any more"})
	}
}

func (m *Member) refuse(class string, reason error) {
	for _, diag := range operation.Diagnostics(reason) {
		m.Status, m.Problem = []Concern{{class, Text(diag.Summary)}}, problemText(diag)
		return
	}
}

// SetLink leads from the plan of a unit to its set.
type SetLink struct {
	Number    int
	Directory string
}
