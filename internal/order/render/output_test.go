// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package render

import (
	"bytes"
	"fmt"
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
