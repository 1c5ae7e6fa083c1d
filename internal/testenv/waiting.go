// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Patience is how long a test waits for another goroutine, or for the next step of a process,
// before it fails.
const Patience = time.Minute

// commandPatience is how long a process may run in a test. An apply with real engines takes seconds
// where nothing else runs.
const commandPatience = 3 * time.Minute

// errImpatient is why a process was ended that ran for too long.
var errImpatient = errors.New("the process ran for too long")

// Within runs wait, and ends the test if it has not returned after [Patience]. The parameter what
// names the event that is waited for, as in "the lock is given back". wait runs in another
// goroutine; it may end the test.
func Within(t testing.TB, what string, wait func()) {
	t.Helper()
	within(t, Patience, what, wait)
}

func within(t testing.TB, limit time.Duration, what string, wait func()) {
	t.Helper()
	returned := make(chan bool, 1)
	go func() { // ends with wait, or with the test program
		ok := false
		defer func() { returned <- ok }()
		wait()
		ok = true
	}()
	select {
	case ok := <-returned:
		if !ok {
			t.FailNow() // wait said why
		}
	case <-time.After(limit):
		t.Fatalf("waited %s in vain until %s", limit, what)
	}
}

// Receive returns the next value from a channel, the zero value once that is closed. It ends the
// test as [Within] does.
func Receive[T any](t testing.TB, what string, from <-chan T) (received T) {
	t.Helper()
	Within(t, what, func() { received = <-from })
	return received
}

// AwaitFile returns when there is a file. It ends the test as [Within] does.
func AwaitFile(t testing.TB, path string) {
	t.Helper()
	Await(t, "there is "+path, func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// Await returns when something holds, which is looked at again and again. It ends the test as
// [Within] does.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Within(t, what, func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for !holds() {
			<-tick.C
		}
	})
}

// Command returns a command that fails the test and is killed if it runs for some minutes. It does
// not outlive the test.
func Command(t testing.TB, program string, args ...string) *exec.Cmd {
	t.Helper()
	return commandWithin(t, commandPatience, program, args...)
}

func commandWithin(t testing.TB, limit time.Duration, program string, args ...string) *exec.Cmd {
	t.Helper()
	// The context of the test ends before the clean-ups, of which some wait for the process.
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errImpatient)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error {
		if context.Cause(ctx) == errImpatient { //nolint:errorlint // the very one
			t.Errorf("%s %s has not ended after %s, and was killed", program, strings.Join(args, " "), limit)
		}
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = 10 * time.Second // for the pipes that its children may have
	return cmd
}
