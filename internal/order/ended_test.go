// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// Each result is reported once, before anything that waits for it begins.
func TestEnded(t *testing.T) {
	g, numbers := build(t, "a b", "a c", "b d", "x y")
	for name, parallel := range map[string]int{"one at a time": 1, "many": 4} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			reported := map[int]Result{}
			results := g.Run(t.Context(), RunOptions{
				Parallel: parallel,
				Decide: func(n int, _ func(int) Result) Result {
					if n == numbers["c"] {
						return Result{State: Passed}
					}
					return Result{}
				},
				Ended: func(n int, result Result) {
					mu.Lock()
					defer mu.Unlock()
					if _, twice := reported[n]; twice {
						t.Errorf("%s is reported twice", g.Node(n).Name)
					}
					reported[n] = result
				},
			}, func(_ context.Context, n int) error {
				mu.Lock()
				defer mu.Unlock()
				for edge := range g.Predecessors(n) {
					if _, ok := reported[edge.From]; !ok {
						t.Errorf("%s begins before %s is reported to have ended", g.Node(n).Name, g.Node(edge.From).Name)
					}
				}
				switch n {
				case numbers["b"]:
					return errors.New("broken")
				case numbers["y"]:
					return ErrNotStarted
				}
				return nil
			})
			for n, result := range results {
				if got, ok := reported[n]; ok != (result.State != NotStarted) || got != result {
					t.Errorf("%s: reported %+v, the result is %+v", g.Node(n).Name, got, result)
				}
			}
			if results[numbers["d"]].State != Skipped || results[numbers["y"]].State != NotStarted {
				t.Errorf("results %+v", results)
			}
		})
	}
}
