// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairnstacks/cairn/promising"
)

// However a node ends, nodes that wait for it and nodes that wait for its slot go on.
func TestBrokenOffWork(t *testing.T) {
	ways := map[string]func(){
		"panic":  func() { panic("boom") },
		"goexit": runtime.Goexit, //nolint:forbidigo // one of the ways to end
	}
	for how, end := range ways {
		for _, parallel := range []int{1, 3} {
			for _, inDecide := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s with %d at a time, deciding %t", how, parallel, inDecide), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						testBrokenOff(t, end, how == "panic", RunOptions{Parallel: parallel}, inDecide)
					})
				})
			}
		}
	}
}

func testBrokenOff(t *testing.T, end func(), panics bool, opts RunOptions, inDecide bool) {
	// e runs while b breaks off, and is waited for, if there is a second slot.
	g, numbers := build(t, "a b", "b c", "c d", "a e", "f")
	at := func(n int, place bool) {
		if g.Node(n).Name == "b" && place {
			end()
		}
	}
	opts.Decide = func(n int, _ func(int) Result) Result {
		at(n, inDecide)
		return Result{}
	}
	opts.Limits = []Limit{{Parallel: 1, Nodes: []int{numbers["b"], numbers["f"]}}}
	eEnded := false
	var results []Result
	var caught any
	func() {
		defer func() { caught = recover() }()
		results = g.Run(t.Context(), opts, func(_ context.Context, n int) error {
			<-time.After(time.Second) // of the bubble's clock: until e has begun, if it can
			at(n, !inDecide)
			if g.Node(n).Name == "e" {
				<-time.After(time.Minute)
				eEnded = true
			}
			return nil
		})
	}()
	if opts.Parallel > 1 && !inDecide && !eEnded {
		t.Error("Run did not wait for what was running")
	}
	if panics {
		err, ok := caught.(error)
		unresolved, isUnresolved := errors.AsType[*promising.UnresolvedError](err)
		if !ok || !isUnresolved || unresolved.Panic != "boom" || !strings.Contains(err.Error(), "broken_test.go") {
			t.Errorf("Run ended with %v, want the panic and its stack", caught)
		}
		return
	}
	if caught != nil {
		t.Fatalf("Run panicked: %v", caught)
	}
	unresolved, ok := errors.AsType[*promising.UnresolvedError](results[numbers["b"]].Err)
	if !ok || !unresolved.Goexit || results[numbers["b"]].State != Failed {
		t.Errorf("b ended with %+v, want a failure by runtime.Goexit", results[numbers["b"]])
	}
	for _, name := range []string{"c", "d"} {
		if got := results[numbers[name]]; got.State != Skipped || got.Because != numbers["b"] {
			t.Errorf("%s ended with %+v, want it skipped because of b", name, got)
		}
	}
}

// An error about a panic somewhere else is an error like others.
func TestErrorThatTellsOfPanic(t *testing.T) {
	g, _ := build(t, "a")
	broken := &promising.UnresolvedError{Panic: "boom"}
	results := g.Run(t.Context(), RunOptions{}, func(context.Context, int) error { return broken })
	if results[0].State != Failed || results[0].Err != broken {
		t.Errorf("a ended with %+v, want its error", results[0])
	}
}
