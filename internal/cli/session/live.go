// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/cairnstacks/cairn/internal/views/live"
)

// CanRedraw reports whether standard output is a terminal that obeys commands, with a person before
// it.
func (s *Session) CanRedraw() bool {
	return os.Getenv("CI") == "" && s.ViewOptions(s.Streams.Out).Color
}

func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func TerminalSize(w io.Writer) live.Size {
	file, ok := w.(*os.File)
	if !ok {
		return live.Size{}
	}
	width, height, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return live.Size{}
	}
	return live.Size{Width: width, Height: height}
}

// ShowLive shows a display while work runs. Notes are printed above it.
func (s *Session) ShowLive(display *live.Display, work func()) {
	s.live.Store(display)
	defer s.live.Store(nil)
	defer stoppable(display)()
	display.During(work)
}

// DuringWork shows on a terminal that work goes on, and for how long.
func (s *Session) DuringWork(title string, work func()) {
	if !s.CanRedraw() {
		work()
		return
	}
	started := time.Now()
	s.ShowLive(live.NewDisplay(s.Streams.Out, live.Options{
		Size: func() live.Size { return TerminalSize(s.Streams.Out) },
		Frame: func(now time.Time, size live.Size) []string {
			return []string{ansi.Truncate(fmt.Sprintf("%s... %s", title, live.Elapsed(now, started)), size.Width, "")}
		},
	}), work)
}
