// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package changeexec_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/changeexec"
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

func TestCircleFailsAllParticipants(t *testing.T) {
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
