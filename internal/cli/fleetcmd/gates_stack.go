// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/stackcmd"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// stackViews are those that are not closed. Safe for concurrent use.
type stackViews struct {
	mu struct {
		sync.Mutex
		open map[*stackView]bool
	}
}

func (s *stackViews) set(view *stackView, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.open == nil {
		s.mu.open = map[*stackView]bool{}
	}
	if open {
		s.mu.open[view] = true
	} else {
		delete(s.mu.open, view)
	}
}

// lost says for each stack that is being worked on what would be lost if the program ended now.
func (s *stackViews) lost() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts []string
	for view := range s.mu.open {
		texts = append(texts, textstyle.Name(view.unit)+": "+view.Running.Lost())
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

// stackView shows a phase of the work on a stack under its name, as the command for it shows it in the directory of the stack.
type stackView struct {
	*stackcmd.Execution
	gates  *gates
	unit   string
	output *show.NodeOutput
}

var _ driver.View = (*stackView)(nil)

// showStack begins to show a phase.
func (g *gates) showStack(unit, phase string, options *operation.Options) driver.View {
	output := g.output.Node(unit)
	output.Phase(phase)
	s := g.session.Part(unit, session.Streams{Out: output.Out, Err: output.Err}, options)
	s.ListsProviders = true // before a plan
	view := &stackView{stackcmd.NewExecution(s, phase, &stackcmd.PlanFlags{}), g, unit, output}
	g.inFlight.set(view, true)
	return view
}

// Prepared implements [driver.View].
func (v *stackView) Prepared(packages []bundle.Package, with operation.Versions) {
	stackcmd.ShowFetched(v.Session, packages)
	stackcmd.ShowInstalled(v.Session, with)
}

// Again implements [driver.View].
func (v *stackView) Again() { v.View.NextRound() }

// Caller implements [driver.View].
func (v *stackView) Caller() operation.Caller {
	caller := v.Execution.Caller()
	caller.Unchanged = v.SavedChangesNothing
	return caller
}

// Plan implements [driver.View].
func (v *stackView) Plan(plan *stackplan.Plan) error {
	return failure.AsError(operation.Diagnostics(v.View.Plan(plan, nil)))
}

// Report implements [driver.View].
func (v *stackView) Report(diags hcl.Diagnostics) error { return v.Session.Report(diags) }

// Close implements [driver.View].
func (v *stackView) Close() error {
	v.gates.inFlight.set(v, false)
	return v.output.Close()
}
