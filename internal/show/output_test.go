// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

func write(t *testing.T, w interface{ Write([]byte) (int, error) }, text string) {
	t.Helper()
	if n, err := w.Write([]byte(text)); err != nil || n != len(text) {
		t.Fatalf("Write(%q): %d, %v", text, n, err)
	}
}

func TestOutputAtOnce(t *testing.T) {
	var out, errs bytes.Buffer
	a := NewOutput(&out, &errs, false).Node("a")
	write(t, a.Out, "one\ntw")
	if got, want := out.String(), "a | one\na | tw"; got != want {
		t.Errorf("unfinished line: %q, want %q", got, want)
	}
	write(t, a.Out, "o\n\nEnter a value: ")
	write(t, a.Err, "warned\n")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "a | one\na | two\na | \na | Enter a value: \n"; got != want {
		t.Errorf("output: %q, want %q", got, want)
	}
	if got, want := errs.String(), "a | warned\n"; got != want {
		t.Errorf("errors: %q, want %q", got, want)
	}
}

func TestOutputGrouped(t *testing.T) {
	var both bytes.Buffer
	o := NewOutput(&both, &both, true)
	a, b := o.Node("a"), o.Node("b")
	write(t, a.Out, "1\n")
	write(t, b.Out, "1\n")
	write(t, a.Err, "2\n")
	write(t, a.Out, "3")
	if both.Len() > 0 {
		t.Errorf("%q is shown before anything has ended", both.String())
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := both.String(), "b | 1\na | 1\na | 2\na | 3\n"; got != want {
		t.Errorf("output: %q, want %q", got, want)
	}
}

// Much output does not wait, and lines of several nodes are never mixed.
func TestOutputOfMany(t *testing.T) {
	var out bytes.Buffer
	o := NewOutput(&out, &out, true)
	const nodes, lines = 8, 3000
	long := strings.Repeat("x", 200)
	var wait sync.WaitGroup
	for i := range nodes {
		wait.Go(func() {
			n := o.Node(fmt.Sprint(i))
			for range lines {
				if _, err := fmt.Fprintf(n.Out, "%s\n", long); err != nil {
					t.Error(err)
				}
			}
			if len(n.held.pieces) > 0 && n.held.size >= heldBack {
				t.Errorf("%d bytes are held back", n.held.size)
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	count := 0
	for line := range strings.Lines(out.String()) {
		count++
		if name, text, ok := strings.Cut(line, " | "); !ok || len(name) != 1 || text != long+"\n" {
			t.Fatalf("line %q", line)
		}
	}
	if count != nodes*lines {
		t.Errorf("%d lines, want %d", count, nodes*lines)
	}
}

// Where nodes have the terminal for themselves, they get the writers as they are.
func TestTerminalOutput(t *testing.T) {
	var out, errs bytes.Buffer
	o := NewTerminalOutput(&out, &errs, Headings{Total: 2})
	for _, name := range []string{"a", "b/c"} {
		n := o.Node(name)
		if n.Out != &out || n.Err != &errs {
			t.Errorf("the writers of %s are not those of the terminal", name)
		}
		n.Phase("plan")
		write(t, n.Out, "Really? ")
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), "a  1 of 2\nReally? \nb/c  2 of 2\nReally? "; got != want {
		t.Errorf("output: %q, want %q", got, want)
	}
}

// full is a writer that takes so many bytes.
type full struct{ room int }

func (f *full) Write(text []byte) (int, error) {
	if len(text) > f.room {
		return 0, errors.New("no space left")
	}
	f.room -= len(text)
	return len(text), nil
}

// A node is not stopped by output that cannot be written; the loss is an error at the end.
func TestOutputIsLost(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		out := NewOutput(&full{10}, io.Discard, grouped).Node("a")
		for range 3 {
			if n, err := out.Out.Write([]byte("1234567\n")); n != 8 || err != nil {
				t.Errorf("grouped %t: %d, %v, want 8 bytes", grouped, n, err)
			}
		}
		if err := out.Close(); err == nil || !strings.Contains(err.Error(), "its output cannot be written: no space left") {
			t.Errorf("grouped %t: %v", grouped, err)
		}
	}
}

// While somebody is asked something nothing is shown, and nobody waits for that.
func TestHold(t *testing.T) {
	var out bytes.Buffer
	o := NewOutput(&out, &out, false)
	a, b := o.Node("a"), o.Node("b")
	write(t, a.Out, "one\n")
	release := o.Hold()
	write(t, b.Out, "two\n")
	write(t, a.Out, "three\n")
	again := o.Hold()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	release()
	release()
	if got, want := out.String(), "a | one\n"; got != want || o.Last() != "a" {
		t.Errorf("while held: %q, want %q; last %q, want a", got, want, o.Last())
	}
	again()
	write(t, b.Out, "four\n")
	if got, want := out.String(), "a | one\nb | two\na | three\nb | four\n"; got != want {
		t.Errorf("output: %q, want %q", got, want)
	}

	// An error of writing held output afterwards is an error of the next output.
	o = NewOutput(&full{10}, io.Discard, false)
	a = o.Node("a")
	release = o.Hold()
	write(t, a.Out, "1234567\n")
	release()
	write(t, a.Out, "1\n")
	if err := a.Close(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("lost output: %v", err)
	}
}
