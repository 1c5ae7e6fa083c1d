// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package overview

import (
	"cmp"
	"fmt"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// Kind is the kind of a concern.
type Kind string

// The kinds of concerns, the most urgent ones first.
const (
	Failed      Kind = "error"
	InDoubt     Kind = "in doubt" // objects of which nobody knows whether a cut off apply has changed them
	WasCutOff   Kind = "cut off"
	Working     Kind = "running"
	Waits       Kind = "waiting" // for approval
	Drifted     Kind = "drifted"
	InPart      Kind = "applied in part"
	NotDeclared Kind = "not declared"
	ToDestroy   Kind = "destroy"
	NotRead     Kind = "not read"
)

// Concern is something about a unit that somebody should look at.
type Concern struct {
	Kind Kind
	Text string // a clause
}

// Concerns returns those of a unit, the most urgent ones first.
func (u *Unit) Concerns() []Concern {
	var all []Concern
	add := func(kind Kind, text string, args ...any) {
		all = append(all, Concern{kind, fmt.Sprintf(text, args...)})
	}
	s := &u.State
	if problem := u.Problem(); problem != nil {
		add(Failed, "%s", problem.Summary)
	}
	doubts := 0
	for _, objects := range s.Remembered.Doubts {
		doubts += len(objects)
	}
	if doubts > 0 {
		add(InDoubt, "%s in doubt after an apply that was cut off", count(doubts, "object"))
	}
	if lost := len(s.Remembered.Lost); lost > 0 {
		add(InDoubt, "%s lost of applies that were cut off", count(lost, "journal"))
	}
	if s.CutOff() {
		add(WasCutOff, "%s was cut off", cmp.Or(deployment.CauseOf(s.Last).Operation, "apply"))
	}
	for i := range s.Holders {
		add(Working, "%s", holderText(&s.Holders[i]))
	}
	switch {
	case u.Waiting == nil:
	case s.Last.Started.After(u.Waiting.Saved): // of other parts, or by this plan
		add(Waits, "a plan was saved for approval before the last change")
	default:
		add(Waits, "a plan waits for approval")
	}
	if u.Drift != nil && u.Drift.Found && !u.Outdated() {
		add(Drifted, "drifted: %s", count(len(u.Drift.Objects), "object"))
	}
	if n := len(s.Begun); n > 0 && !s.Running() {
		add(InPart, "%s applied in part", count(n, "saved plan"))
	}
	if !u.Declared {
		add(NotDeclared, "no block declares it")
	}
	if u.Destroy && s.Components > 0 {
		add(ToDestroy, "the next apply destroys it")
	}
	if s.Unread != "" {
		add(NotRead, "%s", s.Unread)
	}
	return all
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func holderText(h *statestore.LockInfo) string {
	verb := "runs"
	switch {
	case h.Process() == statestore.ProcessGone:
		verb = "was left"
	case h.Operation == deployment.Plan:
		verb = "reads"
	}
	return fmt.Sprintf("%s %s, by %s on %s", h.Operation, verb, h.Owner, h.Host)
}
