// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// failingTest notes how a helper would have failed the test.
type failingTest struct {
	testing.TB
	said string
}

func (f *failingTest) FailNow()                          { f.said = "failed" }
func (f *failingTest) Errorf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }
func (f *failingTest) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, takes := range map[string]time.Duration{"": Patience / 2, "waited 1m0s in vain until it is done": 2 * Patience} {
			f := &failingTest{TB: t}
			Within(f, "it is done", func() { <-time.After(takes) }) // of the bubble's clock
			if f.said != want {
				t.Errorf("after %s: %q, want %q", takes, f.said, want)
			}
		}
		f := &failingTest{TB: t}
		if Within(f, "it is done", runtime.Goexit); f.said != "failed" { //nolint:forbidigo // as t.FailNow does
			t.Errorf("a wait that ends the test: %q, want that it failed", f.said)
		}
		<-time.After(2 * Patience) // until nobody waits any more
	})
}

func TestReceive(t *testing.T) {
	from := make(chan int, 1)
	from <- 7
	if got := Receive(t, "a number comes", from); got != 7 {
		t.Errorf("Receive: got %d, want 7", got)
	}
}

// A process that doesn't end is killed, and named in the message; another one is left alone.
func TestCommand(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a shell")
	}
	f := &failingTest{TB: t}
	if err := Command(f, sh, "-c", "exit 0").Run(); err != nil || f.said != "" {
		t.Errorf("a command that ends: %v, %q", err, f.said)
	}
	err = commandWithin(f, 50*time.Millisecond, sh, "-c", "exec sleep 100").Run()
	if err == nil || !strings.HasSuffix(f.said, "sh -c exec sleep 100 has not ended after 50ms, and was killed") {
		t.Errorf("a command that doesn't: %v, %q", err, f.said)
	}
}
