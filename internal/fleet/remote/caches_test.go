// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"fmt"
	"testing"

	"github.com/cairnstacks/cairn/internal/operation"
)

// The caches of the runs that were done last are kept, and no others.
func TestCaches(t *testing.T) {
	var c caches
	made := 0
	get := func(digest string) *operation.Shared {
		return c.of(digest, func() *operation.Shared {
			made++
			return &operation.Shared{}
		})
	}
	first := get("0")
	for i := range mostCaches - 1 {
		get(fmt.Sprint(i + 1))
	}
	if get("0") != first || made != mostCaches {
		t.Errorf("%d caches were made of %d runs, or the first one was dropped", made, mostCaches)
	}
	get("another")
	if get("0") != first {
		t.Error("the cache that was used last but one was dropped")
	}
	if get("1"); made != mostCaches+2 {
		t.Errorf("%d caches were made, want that of the run used longest ago anew", made)
	}
}
