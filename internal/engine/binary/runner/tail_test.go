// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestTail(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	var content bytes.Buffer
	var got []string
	tl := &tail{file: &content, deliver: func(line []byte) { got = append(got, string(line)) }}
	step := func(write string, want ...string) {
		t.Helper()
		content.WriteString(write)
		got = nil
		progress, err := tl.read()
		if diff := cmp.Diff(want, got); diff != "" || err != nil || progress != (write != "") {
			t.Errorf("after %.20q: progress %t, error %v (-want +got):\n%s", write, progress, err, diff)
		}
	}
	step("")
	step("one\ntw", "one")
	step("o\r\n\n\nthree", "two")
	step("")
	step("\n"+long, "three")
	step(long+"\nfour\nend", long+long, "four")
	got = nil
	if err := tl.finish(); err != nil || len(got) != 1 || got[0] != "end" {
		t.Errorf("finish delivered %q, error %v", got, err)
	}
}

func TestTailKeepsLines(t *testing.T) {
	// Lines must not share memory with later ones.
	var lines [][]byte
	tl := &tail{file: iotest.OneByteReader(strings.NewReader("ab\ncd\nef")), deliver: func(line []byte) { lines = append(lines, line) }}
	if err := tl.finish(); err != nil {
		t.Fatal(err)
	}
	if got := string(bytes.Join(lines, []byte(","))); got != "ab,cd,ef" {
		t.Errorf("lines are %q", got)
	}
}

func TestTailReportsErrors(t *testing.T) {
	broken := errors.New("broken")
	var got string
	tl := &tail{file: iotest.TimeoutReader(strings.NewReader("line")), deliver: func(line []byte) { got += string(line) }}
	if err := tl.finish(); !errors.Is(err, iotest.ErrTimeout) || got != "line" {
		t.Errorf("finish = %v, delivered %q", err, got)
	}
	tl = &tail{file: iotest.ErrReader(broken), deliver: func([]byte) {}}
	if progress, err := tl.read(); !errors.Is(err, broken) || progress {
		t.Errorf("read = %t, %v", progress, err)
	}
}
