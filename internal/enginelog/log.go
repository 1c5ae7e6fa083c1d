// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginelog

import (
	"os"

	"github.com/hashicorp/go-hclog"
)

// Log is a log that is written by this program. Made by [Open]. Safe for concurrent use. Nil is no
// log.
type Log struct {
	file          *os.File
	request       Request
	core, program hclog.Logger // nil for those that are not asked for
}

// Open returns the log that an environment asks for, nil if it does not. The caller closes it.
//
// Errors: a [*FileError].
func Open(env []string, workDir string) (*Log, error) {
	request := Read(env)
	if !request.Asked() {
		return nil, nil
	}
	file, err := request.Open(workDir)
	if err != nil {
		return nil, err
	}
	l := &Log{
		file: file, request: request,
		core: request.logger(file, "cairn", request.Core), program: request.logger(file, "provider", request.Provider),
	}
	for _, unknown := range request.unknown {
		request.logger(file, "cairn", hclog.Trace).Warn("there is no such level, so that all is written; "+
			"levels are TRACE, DEBUG, INFO, WARN, ERROR, OFF and JSON", "asked", unknown)
	}
	return l, nil
}

func (r Request) logger(file *os.File, name string, level hclog.Level) hclog.Logger {
	if level == hclog.NoLevel {
		return nil
	}
	return hclog.New(&hclog.LoggerOptions{Name: name, Level: level, Output: file, JSONFormat: r.JSON})
}

// Close closes the file. Later entries are dropped.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}

// Core is for the entries of cairn, nil if these are not asked for. See rule E3.
func (l *Log) Core() hclog.Logger {
	if l == nil {
		return nil
	}
	return l.core
}

// LevelOfProviders is [Request.LevelOfProviders] of the request for the log.
func (l *Log) LevelOfProviders() string {
	if l == nil {
		return Request{}.LevelOfProviders()
	}
	return l.request.LevelOfProviders()
}
