// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"context"
	"slices"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// PeekInstances returns the component instances, sorted, that the state of a deployment in a file
// has. It takes no lock, starts no process, and leaves no trace on the disk. A state that is being
// written to, it cannot read.
func PeekInstances(ctx context.Context, path, name string) ([]stackaddrs.AbsComponentInstance, error) {
	snapshot, err := statestore.Peek(ctx, path, name)
	if err != nil {
		return nil, err
	}
	var instances []stackaddrs.AbsComponentInstance
	for text := range snapshot.Records {
		if key, err := stackstate.ParseKey(text); err == nil && key.Kind == stackstate.ComponentKind {
			instances = append(instances, key.Component)
		}
	}
	slices.SortFunc(instances, stackaddrs.AbsComponentInstance.Compare)
	return instances, nil
}
