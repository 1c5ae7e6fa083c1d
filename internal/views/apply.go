// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"io"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// ApplySummary is the result of an apply.
type ApplySummary struct {
	Destroy     bool
	Interrupted bool // by the user
	Failed      bool // there were errors, whether or not a component has them
	InDoubt     bool // the fate of some objects is not known; diagnostics name them
	Unsaved     bool // the state could not be saved; diagnostics say where it is
	Components  []ComponentResult

	// Next names the way to go on with the same plan, or to accept a state in doubt; empty if there
	// is none.
	Next string

	// CriticalPath is that of the component instances, as a person reads it; empty leaves it out.
	CriticalPath string
}

// ComponentResult is the result of an apply for one component instance.
type ComponentResult struct {
	Addr   stackaddrs.AbsComponentInstance
	Status hooks.Status // the last one
	Counts stackplan.Counts

	// Because names the unmet prerequisites of a skipped component.
	Because []stackaddrs.AbsComponentInstance
}

// Counts adds up the changes of all components.
func (s ApplySummary) Counts() stackplan.Counts {
	var n stackplan.Counts
	for _, c := range s.Components {
		n = n.Plus(c.Counts)
	}
	return n
}

func (s ApplySummary) incomplete() bool {
	return s.Interrupted || s.Failed || s.Unsaved || slices.ContainsFunc(s.Components, func(c ComponentResult) bool {
		return outcomeOf(c.Status) != outcomeDone && outcomeOf(c.Status) != outcomeDeferred
	})
}

// The outcomes of components, in the order of their lists.
const (
	outcomeFailed      = "Failed"
	outcomeInterrupted = "Interrupted"
	outcomeSkipped     = "Skipped"
	outcomeNotStarted  = "Not started"
	outcomeDeferred    = "Deferred"
	outcomeDone        = "Done"
)

var outcomes = []string{outcomeFailed, outcomeInterrupted, outcomeSkipped, outcomeNotStarted, outcomeDeferred, outcomeDone}

func outcomeOf(status hooks.Status) string {
	switch status {
	case hooks.Applied:
		return outcomeDone
	case hooks.Failed:
		return outcomeFailed
	case hooks.Skipped:
		return outcomeSkipped
	case hooks.Deferred:
		return outcomeDeferred
	case hooks.Interrupted:
		return outcomeInterrupted
	}
	return outcomeNotStarted
}

// WriteApplySummary writes the changes that an apply has made, and when it did not make all of
// them, the outcome of each component. Diagnostics are not part of it, nor are the consequences of
// deferred changes.
func WriteApplySummary(w io.Writer, summary ApplySummary, options Options) error {
	p := newPage(options)
	components := slices.SortedStableFunc(slices.Values(summary.Components), func(a, b ComponentResult) int { return a.Addr.Compare(b.Addr) })
	if !summary.incomplete() {
		p.doneByComponent(components, summary.Destroy)
	}
	p.applyTotal(summary, summary.Counts())
	if summary.CriticalPath != "" {
		p.paragraph("Critical path: " + summary.CriticalPath + ".")
	}
	if summary.incomplete() {
		p.outcomes(components)
		switch {
		case summary.Unsaved:
		case summary.InDoubt:
			p.paragraph("All changes that are known to be complete are saved in the state. The errors name the objects in doubt: look at these, " +
				"and then go on with " + summary.Next + ".")
		case summary.Next != "":
			p.paragraph("All completed changes are saved in the state. Go on from there with the same plan, by " + summary.Next +
				", or with a new one.")
		default:
			p.paragraph("All completed changes are saved in the state. Plan again to go on from there.")
		}
	}
	return p.writeTo(w)
}

// applyTotal writes the numbers of changes made, and whether these are all.
func (p *page) applyTotal(summary ApplySummary, done stackplan.Counts) {
	verb, operation := "Apply", "apply"
	if summary.Destroy {
		verb, operation = "Destroy", "destroy"
	}
	counts := " Resources: " + eventtext.AppliedCounts(operation, done) + "." + eventtext.Invoked(done)
	switch {
	case !summary.incomplete():
		p.total(p.Bold(p.Green(verb+" complete!")) + counts)
	case summary.Interrupted:
		p.total(p.Bold(p.Yellow(verb+" interrupted.")) + counts)
	default:
		p.total(p.Bold(p.Red(verb+" incomplete.")) + counts)
	}
}

func (p *page) outcomes(components []ComponentResult) {
	for _, outcome := range outcomes {
		these := slices.DeleteFunc(slices.Clone(components), func(c ComponentResult) bool { return outcomeOf(c.Status) != outcome })
		if len(these) == 0 {
			continue
		}
		p.printf("%s:\n", p.outcomeColor(outcome))
		for _, c := range these {
			p.item(c.Addr.String() + p.Dim(resultNote(c)))
		}
		p.printf("\n")
	}
}

func (p *page) outcomeColor(outcome string) string {
	switch outcome {
	case outcomeFailed:
		return p.Red(outcome)
	case outcomeDone:
		return p.Green(outcome)
	}
	return p.Yellow(outcome)
}

func resultNote(c ComponentResult) string {
	if len(c.Because) > 0 {
		return " (because of " + strings.Join(causes(c.Because), ", ") + ")"
	}
	if n := c.Counts; n.Total() > 0 {
		return " (" + eventtext.AppliedCounts("apply", n) + ")"
	}
	return ""
}

// causes names component instances, those of one component together: which of them is needed is not
// known, as components require each other as a whole.
func causes(instances []stackaddrs.AbsComponentInstance) []string {
	of := map[stackaddrs.AbsComponent][]stackaddrs.AbsComponentInstance{}
	for _, addr := range instances {
		component := stackaddrs.ComponentOf(addr)
		of[component] = append(of[component], addr)
	}
	var names []string
	for component, these := range of {
		if len(these) > 1 {
			names = append(names, component.String())
		} else {
			names = append(names, these[0].String())
		}
	}
	slices.Sort(names)
	return names
}
