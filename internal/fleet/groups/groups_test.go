// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package groups_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/groups"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/upstream"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// bench has drivers that log their calls, each of which takes a second.
type bench struct {
	mu      sync.Mutex
	log     []string
	running int
	most    int

	changes map[string]int          // how many plans of a member have some, before one without; 1 where there is nothing
	fails   map[string]string       // "plan" or "apply"
	decides map[string]error        // about plans of a member
	stuck   map[string]bool         // rounds bring nothing
	asked   func(member string)     // is called before a decision
	ended   map[string]groups.State // as reported
	plans   map[string]int          // that were made
}

type driverOfBench struct {
	*bench
	name string
}

func (b *bench) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = append(b.log, fmt.Sprintf(format, args...))
}

func (d *driverOfBench) work(ctx context.Context, what string) error {
	if ctx.Err() != nil {
		return process.ErrStopped
	}
	d.note("%s %s", what, d.name)
	d.mu.Lock()
	d.running++
	d.most = max(d.most, d.running)
	d.mu.Unlock()
	time.Sleep(time.Second) //nolint:forbidigo // the time of the bubble
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running--
	if d.fails[d.name] == what {
		return errors.New(what + " failed")
	}
	return nil
}

// Plan implements [driver.Driver].
func (d *driverOfBench) Plan(ctx context.Context, req driver.PlanRequest) (driver.Plan, error) {
	if err := d.work(ctx, "plan"); err != nil {
		return driver.Plan{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plans[d.name]++
	of, ok := d.changes[d.name]
	if !ok {
		of = 1
	}
	made := d.plans[d.name]
	state := made
	if d.stuck[d.name] {
		state = 0
	}
	return driver.Plan{
		Changes:  made <= of,
		Complete: made >= of,
		State:    fmt.Sprint(state),
		Destroys: req.Destroy,
		Counts:   &stackplan.Counts{Add: 1, Defer: max(0, of-made)},
	}, nil
}

// Show implements [driver.Driver].
func (d *driverOfBench) Show(context.Context) error { return nil }

func (d *driverOfBench) Outputs(context.Context) (map[string]cty.Value, bool, error) {
	return nil, false, nil
}

// Apply implements [driver.Driver].
func (d *driverOfBench) Apply(ctx context.Context, _ driver.ApplyRequest) (driver.Applied, error) {
	return driver.Applied{}, d.work(ctx, "apply")
}

// run does the work and returns ends as texts, by member.
func (b *bench) run(ctx context.Context, t *testing.T, all []groups.Group, options groups.Options) []string {
	t.Helper()
	b.plans, b.ended = map[string]int{}, map[string]groups.State{}
	options.Open = func(member string) driver.Driver { return &driverOfBench{b, member} }
	options.Approve = func(_ context.Context, member string, _ driver.Plan, _ func() error) (string, error) {
		b.note("ask %s", member)
		if b.asked != nil {
			b.asked(member)
		}
		return "test", b.decides[member]
	}
	options.Ended = func(end groups.End) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if before, twice := b.ended[end.Member]; twice {
			t.Errorf("%s has ended twice: %s, %s", end.Member, before, end.State)
		}
		b.ended[end.Member] = end.State
	}
	var texts []string
	for _, end := range groups.Run(ctx, all, options) {
		text := fmt.Sprintf("%s: %s", end.Member, end.State)
		if end.Detail != "" {
			text += " (" + end.Detail + ")"
		}
		texts = append(texts, text)
		if reported, ok := b.ended[end.Member]; ok != (end.State != groups.NotBegun) || ok && reported != end.State {
			t.Errorf("%s was reported as %q, and ended as %q", end.Member, reported, end.State)
		}
	}
	return texts
}

// alone is the group of a deployment that names none.
func alone(name string) groups.Group {
	return groups.Group{Name: name + "_default", Members: []string{name}, Eager: true, Alone: true}
}

// Deployments without a group are worked on at the same time, and those before and after a group
// wait for it.
func TestRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{}
		all := []groups.Group{alone("a"), alone("b"), alone("c"), {Name: "dev", Members: []string{"d"}, Eager: true}, alone("e"), alone("f")}
		started := time.Now()
		ends := b.run(t.Context(), t, all, groups.Options{Parallel: 3})
		if want := []string{"a: applied", "b: applied", "c: applied", "d: applied", "e: applied", "f: applied"}; !slices.Equal(ends, want) {
			t.Errorf("ends %q, want %q", ends, want)
		}
		if took := time.Since(started); b.most != 3 || took != 6*time.Second { // a plan and an apply each of a to c, of d, of e and f
			t.Errorf("%d at the same time at most, in %s, want 3 in 6s: %s", b.most, took, b.log)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := &bench{fails: map[string]string{"b": "plan"}}
		ends := b.run(t.Context(), t, []groups.Group{alone("a"), alone("b"), alone("c")}, groups.Options{Parallel: 2})
		if want := []string{
			"a: applied",
			"b: failed (plan failed)",
			"c: not begun (since too many deployments failed in the group b_default)",
		}; !slices.Equal(ends, want) {
			t.Errorf("ends %q, want %q", ends, want)
		}
	})
}

func TestRun(t *testing.T) {
	dev := groups.Group{Name: "dev", Members: []string{"a", "b"}, Eager: true}
	inTurn := groups.Group{Name: "dev", Members: []string{"a", "b"}}
	prod := groups.Group{Name: "prod", Members: []string{"p"}, Eager: true}
	three := groups.Group{Name: "three", Members: []string{"a", "b", "c"}, Eager: true}
	tolerant := groups.Group{Name: "three", Members: []string{"a", "b", "c"}, Eager: true, Tolerance: 1}

	for name, test := range map[string]struct {
		bench   *bench // nil where all goes well
		groups  []groups.Group
		options groups.Options
		log     string
		ends    []string
	}{
		"eager: all plans come before the first apply": {
			groups: []groups.Group{dev, prod},
			log:    "plan a, plan b, ask a, apply a, ask b, apply b, plan p, ask p, apply p",
			ends:   []string{"a: applied", "b: applied", "p: applied"},
		},
		"in turn: a member is planned when the one before is applied": {
			groups: []groups.Group{inTurn},
			log:    "plan a, ask a, apply a, plan b, ask b, apply b",
			ends:   []string{"a: applied", "b: applied"},
		},
		"alone: one at a time where no more are allowed": {
			bench:  &bench{fails: map[string]string{"y": "apply"}},
			groups: []groups.Group{alone("x"), alone("y"), alone("z"), prod},
			log:    "plan x, ask x, apply x, plan y, ask y, apply y",
			ends: []string{
				"x: applied", "y: failed (apply failed)", "z: not begun (since too many deployments failed in the group y_default)",
				"p: not begun (since too many deployments failed in the group y_default)",
			},
		},
		"what has no changes is not asked for": {
			bench:  &bench{changes: map[string]int{"a": 0}},
			groups: []groups.Group{dev},
			log:    "plan a, plan b, ask b, apply b",
			ends:   []string{"a: no changes", "b: applied"},
		},
		"a failed plan keeps its group from being applied, and later groups from being begun": {
			bench:  &bench{fails: map[string]string{"a": "plan"}},
			groups: []groups.Group{dev, prod},
			log:    "plan a",
			ends: []string{
				"a: failed (plan failed)", "b: not begun (since too many deployments failed in the group dev)",
				"p: not begun (since too many deployments failed in the group dev)",
			},
		},
		"a failed apply, too": {
			bench:  &bench{fails: map[string]string{"a": "apply"}},
			groups: []groups.Group{three},
			log:    "plan a, plan b, plan c, ask a, apply a",
			ends: []string{
				"a: failed (apply failed)", "b: not begun (since too many deployments failed in the group three)",
				"c: not begun (since too many deployments failed in the group three)",
			},
		},
		"a failure that is tolerated": {
			bench:  &bench{fails: map[string]string{"a": "apply"}},
			groups: []groups.Group{tolerant, prod},
			log:    "plan a, plan b, plan c, ask a, apply a, ask b, apply b, ask c, apply c, plan p, ask p, apply p",
			ends:   []string{"a: failed (apply failed)", "b: applied", "c: applied", "p: applied"},
		},
		"one more than is tolerated": {
			bench:  &bench{fails: map[string]string{"a": "plan", "b": "apply"}},
			groups: []groups.Group{tolerant, prod},
			log:    "plan a, plan b, plan c, ask b, apply b",
			ends: []string{
				"a: failed (plan failed)", "b: failed (apply failed)", "c: not begun (since too many deployments failed in the group three)",
				"p: not begun (since too many deployments failed in the group three)",
			},
		},
		"what is refused or waits leaves others of the group alone, and later groups unbegun": {
			bench:  &bench{decides: map[string]error{"a": groups.ErrRefused, "b": groups.ErrWaiting}},
			groups: []groups.Group{three, prod},
			log:    "plan a, plan b, plan c, ask a, ask b, ask c, apply c",
			ends: []string{
				"a: not approved", "b: waiting", "c: applied", "p: not begun (since not everything was approved in the group three)",
			},
		},
		"planning goes on in other groups": {
			bench:   &bench{fails: map[string]string{"a": "plan"}},
			groups:  []groups.Group{dev, prod},
			options: groups.Options{PlanOnly: true},
			log:     "plan a, plan p",
			ends:    []string{"a: failed (plan failed)", "b: not begun (since too many deployments failed in the group dev)", "p: planned"},
		},
		"rounds": {
			bench:   &bench{changes: map[string]int{"p": 3}},
			groups:  []groups.Group{prod},
			options: groups.Options{Rounds: 3},
			log:     "plan p, ask p, apply p, plan p, ask p, apply p, plan p, ask p, apply p",
			ends:    []string{"p: applied"},
		},
		"too many rounds": {
			bench:   &bench{changes: map[string]int{"p": 3}},
			groups:  []groups.Group{prod},
			options: groups.Options{Rounds: 2},
			log:     "plan p, ask p, apply p, plan p, ask p, apply p",
			ends:    []string{"p: failed (changes are still deferred after round 2)"},
		},
		"a round that brings nothing": {
			bench:   &bench{changes: map[string]int{"p": 9}, stuck: map[string]bool{"p": true}},
			groups:  []groups.Group{prod},
			options: groups.Options{Rounds: 9},
			log:     "plan p, ask p, apply p, plan p",
			ends:    []string{"p: failed (changes are still deferred after round 1)"},
		},
		"destroy": {
			groups:  []groups.Group{prod},
			options: groups.Options{Destroy: true},
			log:     "plan p, ask p, apply p",
			ends:    []string{"p: destroyed"},
		},
		"nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if test.bench == nil {
					test.bench = &bench{}
				}
				ends := test.bench.run(t.Context(), t, test.groups, test.options)
				if got := strings.Join(test.bench.log, ", "); got != test.log {
					t.Errorf("did:  %s\nwant: %s", got, test.log)
				}
				if diff := cmp.Diff(test.ends, ends); diff != "" {
					t.Errorf("ends (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A question about the second round is answered after the first was applied.
func TestRoundRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bench{changes: map[string]int{"p": 2}, decides: map[string]error{}}
		b.asked = func(member string) {
			if slices.Contains(b.log, "apply p") {
				b.decides[member] = groups.ErrRefused
			}
		}
		ends := b.run(t.Context(), t, []groups.Group{{Name: "g", Members: []string{"p"}, Eager: true}}, groups.Options{Rounds: 5})
		if diff := cmp.Diff([]string{"p: in part (the next round was not approved)"}, ends); diff != "" {
			t.Errorf("ends (-want +got):\n%s", diff)
		}
	})
}

func TestParallel(t *testing.T) {
	var members []string
	for i := range 20 {
		members = append(members, fmt.Sprintf("m%02d", i))
	}
	for _, parallel := range []int{1, 4, 50} {
		for _, planOnly := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				b := bench{}
				began := time.Now()
				ends := b.run(t.Context(), t, []groups.Group{{Name: "g", Members: members, Eager: true}}, groups.Options{
					Parallel: parallel,
					PlanOnly: planOnly,
				})
				if len(ends) != len(members) {
					t.Errorf("%d ends, want %d", len(ends), len(members))
				}
				if want := min(parallel, len(members)); b.most != want {
					t.Errorf("%d at the same time, want %d", b.most, want)
				}
				phases := 2
				if planOnly {
					phases = 1
				}
				batches := (len(members) + parallel - 1) / parallel
				if got, want := time.Since(began), time.Duration(phases*batches)*time.Second; got != want {
					t.Errorf("parallel %d took %s, want %s", parallel, got, want)
				}
			})
		}
	}
}

// Members that run at an interruption come to their end, and nothing more is begun.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := bench{}
		b.asked = func(member string) {
			if member == "b" {
				cancel()
			}
		}
		ends := b.run(ctx, t, []groups.Group{
			{Name: "g", Members: []string{"a", "b", "c"}, Eager: true},
			{Name: "h", Members: []string{"p"}},
		}, groups.Options{})
		want := []string{
			"a: applied", "b: not begun (interrupted)", "c: not begun (interrupted)", "p: not begun (since not everything was begun in the group g)",
		}
		if diff := cmp.Diff(want, ends); diff != "" {
			t.Errorf("ends (-want +got):\n%s", diff)
		}
	})
}

// publisherOfBench has nothing to apply, and something to publish.
type publisherOfBench struct {
	*driverOfBench
	result error
}

// Publish implements [driver.Publisher].
func (d publisherOfBench) Publish(context.Context) error { return d.result }

// PublishedBy implements [driver.Publisher].
func (publisherOfBench) PublishedBy(context.Context, []operation.PlannedOutputs) (upstream.Published, bool) {
	return upstream.Published{}, false
}

var _ driver.Publisher = publisherOfBench{}

// A member without changes publishes, and ends as that ended.
func TestPublished(t *testing.T) {
	for want, result := range map[string]error{
		"no changes":              nil,
		"failed (lost)":           &driver.LostOutputError{Err: errors.New("lost")},
		"failed (wrong)":          errors.New("wrong"),
		"not begun (interrupted)": process.ErrStopped,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &bench{changes: map[string]int{"a": 0}, plans: map[string]int{}}
			ends := groups.Run(t.Context(), []groups.Group{alone("a")}, groups.Options{
				Open: func(member string) driver.Driver { return publisherOfBench{&driverOfBench{b, member}, result} },
			})
			got := string(ends[0].State)
			if ends[0].Detail != "" {
				got += " (" + ends[0].Detail + ")"
			}
			if got != want {
				t.Errorf("%v: got %q, want %q", result, got, want)
			}
		})
	}
}
