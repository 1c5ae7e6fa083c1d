// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/stackcmd"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// stackView shows a phase of the work on a stack under its name, as the command for it shows it in
// the directory of the stack.
type stackView struct {
	*stackcmd.PartView
	recorder *timeline.Recorder
}

var _ driver.View = stackView{}

// showStack begins to show a phase.
func (g *gates) showStack(unit, phase string, options *operation.Options) driver.View {
	output := g.output.Node(unit)
	output.Phase(phase)
	s := g.session.Part(unit, session.Streams{Out: output.Out, Err: output.Err}, options)
	s.ListsProviders = true // before a plan
	return stackView{g.inFlight.Open(s, unit, phase, stackcmd.ShownConcisely(g.options.concise), output), g.recorder(unit)}
}

// Caller implements [driver.View].
func (v stackView) Caller() operation.Caller {
	caller := v.PartView.Caller()
	show := caller.During
	caller.During = func(phase string, work func(hooks.Hooks)) {
		show(phase, func(watch hooks.Hooks) { work(v.recorder.Watch(watch)) })
	}
	return caller
}

// Prepared implements [driver.View].
func (v stackView) Prepared(packages []bundle.Package, with operation.Versions) {
	stackcmd.ShowFetched(v.Session, packages)
	stackcmd.ShowInstalled(v.Session, with)
}
