// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/durable"
)

// The times that results wait for an intention that is copied or reported, too. Those of work that
// another session has asked for are lost with this process until they are reported, and those in a
// file only with the machine.
const (
	copyInterval   = time.Second
	reportInterval = 100 * time.Millisecond
)

// copies passes on what is added to a file, to somebody who keeps it elsewhere: all that is there
// before something is begun, and results from time to time. Nil passes on nothing. Safe for
// concurrent use.
type copies struct {
	added    func(context.Context, []byte) error
	interval time.Duration
	turn     sync.Mutex // held while a copy is made, so that the next one has all lines that were added meanwhile

	mu struct {
		sync.Mutex
		lines []byte // that were not copied yet
		timer *time.Timer
		ended bool
	}
}

// newCopies returns the copies of a file that was made just now, with all that it has.
func newCopies(f *file, added func(context.Context, []byte) error) (*copies, error) {
	c := &copies{added: added, interval: copyInterval}
	c.mu.lines = make([]byte, f.size)
	_, err := f.os.ReadAt(c.mu.lines, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return c, err
}

// add adds lines to those that are copied next.
func (c *copies) add(lines []byte) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.lines = append(c.mu.lines, lines...)
	if c.mu.timer == nil && !c.mu.ended {
		c.mu.timer = time.AfterFunc(c.interval, func() {
			_ = c.make() //nolint:errcheck // the next intention waits for it, and fails
		})
	}
}

// make copies all that was added, for all who wait. It needs no context: the store waits for a
// server that is away, and fails in the end.
func (c *copies) make() error {
	if c == nil {
		return nil
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	c.mu.Lock()
	lines := c.take()
	c.mu.Unlock()
	if len(lines) == 0 {
		return nil
	}
	err := c.added(context.Background(), lines)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.mu.lines = append(lines, c.mu.lines...)
	}
	return err
}

// take returns the lines that are copied next. c.mu must be held.
func (c *copies) take() []byte {
	if c.mu.timer != nil {
		c.mu.timer.Stop()
		c.mu.timer = nil
	}
	if c.mu.ended {
		return nil
	}
	lines := c.mu.lines
	c.mu.lines = nil
	return lines
}

// end ends copying, and waits for the copy that is being made.
func (c *copies) end() { c.rest() }

// rest ends copying, and returns the lines without a copy.
func (c *copies) rest() []byte {
	if c == nil {
		return nil
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.take()
	c.mu.ended = true
	return lines
}

// restore makes a file from its copy, which may have less than the file had. It reports false if
// the copy is none of a journal for the state.
func (j *Journal) restore(ctx context.Context, path string, content []byte) (bool, error) {
	s := signer{secret: j.mu.purpose.Secret}
	padded := append(content[:len(content):len(content)], padding) // as the file is
	read, err := s.read(ctx, bytes.NewReader(padded), j.keysOf(path))
	switch {
	case errors.Is(err, errForeign), errors.Is(err, errEmpty), err == nil && (len(read.records) == 0 || read.damage != ""):
		return false, nil
	case err != nil:
		return false, err
	}
	line, err := s.line(&record{Kind: restored})
	if err != nil {
		return false, err
	}
	line = append(line, padding)
	if err := durable.MakeDir(j.dir, 0o700); err != nil {
		return false, err
	}
	return true, durable.Replace(path, func(w io.Writer) error {
		_, err := w.Write(append(content[:read.size:read.size], line...))
		return err
	})
}
