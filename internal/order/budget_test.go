// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order_test

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/order"
)

func TestBudget(t *testing.T) {
	budget, told := order.Budget(10), 0
	for i, test := range []struct {
		steps, told int
		ok          bool
	}{{4, 0, true}, {6, 0, true}, {0, 0, true}, {1, 1, false}, {0, 1, false}, {1, 1, false}} {
		if ok := budget.Spend(test.steps, func() { told++ }); ok != test.ok || told != test.told {
			t.Errorf("step %d: got %t and told %d times, want %t and %d", i, ok, told, test.ok, test.told)
		}
	}
}
