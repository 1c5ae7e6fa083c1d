// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

// A component that waits for others takes one goroutine, not one for each thing of it that others ask for: their stacks are most of
// the memory of a large stack.
func TestComponentThatWaitsTakesOneGoroutine(t *testing.T) {
	const n = 200
	synctest.Test(t, func(t *testing.T) {
		var waits atomic.Bool
		proceed := make(chan struct{})
		stack := "-- main.tfcomponent.hcl --\n" + shapes["layered"](n) + `
-- mod/main.tf --
variable "in" { type = any }
resource "terraform_data" "this" { input = var.in }
output "out" { value = terraform_data.this.id }
`
		w := newWorld(t, stack, memengine.Options{Before: func(context.Context, memengine.Call) error {
			if waits.Load() {
				<-proceed
			}
			return nil
		}})
		w.Apply(w.Plan(engine.Normal))

		waits.Store(true)
		before := runtime.NumGoroutine()
		go func() {
			synctest.Wait()
			if started := runtime.NumGoroutine() - before; started < n/2 || started > n+100 {
				t.Errorf("%d goroutines for %d components that wait", started, n)
			}
			close(proceed)
		}()
		w.Plan(engine.Destroy)
	})
}
