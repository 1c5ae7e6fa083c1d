// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workercmd

import (
	"encoding/json"
	"io"
	"maps"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/stackcmd"
	"github.com/cairnstacks/cairn/internal/cli/unitview"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/remote"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// screens show work as the person sees it who has begun the run.
type screens struct {
	session  *session.Session
	inFlight stackcmd.PartViews
}

// Stack implements [remote.Screens].
func (s *screens) Stack(screen *remote.Screen, phase string, options *operation.Options) driver.View {
	part := s.session.Part(screen.Unit, session.Streams{Out: screen.Out, Err: screen.Err}, options)
	part.ListsProviders = true // before a plan
	part.Viewer = &views.Options{Width: screen.View.Columns}
	maps.Copy(part.Files, screen.Files)
	return unitview.Stack{
		PartView: s.inFlight.Open(part, screen.Unit, phase, stackcmd.ShownConcisely(screen.View.Concise), nil),
		Watch: func(watch hooks.Hooks) hooks.Hooks {
			watch.ComponentWork = timeline.Following(func(work timeline.Work) { note(screen, work) }).Within(watch.ComponentWork)
			return watch
		},
	}
}

// note tells who has begun the run of work on a component.
func note(screen *remote.Screen, work timeline.Work) {
	if content, err := json.Marshal(work); err == nil { // it is plain data
		screen.Note(content)
	}
}

// Root implements [remote.Screens].
func (s *screens) Root(screen *remote.Screen, _ string) driver.RootView {
	stream := func(as remote.Stream) views.Options {
		return views.Options{Color: as.Color, Width: as.Width, Concise: screen.View.Concise}
	}
	return unitview.NewRoot(streams{screen}, unitview.RootOptions{
		Dir: screen.Dir, Files: screen.Files, Out: stream(screen.View.Out), Err: stream(screen.View.Err),
	})
}

// streams are those of a screen.
type streams struct{ screen *remote.Screen }

// Writers implements [unitview.Output].
func (s streams) Writers() (stdout, stderr io.Writer) { return s.screen.Out, s.screen.Err }

// Close implements [unitview.Output].
func (s streams) Close() error { return nil }
