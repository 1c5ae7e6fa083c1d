// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/show"
)

// checkExplained checks the arguments and options of a question about one stack or two.
func checkExplained(args []string, o treeOptions) error {
	switch {
	case len(args) == 2 && o.selects():
		return failure.Error("Conflicting options", "Which of two stacks runs first does not depend on the selection. "+
			"Leave out the options for that, or name one stack, to learn why it is selected.")
	case len(args) == 1 && o.plugins.dir != "":
		return failure.Error("Missing argument",
			"Tasks of plugins are selected by their roles only. Name two of them, to learn which one is first.")
	}
	return nil
}

// selectionStep is the reason for selecting one stack. The following steps give that for the stack
// that it names.
type selectionStep struct {
	Name     string      `json:"name"`
	Selected bool        `json:"selected"`
	Reasons  []string    `json:"reasons"`
	By       string      `json:"by,omitempty"`    // by which it is added
	Place    *show.Place `json:"place,omitempty"` // where that is written
}

// selectionSteps returns the reasons for selecting a unit, back to one that is selected without
// others.
func selectionSteps(src *fleet.Source, unit *fleet.Unit, o treeOptions) []selectionStep {
	var steps []selectionStep
	for ; unit != nil; unit = unit.By {
		step := selectionStep{Name: unit.Name, Selected: src.Selected[unit], Reasons: []string{}}
		for _, reason := range unit.Reasons {
			if step.Selected {
				step.Reasons = append(step.Reasons, reason.Text)
			}
		}
		switch {
		case !step.Selected:
			step.Reasons = append(step.Reasons, o.leftOut())
		case unit.Wanted != "":
			step.Reasons = append(step.Reasons, unit.Wanted)
		case len(step.Reasons) == 0:
			step.Reasons = append(step.Reasons, o.chosenBy())
		}
		if unit.By != nil {
			step.By = unit.By.Name
			if unit.ByAt.File != "" {
				step.Place = &show.Place{File: unit.ByAt.File, Line: unit.ByAt.Line, Column: unit.ByAt.Column}
			}
		}
		steps = append(steps, step)
	}
	return steps
}

// chosenBy is the reason for a selected stack that has no other.
func (o *treeOptions) chosenBy() string {
	if !o.selects() {
		return "everything is asked for"
	}
	return "the options ask for it"
}

// leftOut returns the reason for not selecting a stack.
func (o *treeOptions) leftOut() string {
	if !o.selects() {
		return "it is not in this directory"
	}
	return "the options do not ask for it, or it is not in this directory"
}

// selectionDocument is the output of cairn order explain -json about one stack.
type selectionDocument struct {
	FormatVersion string                  `json:"format_version"`
	Selection     []selectionStep         `json:"selection"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}

func writeSelection(s *session.Session, o *ordering, node int, options treeOptions) error {
	steps := selectionSteps(o.source, o.source.Order.Steps[node].Unit, options)
	if s.Options.JSON {
		return document.WriteDocument(s.Streams.Out, selectionDocument{document.FormatVersion, steps, diagnostic.All(o.diags, s.Sources())}, true)
	}
	for _, step := range steps {
		what := "is selected"
		if !step.Selected {
			what = "is not selected"
		}
		s.Line("%s %s:", step.Name, what)
		place := ""
		if step.Place != nil {
			place = " (" + order.Place{File: step.Place.File, Line: step.Place.Line, Column: step.Place.Column}.String() + ")"
		}
		for _, reason := range step.Reasons {
			s.Print("  %s%s\n", safetext.Name(reason), safetext.Name(place))
		}
	}
	return s.Report(o.diags)
}
