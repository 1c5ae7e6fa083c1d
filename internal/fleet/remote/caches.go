// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"slices"
	"sync"

	"github.com/cairnstacks/cairn/internal/operation"
)

// caches are the common caches of the runs that a worker has done last. They know directories, of
// which there are others with each change of a repository, and a worker runs for months. The zero
// value is empty. Safe for concurrent use.
type caches struct {
	mu   sync.Mutex
	kept []cache // the one that was asked for last comes last
}

type cache struct {
	digest string // of the files of the run
	shared *operation.Shared
}

// mostCaches is how many are kept.
const mostCaches = 4

// of returns the cache of the runs with some files.
func (c *caches) of(digest string, create func() *operation.Shared) *operation.Shared {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(one cache) bool { return one.digest == digest })
	found := cache{digest, nil}
	if i >= 0 {
		found = c.kept[i]
		c.kept = slices.Delete(c.kept, i, i+1)
	} else {
		found.shared = create()
	}
	c.kept = append(c.kept, found)
	if len(c.kept) > mostCaches {
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	return found.shared
}
