// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"context"
	"errors"
	"slices"
)

// Checkout identifies the files that are checked out. Two commits with the same tree have the same
// files, as a merge and the head of what was merged may have, by whatever way they were merged.
type Checkout struct{ Commit, Tree string }

// ErrEdited is the error of Checkout where files of the last commit were edited since.
var ErrEdited = errors.New("files of the last commit are edited")

// Checkout returns the commit that is checked out, with its tree. Files that git does not know do
// not count.
func (r *Repository) Checkout(ctx context.Context) (Checkout, error) {
	at := Checkout{Commit: r.commit(ctx, "HEAD"), Tree: r.line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{tree}")}
	if at.Commit == "" || at.Tree == "" {
		return Checkout{}, newProblem("", "No commits",
			"The repository %s has no commits yet, so that nothing can be compared with one. Commit something first.", r.Dir)
	}
	files, err := r.Dirty(ctx)
	if err != nil {
		return Checkout{}, err
	}
	if slices.ContainsFunc(files, func(file File) bool { return !file.Untracked }) {
		return Checkout{}, ErrEdited
	}
	return at, nil
}
