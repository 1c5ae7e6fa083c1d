// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package model

import (
	"strings"

	"github.com/cairnstacks/cairn/internal/fleet/savedplan"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Plan is the page of a plan.
type Plan struct {
	Pages
	Unit       *Unit // nil for a plan of no unit that is listed
	Number     string
	File       string
	Mode       string
	Made       Time
	Engine     string
	Counts     string
	Complete   bool
	Applyable  bool
	All        int // components in the plan
	Components []PlanComponent
	Outputs    []Row
	Waiting    bool   // it is the one that waits for approval
	ID         string // by which the history names it; "" for a root module
	Identity   string // in whole
	IsRoot     bool
	Omitted    string   // why values are left out
	Set        *SetLink // nil for a plan of no set
}

// PlanComponent is a component of which something changes.
type PlanComponent struct {
	Address, Source, Verb, Counts string
	Symbols                       []string // each once, in the order of the changes
	Changes                       []PlanChange
	More                          int // changes that are not shown
	Open                          bool
}

// PlanChange is the change of a resource instance.
type PlanChange struct {
	Symbol, Class string
	Title         string
	Notes         []string
	Rows          []Row
	More          int // rows that are not shown
	Unchanged     int
	Drift         bool
}

// Row is a part of a value that changes.
type Row struct {
	Path, Symbol, Class string
	Before, After       string
	Cut, Replace        bool
}

var symbolClasses = map[string]string{
	"+": "create", "~": "update", "-": "delete", "-/+": "replace", "+/-": "replace", "<=": "read", ".": "forget", "+/.": "replace",
}

// openUpTo is the number of components up to which they are shown unfolded.
const openUpTo = 3

// NewPlan returns the page of a plan that is asked for.
func NewPlan(saved *savedplan.Plan, q Query) Plan {
	plan := saved.Shown()
	page := Plan{
		Mode: plan.Mode.String(), Made: NewTime(plan.Timestamp), Engine: Text(strings.TrimSpace(plan.Engine.Name + " " + plan.Engine.Version)),
		Counts: eventtext.PlanCounts(plan.Counts()), Complete: plan.Complete, Applyable: plan.Applyable, All: len(plan.Components),
		Outputs: newRows(views.PlannedOutputs(plan, mostValue)), IsRoot: saved.IsRoot,
		ID: stackplan.ShortIdentity(saved.Made.Identity), Identity: saved.Made.Identity,
	}
	if saved.Private {
		page.Omitted = savedplan.ValuesOmitted
	}
	var matching []views.PlannedComponent
	for _, c := range views.PlannedComponents(plan) {
		if kept := matchingChanges(c, q); kept != nil {
			matching = append(matching, *kept)
		}
	}
	var from, to int
	page.Pages, from, to = pageOf(q, len(matching))
	for _, c := range matching[from:to] {
		one := newPlanComponent(c)
		if page.IsRoot {
			one.Address, one.Verb = Text(saved.Name), "" // the module, which has no address
		}
		one.Open = len(matching) <= openUpTo || q.Search != ""
		page.Components = append(page.Components, one)
	}
	return page
}

// matchingChanges returns a component with the changes that a search is for: all if it is for the
// component; nil if there are none.
func matchingChanges(c views.PlannedComponent, q Query) *views.PlannedComponent {
	address := c.Addr.String()
	if q.matches(address) {
		return &c
	}
	var kept []views.PlannedChange
	for _, change := range c.Changes {
		if q.matches(address + "." + change.Address()) {
			kept = append(kept, change)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	c.Changes = kept
	return &c
}

// mostChanges is how many changes of one component are shown.
const mostChanges = 50

func newPlanComponent(c views.PlannedComponent) PlanComponent {
	one := PlanComponent{
		Address: Text(c.Addr.String()), Source: Text(c.Source), Verb: Text(c.Verb), Counts: eventtext.PlanCounts(c.Counts()),
	}
	seen := map[string]bool{}
	for i, change := range c.Changes {
		if !seen[change.Symbol] && change.Symbol != "" {
			seen[change.Symbol] = true
			one.Symbols = append(one.Symbols, change.Symbol)
		}
		if i >= mostChanges {
			one.More++
			continue
		}
		rows, unchanged := valuediff.Rows(change.Values(), mostValue)
		shown := PlanChange{
			Symbol: change.Symbol, Class: symbolClasses[change.Symbol], Title: Text(change.Lines[0]), Notes: texts(change.Lines[1:]),
			Unchanged: unchanged, Drift: change.Drift,
		}
		if len(rows) > mostRows {
			shown.More, rows = len(rows)-mostRows, rows[:mostRows]
		}
		shown.Rows = newRows(rows)
		one.Changes = append(one.Changes, shown)
	}
	return one
}

func newRows(rows []valuediff.Row) []Row {
	made := make([]Row, len(rows))
	for i, r := range rows {
		made[i] = Row{Text(r.Path), r.Symbol(), symbolClasses[r.Symbol()], r.Before, r.After, r.Cut, r.Replace}
	}
	return made
}
