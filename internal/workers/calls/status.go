// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/workers/records"
)

// Status is how far a call has come.
type Status struct {
	Call     string
	Attempts []Attempt // in their order; none while no worker has taken it
	Answered bool
}

// Statuses returns how far the calls of a run have come, in the order of their names, without
// reading what they are about.
func Statuses(ctx context.Context, store records.Store, run string) ([]Status, error) {
	prefix := Folder(run) + callsFolder
	names, err := store.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var all []Status
	at := map[string]int{}
	of := func(call string) *Status {
		if _, known := at[call]; !known {
			at[call] = len(all)
			all = append(all, Status{Call: call})
		}
		return &all[at[call]]
	}
	for _, name := range names {
		rest := strings.TrimPrefix(name, prefix)
		switch dir, base := path.Split(rest); {
		case base == requestName:
			of(path.Clean(dir))
		case base == answerName:
			of(path.Clean(dir)).Answered = true
		case strings.HasSuffix(dir, "/"+takenFolder):
			attempt, err := readAttempt(ctx, store, name)
			if err != nil {
				return nil, err
			}
			status := of(strings.TrimSuffix(dir, "/"+takenFolder))
			status.Attempts = append(status.Attempts, attempt)
		}
	}
	slices.SortStableFunc(all, func(a, b Status) int { return strings.Compare(a.Call, b.Call) })
	return all, nil
}
