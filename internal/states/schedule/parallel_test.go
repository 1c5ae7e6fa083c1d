// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/slstest"
)

// timed makes calls that take the seconds of the argument "takes", and logs when they begin:
// "id@second".
type timed struct {
	began time.Time
	mu    struct {
		sync.Mutex
		log []string
	}
}

func (f *timed) Reacts(string, string) bool { return false }

func (f *timed) Call(_ context.Context, req Request) Outcome {
	f.mu.Lock()
	f.mu.log = append(f.mu.log, fmt.Sprintf("%s@%g", req.ID, time.Since(f.began).Seconds()))
	f.mu.Unlock()
	if takes, ok := req.Args.Get("takes").(int64); ok {
		<-time.After(time.Duration(takes) * time.Second) // virtual
	}
	return Outcome{Failed: req.Function == "fails", Changed: req.Function == "changes"}
}

func TestRunParallel(t *testing.T) {
	tests := map[string]struct {
		src      string
		opts     Options
		log      string
		reported string // results in the order in which they were reported
	}{
		"does not hold up the next": {
			src: "a: {m.f: [{parallel: true}, {takes: 10}]}\nb: {m.f: [{takes: 1}]}\nc: {m.f: []}", opts: Options{Parallel: 10},
			log: "a@0 b@0 c@1", reported: "a=ok b=ok c=ok",
		},
		"requisites wait for it": {
			src: "a: {m.f: [{parallel: true}, {takes: 10}]}\nb: {m.f: [{require: [a]}]}", opts: Options{Parallel: 10},
			log: "a@0 b@10", reported: "a=ok b=ok",
		},
		// A call that stands after one that waits is not started ahead of it.
		"nothing ahead of its turn": {
			src: "a: {m.f: [{parallel: true}, {takes: 10}]}\nb: {m.f: [{parallel: true}, {require: [a]}]}\n" +
				"c: {m.f: [{parallel: true}, {takes: 5}]}",
			opts: Options{Parallel: 10}, log: "a@0 b@10 c@10", reported: "a=ok b=ok c=ok",
		},
		"side by side before a call that waits": {
			src: "a: {m.f: [{parallel: true}, {takes: 10}]}\nc: {m.f: [{parallel: true}, {takes: 5}]}\n" +
				"b: {m.f: [{parallel: true}, {require: [a]}]}",
			opts: Options{Parallel: 10}, log: "a@0 c@0 b@10", reported: "a=ok c=ok b=ok",
		},
		"others one at a time": {
			src:      "a: {m.f: [{takes: 3}]}\nb: {m.f: [{parallel: true}, {takes: 9}]}\nc: {m.f: [{takes: 2}]}\nd: {m.f: []}",
			opts:     Options{Parallel: 10},
			log:      "a@0 b@3 c@3 d@5",
			reported: "a=ok b=ok c=ok d=ok",
		},
		"no more than allowed": {
			src: "a: {m.f: [{names: [x, y, z, w]}, {parallel: true}, {takes: 4}]}", opts: Options{Parallel: 2},
			log: "a@0 a@0 a@4 a@4", reported: "a=ok a=ok a=ok a=ok", //nolint:dupword // four calls of the same id
		},
		"not without leave": {
			src: "a: {m.f: [{parallel: true}, {takes: 10}]}\nb: {m.f: []}", log: "a@0 b@10", reported: "a=ok b=ok",
		},
		"failures are known": {
			src:      "a: {m.fails: [{parallel: true}, {takes: 10}]}\nb: {m.f: []}\nc: {m.f: [{onfail: [a]}]}\nd: {m.f: [{require: [a]}]}",
			opts:     Options{Parallel: 10},
			log:      "a@0 b@0 c@10",
			reported: "a=failed b=ok c=ok d=skipped",
		},
		"failhard starts nothing more": {
			src: "a: {m.f: [{parallel: true}, {takes: 10}]}\nb: {m.fails: [{takes: 1}]}\nc: {m.f: []}", opts: Options{Parallel: 10, Failhard: true},
			log: "a@0 b@0", reported: "a=ok b=failed",
		},
		"prereq": {
			src:      "x: {m.f: [{prereq: [y]}, {parallel: true}, {takes: 2}]}\ny: {m.changes: [{parallel: true}, {takes: 3}]}\nz: {m.f: []}",
			opts:     Options{Parallel: 10},
			log:      "y@0 x@3 y@5 z@5",
			reported: "x=ok y=changed z=ok",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &timed{began: time.Now()}
				var reported []string
				test.opts.Functions = f
				test.opts.Ended = func(result Result) { reported = append(reported, result.Call.ID+"="+result.Status.String()) }
				Run(t.Context(), mustCompile(t, test.src), test.opts)
				if got := sameTimesSorted(f.mu.log); got != sameTimesSorted(strings.Fields(test.log)) {
					t.Errorf("calls: %s\n want: %s", got, test.log)
				}
				if got := strings.Join(reported, " "); got != test.reported {
					t.Errorf("reported: %s\n    want: %s", got, test.reported)
				}
			})
		})
	}
}

// sameTimesSorted joins entries; those that begin at the same time, in whatever order they did.
func sameTimesSorted(log []string) string {
	byTime := map[string][]string{}
	var times []string
	for _, entry := range log {
		_, at, _ := strings.Cut(entry, "@")
		if byTime[at] == nil {
			times = append(times, at)
		}
		byTime[at] = append(byTime[at], entry)
	}
	var all []string
	for _, at := range times {
		slices.Sort(byTime[at])
		all = append(all, byTime[at]...)
	}
	return strings.Join(all, " ")
}

// TestRunParallelIsTheSameEachTime runs random calls one after the other and with several at a
// time, however long each of them takes. All results are the same and in the same order.
func TestRunParallelIsTheSameEachTime(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	var src strings.Builder
	kinds := []string{"require", "watch", "onchanges", "onfail", "require_any"}
	functions := []string{"f", "changes", "changes", "f", "fails"}
	for i := range 120 {
		fmt.Fprintf(&src, "s%d: {m.%s: [{parallel: %t}, {takes: %d}", i, functions[random.IntN(len(functions))], random.IntN(3) > 0,
			random.IntN(20))
		if i > 0 && random.IntN(3) > 0 {
			fmt.Fprintf(&src, ", {%s: [s%d, s%d]}", kinds[random.IntN(len(kinds))], random.IntN(i), random.IntN(i))
		}
		src.WriteString("]}\n")
	}
	low := mustCompile(t, src.String())
	var want string
	for _, parallel := range []int{1, 2, 5, 50} {
		t.Run(strconv.Itoa(parallel), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got strings.Builder
				Run(t.Context(), low, Options{Functions: &timed{began: time.Now()}, Parallel: parallel, Ended: func(result Result) {
					fmt.Fprintf(&got, "%s=%s %s\n", result.Call, result.Status, result.Comment)
				}})
				if want == "" {
					want = got.String()
				}
				if got.String() != want {
					t.Errorf("seed %d: results differ:\n%s\nfrom those of one at a time:\n%s", seed, &got, want)
				}
			})
		})
	}
}

// flaky succeeds from one of the attempts on.
type flaky struct {
	timed
	succeeds int
	attempts int
}

func (f *flaky) Call(ctx context.Context, req Request) Outcome {
	f.timed.Call(ctx, req)
	f.attempts++
	if req.Function == "needless" {
		return Outcome{Needless: true}
	}
	return Outcome{
		Failed:  f.attempts < f.succeeds,
		Changed: f.attempts == 1 && req.Function == "changes",
		Comment: fmt.Sprintf("No. %d.", f.attempts),
	}
}

func TestRetry(t *testing.T) {
	tests := map[string]struct {
		src      string
		succeeds int
		test     bool
		log      string
		status   Status
		comment  string
	}{
		"defaults": {
			src: "x: {m.f: [{retry: true}]}", succeeds: 3, log: "x@0 x@30", status: Failed, comment: "Attempt 1 has failed. No. 1.\nNo. 2.",
		},
		"until it succeeds": {
			src: "x: {m.f: [{retry: {attempts: 5, interval: 10}}]}", succeeds: 3, log: "x@0 x@10 x@20", status: OK,
			comment: "Attempt 1 has failed. No. 1.\nAttempt 2 has failed. No. 2.\nNo. 3.",
		},
		"at once":          {src: "x: {m.f: [{retry: {attempts: 5}}]}", succeeds: 1, log: "x@0", status: OK, comment: "No. 1."},
		"switched off":     {src: "x: {m.f: [{retry: false}]}", succeeds: 2, log: "x@0", status: Failed, comment: "No. 1."},
		"not in test mode": {src: "x: {m.f: [{retry: {attempts: 5}}]}", succeeds: 2, test: true, log: "x@0", status: Failed, comment: "No. 1."},
		"until it fails": {
			src: "x: {m.f: [{retry: {attempts: 3, until: false, interval: 0.5}}]}", log: "x@0 x@0.5 x@1", status: OK,
			comment: "Attempt 1 has succeeded. No. 1.\nAttempt 2 has succeeded. No. 2.\nNo. 3.",
		},
		"changes of any attempt count": {
			src:      "x: {m.changes: [{retry: {interval: 1}}]}",
			succeeds: 2,
			log:      "x@0 x@1",
			status:   Changed,
			comment:  "Attempt 1 has failed. No. 1.\nNo. 2.",
		},
		"nothing to do": {src: "x: {m.needless: [{retry: {until: false}}]}", log: "x@0", status: OK},
		"taken over": {
			src:      "x: {m.f: [{use: [y]}]}\ny: {m.f: [{retry: {interval: 7}}, {onfail: [x]}]}",
			succeeds: 2,
			log:      "x@0 x@7",
			status:   OK,
			comment:  "Attempt 1 has failed. No. 1.\nNo. 2.",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &flaky{timed: timed{began: time.Now()}, succeeds: test.succeeds}
				results := Run(t.Context(), mustCompile(t, test.src), Options{Functions: f, Test: test.test})
				if got := strings.Join(f.mu.log, " "); got != test.log {
					t.Errorf("calls: %s\n want: %s", got, test.log)
				}
				if results[0].Status != test.status || results[0].Comment != test.comment {
					t.Errorf("got %s, %q\nwant %s, %q", results[0].Status, results[0].Comment, test.status, test.comment)
				}
			})
		})
	}
	t.Run("splay", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &flaky{timed: timed{began: time.Now()}, succeeds: 100}
			Run(t.Context(), mustCompile(t, "x: {m.f: [{retry: {attempts: 50, interval: 10, splay: 5}}]}"), Options{Functions: f})
			took := time.Since(f.began).Seconds()
			if took < 49*10 || took > 49*15 || took == 49*10 {
				t.Errorf("50 attempts took %g seconds; each pause should take 10 to 15", took)
			}
		})
	})
	t.Run("interrupted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
			defer cancel()
			f := &flaky{timed: timed{began: time.Now()}, succeeds: 100}
			results := Run(ctx, mustCompile(t, "x: {m.f: [{retry: {attempts: 50}}]}\ny: {m.f: []}"), Options{Functions: f})
			if got := strings.Join(f.mu.log, " "); got != "x@0 x@30" {
				t.Errorf("calls: %s", got)
			}
			if want := "Attempt 1 has failed. No. 1.\nAttempt 2 has failed. No. 2.\nInterrupted before attempt 3."; results[0].Comment != want {
				t.Errorf("got %q, want %q", results[0].Comment, want)
			}
			if results[0].Status != Failed || results[1].Status != NotStarted {
				t.Errorf("got %s and %s", results[0].Status, results[1].Status)
			}
		})
	})
}

// idle makes calls at once.
type idle struct{}

func (idle) Reacts(string, string) bool { return false }

func (idle) Call(context.Context, Request) Outcome { return Outcome{} }

// BenchmarkRun makes calls with five requisites each, one at a time or all of them in parallel.
func BenchmarkRun(b *testing.B) {
	for _, states := range []int{1000, 10_000} {
		files, names := slstest.Many(states, 5)
		high, diags := compile.Load(files, names, compile.LoadOptions{})
		low, moreDiags := compile.Compile(high, compile.CompileOptions{})
		if len(diags)+len(moreDiags) > 0 {
			b.Fatal(diags, moreDiags)
		}
		for _, parallel := range []int{1, 10} {
			b.Run(fmt.Sprintf("%d/%d", states, parallel), func(b *testing.B) {
				for _, call := range low.Calls {
					call.Parallel = parallel > 1
				}
				b.ReportAllocs()
				for b.Loop() {
					if got := len(Run(b.Context(), low, Options{Functions: idle{}, Parallel: parallel})); got != states+1 {
						b.Fatalf("%d results", got)
					}
				}
			})
		}
	}
}
