// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package maintask_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
)

// The end of the operation's context stops no evaluation. A task that asks learns of it, and of its
// reason.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := errors.New("interrupt received")
	var panics maintask.Panics
	got, diags := maintask.Run(ctx, &panics, func(ctx context.Context) (string, hcl.Diagnostics) {
		cancel(interrupt)
		if ctx.Err() != nil {
			t.Errorf("the evaluation stops: %v", ctx.Err())
		}
		return context.Cause(maintask.StopContext(ctx)).Error(), hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: "Kept"}}
	})
	if got != interrupt.Error() || len(diags) != 1 || diags[0].Summary != "Kept" {
		t.Errorf("Run: %q, %v", got, diags)
	}
}

// A panic is reported by the operation in which it was and by those after it, once for each place
// in the code, without values that may be secret.
func TestPanics(t *testing.T) {
	var panics maintask.Panics
	var once promising.Once[int]
	_, diags := maintask.Run(t.Context(), &panics, func(ctx context.Context) (int, hcl.Diagnostics) {
		var tasks promising.Group
		for range 3 {
			tasks.Go(ctx, func(ctx context.Context) {
				_, err := once.Do(ctx, "local.password", func(context.Context) (int, error) { panic("hunter2") })
				if err == nil {
					t.Error("the promise has a value")
				}
			})
		}
		tasks.Wait()
		return 0, nil
	})
	check := func(diags hcl.Diagnostics) {
		t.Helper()
		if len(diags) != 1 || diags[0].Summary != "Internal evaluation error" {
			t.Fatalf("got %v, want one report", diags)
		}
		detail := diags[0].Detail
		for _, want := range []string{"while computing local.password", "a panic with a string", "maintask_test.TestPanics", "report it"} {
			if !strings.Contains(detail, want) {
				t.Errorf("got %q, want it to have %q", detail, want)
			}
		}
		if strings.Contains(detail, "hunter2") {
			t.Errorf("the value is shown: %q", detail)
		}
	}
	check(diags)
	_, diags = maintask.Run(t.Context(), &panics, func(context.Context) (int, hcl.Diagnostics) { return 0, nil })
	check(diags)

	var others maintask.Panics
	_, diags = maintask.Run(t.Context(), &others, func(context.Context) (int, hcl.Diagnostics) {
		return []int{}[len(diags)], nil
	})
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "index out of range") {
		t.Errorf("a panic in the main task: %v", diags)
	}
}
