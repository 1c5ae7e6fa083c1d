// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// TimeoutVariable is the environment variable that bounds how long a command that changes nothing
// may say nothing; 0 is forever.
const TimeoutVariable = "CAIRN_ENGINE_TIMEOUT"

// HungError says that a command that changes nothing was ended because it said nothing for too
// long.
type HungError struct {
	Command string // with the program's name or path
	Silence time.Duration
}

func (e *HungError) Error() string {
	return fmt.Sprintf("%s has printed nothing for %s, and was ended. It has changed nothing of the stack. If it needs more time, set %s "+
		"to more, such as 1h, or to 0 for no limit", e.Command, e.Silence, TimeoutVariable)
}

// SilenceLimit returns an environment's limit for the silence of a command; 0 is forever.
func SilenceLimit(environ []string, fallback time.Duration) (time.Duration, error) {
	limit := fallback
	for _, entry := range environ {
		text, ok := strings.CutPrefix(entry, TimeoutVariable+"=")
		if !ok || text == "" {
			continue
		}
		var err error
		if limit, err = time.ParseDuration(text); err != nil || limit < 0 {
			return 0, fmt.Errorf("%s is %q; set it to a duration such as 30m, or to 0 for no limit", TimeoutVariable, text)
		}
	}
	return limit, nil
}

// Silence ends a context when nothing was heard for too long.
type Silence struct {
	limit time.Duration
	timer *time.Timer // nil without a limit
}

// EndAfterSilence returns a context whose cause is a [*HungError] once nothing was heard for the
// time that the limit is; 0 is forever. The caller calls stop at last.
func EndAfterSilence(parent context.Context, command string, limit time.Duration) (ctx context.Context, silence *Silence, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	silence = &Silence{limit: limit}
	if limit > 0 {
		silence.timer = time.AfterFunc(limit, func() { cancel(&HungError{Command: command, Silence: limit}) })
	}
	return ctx, silence, func() {
		if silence.timer != nil {
			silence.timer.Stop()
		}
		cancel(nil)
	}
}

// Heard begins a new silence.
func (s *Silence) Heard() {
	if s.timer != nil && s.timer.Stop() { // not if it has ended the context
		s.timer.Reset(s.limit)
	}
}

// Capture keeps the first and the last bytes of a process's output. It must not be copied.
type Capture struct {
	Head, Tail int // bytes to keep of each; up to twice as many of the last are held

	// OnWrite is called after each write, with whether anything was left out so far. May be nil.
	OnWrite func(dropped bool)

	first, last []byte
	dropped     bool
}

// Write implements [io.Writer]. It takes everything.
func (o *Capture) Write(p []byte) (int, error) {
	if o.OnWrite != nil {
		defer func() { o.OnWrite(o.dropped) }()
	}
	room := min(o.Head-len(o.first), len(p))
	o.first = append(o.first, p[:room]...)
	o.last = append(o.last, p[room:]...)
	if excess := len(o.last) - o.Tail; excess > o.Tail {
		o.last = o.last[:copy(o.last, o.last[excess:])]
		o.dropped = true
	}
	return len(p), nil
}

// Bytes returns the kept bytes, with a note where something was left out.
func (o *Capture) Bytes() []byte {
	if !o.dropped {
		return append(o.first, o.last...)
	}
	return append(append(o.first, "\n"+omitted+"\n"...), o.last...)
}
