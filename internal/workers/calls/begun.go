// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"context"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/workers/records"
)

// begunFolder is the folder with the beginnings of runs that have no other record than their calls.
const begunFolder = "begun/"

// beginning is the record that a run has begun.
func beginning(run string) string { return begunFolder + run + "/at" }

// RemoveBegun removes runs that [Client.Begin] has recorded before a time, with all of their calls,
// and returns their number. Nobody can take over a call of them any more.
func RemoveBegun(ctx context.Context, store records.Store, before time.Time) (removed int, err error) {
	names, err := store.List(ctx, begunFolder)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		text, err := store.Get(ctx, name)
		if err != nil {
			return removed, err
		}
		var at time.Time
		if at.UnmarshalText(text) != nil || !at.Before(before) {
			continue
		}
		run := strings.TrimSuffix(strings.TrimPrefix(name, begunFolder), "/at")
		if err := store.Remove(ctx, Folder(run)); err != nil {
			return removed, err
		}
		if err := store.Remove(ctx, begunFolder+run+"/"); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}
