// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package provision

import (
	"bytes"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// The most that is kept of the output, for messages about failures, and of a line, in bytes.
const (
	maxTail = 8 << 10
	maxLine = 64 << 10
)

// output passes on the output of a command, line by line. Both streams of the command may be it.
type output struct {
	req    *applying.ProvisionRequest
	hidden bool

	mu struct {
		sync.Mutex
		line []byte // begun
		tail []byte
	}
}

// Write implements [io.Writer].
func (o *output) Write(data []byte) (int, error) {
	if o.hidden {
		return len(data), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.tail = append(o.mu.tail, data...)
	if over := len(o.mu.tail) - maxTail; over > 0 {
		o.mu.tail = append(o.mu.tail[:0], o.mu.tail[over:]...)
	}
	for part := range bytes.Lines(data) {
		o.mu.line = append(o.mu.line, part...)
		if bytes.HasSuffix(part, []byte("\n")) || len(o.mu.line) > maxLine {
			o.flush()
		}
	}
	return len(data), nil
}

// flush passes on the line that was begun. o.mu must be held.
func (o *output) flush() {
	line := strings.TrimRight(strings.ToValidUTF8(string(o.mu.line), "\uFFFD"), "\r\n")
	o.mu.line = o.mu.line[:0]
	o.say(line)
}

// end passes on the last line, which may have no end.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.mu.line) > 0 {
		o.flush()
	}
}

// tail returns the last of the output.
func (o *output) tail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.ToValidUTF8(string(o.mu.tail), "\uFFFD")
}

// say passes on a line.
func (o *output) say(line string) {
	o.req.Observe.Observe(engine.Event{
		Type: engine.ProvisionProgress, Resource: o.req.Place.Resource,
		Message: o.req.Place.Resource + ": (" + o.req.Config.Type + "): " + line,
	})
}
