// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginelog

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// Lines returns a writer for the output of the program of a provider, nil if that is not asked for.
// Each line becomes an entry.
//
// go-plugin could do that, too, but it panics on a JSON object whose message is not a string.
func (l *Log) Lines(program string) io.Writer {
	if l == nil || l.program == nil {
		return nil
	}
	return &lines{logger: l.program.Named(program), program: program, json: l.request.JSON}
}

// maxLine is how much of a line without end is kept until it is written.
const maxLine = 1 << 20

type lines struct {
	logger  hclog.Logger
	program string
	json    bool

	mu struct {
		sync.Mutex
		part  []byte // of a line, as far as it was written
		panic bool   // a stack trace follows
	}
}

// Write implements [io.Writer].
func (w *lines) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range bytes.Lines(data) {
		w.mu.part = append(w.mu.part, line...)
		if bytes.HasSuffix(line, []byte("\n")) || len(w.mu.part) >= maxLine {
			w.entry(bytes.TrimRight(w.mu.part, "\r\n"))
			w.mu.part = w.mu.part[:0]
		}
	}
	return len(data), nil
}

// writtenLevel is the beginning of lines of the log package of the standard library, and of
// packages that use it.
var writtenLevel = regexp.MustCompile(`^[0-9/:. ]*\[(TRACE|DEBUG|INFO|WARN|ERROR)\] *`)

// entry writes one line. The caller holds the lock.
func (w *lines) entry(line []byte) {
	if len(line) == 0 {
		return
	}
	if message, level, pairs, ok := decode(line); ok {
		if w.json { // where the module of the entry takes the place of the logger's name
			pairs = append(pairs, "program", w.program)
		}
		w.logger.Log(level, message, pairs...)
		return
	}
	text := string(line)
	if written := writtenLevel.FindStringSubmatch(text); written != nil {
		w.logger.Log(hclog.LevelFromString(written[1]), strings.TrimPrefix(text, written[0]))
		return
	}
	w.mu.panic = w.mu.panic || strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ")
	if w.mu.panic {
		w.logger.Error(text)
		return
	}
	w.logger.Debug(text)
}

// decode returns an entry that the libraries of providers have encoded.
func decode(line []byte) (message string, level hclog.Level, pairs []any, ok bool) {
	if line[0] != '{' {
		return "", 0, nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil || decoder.More() {
		return "", 0, nil, false
	}
	message, ok = fields["@message"].(string)
	if !ok {
		return "", 0, nil, false
	}
	named, _ := fields["@level"].(string)
	if level = hclog.LevelFromString(named); level == hclog.NoLevel || level == hclog.Off {
		level = hclog.Debug
	}
	delete(fields, "@message")
	delete(fields, "@level")
	if at, found := fields["@timestamp"]; found { // this entry has one of its own
		fields["timestamp"] = at
		delete(fields, "@timestamp")
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		pairs = append(pairs, key, fields[key])
	}
	return message, level, pairs, true
}
