// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// childRoles are the activities of the test binary in place of testing when it is started by
// [startChild]. The location of the store is the argument.
var childRoles = map[string]ChildRole{
	"hold":    childHold,
	"contend": childContend,
	"write":   childWrite,

	"parts":      childParts,
	"interleave": childInterleave,
}

// ChildRole is an activity in another process, on the store at a location.
type ChildRole func(open Opener, location string) error

const childVariable = "CAIRN_STATESTORE_CHILD"

func Main(m *testing.M, open Opener, more map[string]ChildRole) {
	maps.Copy(childRoles, more)
	if role := os.Getenv(childVariable); role != "" {
		if err := childRoles[role](open, os.Args[1]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1) //nolint:forbidigo // in the place of main
		}
		os.Exit(0) //nolint:forbidigo // as above
	}
	goleak.VerifyTestMain(m)
}

// childHold takes the lock, says so, and gives it back when its standard input ends.
func childHold(open Opener, location string) error {
	ctx := context.Background()
	s, err := open(location)
	if err != nil {
		return err
	}
	lock, err := s.Lock(ctx, "default", statestore.LockRequest{Operation: "hold", Owner: "child"})
	if err != nil {
		return err
	}
	fmt.Println("locked", lock.ID())
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, lock.Unlock(ctx), s.Close())
}

// childContend waits for a line, tries to lock, says how that went, and goes on
// as childHold does.
func childContend(open Opener, location string) error {
	ctx := context.Background()
	s, err := open(location)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	lock, err := s.Lock(ctx, "default", statestore.LockRequest{Operation: "contend"})
	if _, ok := errors.AsType[*statestore.LockedError](err); ok {
		fmt.Println("refused")
		return s.Close()
	}
	if err != nil {
		return err
	}
	fmt.Println("won")
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, lock.Unlock(ctx), s.Close())
}

// childWrite writes records without end, and names each when it is stored.
func childWrite(open Opener, location string) error {
	ctx := context.Background()
	s, err := open(location)
	if err != nil {
		return err
	}
	lock, err := s.Lock(ctx, "default", statestore.LockRequest{Operation: "apply"})
	if err != nil {
		return err
	}
	snapshot, err := s.Read(ctx, "default")
	if err != nil {
		return err
	}
	w, err := lock.Begin(ctx, snapshot.Base(), "apply", nil)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		key := fmt.Sprintf("key-%d", i)
		if err := w.Write(ctx, map[string][]byte{key: killedValue(key)}); err != nil {
			return err
		}
		fmt.Println(key)
	}
}

// killedValue is the value that childWrite writes for a key: some pages of it.
func killedValue(key string) []byte {
	return []byte(strings.Repeat(key+" ", 2000))
}

// Child is a process started by startChild.
type Child struct {
	Cmd   *exec.Cmd
	stdin io.WriteCloser
	Out   *bufio.Scanner
}

// StartChild starts the test binary in a role. It is killed, if need be, when
// the test ends.
func StartChild(t *testing.T, role, location string, adjust ...func(*exec.Cmd)) *Child {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := testenv.Command(t, binary, location)
	cmd.Env = append(os.Environ(), childVariable+"="+role)
	cmd.Stderr = os.Stderr
	for _, f := range adjust {
		f(cmd)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &Child{Cmd: cmd, stdin: stdin, Out: bufio.NewScanner(stdout)}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			c.Kill(t)
		}
	})
	return c
}

// Line returns the next line the child prints.
func (c *Child) Line(t *testing.T) string {
	t.Helper()
	if !c.Out.Scan() {
		t.Fatalf("child ended early: %v", c.Cmd.Wait())
	}
	return c.Out.Text()
}

// Kill ends the child as a power failure would, and waits until it is gone.
func (c *Child) Kill(t *testing.T) {
	t.Helper()
	if err := c.Cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Cmd.Wait() //nolint:errcheck // It says "killed".
}

// finish lets the child end by itself.
func (c *Child) finish(t *testing.T) {
	t.Helper()
	if err := c.stdin.Close(); err != nil {
		t.Error(err)
	}
	for c.Out.Scan() {
		t.Logf("child: %s", c.Out.Text())
	}
	if err := c.Cmd.Wait(); err != nil {
		t.Errorf("child: %v", err)
	}
}
