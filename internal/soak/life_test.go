// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testprovider"
)

type lifeOptions struct {
	seed    uint64
	engine  *modulesEngine
	setting string // that names the engine
	config  string // path
	sum     *tally
	cuts    bool // of the power, rather than kills

	database *database // that has the states; nil if they are in files
	place    string    // of the state; "" for a place of its own
}

// life is a stack and its user.
type life struct {
	*testing.T
	lifeOptions
	dir     string
	store   testprovider.Store
	random  *rand.Rand
	typical time.Duration // of a command that nobody disturbs

	count      int // of generations
	generation string
	made       int             // kills
	accept     bool            // whether doubtful objects are accepted
	written    map[string]bool // ids that were seen in records of the engine
	history    []string
}

func newLife(t *testing.T, opts lifeOptions) *life {
	dir := t.TempDir()
	l := &life{
		T: t, lifeOptions: opts, dir: filepath.Join(dir, "stack"), store: testprovider.Store{Dir: filepath.Join(dir, "store")},
		random: rand.New(rand.NewPCG(opts.seed, 0)), written: map[string]bool{}, //nolint:gosec // to be repeated
	}
	writeStack(t, l.dir)
	t.Cleanup(func() {
		l.killAll()
		if t.Failed() {
			t.Logf(
				"again with: go test ./internal/soak -run %s -seed %d\n%s", strings.SplitAfterN(t.Name(), "/", 2)[0],
				l.seed, strings.Join(l.history, "\n"),
			)
		}
	})
	return l
}

const (
	killsPerLife    = 12
	killsOfDestroys = 3 // besides these
)

func (l *life) live() {
	l.next()
	start := time.Now()
	l.settle("apply")
	l.typical = time.Since(start)
	l.check(wanted(l.generation))
	l.next()
	for range l.kills(killsPerLife) {
		if l.killed("apply").code == 0 {
			l.check(wanted(l.generation))
			l.next()
		}
	}
	l.settle("apply")
	l.check(wanted(l.generation))
	for range l.kills(killsOfDestroys) {
		if l.killed("destroy").code == 0 {
			break
		}
	}
	l.settle("destroy")
	l.check(nil)
}

// next has the next command change something.
func (l *life) next() {
	l.count++
	l.generation = fmt.Sprint("g", l.count)
}

// kills goes on until so many kills were made, or all that there are to be.
func (l *life) kills(most int) func(yield func() bool) {
	return func(yield func() bool) {
		for before := l.made; l.made-before < most && (l.seed == *seedFlag || !l.sum.done()); {
			if !yield() {
				return
			}
		}
	}
}

// settle runs a command until it succeeds.
func (l *life) settle(command string) {
	for range 6 {
		if l.run(command, nil).code == 0 {
			return
		}
	}
	l.fatalf("%s does not succeed", command)
}

// result is how a command ended by itself.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command. While it runs, disturb may kill it or others. A command that ends by itself
// has an exit code, and its messages were read.
func (l *life) run(command string, disturb func(run *running)) result {
	args := []string{command, "-auto-approve", "-no-color", "-var=generation=" + l.generation}
	if l.accept {
		args = append(args, "-accept-recovery")
	}
	done := l.exec(args, disturb)
	if done.code < 0 {
		l.note("%s was killed", strings.Join(args, " "))
		l.remember()
		return done
	}
	l.note("%s ended with exit code %d\n%s", strings.Join(args, " "), done.code, indent(done.stderr))
	if strings.Contains(done.stderr, "Interrupted apply recovered") {
		l.sum.add("commands that recovered")
	}
	l.accept = false
	if done.code != 0 {
		l.accept = strings.Contains(done.stderr, "-accept-recovery")
		l.look(done.stderr)
	}
	return done
}

// running is a command that was not waited for yet.
type running struct {
	pid   int
	ended chan struct{}
}

// exec runs a command, again if it did not find the database: it does not wait for a server that it
// has not reached.
func (l *life) exec(args []string, disturb func(run *running)) result {
	done := l.execOnce(args, disturb)
	for strings.Contains(done.stderr+done.stdout, "State unreachable") {
		l.note("%s did not find the database", strings.Join(args, " "))
		l.database.await()
		done = l.execOnce(args, nil)
	}
	return done
}

func (l *life) execOnce(args []string, disturb func(run *running)) result {
	self, err := os.Executable()
	if err != nil {
		l.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), mainVariable+"=1", lifeVariable+"="+l.dir, "CHECKPOINT_DISABLE=1", "COLUMNS=1000",
		"TF_CLI_CONFIG_FILE="+l.config, "CAIRN_ENGINE="+l.setting, "CAIRN_FAKE_STORE="+l.store.Dir,
		"CAIRN_STATE="+cmp.Or(l.place, l.database.location(l.engine.name, l.lifeOptions.seed)))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		l.Fatal(err)
	}
	run := &running{cmd.Process.Pid, make(chan struct{})}
	waited := make(chan error, 1)
	go func() { // ends with the command
		defer close(run.ended)
		waited <- cmd.Wait()
	}()
	if disturb != nil {
		disturb(run)
	}
	err = <-waited
	if ctx.Err() != nil {
		l.fatalf("%s did not end\n%s", strings.Join(args, " "), stderr.String())
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		l.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// remember notes which objects are in the records of the engine.
func (l *life) remember() {
	records, err := filepath.Glob(filepath.Join(l.dir, l.engine.records))
	if err != nil {
		l.Fatal(err)
	}
	for _, record := range records {
		for _, object := range l.engine.objects(record) {
			l.written[object.Attributes.ID] = true
		}
	}
}

// objects returns the objects that really exist: addresses by id.
func (l *life) objects() map[string]string {
	ids, err := l.store.List()
	if err != nil {
		l.Fatal(err)
	}
	objects := map[string]string{}
	for _, id := range ids {
		object, err := l.store.Get(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			l.Fatal(err)
		}
		var value string
		if err := json.Unmarshal(object.Values["value"], &value); err != nil {
			l.Fatal(err)
		}
		objects[id], _, _ = strings.Cut(value, " ")
	}
	return objects
}

// state returns the ids in the state.
func (l *life) state() map[string]bool {
	shown := l.exec([]string{"show", "-json"}, nil)
	if shown.code != 0 {
		l.fatalf("show ended with exit code %d\n%s", shown.code, shown.stderr)
	}
	var document struct {
		Components []struct {
			Resources []struct {
				Values struct{ ID string }
			}
		}
	}
	if err := json.Unmarshal([]byte(shown.stdout), &document); err != nil {
		l.Fatal(err)
	}
	ids := map[string]bool{}
	for _, component := range document.Components {
		for _, resource := range component.Resources {
			ids[resource.Values.ID] = true
		}
	}
	return ids
}

// look does the work of a user who has read that something may have gone wrong: objects that exist,
// are not in the state and were named, are deleted; or all that are not in the state, where nobody
// knows which were made.
func (l *life) look(warning string) {
	state := l.state()
	for id, address := range l.objects() {
		if state[id] || !strings.Contains(warning, address) && !strings.Contains(warning, "Apply journal lost") {
			continue
		}
		if l.written[id] { // rule K2
			l.fatalf("%s (%s) was in the state of an engine, and is not in that of the stack", address, id)
		}
		l.note("deleting %s (%s), which was named", address, id)
		l.sum.add("objects named and deleted")
		if err := l.store.Delete(id); err != nil {
			l.Fatal(err)
		}
	}
}

// check compares the existing objects with the state and with the wanted ones.
func (l *life) check(want []string) {
	state, objects := l.state(), l.objects()
	var have []string
	for id, address := range objects {
		if !state[id] {
			l.Errorf("%s (%s) exists and is not in the state, and nobody said so (rules K1 and K3)", address, id)
		}
		have = append(have, address)
	}
	for id := range state {
		if objects[id] == "" {
			l.Errorf("%s is in the state and does not exist", id)
		}
	}
	slices.Sort(have)
	if !slices.Equal(have, want) {
		l.Errorf("%q exist, want %q", have, want)
	}
	if l.Failed() {
		l.FailNow()
	}
	l.history = nil
}

func (l *life) note(format string, args ...any) {
	l.history = append(l.history, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (l *life) fatalf(format string, args ...any) {
	l.Helper()
	l.Fatalf(format, args...)
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// killAll kills all processes of the life, those first that start others.
func (l *life) killAll() {
	for _, program := range slices.Concat([]string{"soak.test"}, l.engine.programs, []string{""}) {
		for _, pid := range processes(l.dir, program) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // unless it has ended
		}
	}
}
