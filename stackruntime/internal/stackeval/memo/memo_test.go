// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
)

// aspects are memos by name, each of which adds up those that it uses.
type aspects struct {
	memos map[string]*memo.Memo[int]
	uses  map[string][]string
}

func (a aspects) aspect(name string) func() memo.Aspect[int] {
	return func() memo.Aspect[int] {
		return memo.Aspect[int]{Name: name, Placeholder: -1, Compute: func(ctx context.Context) (int, hcl.Diagnostics) {
			sum := 1
			for _, used := range a.uses[name] {
				sum += a.memos[used].Value(ctx, a.aspect(used))
			}
			return sum, nil
		}}
	}
}

func (a aspects) check(ctx context.Context, name string) (int, hcl.Diagnostics) {
	return a.memos[name].Check(ctx, a.aspect(name))
}

// Every participant gets its placeholder and the same report, which names the aspects all round
// from the alphabetically first one on. An aspect that only uses a participant has no report of its
// own.
func TestRow238CyclesNameAspects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := aspects{
			memos: map[string]*memo.Memo[int]{"local.b": {}, "component.a inputs": {}, "stack.c call": {}, "output.o": {}},
			uses: map[string][]string{
				"local.b": {"component.a inputs"}, "component.a inputs": {"stack.c call"}, "stack.c call": {"local.b"},
				"output.o": {"local.b"},
			},
		}
		_, err := promising.MainTask(t.Context(), func(ctx context.Context) (struct{}, error) {
			if got, diags := a.check(ctx, "output.o"); got != 0 || len(diags) > 0 {
				t.Errorf("output.o: got %d, %v; want the placeholder of local.b and one more", got, diags)
			}
			for _, name := range []string{"local.b", "component.a inputs", "stack.c call"} {
				got, diags := a.check(ctx, name)
				if got != -1 || len(diags) != 1 {
					t.Fatalf("%s: got %d, %v; want the placeholder and one diagnostic", name, got, diags)
				}
				cycle, ok := diags[0].Extra.(*promising.CycleError)
				if !ok {
					t.Fatalf("%s: extra is %v, want a cycle", name, diags[0].Extra)
				}
				want := []string{"component.a inputs", "stack.c call", "local.b"}
				if diff := cmp.Diff(want, cycle.RotatedNames()); diff != "" {
					t.Errorf("%s: names (-want +got):\n%s", name, diff)
				}
				if !strings.Contains(diags[0].Detail, strings.Join(want, " ")) {
					t.Errorf("%s: the detail does not name them: %s", name, diags[0].Detail)
				}
			}
			return struct{}{}, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestCheckKeepsValueAndDiagnostics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memo.Memo[string]
		runs := 0
		aspect := func() memo.Aspect[string] {
			return memo.Aspect[string]{Name: "x", Compute: func(context.Context) (string, hcl.Diagnostics) {
				runs++
				return "usable", hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Wrong"}}
			}}
		}
		for range 2 {
			_, err := promising.MainTask(t.Context(), func(ctx context.Context) (struct{}, error) {
				if got := m.Value(ctx, aspect); got != "usable" {
					t.Errorf("Value() = %q", got)
				}
				got, diags := m.Check(ctx, aspect)
				if got != "usable" || len(diags) != 1 || diags[0].Summary != "Wrong" {
					t.Errorf("Check() = %q, %v", got, diags)
				}
				return struct{}{}, nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		if runs != 1 {
			t.Errorf("computed %d times, want once", runs)
		}
	})
}

// Stopping is not a mistake of the stopped aspect, and is not remembered.
func TestInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memo.Memo[string]
		aspect := func() memo.Aspect[string] {
			return memo.Aspect[string]{
				Name:        "x",
				Placeholder: "none",
				Compute:     func(context.Context) (string, hcl.Diagnostics) { return "done", nil },
			}
		}
		_, err := promising.MainTask(t.Context(), func(ctx context.Context) (struct{}, error) {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			got, diags := m.Check(ended, aspect)
			if got != "none" || len(diags) != 1 || diags[0].Summary != "Operation interrupted" {
				t.Errorf("with an ended context: %q, %v", got, diags)
			}
			if err, ok := diags[0].Extra.(error); !ok || !errors.Is(err, context.Canceled) {
				t.Errorf("extra is %v, want the cancellation", diags[0].Extra)
			}
			if got, diags := m.Check(ctx, aspect); got != "done" || len(diags) > 0 {
				t.Errorf("afterwards: %q, %v", got, diags)
			}
			return struct{}{}, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
