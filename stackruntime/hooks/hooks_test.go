// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package hooks_test

import (
	"context"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

type key struct{}

// Both follow the work, the outer one around the inner one, which gets the context of that.
func TestWithin(t *testing.T) {
	var calls []string
	follow := func(name string) hooks.WorkFunc {
		return func(ctx context.Context, _ stackaddrs.AbsComponentInstance, _ hooks.WorkKind) (context.Context, hooks.Work) {
			within, _ := ctx.Value(key{}).(string)
			calls = append(calls, name+" within "+within)
			return context.WithValue(ctx, key{}, name), hooks.Work{
				Began: func() { calls = append(calls, name+" began") },
				Ended: func(hcl.Diagnostics) { calls = append(calls, name+" ended") },
			}
		}
	}
	var nothing hooks.WorkFunc = func(
		ctx context.Context, _ stackaddrs.AbsComponentInstance, _ hooks.WorkKind,
	) (context.Context, hooks.Work) {
		return ctx, hooks.Work{}
	}
	for _, inner := range []hooks.WorkFunc{
		follow("inner").Within(follow("outer")), nothing.Within(follow("alone")), follow("first").Within(nil),
	} {
		_, work := inner(t.Context(), stackaddrs.AbsComponentInstance{}, hooks.WorkPlan)
		work.Began()
		work.Ended(nil)
	}
	want := []string{
		"outer within ", "inner within outer", "outer began", "inner began", "inner ended", "outer ended",
		"alone within ", "alone began", "alone ended",
		"first within ", "first began", "first ended",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("calls are %q, want %q", calls, want)
	}
}
