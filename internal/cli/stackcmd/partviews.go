// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// PartViews are the open views of one command's work. Safe for concurrent use.
type PartViews struct {
	mu struct {
		sync.Mutex
		open  map[*PartView]bool
		begun bool // in any that is closed
	}
}

// Open begins to show a phase of the work on one of several under its name. The output is closed
// with the view; nil for none.
func (p *PartViews) Open(s *session.Session, name, phase string, flags *PlanFlags, output *show.NodeOutput) *PartView {
	view := &PartView{Execution: NewExecution(s, phase, flags), all: p, name: name, output: output}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.open == nil {
		p.mu.open = map[*PartView]bool{}
	}
	p.mu.open[view] = true
	return view
}

// Begun reports whether the apply of any component of any of them was begun.
func (p *PartViews) Begun() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	begun := p.mu.begun
	for view := range p.mu.open {
		begun = begun || view.Running.Begun()
	}
	return begun
}

// Lost describes for each stack being worked on the loss if the program ended now.
func (p *PartViews) Lost() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var texts []string
	for view := range p.mu.open {
		texts = append(texts, safetext.Name(view.name)+": "+view.Running.Lost())
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

// PartView shows a phase of the work on one of several, as the command for it alone shows it.
type PartView struct {
	*Execution
	all    *PartViews
	name   string
	output *show.NodeOutput
}

var _ driver.View = (*PartView)(nil)

// Prepared implements [driver.View].
func (v *PartView) Prepared([]bundle.Package, operation.Versions) {}

// Again implements [driver.View].
func (v *PartView) Again() { v.View.NextRound() }

// Caller implements [driver.View].
func (v *PartView) Caller() operation.Caller {
	caller := v.Execution.Caller()
	caller.Unchanged = v.SavedChangesNothing
	return caller
}

// Plan implements [driver.View].
func (v *PartView) Plan(plan *stackplan.Plan) error {
	return failure.AsError(operation.Diagnostics(v.View.Plan(plan, nil)))
}

// Report implements [driver.View].
func (v *PartView) Report(diags hcl.Diagnostics) error { return v.Session.Report(diags) }

// Close implements [driver.View].
func (v *PartView) Close() error {
	v.all.mu.Lock()
	delete(v.all.mu.open, v)
	v.all.mu.begun = v.all.mu.begun || v.Running.Begun()
	v.all.mu.Unlock()
	if v.output == nil {
		return nil
	}
	return v.output.Close()
}
