// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package live

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/internal/views/viewtest"
)

func TestRowsOf(t *testing.T) {
	lines := []string{"", "12345", "\x1b[31m123456\x1b[0m", "日本語"}
	for width, want := range map[int]int{10: 4, 5: 6, 3: 1 + 2 + 2 + 2, 0: 1 + 5 + 6 + 6} {
		if got := rowsOf(lines, width); got != want {
			t.Errorf("rowsOf on a terminal of width %d = %d, want %d", width, got, want)
		}
	}
}

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// The ends of addresses tell them apart, or their beginnings do.
func TestTableOfLongAddresses(t *testing.T) {
	table := Table{Title: "Applying", Started: start, Counts: Counts{Running: 3}, Rows: []Row{
		{
			Name:     `stack.regions["eu"].component.database["primary"]`,
			Since:    start,
			Activity: `module.db.aws_db_instance.this["primary"]: Creating...`,
		},
		{
			Name:     `stack.regions["us"].component.database["primary"]`,
			Since:    start,
			Activity: `aws_db_instance.x: Still creating... [1m10s elapsed]`,
		},
		{Name: `component.network`, Since: start, Activity: `x: Creating...`},
	}}
	want := `
  component.network                  0s  x: Creating...
  stack.regions["e…se["primary"]     0s  …e.this["primary"]
  stack.regions["u…se["primary"]     0s  aws_db_instance.x…
Applying ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 0/3 · 3 running · 0s`
	if got := "\n" + strings.Join(table.Lines(start, Size{60, 20}, textstyle.Style{}), "\n"); got != want {
		t.Errorf("the table is%s\nwant%s", got, want)
	}
}

func TestTable(t *testing.T) {
	table := Table{
		Title: "Running", Started: start, Counts: Counts{Done: 3, Running: 3, Waiting: 2, Skipped: 1, Failed: 1},
		Rows: []Row{
			{Name: "late", Phase: "plan", Since: start.Add(40 * time.Second), Activity: "Refreshing"},
			{Name: "stacks/日本語", Phase: "apply", Since: start.Add(10 * time.Second), Activity: "half"},
			{Name: "early", Phase: "apply", Since: start.Add(5 * time.Second), Activity: "waits for a very slow thing to come to its end"},
		},
	}
	now := start.Add(70 * time.Second)
	tests := map[Size]string{
		{80, 20}: `
  early         apply   1m5s  waits for a very slow thing to come to its end
  stacks/日本語 apply   1m0s  half
  late          plan     30s  Refreshing
Running █████░░░░░░ 5/10 · 3 running · 2 waiting · 1 skipped · 1 failed · 1m10s`,
		{40, 20}: `
  early         apply   1m5s  waits fo…
  stacks/日本語 apply   1m0s  half
  late          plan     30s  Refreshi…
Running 5/10 · 3 running · 2 waiting ·…`,
		{80, 6}: `
  early apply   1m5s  waits for a very slow thing to come to its end
  … and 2 more running
Running █████░░░░░░ 5/10 · 3 running · 2 waiting · 1 skipped · 1 failed · 1m10s`,
		{80, 1}: "\n",
	}
	for size, want := range tests {
		if got := "\n" + strings.Join(table.Lines(now, size, textstyle.Style{}), "\n"); got != want {
			t.Errorf("%v: the table is%s\nwant%s", size, got, want)
		}
		for _, line := range table.Lines(now, size, textstyle.Style{Color: true}) {
			if ansi.StringWidth(line) >= size.Width {
				t.Errorf("%v: the line is too wide: %q", size, line)
			}
		}
	}
}

// passFrame lets virtual time pass until the next frame is drawn.
func passFrame() {
	<-time.After(frameInterval + time.Millisecond)
	synctest.Wait()
}

func TestSuspendedDisplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		screen := viewtest.NewScreen(t, 40)
		display := NewDisplay(screen, Options{
			Size:  func() Size { return Size{40, 10} },
			Frame: func(now time.Time, _ Size) []string { return []string{"frame"} },
		})
		check := func(what, want string, cursor bool) {
			t.Helper()
			passFrame()
			if got := screen.Text(); got != want {
				t.Errorf("%s: the screen shows\n%s\nwant\n%s", what, got, want)
			}
			if got := screen.CursorVisible(); got != cursor {
				t.Errorf("%s: the cursor is visible: %t", what, got)
			}
		}
		display.Suspend()() // does nothing before it is shown
		display.During(func() {
			display.Print("one")
			check("before", "one\nframe", false)
			resume := display.Suspend()
			display.Print("two")
			display.Suspend()()
			fmt.Fprint(screen, "Question? yes\n")
			check("suspended", "one\nQuestion? yes", true)
			resume()
			check("resumed", "one\nQuestion? yes\ntwo\nframe", false)
			resume()
			display.Suspend()
			display.Print("three")
		})
		check("afterwards", "one\nQuestion? yes\ntwo\nthree", true)
	})
}
