// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package storetest

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// The interleavings that a test tries: rounds of operations, each of a deployment of its own.
const (
	// interleavingsVariable says how many operations are tried in place of the usual number.
	interleavingsVariable = "CAIRN_INTERLEAVINGS"

	usualInterleavings = 80 // for which slow stores have time, too
	roundOperations    = 40
	roundStores        = 4
	placeRounds        = 5 // in one place: with the number of serials, a check of all takes longer
)

// Interleavings runs a number of operations with locks of random parts, several at a time, each of
// which reads what it has locked and writes records made from that. The outcome is as if they had
// run one after the other: only then does every record have the content that it should.
func Interleavings(t *testing.T, open Opener, newLocation func(*testing.T) string, number int) {
	if text := os.Getenv(interleavingsVariable); text != "" {
		var err error
		if number, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", interleavingsVariable, err)
		}
	}
	seed := testenv.Seed(t)
	for i := 0; i < number && !t.Failed(); i += placeRounds * roundOperations {
		at := NewPlace(newLocation(t), open)
		for j := i; j < min(number, i+placeRounds*roundOperations); j += roundOperations {
			interleaveRound(t, at, seed+uint64(j)) //nolint:gosec // never negative
		}
		if err := at.store(t).Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// interleaveRound runs a round of operations of several stores, and checks the outcome.
func interleaveRound(t *testing.T, at *Place, seed uint64) {
	t.Helper()
	stores := make([]statestore.Store, roundStores)
	for i := range stores {
		var err error
		if stores[i], err = at.open(at.location); err != nil {
			t.Fatal(err)
		}
	}
	r := &round{deployment: fmt.Sprint("round-", seed), seed: seed}
	runRound(t, r, stores)
	r.check(t, stores[0])
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// interleavingProcesses is how many processes run the operations of one deployment in
// [testInterleavedProcesses].
const interleavingProcesses = 3

// Operations of several processes are as if they had run one after the other, too.
func testInterleavedProcesses(t *testing.T, at *Place) {
	r := &round{deployment: "processes", seed: testenv.Seed(t)}
	var children []*Child
	for i := range interleavingProcesses {
		c := StartChild(t, "interleave", at.location)
		children = append(children, c)
		if _, err := fmt.Fprintln(c.stdin, r.deployment, r.seed, i); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range children {
		for line := c.Line(t); line != "done"; line = c.Line(t) {
			var e ended
			if _, err := fmt.Sscan(line, &e.number, &e.epoch); err != nil {
				t.Fatalf("child says %q: %v", line, err)
			}
			r.mu.ended = append(r.mu.ended, e)
		}
		c.finish(t)
	}
	// Of two locks that cannot be held at the same time, the one that ended first was taken first.
	slices.SortFunc(r.mu.ended, func(a, b ended) int { return cmp.Compare(a.epoch, b.epoch) })
	s := at.store(t)
	r.check(t, s)
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// childInterleave runs its share of the operations of a round that the line on its standard input
// names, and names those that have ended, with the epochs of their locks.
func childInterleave(open Opener, location string) error {
	s, err := open(location)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	if !in.Scan() {
		return errors.New("nothing to do")
	}
	r := &round{}
	var part int
	if _, err := fmt.Sscan(in.Text(), &r.deployment, &r.seed, &part); err != nil {
		return err
	}
	for number := part; number < roundOperations; number += interleavingProcesses {
		if err := r.run(context.Background(), s, number); err != nil {
			return err
		}
	}
	for _, e := range r.mu.ended {
		fmt.Println(e.number, e.epoch)
	}
	fmt.Println("done")
	return s.Close()
}

// round has operations on one deployment.
type round struct {
	deployment string
	seed       uint64

	mu struct {
		sync.Mutex
		ended []ended        // in the order of the ends of their locks
		held  map[string]int // by leaf: the number of holders that read it, or -1 for one that changes it
		free  chan struct{}  // is closed when a lock was given back; nil if nobody waits
	}
}

// lockPause is how long an operation waits at most for a lock that another process may give back.
const lockPause = 5 * time.Millisecond

// ended is an operation whose lock is about to be given back.
type ended struct {
	number int
	epoch  int64 // of the lock
}

// runRound runs the operations of a round with several stores at a time.
func runRound(t *testing.T, r *round, stores []statestore.Store) {
	t.Helper()
	var running sync.WaitGroup
	for i, s := range stores {
		running.Go(func() {
			for number := i; number < roundOperations; number += len(stores) {
				if err := r.run(t.Context(), s, number); err != nil {
					t.Errorf("operation %d of deployment %s, seed %d: %v", number, r.deployment, r.seed, err)
					return
				}
			}
		})
	}
	testenv.Within(t, "every operation has got its lock and ended", running.Wait)
}

// leaves are the smallest parts of a deployment. The others consist of them.
var leaves = [][]string{{"a", "x"}, {"a", "y"}, {"b"}, {"c"}}

func leafKey(leaf []string) string { return "part/" + strings.Join(leaf, "/") }

// operation has the choices of one operation, which are the same each time.
type operation struct {
	name    string
	parts   []statestore.Part
	reads   []string // keys of all leaves of its parts, sorted
	writes  []string // of those that it changes, sorted
	steps   int
	abandon bool // gives its lock back without a commit
	random  *rand.Rand
}

func (r *round) operation(number int) *operation {
	random := rand.New(rand.NewPCG(r.seed, uint64(number))) //nolint:gosec // to be made again
	paths := append([][]string{{"a"}}, leaves...)
	o := &operation{name: fmt.Sprintf("operation-%d", number), random: random}
	for range 1 + random.IntN(3) {
		part := statestore.Part{Path: paths[random.IntN(len(paths))], Exclusive: random.IntN(2) == 0}
		if random.IntN(12) == 0 {
			part.Path = nil
		}
		o.parts = append(o.parts, part)
	}
	if random.IntN(15) == 0 {
		o.parts = nil // stands for the whole
	}
	locked := (&statestore.LockInfo{Parts: o.parts}).Locked()
	for _, leaf := range leaves {
		covers := func(part statestore.Part) bool { return slices.Equal(part.Path, leaf[:min(len(part.Path), len(leaf))]) }
		if slices.ContainsFunc(locked, covers) {
			o.reads = append(o.reads, leafKey(leaf))
		}
		if slices.ContainsFunc(locked, func(part statestore.Part) bool { return part.Exclusive && covers(part) }) {
			o.writes = append(o.writes, leafKey(leaf))
		}
	}
	o.steps, o.abandon = 1+random.IntN(4), random.IntN(4) == 0
	return o
}

// step returns the changes of the next step: the content of the leaves that it writes comes from
// that of all that it has read. It makes them in values, too.
func (o *operation) step(values map[string]string) map[string][]byte {
	sum := sha256.New()
	for _, key := range o.reads {
		fmt.Fprintf(sum, "%q %q\n", key, values[key])
	}
	changes := map[string][]byte{}
	for range 1 + o.random.IntN(2) {
		key := o.writes[o.random.IntN(len(o.writes))]
		if o.random.IntN(8) == 0 {
			changes[key] = nil
			delete(values, key)
			continue
		}
		var count int
		_, _ = fmt.Sscan(values[key], &count) //nolint:errcheck // of a leaf that is not there yet it is 0
		values[key] = fmt.Sprintf("%d by %s of %x", count+1, o.name, sum.Sum(nil)[:6])
		changes[key] = []byte(values[key])
	}
	return changes
}

// run runs an operation.
func (r *round) run(ctx context.Context, s statestore.Store, number int) error {
	o := r.operation(number)
	lock, err := r.lock(ctx, s, o)
	if err != nil {
		return err
	}
	err = r.enter(o)
	if err == nil {
		err = r.work(ctx, s, lock, o)
	}
	holders, err2 := s.Holders(ctx, r.deployment)
	i := slices.IndexFunc(holders, func(h statestore.LockInfo) bool { return h.ID == lock.ID() })
	if err := errors.Join(err, err2); err != nil || i < 0 {
		return fmt.Errorf("holder number %d, %w", i, errors.Join(err, lock.Unlock(ctx)))
	}
	r.leave(o, ended{number, holders[i].Epoch})
	defer r.freed()
	return unlessBusy(func() error { return lock.Unlock(ctx) })
}

// unlessBusy calls a function again where a store gives up its wait for other writers, which it
// does after seconds: with several at a time and a slow disk, that is the fault of nobody.
func unlessBusy(call func() error) error {
	for {
		err := call()
		if fault, ok := errors.AsType[*statestore.StoreError](err); !ok || fault.Problem != statestore.ProblemBusy {
			return err
		}
	}
}

// wait returns a channel that is closed when a lock was given back.
func (r *round) wait() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.free == nil {
		r.mu.free = make(chan struct{})
	}
	return r.mu.free
}

// freed wakes those who wait.
func (r *round) freed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.free != nil {
		close(r.mu.free)
		r.mu.free = nil
	}
}

// lock waits for a lock of the parts.
func (r *round) lock(ctx context.Context, s statestore.Store, o *operation) (statestore.Lock, error) {
	for {
		free := r.wait()
		var lock statestore.Lock
		err := unlessBusy(func() (err error) {
			lock, err = s.Lock(ctx, r.deployment, statestore.LockRequest{Operation: o.name, Parts: o.parts})
			return err
		})
		if err == nil || !IsError[*statestore.LockedError](err) {
			return lock, err
		}
		select {
		case <-free:
		case <-time.After(lockPause):
		}
	}
}

// work reads and writes under the lock.
func (r *round) work(ctx context.Context, s statestore.Store, lock statestore.Lock, o *operation) error {
	if len(o.writes) == 0 {
		first, _, err := r.read(ctx, s, o)
		if err != nil {
			return err
		}
		return r.unchanged(ctx, s, o, first)
	}
	values, base, err := r.read(ctx, s, o)
	if err != nil {
		return err
	}
	changes := o.step(values)
	var w statestore.Writer
	begin := func() (err error) {
		w, err = lock.Begin(ctx, base, o.name, changes)
		return err
	}
	err = unlessBusy(begin)
	for IsError[*statestore.StaleError](err) { // somebody with other parts has opened a serial since
		if _, base, err = r.read(ctx, s, o); err != nil {
			return err
		}
		err = unlessBusy(begin)
	}
	if err != nil {
		return err
	}
	for range o.steps - 1 {
		if err := r.unchanged(ctx, s, o, values); err != nil {
			return err
		}
		changes := o.step(values)
		if err := unlessBusy(func() error { return w.Write(ctx, changes) }); err != nil {
			return err
		}
	}
	if err := r.unchanged(ctx, s, o, values); err != nil || o.abandon {
		return err
	}
	return unlessBusy(func() error { return w.Commit(ctx) })
}

// read returns the content of the leaves that an operation has locked.
func (r *round) read(ctx context.Context, s statestore.Store, o *operation) (map[string]string, statestore.Base, error) {
	snapshot, err := s.Read(ctx, r.deployment)
	if err != nil {
		return nil, statestore.Base{}, err
	}
	values := map[string]string{}
	for _, key := range o.reads {
		if value, ok := snapshot.Records[key]; ok {
			values[key] = string(value)
		}
	}
	return values, snapshot.Base(), nil
}

// unchanged fails unless the leaves that an operation has locked are as it has read or written
// them.
func (r *round) unchanged(ctx context.Context, s statestore.Store, o *operation, want map[string]string) error {
	got, _, err := r.read(ctx, s, o)
	if err != nil {
		return err
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		return fmt.Errorf("what it has locked was changed (-want +got):\n%s", diff)
	}
	return nil
}

// enter notes the holder of a lock, and fails if there is another one of the same leaves.
func (r *round) enter(o *operation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.held == nil {
		r.mu.held = map[string]int{}
	}
	for _, key := range o.reads {
		changes := slices.Contains(o.writes, key)
		if n := r.mu.held[key]; n < 0 || n > 0 && changes {
			return fmt.Errorf("%s has several holders", key)
		}
		if changes {
			r.mu.held[key] = -1
		} else {
			r.mu.held[key]++
		}
	}
	return nil
}

// leave notes that the lock of an operation ends.
func (r *round) leave(o *operation, e ended) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.ended = append(r.mu.ended, e)
	for _, key := range o.reads {
		r.mu.held[key] = max(r.mu.held[key]-1, 0)
	}
}

// check compares the outcome of a round with that of its operations one after the other, and its
// history with what they were.
func (r *round) check(t *testing.T, s statestore.Store) {
	t.Helper()
	if len(r.mu.ended) != roundOperations {
		t.Fatalf("%d operations of deployment %s have ended, want %d", len(r.mu.ended), r.deployment, roundOperations)
	}
	want := map[string]string{}
	abandoned := map[string]bool{}
	for _, e := range r.mu.ended {
		o := r.operation(e.number)
		if len(o.writes) == 0 {
			continue
		}
		for range o.steps {
			o.step(want)
		}
		abandoned[o.name] = o.abandon
	}
	WantRecords(t, MustRead(t, s, r.deployment), want)

	history, err := s.History(t.Context(), r.deployment)
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]statestore.Version{} // by operation
	for _, v := range history {
		if before := last[v.Operation]; before.Unfinished() {
			t.Errorf("serial %d of %s is unfinished, though that went on in serial %d", before.Serial, v.Operation, v.Serial)
		}
		last[v.Operation] = v
		snapshot, err := s.ReadSerial(t.Context(), r.deployment, v.Serial)
		if err != nil || int64(len(snapshot.Records)) != v.Total {
			t.Errorf("ReadSerial(%d): error %v, want %d records", v.Serial, err, v.Total)
		}
	}
	for name, isAbandoned := range abandoned {
		if v, ok := last[name]; !ok || v.Unfinished() != isAbandoned {
			t.Errorf("the last serial of %s is %+v, want it to be unfinished: %t", name, v, isAbandoned)
		}
	}
	if len(last) != len(abandoned) {
		t.Errorf("the history has %d operations, want %d", len(last), len(abandoned))
	}
	if t.Failed() {
		t.Logf("deployment %s has seed %d", r.deployment, r.seed)
	}
	if locks, err := s.Holders(t.Context(), r.deployment); err != nil || len(locks) > 0 {
		t.Errorf("locks that are left: %v, %v", locks, err)
	}
}
