// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package changeexec_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/promising/changeexec"
)

type (
	results = changeexec.Results[string, string]
	change  = changeexec.Change[string, string]
)

func TestRow237ResultsFlowFromChangeToChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, err := promising.MainTask(t.Context(), func(ctx context.Context) (string, error) {
			r := changeexec.ChangeExec(ctx, func(r *results, add func(change)) {
				after := func(before, addr string) func(context.Context) (string, error) {
					return func(ctx context.Context) (string, error) {
						v, err := r.Await(ctx, before)
						return v + addr, err
					}
				}
				add(change{"C", after("B", "C")})
				add(change{"B", after("A", "B")})
				add(change{"A", func(context.Context) (string, error) { return "A", nil }})
			})
			return r.Await(ctx, "C")
		})
		if got != "ABC" || err != nil {
			t.Errorf("result of C = %q, %v; want ABC", got, err)
		}
	})
}

func TestRow237UnregisteredIsAnErrorAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := promising.MainTask(t.Context(), func(ctx context.Context) (string, error) {
			r := changeexec.ChangeExec(ctx, func(*results, func(change)) {})
			return r.Await(ctx, "X")
		})
		if unregistered, ok := errors.AsType[*changeexec.UnregisteredError[string]](err); !ok || unregistered.Addr != "X" {
			t.Errorf("awaiting X: %v, want that it is not registered", err)
		}
	})
}

// However a change ends, those that wait for it learn of it, and those that wait for them.
func TestBrokenOffChangesStrandNobody(t *testing.T) {
	for how, end := range map[string]func(){
		"panic":  func() { panic("boom") },
		"goexit": runtime.Goexit,
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				handled := make(chan *promising.UnresolvedError, 1)
				ctx := promising.WithPanicHandler(t.Context(), func(err *promising.UnresolvedError) { handled <- err })
				_, err := promising.MainTask(ctx, func(ctx context.Context) (string, error) {
					r := changeexec.ChangeExec(ctx, func(r *results, add func(change)) {
						add(change{"A", func(context.Context) (string, error) { end(); return "A", nil }})
						add(change{"B", func(ctx context.Context) (string, error) { return r.Await(ctx, "A") }})
						add(change{"C", func(ctx context.Context) (string, error) { return r.Await(ctx, "B") }})
					})
					return r.Await(ctx, "C")
				})
				unresolved, ok := errors.AsType[*promising.UnresolvedError](err)
				if !ok || !slices.Equal(unresolved.Names(), []string{"A change"}) {
					t.Fatalf("awaiting C: %v, want that A was left unresolved", err)
				}
				if how == "panic" && (unresolved.Panic != "boom" || (<-handled).Panic != "boom") {
					t.Errorf("panic is %v, want boom", unresolved.Panic)
				}
				if how == "goexit" && !unresolved.Goexit {
					t.Error("the error does not name runtime.Goexit")
				}
			})
		})
	}
}

func TestCycleFailsAllParticipants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := promising.MainTask(t.Context(), func(ctx context.Context) (string, error) {
			r := changeexec.ChangeExec(ctx, func(r *results, add func(change)) {
				add(change{"A", func(ctx context.Context) (string, error) { return r.Await(ctx, "B") }})
				add(change{"B", func(ctx context.Context) (string, error) { return r.Await(ctx, "A") }})
			})
			for _, addr := range []string{"A", "B"} {
				if _, err := r.Await(ctx, addr); err == nil {
					t.Errorf("change %s has a result", addr)
				} else if _, ok := errors.AsType[*promising.CycleError](err); !ok {
					t.Errorf("change %s: %v, want a cycle", addr, err)
				}
			}
			return "", nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
