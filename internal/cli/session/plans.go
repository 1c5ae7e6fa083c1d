// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/tempdir"
)

// Plans is a temporary directory for plans until they are applied.
type Plans struct {
	dir     *tempdir.Dir
	session *Session
}

// MakePlans makes such a directory, and removes those of commands that were killed. The caller
// removes it.
func (s *Session) MakePlans() (*Plans, error) {
	dir, err := tempdir.Kind{Prefix: "cairn-plans-", Log: s.Log}.Replace()
	if err != nil {
		return nil, failure.Error("Temporary directory not available",
			"Plans are kept in a temporary directory until they are applied, and it cannot be made: %s.", failure.Reason(err))
	}
	return &Plans{dir, s}, nil
}

// Path returns where the directory is.
func (p *Plans) Path() string { return p.dir.Path }

// Remove removes the directory, unless that was done before. It notes if that fails.
func (p *Plans) Remove() {
	if err := p.dir.Remove(); err != nil {
		p.session.Note("Plans, which may hold secrets, are left in %s: %s.\n", p.dir.Path, failure.Reason(err))
	}
}

// Abandon removes the directory if it is still there, without a note.
func (p *Plans) Abandon() {
	_ = p.dir.Remove() //nolint:errcheck // the program ends, and nobody could do anything about it
}
