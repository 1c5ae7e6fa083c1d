// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package parallel does several things at the same time, but not too many.
package parallel

import "sync"

// Downloads is how many packages of providers are fetched at the same time. More would not make
// them come faster, and registries refuse clients that ask for too much.
const Downloads = 6

// Each calls do for all items, at most limit of them at the same time, and returns when all calls
// have.
func Each[T any](items []T, limit int, do func(i int, item T)) {
	free := make(chan struct{}, limit)
	var calls sync.WaitGroup
	defer calls.Wait()
	for i, item := range items {
		free <- struct{}{}
		calls.Go(func() {
			defer func() { <-free }()
			do(i, item)
		})
	}
}
