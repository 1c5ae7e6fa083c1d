// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/workers/records"
)

// begunFolder is the folder with the beginnings of runs that have no other record than their calls.
const begunFolder = "begun/"

// beginning is the record that a run has begun.
func beginning(run string) string { return begunFolder + run + "/at" }

// Begun returns the runs that [Client.Begin] has recorded before a time.
func Begun(ctx context.Context, store records.Store, before time.Time) (begun []string, err error) {
	names, err := store.List(ctx, begunFolder)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := store.Get(ctx, name)
		if errors.Is(err, records.ErrMissing) {
			continue // somebody has removed it since
		}
		if err != nil {
			return nil, err
		}
		var at time.Time
		if at.UnmarshalText(text) == nil && at.Before(before) {
			begun = append(begun, strings.TrimSuffix(strings.TrimPrefix(name, begunFolder), "/at"))
		}
	}
	return begun, nil
}

// RemoveBegun removes a run that [Client.Begin] has recorded, with all of its calls. Nobody can
// take over a call of it any more.
func RemoveBegun(ctx context.Context, store records.Store, run string) error {
	if err := store.Remove(ctx, Folder(run)); err != nil {
		return err
	}
	return store.Remove(ctx, begunFolder+run+"/")
}
