// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order_test

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/order"
)

func TestBudget(t *testing.T) {
	budget, calls := order.Budget(10), 0
	for i, test := range []struct {
		steps, calls int
		ok           bool
	}{{4, 0, true}, {6, 0, true}, {0, 0, true}, {1, 1, false}, {0, 1, false}, {1, 1, false}} {
		if ok := budget.Spend(test.steps, func() { calls++ }); ok != test.ok || calls != test.calls {
			t.Errorf("step %d: got %t and %d calls, want %t and %d", i, ok, calls, test.ok, test.calls)
		}
	}
}
