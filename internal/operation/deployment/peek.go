// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"slices"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Instances returns the component instances, sorted, that a state has by the names of its records.
func Instances(snapshot *statestore.Snapshot) []stackaddrs.AbsComponentInstance {
	var instances []stackaddrs.AbsComponentInstance
	for text := range snapshot.Records {
		if key, err := stackstate.ParseKey(text); err == nil && key.Kind == stackstate.ComponentKind {
			instances = append(instances, key.Component)
		}
	}
	slices.SortFunc(instances, stackaddrs.AbsComponentInstance.Compare)
	return instances
}
