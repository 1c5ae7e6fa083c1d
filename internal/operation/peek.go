// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// StateFile returns the path of the file that the state is in, whether it exists or not; "" if it is in none, or if it is not known where it is.
func (s *Stack) StateFile() string {
	path, err := s.stateFile()
	if err != nil || strings.Contains(path, "://") {
		return ""
	}
	return path
}

// PeekInstances returns the component instances that the state has, sorted. It takes no lock, starts no process, and leaves no trace on the disk. A state
// that is in no file, and one that is being written to, it cannot read.
func (s *Stack) PeekInstances(ctx context.Context) ([]stackaddrs.AbsComponentInstance, error) {
	name, err := s.deploymentName()
	if err != nil {
		return nil, err
	}
	path, err := s.stateFile()
	if err != nil {
		return nil, err
	}
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
