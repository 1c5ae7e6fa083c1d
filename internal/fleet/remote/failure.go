// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"errors"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/process"
)

// encodeError returns an error of a driver as it travels, nil for nil.
func encodeError(err error) *failed {
	if err == nil {
		return nil
	}
	f := &failed{Text: err.Error()}
	if exit, ok := errors.AsType[*process.ExitError](err); ok {
		f.Kind, f.HasExit, f.Code, f.How = exited, true, exit.Code, exit.How()
	}
	if unit, ok := errors.AsType[*driver.Failure](err); ok {
		f.Kind, f.Diagnostics, f.HasExit = unitFailure, unit.Diagnostics, unit.End != nil
	}
	switch {
	case is[*driver.LostOutputError](err):
		f.Kind = lostOutput
	case is[*rootmodule.WaitError](err):
		f.Kind = waits
	case errors.Is(err, process.ErrStopped):
		f.Kind = stopped
	}
	return f
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// decode returns the error that has travelled, nil for nil.
func (f *failed) decode() error {
	if f == nil {
		return nil
	}
	switch f.Kind {
	case unitFailure:
		failure := &driver.Failure{Diagnostics: f.Diagnostics}
		if f.HasExit {
			failure.End = process.NewExitError(f.Code, f.How)
		}
		return failure
	case exited:
		return process.NewExitError(f.Code, f.How)
	case lostOutput:
		return &driver.LostOutputError{Err: errors.New(f.Text)}
	case waits:
		return &rootmodule.WaitError{Reason: f.Text}
	case stopped:
		return process.ErrStopped
	}
	return errors.New(f.Text)
}
