// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairnstacks/cairn/promising"
)

// A sheet of cells that compute each other on demand. Two of them need each other.
func Example() {
	type sheet struct {
		price, tax, total, chicken, egg promising.Once[int]
	}
	var s sheet
	price := func(ctx context.Context) (int, error) {
		return s.price.Do(ctx, "price", func(context.Context) (int, error) { return 100, nil })
	}
	tax := func(ctx context.Context) (int, error) {
		return s.tax.Do(ctx, "tax", func(ctx context.Context) (int, error) {
			p, err := price(ctx)
			return p / 5, err
		})
	}
	total := func(ctx context.Context) (int, error) {
		return s.total.Do(ctx, "total", func(ctx context.Context) (int, error) {
			p, err := price(ctx)
			if err != nil {
				return 0, err
			}
			t, err := tax(ctx)
			return p + t, err
		})
	}
	var egg func(context.Context) (int, error)
	chicken := func(ctx context.Context) (int, error) {
		return s.chicken.Do(ctx, "chicken", func(ctx context.Context) (int, error) { return egg(ctx) })
	}
	egg = func(ctx context.Context) (int, error) {
		return s.egg.Do(ctx, "egg", func(ctx context.Context) (int, error) { return chicken(ctx) })
	}

	sum, err := promising.MainTask(context.Background(), total)
	fmt.Println(sum, err)

	_, err = promising.MainTask(context.Background(), chicken)
	if cycle, ok := errors.AsType[*promising.CycleError](err); ok {
		fmt.Println(cycle.RotatedNames())
	}
	// Output:
	// 120 <nil>
	// [chicken egg]
}

// A task that hands the duty to supply a result to another.
func ExampleAsyncTask() {
	length, err := promising.MainTask(context.Background(), func(ctx context.Context) (int, error) {
		resolver, get := promising.NewPromise[string](ctx, "greeting")
		promising.AsyncTask(ctx, resolver, func(ctx context.Context, r promising.PromiseResolver[string]) {
			r.Resolve(ctx, "hello", nil)
		})
		greeting, err := get.Await(ctx)
		return len(greeting), err
	})
	fmt.Println(length, err)
	// Output: 5 <nil>
}
