// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// Screen is where the work of a call is shown to a person who is somewhere else. Safe for
// concurrent use.
type Screen struct {
	Unit     string
	Dir      string // of the unit, with its files
	View     View
	Out, Err io.Writer
	Files    map[string]*hcl.File // that values of variables are from

	say func([]byte)
	mu  struct {
		sync.Mutex
		pending report // whose text is not said yet
		since   time.Time
	}
}

func newScreen(asked *request, say func([]byte)) *Screen {
	s := &Screen{Unit: asked.Unit.Name, View: asked.View, say: say, Files: map[string]*hcl.File{}}
	s.Out, s.Err = writer{s, false}, writer{s, true}
	if asked.Inputs != nil {
		for name, source := range asked.Inputs.Files {
			s.Files[name] = &hcl.File{Bytes: source}
		}
	}
	return s
}

// writer is one of the streams of a screen.
type writer struct {
	screen *Screen
	isErr  bool
}

// Write implements [io.Writer]. Text that follows soon, in the same stream, is said together.
func (w writer) Write(text []byte) (int, error) {
	s := w.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	to, other := &s.mu.pending.Out, s.mu.pending.Err
	if w.isErr {
		to, other = &s.mu.pending.Err, s.mu.pending.Out
	}
	if len(other) > 0 || time.Since(s.mu.since) > together {
		s.send()
	}
	if len(*to) == 0 {
		s.mu.since = time.Now()
	}
	*to = append(*to, bytes.Clone(text)...)
	return len(text), nil
}

// together is the time in which texts are said together.
const together = 300 * time.Millisecond

// send says the text that is not said yet. The caller has the lock.
func (s *Screen) send() {
	if len(s.mu.pending.Out) == 0 && len(s.mu.pending.Err) == 0 {
		return
	}
	s.report(s.mu.pending)
	s.mu.pending = report{}
}

func (s *Screen) report(r report) {
	if content, err := wire.Encode(r); err == nil { // all of it is data
		s.say(content)
	}
}

// flush says all that was written.
func (s *Screen) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send()
}

// diagnostics shows diagnostics that no view reports.
func (s *Screen) diagnostics(diags hcl.Diagnostics) {
	options := views.Options{Color: s.View.Err.Color, Width: s.View.Err.Width}
	_ = views.WriteDiagnostics(s.Err, diags, diagnostic.Sources{}, options) //nolint:errcheck // a screen cannot fail
}

// worked reports work on a component.
func (s *Screen) worked(work timeline.Work) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send()
	s.report(report{Work: &work})
}

// stackView reports when components are worked on, besides what another view shows.
type stackView struct {
	driver.View
	screen *Screen
}

// Caller implements [driver.View].
func (v *stackView) Caller() operation.Caller {
	caller := v.View.Caller()
	show := caller.During
	caller.During = func(phase string, work func(hooks.Hooks)) {
		show(phase, func(watch hooks.Hooks) {
			watch.ComponentWork = timeline.Following(v.screen.worked).Within(watch.ComponentWork)
			work(watch)
		})
	}
	return caller
}
