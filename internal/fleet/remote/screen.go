// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/wire"
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

// Write implements [io.Writer]. Texts in the same stream that follow each other soon are said
// together, a moment later.
func (w writer) Write(text []byte) (int, error) {
	s := w.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	to, other := &s.mu.pending.Out, s.mu.pending.Err
	if w.isErr {
		to, other = &s.mu.pending.Err, s.mu.pending.Out
	}
	if len(other) > 0 {
		s.send()
	}
	if len(*to) == 0 {
		time.AfterFunc(together, s.flush) // it may be the last text for a long time, as that of what is waited for
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

// Note passes on a note to who has begun the run, whatever both make of it.
func (s *Screen) Note(content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send()
	s.report(report{Note: content})
}
