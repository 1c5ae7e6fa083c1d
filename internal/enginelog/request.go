// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginelog

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/cairnstacks/cairn/internal/environ"
)

// The variables by which a log is asked for: a level for all, levels for parts that beat it, and a
// file.
const (
	variable         = "TF_LOG"
	coreVariable     = "TF_LOG_CORE"
	providerVariable = "TF_LOG_PROVIDER"
	PathVariable     = "TF_LOG_PATH"
)

// FileName is the name of the log in the working directory, where it is unless [PathVariable] names
// another file.
//
// Standard error is not a place for that: many components are worked on at the same time, and the
// standard error of engines is read for errors.
const FileName = "engine.log"

// Request has the levels and the file that an environment asks for. The zero value is no log.
type Request struct {
	Core, Provider hclog.Level // [hclog.NoLevel] for nothing
	JSON           bool        // one object a line

	path    string   // "" for the working directory
	unknown []string // levels that are none
}

// Read returns the request of an environment. An unknown level means all, as for terraform.
func Read(env []string) Request {
	var r Request
	all := level(&r, env, variable, hclog.NoLevel)
	r.Core = level(&r, env, coreVariable, all)
	r.Provider = level(&r, env, providerVariable, all)
	r.path = environ.Get(env, PathVariable)
	return r
}

// level reads one of the variables into a request, and returns the level that it stands for.
func level(r *Request, env []string, name string, unset hclog.Level) hclog.Level {
	value := environ.Get(env, name)
	switch {
	case value == "":
		return unset
	case strings.EqualFold(value, "json"):
		r.JSON = true
		return hclog.Trace
	case strings.EqualFold(value, "off"):
		return hclog.NoLevel
	}
	if known := hclog.LevelFromString(value); known != hclog.NoLevel {
		return known
	}
	r.unknown = append(r.unknown, fmt.Sprintf("%s=%s", name, value))
	return hclog.Trace
}

// Asked reports whether there is to be a log at all.
func (r Request) Asked() bool { return r.Core != hclog.NoLevel || r.Provider != hclog.NoLevel }

// InWorkDir reports whether the log goes to a file that the user has not named.
func (r Request) InWorkDir() bool { return r.Asked() && r.path == "" }

// FileError is why there is no file for the log. Its text names the file.
type FileError struct {
	Named bool // by [PathVariable]
	Err   error
}

// Error implements error.
func (e *FileError) Error() string { return "log of the engine: " + e.Err.Error() }

// Unwrap returns the error of the system.
func (e *FileError) Unwrap() error { return e.Err }

// Open opens the file of the log, whose name then is an absolute path. It is made for its owner
// alone: a log has values in it.
//
// Errors: a [*FileError].
func (r Request) Open(workDir string) (*os.File, error) {
	path, err := filepath.Abs(cmp.Or(r.path, filepath.Join(workDir, FileName)))
	if err != nil {
		return nil, &FileError{Named: r.path != "", Err: err}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, &FileError{Named: r.path != "", Err: err}
	}
	return file, nil
}

// ForProcess returns the environment of an engine that writes its log itself, and may run in
// another directory: the path of the log is absolute, and the file is made as [Request.Open] makes
// it. Whether it cannot be written, the engine says; without a path it logs to its standard error.
func ForProcess(env []string) []string {
	request := Read(env)
	if !request.Asked() || request.path == "" {
		return env
	}
	file, err := request.Open("")
	if err != nil {
		return env
	}
	if file.Close() != nil { // nothing was written
		return env
	}
	return append(slices.Clone(env), PathVariable+"="+file.Name())
}

// LevelOfProviders is how much libraries of providers should log, for their variables. Unless a log
// of providers is asked for, only errors.
func (r Request) LevelOfProviders() string {
	if r.Provider == hclog.NoLevel {
		return "ERROR"
	}
	return levelNames[r.Provider]
}

var levelNames = map[hclog.Level]string{
	hclog.Trace: "TRACE",
	hclog.Debug: "DEBUG",
	hclog.Info:  "INFO",
	hclog.Warn:  "WARN",
	hclog.Error: "ERROR",
}
