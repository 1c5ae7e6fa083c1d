// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/viewtest"
)

// passTime lets virtual time pass, and waits until its effects have happened.
func passTime(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestBoard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		screen, errs := viewtest.NewScreen(t, 70), &bytes.Buffer{}
		board := NewBoard(screen, BoardOptions{
			Title: "Running", Total: 5, Size: func() live.Size { return live.Size{Width: 70, Height: 20} },
		})
		output := NewBoardOutput(board, errs)
		check := func(what, want string) {
			t.Helper()
			passTime(200 * time.Millisecond)
			if got := "\n" + screen.Text(); got != want {
				t.Errorf("%s: the screen shows%s\nwant%s", what, got, want)
			}
		}
		board.During(func() {
			check("nothing runs", `
Running ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 0/5 · 5 waiting · 0s`)
			a, b := output.Node("a"), output.Node("b/c")
			a.Phase("plan")
			write(t, a.Out, "one\n\n")
			write(t, b.Out, "10%\r20")
			write(t, b.Err, "warned\n")
			write(t, b.Out, "%")
			passTime(2 * time.Second)
			check("two run", `
  a   plan     2s  one
  b/c          2s  20%
Running ░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 0/5 · 2 running · 3 waiting · 2s`)
			a.Phase("apply")
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			board.Ended("b/c", order.Failed, "exit\ncode 1")
			board.Ended("d", order.Skipped, "")
			check("one runs", `
b/c | 20%
✗ b/c: exit code 1 (2s)
  a apply     2s
Running ██░░░ 2/5 · 1 running · 2 waiting · 1 skipped · 1 failed · 2s`)
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			board.Ended("a", order.Succeeded, "")
			board.Ended("e", order.Passed, "")
			board.Ended("f", order.Skipped, "waiting for e")
		})
		check("afterwards", `
b/c | 20%
✗ b/c: exit code 1 (2s)
a | one
a |
✓ a (2s)
- f: waiting for e`)
		if got, want := errs.String(), "b/c | warned\n"; got != want {
			t.Errorf("errors: %q, want %q", got, want)
		}
	})
}

// Of many nodes, as many are shown as fit.
func TestBoardOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const nodes = 1000
		screen := viewtest.NewScreen(t, 60)
		board := NewBoard(screen, BoardOptions{
			Title: "Running", Total: nodes, Size: func() live.Size { return live.Size{Width: 60, Height: 10} },
		})
		output := NewBoardOutput(board, nil)
		board.During(func() {
			var all sync.WaitGroup
			begun := sync.WaitGroup{}
			begun.Add(nodes)
			for i := range nodes {
				all.Go(func() {
					n := output.Node(fmt.Sprintf("n%03d", i))
					begun.Done()
					for range 10 {
						write(t, n.Out, "line\n")
					}
					<-time.After(time.Second) // virtual
					if err := n.Close(); err != nil {
						t.Error(err)
					}
					board.Ended(fmt.Sprintf("n%03d", i), order.Succeeded, "")
				})
			}
			begun.Wait()
			passTime(300 * time.Millisecond)
			want := "  n000     0s  line\n  n001     0s  line\n  n002     0s  line\n  … and 997 more running\n" +
				"Running ░░░░░░░░░░░░░░░░░░░░░░░░ 0/1000 · 1000 running · 0s"
			if got := screen.Text(); got != want {
				t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
			}
			all.Wait()
		})
		text := screen.Text()
		for what, want := range map[string]int{" | line": 10 * nodes, "✓ n": nodes, "running": 0} {
			if got := strings.Count(text, what); got != want {
				t.Errorf("%q is %d times on the screen, want %d", what, got, want)
			}
		}
		if writes := screen.Writes(); writes > 20 {
			t.Errorf("%d writes in a second, want no more than a frame in a tenth of it", writes)
		}
	})
}

func TestColors(t *testing.T) {
	tests := map[string]struct{ lines, want []string }{
		"plain":  {[]string{"a b", "日本語 é"}, []string{"a b", "日本語 é"}},
		"colour": {[]string{"\x1b[31mred\x1b[0m plain"}, []string{"\x1b[31mred\x1b[0m plain\x1b[m"}},
		"over lines": {
			[]string{"\x1b[1m\x1b[31mred", "still", "\x1b[0mno", "no"},
			[]string{"\x1b[1m\x1b[31mred\x1b[m", "\x1b[1m\x1b[31mstill\x1b[m", "\x1b[1m\x1b[31m\x1b[0mno\x1b[m", "no"},
		},
		"replaced":    {[]string{"\x1b[31ma\x1b[0;32mb", "c"}, []string{"\x1b[31ma\x1b[0;32mb\x1b[m", "\x1b[0;32mc\x1b[m"}},
		"cursor":      {[]string{"a\x1b[2J\x1b[Hb\x1b[10Ac\x1b7\x1b8\x1bcd"}, []string{"abcd"}},
		"title":       {[]string{"a\x1b]0;title\ab\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"}, []string{"ablink"}},
		"private":     {[]string{"\x1b[?1049ha\x1b[?25lb\x1b[>4;1mc"}, []string{"abc"}},
		"control":     {[]string{"a\ab\bc\x7f\x00"}, []string{"a␇b␈c␡␀"}},
		"C1":          {[]string{"a\u009b2Jb\x9b2Jc"}, []string{"a\ufffd2Jb\ufffd2Jc"}},
		"return":      {[]string{"10%\r20%\rdone\r", "\r"}, []string{"done", ""}},
		"cut off":     {[]string{"a\x1b[3", "b"}, []string{"a", "b"}},
		"not text":    {[]string{"a\xff\xfeb"}, []string{"a\ufffdb"}},
		"tab":         {[]string{"a\tb"}, []string{"a\tb"}},
		"never reset": {[]string{strings.Repeat("\x1b[31m", 100), "x"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var c colors
			for i, line := range test.lines {
				got := c.line(line)
				if test.want != nil && got != test.want[i] {
					t.Errorf("line %q: %q, want %q", line, got, test.want[i])
				}
			}
			if len(c.on) > mostColors {
				t.Errorf("%d bytes are remembered", len(c.on))
			}
		})
	}
}

func FuzzColors(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m \x1b]0;x\a\x1b[2J", "\x1b[")
	f.Add("a\rb\tc\u009b", "\xff\x1bP1$r\x1b\\")
	f.Fuzz(func(t *testing.T, first, second string) {
		var c colors
		for _, line := range []string{first, second} {
			if strings.Contains(line, "\n") {
				t.Skip()
			}
			got := c.line(line)
			for rest := got; ; {
				_, after, found := strings.Cut(rest, "\x1b")
				if !found {
					break
				}
				end := strings.IndexByte(after, 'm')
				if end < 0 || !isColor("\x1b"+after[:end+1]) {
					t.Fatalf("%q lets through %q", line, got)
				}
				rest = after[end+1:]
			}
			if strings.ContainsAny(got, "\r\n\a\b\u009b") {
				t.Fatalf("%q lets through %q", line, got)
			}
		}
	})
}
