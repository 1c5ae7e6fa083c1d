// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
)

// fetching are the packages of providers that are arriving. On a terminal they have one line, which
// is the last one, for as long as it takes.
type fetching struct {
	mu struct {
		sync.Mutex
		arriving []notice.ProviderFetch
		drawn    bool
		at       time.Time // when it was drawn last
	}
}

// redrawTime is the time between two drawings of the line.
const redrawTime = 100 * time.Millisecond

// noteFetch shows which package is fetched.
func (s *Session) noteFetch(n notice.ProviderFetch) {
	if !s.drawsFetches() {
		if n.Stage == selection.Begun {
			s.noteWork(eventtext.ProviderFetch(n.ID.String(), n.Platform.String(), -1, -1))
		}
		return
	}
	if n.Stage == selection.Begun {
		n.Done, n.Total = -1, -1
	}
	f := &s.fetching
	f.mu.Lock()
	defer f.mu.Unlock()
	same := func(other notice.ProviderFetch) bool { return other.ID == n.ID && other.Platform == n.Platform }
	i := slices.IndexFunc(f.mu.arriving, same)
	switch {
	case n.Stage == selection.Fetched:
		f.mu.arriving = slices.DeleteFunc(f.mu.arriving, same)
	case i < 0:
		f.mu.arriving = append(f.mu.arriving, n)
	default:
		f.mu.arriving[i] = n
	}
	now := time.Now()
	if n.Stage == selection.Arriving && now.Sub(f.mu.at) < redrawTime {
		return
	}
	f.mu.at = now
	s.clearFetches()
	if n.Stage == selection.Fetched {
		fmt.Fprint(s.Streams.Err, fold(s.Streams.Err, eventtext.ProviderFetched(n.ID.String(), n.Platform.String())+"\n"))
	}
	if len(f.mu.arriving) > 0 {
		fmt.Fprint(s.Streams.Err, ansi.Truncate(fetchLine(f.mu.arriving), TerminalSize(s.Streams.Err).Width-1, ""))
		f.mu.drawn = true
	}
}

// fetchLine is the line for the providers that are arriving.
func fetchLine(arriving []notice.ProviderFetch) string {
	first := arriving[0]
	if len(arriving) == 1 {
		return eventtext.ProviderFetch(first.ID.String(), first.Platform.String(), first.Done, first.Total)
	}
	var done, total int64
	for _, one := range arriving {
		done += max(one.Done, 0)
		if total >= 0 && one.Total >= 0 {
			total += one.Total
		} else {
			total = -1
		}
	}
	return eventtext.ProviderFetches(len(arriving), done, total)
}

// drawsFetches reports whether there is a terminal on which a line can be drawn, and nothing else
// is.
func (s *Session) drawsFetches() bool {
	return os.Getenv("CI") == "" && !s.Options.JSON && s.live.Load() == nil && s.ViewOptions(s.Streams.Err).Color
}

// endFetches takes the line off the screen, so that something else can be written.
func (s *Session) endFetches() {
	f := &s.fetching
	f.mu.Lock()
	defer f.mu.Unlock()
	s.clearFetches()
}

// clearFetches is endFetches with the lock held.
func (s *Session) clearFetches() {
	if s.fetching.mu.drawn {
		fmt.Fprint(s.Streams.Err, "\r"+ansi.EraseLineRight)
		s.fetching.mu.drawn = false
	}
}
