// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// verdict is the text that is printed for a row.
type verdict string

const (
	passed    verdict = "pass"
	failed    verdict = "FAIL"
	skipped   verdict = "SKIP"
	untested  verdict = "NO TEST"
	different verdict = "see docs/differences.md"
	surprise  verdict = "PASS, but docs/differences.md has a reason why not"
)

// judge sums up the tests of one row.
func judge(tests []outcome, excepted bool) verdict {
	has := func(result string) bool {
		return slices.ContainsFunc(tests, func(o outcome) bool { return o.result == result })
	}
	switch {
	case has("fail"):
		return failed
	case has("skip"):
		return skipped
	case len(tests) > 0 && excepted:
		return surprise
	case len(tests) > 0:
		return passed
	case excepted:
		return different
	}
	return untested
}

// printTable prints a line for each row with the number of its tests, the output of failing tests,
// and totals. It reports whether all is as it should be.
func printTable(w io.Writer, rows []row, found results, exceptions map[string]string, verbose bool) bool {
	totals := map[verdict]int{}
	var failures []outcome
	section := ""
	width := 0
	for _, r := range rows {
		width = max(width, len(r.id))
	}
	for _, r := range rows {
		if r.section != section {
			section = r.section
			fmt.Fprintf(w, "\n%s\n", section)
		}
		reason, excepted := exceptions[r.id]
		v := judge(found[r.id], excepted)
		totals[v]++
		fmt.Fprintf(w, "  %-*s  %-*s %3d  %s\n", width, r.id, 80, shorten(r.title, 80), len(found[r.id]), v)
		if v == different {
			fmt.Fprintf(w, "  %-*s  %s\n", width, "", reason)
		}
		for _, o := range found[r.id] {
			if verbose || o.result == "fail" {
				fmt.Fprintf(w, "  %-*s  %s %s %s\n", width, "", o.result, o.pkg, o.test)
			}
			if o.result == "fail" && !slices.ContainsFunc(failures, o.same) {
				failures = append(failures, o)
			}
		}
	}
	if others := found[ofNoRow]; len(others) > 0 {
		fmt.Fprintln(w, "\nTests of no row that have failed")
		for _, o := range others {
			fmt.Fprintf(w, "  %s %s\n", o.pkg, o.test)
		}
		failures = append(failures, others...)
	}
	for _, o := range failures {
		fmt.Fprintf(w, "\n%s", strings.Join(o.output, ""))
	}
	fmt.Fprintf(w, "\n%d rows:", len(rows))
	separator := " "
	for _, v := range slices.Sorted(maps.Keys(totals)) {
		fmt.Fprintf(w, "%s%d %s", separator, totals[v], v)
		separator = ", "
	}
	fmt.Fprintln(w)
	return totals[passed]+totals[different] == len(rows) && len(found[ofNoRow]) == 0
}

func (o outcome) same(other outcome) bool {
	return o.pkg == other.pkg && o.test == other.test
}

func shorten(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}
