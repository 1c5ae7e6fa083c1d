// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package workerstest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
)

// life is a cluster whose runs have faults.
type life struct {
	*cluster
	repository *repository
	random     *rand.Rand
	counts     map[string]int

	generation int
	events     []event
	frozen     map[*worker]bool
	leaving    map[*worker]bool // that were asked to end
	away       map[string]bool  // servers
	newest     int              // generation in which a worker has begun last
	healed     time.Time        // since when nothing is away
	run        run
}

// event is the end of a fault, or a part of it.
type event struct {
	at time.Time
	do func()
}

// run is a run, and the programs that carry it on.
type run struct {
	id       string
	carriers []*process
	read     int    // number of carriers whose output was noted
	said     string // by those
	outcome  *outcome
	hard     bool // there was a fault after which it may fail
}

// outcome is the end of a run as "run show -json" has it.
type outcome struct {
	Code int `json:"code"`
}

// The sizes of a life.
const (
	partsOfLife = 12
	faultsOfRun = 4
	runsOfLife  = 6
)

// patience is how long a run may take whose programs are all there: some leases, and the times
// after which calls are delivered again.
const patience = 2 * time.Minute

func TestFaults(t *testing.T) {
	t.Parallel() // it waits most of the time
	seed, left := *seedFlag, *faultsFlag
	if seed == 0 {
		seed = testenv.Seed(t)
	}
	counts := map[string]int{}
	for ; left > 0 && !t.Failed(); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newLife(t, seed, counts)
			left -= l.live(left)
		})
		if *seedFlag != 0 {
			break
		}
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s: %d", what, counts[what]))
	}
	t.Log(strings.Join(parts, ", "))
}

func newLife(t *testing.T, seed uint64, counts map[string]int) *life {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // to be repeated
	queues := []string{temporaltest.File, inPostgres}
	places := []string{inDirectory, inPostgres, inObjects}
	options := clusterOptions{queue: queues[random.IntN(len(queues))], records: places[random.IntN(len(places))]}
	l := &life{
		cluster: newCluster(t, options), random: random, counts: counts, frozen: map[*worker]bool{}, leaving: map[*worker]bool{},
		away: map[string]bool{},
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again with: go test ./internal/workerstest -run TestFaults -seed %d", seed)
		}
	})
	if *historyFlag != "" {
		t.Cleanup(func() { writeFile(t, filepath.Join(*historyFlag, fmt.Sprint(seed)), strings.Join(l.history, "\n")) })
	}
	oneStack := random.IntN(4) == 0
	l.repository = newRepository(t, filepath.Join(l.dir, "repository"), oneStack, partsOfLife, random.IntN)
	if oneStack {
		l.repository.inRuns = random.IntN(2) == 0
		l.delegates = l.repository.inRuns
	}
	l.note("queue in %s, records in %s, one stack: %t, in runs: %t", options.queue, options.records, oneStack, l.repository.inRuns)
	for _, pool := range []string{defaultPool, defaultPool, otherPool, otherPool} {
		l.addWorker(pool)
	}
	l.newest = 1 // they have reached nothing before the first run
	return l
}

// live has runs with up to so many faults in all, and returns their number.
func (l *life) live(most int) (brought int) {
	for n := 0; n < runsOfLife && brought < most && !l.Failed(); n++ {
		l.generation++
		l.repository.write(l, l.current())
		l.carry(min(faultsOfRun, most-brought), &brought)
		l.settle()
		l.check(l.repository, l.repository.wanted(l.current()))
	}
	return brought
}

func (l *life) current() string { return fmt.Sprint("g", l.generation) }

// after has something done later in this life.
func (l *life) after(wait time.Duration, do func()) {
	l.events = append(l.events, event{time.Now().Add(wait), do})
}

// pass lets the time pass for a moment: it does what is due.
func (l *life) pass() {
	time.Sleep(10 * time.Millisecond)
	now := time.Now()
	var due []event
	l.events = slices.DeleteFunc(l.events, func(e event) bool {
		if e.at.After(now) {
			return false
		}
		due = append(due, e)
		return true
	})
	for _, e := range due {
		e.do()
	}
	for _, w := range l.workers {
		switch {
		case !w.hasEnded() || l.leaving[w]:
		case strings.Contains(w.output(l), serves):
			l.fatalf("%s has ended by itself (rule W5)", w.name)
		default: // it could not reach the records, whose location may be wrong: whoever supervises it tries again
			l.note("%s could not begin: %s", w.name, w.output(l))
			l.leaving[w] = true
			l.after(briefly, func() {
				delete(l.leaving, w)
				l.begin(w)
			})
		}
	}
	if len(l.events) > 0 || l.healed.IsZero() {
		l.healed = time.Now()
	}
}

// carry carries out a run to its end, with faults.
func (l *life) carry(faults int, brought *int, args ...string) {
	l.run = run{}
	l.healed = time.Time{}
	moment := l.moment()
	for l.run.outcome == nil {
		l.pass()
		if faults > 0 && moment() {
			kind := faultKinds[l.random.IntN(len(faultKinds))]
			if kind.bring(l) {
				l.counts[kind.name]++
				l.run.hard = l.run.hard || kind.hard || l.repository.oneStack
				faults--
				*brought++
				moment = l.moment()
			}
			l.healed = time.Now()
		}
		l.carryOn(args)
		if time.Since(l.healed) > patience {
			l.fatalf("the run %s has not ended %s after all was well again (rule W3)", l.run.id, patience)
		}
	}
	for len(l.events) > 0 { // all is well again before the next run
		l.pass()
	}
	for _, p := range l.run.carriers {
		testenv.Receive(l, "end of a program of a run that has ended", p.ended)
	}
	l.listen()
}

// moment returns a function that reports whether the moment of a fault has come: any time, or after
// something was made or deleted.
func (l *life) moment() func() bool {
	at := time.Now().Add(l.upTo(3 * time.Second))
	if l.random.IntN(2) == 0 {
		return func() bool { return !time.Now().Before(at) }
	}
	before := modified(l.store.Dir)
	at = time.Time{}
	delay := l.upTo(200 * time.Millisecond)
	return func() bool {
		if at.IsZero() && !modified(l.store.Dir).Equal(before) {
			at = time.Now().Add(delay)
		}
		return !at.IsZero() && !time.Now().Before(at)
	}
}

func modified(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// serves is a part of what a worker says once it can work.
const serves = "Working for the pool"

var announced = regexp.MustCompile(`(?m)^Run (\S+), on workers at`)

// carryOn sees to it that some program carries on the run, and finds out whether it has ended.
func (l *life) carryOn(args []string) {
	running := 0
	for _, p := range l.run.carriers {
		if !p.hasEnded() {
			running++
		}
	}
	if l.run.id == "" {
		for _, p := range l.run.carriers {
			if found := announced.FindStringSubmatch(p.output(l)); found != nil {
				l.run.id = found[1]
				l.note("run %s", l.run.id)
			}
		}
	}
	if running > 0 {
		return
	}
	l.listen()
	switch {
	case l.repository.oneStack && !l.repository.inRuns:
		l.applyOn(args)
	case l.run.id == "":
		l.note("a run begins %s", args)
		l.run.carriers = append(l.run.carriers, l.start(l.user, l.repository.dir,
			append([]string{"run", "apply", "-auto-approve", "-no-color"}, args...), "CAIRN_RUN_KEY="+l.keyFile("run")))
	case l.ended():
	default:
		l.attach()
		if l.random.IntN(3) == 0 {
			l.attach()
		}
	}
}

// applyOn begins to apply one stack, also again after the program that did so was killed.
func (l *life) applyOn(args []string) {
	if n := len(l.run.carriers); n > 0 && l.run.carriers[n-1].code() >= 0 {
		l.run.outcome = &outcome{Code: l.run.carriers[n-1].code()}
		return
	}
	l.note("an apply begins %s", args)
	l.run.carriers = append(l.run.carriers, l.start(l.user, l.repository.states()[0],
		append([]string{"apply", "-auto-approve", "-no-color", "-lock-timeout=1m"}, args...), "CAIRN_RUN_KEY="+l.keyFile("run")))
}

// attach has one more program carry on the run.
func (l *life) attach() {
	l.note("attaching")
	args := []string{"run", "attach", "-no-color", l.run.id}
	l.run.carriers = append(l.run.carriers, l.start(l.user, l.dir, args, "CAIRN_RUN_KEY="+l.keyFile("run")))
}

// listen notes what programs have said that have ended since.
func (l *life) listen() {
	for ; l.run.read < len(l.run.carriers); l.run.read++ {
		p := l.run.carriers[l.run.read]
		if !p.hasEnded() {
			return
		}
		said := p.output(l)
		l.run.said += said
		l.note("a program of the run has ended with exit code %d:\n%s", p.code(), said)
	}
}

// ended finds out whether the run has ended.
func (l *life) ended() bool {
	shown, err := l.answer(l.dir, "run", "show", "-json", l.run.id)
	if err != nil {
		l.note("%v", err)
		return false
	}
	var document struct {
		Outcome *outcome `json:"outcome"`
	}
	if err := json.Unmarshal([]byte(shown), &document); err != nil {
		l.Fatal(err)
	}
	l.run.outcome = document.Outcome
	return l.run.outcome != nil
}

// settle does the work of a user after a run that has failed: it sees to the objects that were
// named, and runs again until that succeeds (rules W2 and W4).
func (l *life) settle() {
	for n := range 5 {
		faulty := n == 0
		if l.run.outcome.Code == 0 {
			return
		}
		l.counts["runs that failed"]++
		for _, found := range reasons.FindAllStringSubmatch(l.run.said, -1) {
			l.counts["reasons: "+found[1]]++
		}
		l.note("the run has failed")
		// A store that a process has never reached is not waited for: its location may be wrong.
		mayBeWrong := l.newest >= l.generation-1 && strings.Contains(l.run.said, "State unreachable")
		if faulty && !l.run.hard && !mayBeWrong {
			l.fatalf("the run has failed after faults that cost time only (rule W5)")
		}
		l.look()
		var args []string
		if strings.Contains(l.run.said, "-accept-recovery") {
			args = append(args, "-accept-recovery")
		}
		none := 0
		l.carry(0, &none, args...)
	}
	if l.run.outcome.Code != 0 {
		l.fatalf("runs do not succeed any more (rule W4)")
	}
}

// look deletes objects that exist, are in no state and were named.
func (l *life) look() {
	state := l.states(l.repository)
	for id, address := range objects(l, l.store) {
		if !state[id] && strings.Contains(l.run.said, address) {
			l.note("deleting %s (%s), which was named", address, id)
			l.counts["objects named and deleted"]++
			if err := l.store.Delete(id); err != nil {
				l.Fatal(err)
			}
		}
	}
}

// reasons are those of units that have failed.
var reasons = regexp.MustCompile(`(?m)^failed +\S+ +\((.*)\)$`)

func (l *life) fatalf(format string, args ...any) {
	l.Helper()
	if l.run.id != "" {
		shown, err := l.answer(l.dir, "run", "show", l.run.id)
		l.note("run show: %s%v", shown, err)
	}
	for _, p := range l.run.carriers[l.run.read:] {
		l.note("a program of the run says:\n%s", p.output(l))
	}
	for _, w := range l.workers {
		l.note("%s says:\n%s", w.name, w.output(l))
	}
	l.Fatalf(format, args...)
}
