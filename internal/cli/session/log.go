// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"log/slog"
	"os"
	"strings"

	"github.com/cairnstacks/cairn/internal/failure"
)

// The environment variables that ask for a log of cairn itself: its level, and a file instead of
// standard error.
const (
	logVariable     = "CAIRN_LOG"
	logPathVariable = "CAIRN_LOG_PATH"
)

// OpenLog makes the log that the environment asks for. It never has values of the configuration in
// it: only names, addresses, paths of files, and the ends of processes.
func (s *Session) OpenLog() error {
	text := strings.ToLower(os.Getenv(logVariable))
	if text == "" || text == "off" {
		return nil
	}
	var level slog.Level
	if text == "trace" { // as TF_LOG has it
		text = "debug"
	}
	if err := level.UnmarshalText([]byte(text)); err != nil {
		return failure.Error("Unknown log level",
			"%s is %q, and must be one of debug, info, warn and error.", logVariable, os.Getenv(logVariable))
	}
	options := &slog.HandlerOptions{Level: level}
	path := os.Getenv(logPathVariable)
	if path == "" {
		s.Log = slog.New(slog.NewTextHandler(noteWriter{s}, options))
		return nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return failure.Error("Log file not written", "The file that %s names cannot be written: %s.", logPathVariable, failure.Reason(err))
	}
	s.logFile = file
	s.Log = slog.New(slog.NewTextHandler(file, options))
	return nil
}

// noteWriter writes notes beside the output, also while there is a display on the terminal.
type noteWriter struct{ session *Session }

// Write implements [io.Writer].
func (w noteWriter) Write(line []byte) (int, error) {
	w.session.Note("%s", line)
	return len(line), nil
}
