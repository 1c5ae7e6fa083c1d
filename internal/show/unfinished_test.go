// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/show"
)

// summaryOf is the summary of nodes that are named by letters.
func summaryOf(results ...order.Result) show.Summary {
	summary := show.Summary{
		View:    show.View{Name: func(n int) string { return string(rune('a' + n)) }},
		Command: []string{"apply"}, Results: results, Times: make([]show.Times, len(results)),
	}
	for n := range results {
		summary.Sequence = append(summary.Sequence, n)
	}
	return summary
}

func TestUnfinished(t *testing.T) {
	for name, test := range map[string]struct {
		summary show.Summary
		want    string
	}{
		"all": {summaryOf(
			order.Result{State: order.Succeeded},
			order.Result{State: order.Failed, Err: errors.New("no")},
			order.Result{State: order.Skipped, Because: 1},
			order.Result{State: order.NotStarted},
			order.Result{State: order.Passed, Err: errors.New("nothing to do")},
			order.Result{State: order.Passed},
		), "b c d"},
		"nothing":        {summaryOf(order.Result{State: order.Succeeded}), ""},
		"nothing at all": {summaryOf(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			for format, write := range map[string]func() ([]byte, error){"JSON": test.summary.JSON, "JUnit": test.summary.JUnit} {
				content, err := write()
				if err != nil {
					t.Fatal(err)
				}
				got, err := show.Unfinished(content)
				if err != nil || got == nil || strings.Join(got, " ") != test.want {
					t.Errorf("%s: %v, %v; want %s", format, got, err, test.want)
				}
				for end := range len(content) - 2 {
					if got, err := show.Unfinished(content[:end]); err == nil {
						t.Fatalf("%s cut off after %d bytes: %v, want an error", format, end, got)
					}
				}
			}
		})
	}
}

func TestUnfinishedOfOther(t *testing.T) {
	result := func(text string) string {
		return `{"format_version": "1.0", "command": [], "ok": false, "results": [` + text + `]}`
	}
	for content, want := range map[string]string{
		"":          "empty",
		"text":      "not a report",
		"[]":        "not a report",
		`{"a": 1}`:  "not a report",
		"<html/>":   "not a report",
		`{"ok": 1}`: "not a report",
		`{"format_version": "1.0", "stacks": []}`:                                                    "not a report",
		`<testsuite name="cairn run states" tests="0"/>`:                                             "", // which has no results
		`<testsuite name="other" tests="0"/>`:                                                        "not a report",
		`<testsuite name="cairn run x" tests="2"/>`:                                                  "says that there are 2",
		`{"format_version": "2.0"}`:                                                                  "version 2.0",
		result(`{"name": "a", "state": "failed"}`):                                                   "",
		result(`{"name": "a", "state": "failed"}`) + "x":                                             "after its end",
		result(`{"name": "a", "state": "odd"}`):                                                      "unknown state",
		result(`{"state": "failed"}`):                                                                "name of a result",
		result(`{"name": "a", "state": "ok"}`):                                                       "contradict its overall result",
		`<testsuite name="cairn run x" tests="1"><testcase name="a" classname="other"/></testsuite>`: "not a report",
	} {
		got, err := show.Unfinished([]byte(content))
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, %v; want %q", content, got, err, want)
		}
	}
}

func FuzzUnfinished(f *testing.F) {
	summary := summaryOf(order.Result{State: order.Failed, Err: errors.New("no")}, order.Result{State: order.Passed})
	for _, write := range []func() ([]byte, error){summary.JSON, summary.JUnit} {
		content, err := write()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		names, err := show.Unfinished(content)
		if (names == nil) != (err != nil) || !slices.IsSorted(names) || slices.Contains(names, "") {
			t.Errorf("%q, %v", names, err)
		}
	})
}
