// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"io"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/stackcmd"
	"github.com/cairnstacks/cairn/internal/cli/unitview"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/views"
)

// showStack begins to show a phase of the work on a stack under its name.
func (g *gates) showStack(unit, phase string, options *operation.Options) driver.View {
	output := g.output.Node(unit)
	output.Phase(phase)
	s := g.session.Part(unit, session.Streams{Out: output.Out, Err: output.Err}, options)
	s.ListsProviders = true // before a plan
	return unitview.Stack{
		PartView: g.inFlight.Open(s, unit, phase, stackcmd.ShownConcisely(g.options.concise), output),
		Watch:    g.recorder(unit).Watch,
	}
}

// showRoot begins to show a phase of the work on a root module under its name.
func (g *gates) showRoot(unit *rollout.Unit, phase string) driver.RootView {
	output := g.output.Node(unit.Name)
	output.Phase(phase)
	options := func(stream io.Writer) views.Options {
		options := g.session.ViewOptions(stream)
		options.Concise = g.options.concise
		if options.Width > 0 { // of which the name of the unit takes its part
			options.Width = max(options.Width-ansi.StringWidth(safetext.Name(unit.Name))-len(" | "), leastWidth)
		}
		return options
	}
	return unitview.NewRoot(output, unitview.RootOptions{
		Dir:   unit.Dir,
		Files: unit.Inputs.Sources(),
		Out:   options(g.session.Streams.Out),
		Err:   options(g.session.Streams.Err),
	})
}

// leastWidth is as few columns as there may be for text.
const leastWidth = 40
