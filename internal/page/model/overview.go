// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/fleet/overview"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// Overview is the page of all units.
type Overview struct {
	Pages
	Units    []Unit
	Concerns []Concern // numbers by kind, over all units
	Problems []string  // why units could not be listed
	Sets     []SetRow  // on its first page
}

// Unit is a row of the overview, and the head of the pages of a unit.
type Unit struct {
	ID         string // that links have; not for people
	Name       string
	Directory  string
	IsStack    bool
	Changed    Time
	Age        string
	By         string
	Operation  string
	Serial     string
	Components string
	Objects    string
	Drift      string
	Drifted    []string // objects
	Status     []Concern
	Waiting    bool
	Running    bool
	Problem    string // the whole error
}

// Concern is a matter that somebody should look at, or a number of them.
type Concern struct {
	Class string // of the style
	Text  string
}

// concernClasses are the looks of concerns.
var concernClasses = map[overview.Kind]string{
	overview.Failed: "bad", overview.InDoubt: "bad", overview.WasCutOff: "bad", overview.Working: "busy", overview.Waits: "attention",
	overview.Drifted: "attention", overview.InPart: "attention", overview.NotDeclared: "attention", overview.ToDestroy: "attention",
	overview.NotRead: "quiet",
}

// NewOverview returns the page that is asked for.
func NewOverview(units []overview.Unit, q Query, now time.Time, problems []string) Overview {
	var matching []*overview.Unit
	numbers := map[overview.Kind]int{}
	for i := range units {
		u := &units[i]
		for _, concern := range u.Concerns() {
			numbers[concern.Kind]++
		}
		if q.matches(append([]string{u.Name, u.Directory, u.Deployment, u.Group}, u.Tags...)...) {
			matching = append(matching, u)
		}
	}
	page := Overview{Problems: texts(problems)}
	for _, kind := range []overview.Kind{
		overview.Failed, overview.InDoubt, overview.WasCutOff, overview.Working, overview.Waits, overview.Drifted, overview.NotDeclared,
	} {
		if n := numbers[kind]; n > 0 {
			page.Concerns = append(page.Concerns, Concern{concernClasses[kind], fmt.Sprintf("%d %s", n, kind)})
		}
	}
	var from, to int
	page.Pages, from, to = pageOf(q, len(matching))
	for _, u := range matching[from:to] {
		page.Units = append(page.Units, NewUnit(u, now))
	}
	return page
}

// NewUnit returns the shown parts of a unit.
func NewUnit(u *overview.Unit, now time.Time) Unit {
	unit := Unit{
		ID: u.Name, Name: Text(u.Name), Directory: Text(u.Directory), IsStack: u.Kind == rollout.Components, Drift: driftText(u, now),
		Waiting: u.Waiting != nil, Running: u.State.Running(),
	}
	if last := u.State.Last; last.Serial > 0 {
		unit.Changed, unit.Age, unit.Serial = NewTime(last.Started), show.Age(now.Sub(last.Started)), strconv.FormatInt(last.Serial, 10)
		unit.By, unit.Operation = by(last), Text(last.Operation)
	}
	if u.State.Known {
		unit.Objects = strconv.Itoa(u.State.Objects)
		if unit.IsStack {
			unit.Components = strconv.Itoa(u.State.Components)
		}
	}
	if u.Drift != nil {
		for i, object := range u.Drift.Objects {
			if i == mostRows {
				unit.Drifted = append(unit.Drifted, fmt.Sprintf("and %d more", len(u.Drift.Objects)-i))
				break
			}
			address := strings.TrimPrefix(object.Component+"."+object.Address, ".")
			unit.Drifted = append(unit.Drifted, Text(fmt.Sprintf("%s: %s %s", address, object.Action, strings.Join(object.Attributes, ", "))))
		}
	}
	for _, concern := range u.Concerns() {
		unit.Status = append(unit.Status, Concern{concernClasses[concern.Kind], Text(concern.Text)})
	}
	if problem := u.Problem(); problem != nil {
		unit.Problem = Text(problem.Summary + ": " + problem.Detail)
	}
	if len(unit.Status) == 0 {
		unit.Status = []Concern{{"good", "ok"}}
		if u.State.Last.Serial == 0 {
			unit.Status = []Concern{{"quiet", "nothing was applied"}}
		}
	}
	return unit
}

func by(v statestore.Version) string {
	if v.Owner == "" {
		return ""
	}
	return Text(v.Owner + "@" + v.Host)
}

func driftText(u *overview.Unit, now time.Time) string {
	switch {
	case u.Drift == nil:
		return "not looked for"
	case u.Outdated():
		return "not since the apply"
	case u.Drift.Found:
		return count(len(u.Drift.Objects), "object") + ", " + show.Ago(now.Sub(u.Drift.At))
	}
	return "none, " + show.Ago(now.Sub(u.Drift.At))
}

// Serial is a row of a history.
type Serial struct {
	Number     int64
	Operation  string
	Plan       string // that was saved; "" for none
	ApprovedBy string
	By         string
	Started    Time
	Took       string
	Unfinished bool
	Changed    string
}

// NewSerial returns the row of a serial.
func NewSerial(v statestore.Version) Serial {
	cause := deployment.CauseOf(v)
	took := "unfinished"
	if !v.Unfinished() {
		took = v.Finished.Sub(v.Started).Round(100 * time.Millisecond).String()
	}
	return Serial{
		v.Serial, Text(cause.Operation), cause.Plan, Text(cause.ApprovedBy), by(v), NewTime(v.Started), took,
		v.Unfinished(), fmt.Sprintf("%d of %d", v.Changed, v.Total),
	}
}

// History is the page of the serials of a unit, the newest first.
type History struct {
	Pages
	Unit    Unit
	Serials []Serial
}

// NewHistory returns the page that is asked for. The versions are oldest first.
func NewHistory(unit Unit, versions []statestore.Version, q Query) History {
	page := History{Unit: unit}
	var matching []Serial
	for i := len(versions) - 1; i >= 0; i-- {
		if v := versions[i]; q.matches(v.Operation, v.Owner, v.Host, strconv.FormatInt(v.Serial, 10)) {
			matching = append(matching, NewSerial(v))
		}
	}
	var from, to int
	page.Pages, from, to = pageOf(q, len(matching))
	page.Serials = matching[from:to]
	return page
}
