// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package timeline_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/show/timeline"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// step is a step from a second to another one.
func step(phase string, from, to float64, after ...string) timeline.Step {
	return timeline.Step{Phase: phase, Started: begin.Add(time.Duration(from * float64(time.Second))), Seconds: to - from, After: after}
}

func row(name string, steps ...timeline.Step) timeline.Row {
	return timeline.Row{Name: name, State: "ok", Steps: steps}
}

func TestCriticalPath(t *testing.T) {
	for name, test := range map[string]struct {
		rows []timeline.Row
		want string
	}{
		"nothing": {nil, "0s of 0s: "},
		"one":     {[]timeline.Row{row("a", step("plan", 0, 2), step("apply", 3, 11))}, "10s of 11s: a"},
		"chain": {[]timeline.Row{
			row("app", step("plan", 40, 42, "database"), step("apply", 50, 61, "database")),
			row("network", step("plan", 0, 1), step("apply", 1, 12)),
			row("database", step("plan", 13, 14, "network"), step("apply", 14, 34, "network")),
			row("other", step("plan", 0, 2), step("apply", 2, 60)),
		}, "46s of 1m1s: network → database → app"},
		"the slower of two": {[]timeline.Row{
			row("fast", step("apply", 0, 2)),
			row("slow", step("apply", 0, 9)),
			row("last", step("apply", 9, 12, "fast", "slow", "not there")),
		}, "12s of 12s: slow → last"},
		"a short run": {[]timeline.Row{
			row("a", step("plan", 0, 0.25)),
			row("b", step("plan", 0.25, 0.4, "a")),
		}, "400ms of 400ms: a → b"},
		"a run of some seconds": {[]timeline.Row{row("a", step("plan", 0, 1), step("apply", 2, 3.45))}, "2.5s of 3.5s: a"},
		"waiting for a slot, not for another": {[]timeline.Row{
			row("a", step("run", 0, 10)),
			row("b", step("run", 10, 30)),
		}, "20s of 30s: b"},
		"a clock that was set back": {[]timeline.Row{
			row("a", step("run", 5, 10, "b")),
			row("b", step("run", 0, 7, "a")),
		}, "12s of 10s: b → a"},
	} {
		t.Run(name, func(t *testing.T) {
			path := timeline.Timeline{Rows: test.rows}.CriticalPath()
			if got := path.Text(); got != test.want {
				t.Errorf("the path is %s, want %s", got, test.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	for name, test := range map[string]struct{ report, want, path string }{
		"steps": {`{"format_version": "1.0", "results": [
			{"name": "a", "state": "ok", "started": "2026-01-02T03:04:05Z", "seconds": 9, "steps": [
				{"phase": "apply", "started": "2026-01-02T03:04:10Z", "seconds": 4},
				{"phase": "plan", "started": "2026-01-02T03:04:05Z", "seconds": 1}]},
			{"name": "b", "state": "failed", "steps": [{"phase": "plan", "started": "2026-01-02T03:04:14Z", "seconds": 6, "after": ["a"]}]},
			{"name": "c", "state": "not_started", "seconds": 0}]}`, "", "11s of 15s: a → b"},
		"results alone":   {`{"format_version": "1.0", "results": [{"name": "a", "state": "ok", "started": "2026-01-02T03:04:05Z", "seconds": 9}]}`, "", "9s of 9s: a"},
		"nothing":         {`{"format_version": "1.0", "results": []}`, "", "0s of 0s: "},
		"another":         {`{"format_version": "1.0", "components": []}`, `it is no report of "cairn run" as JSON`, ""},
		"text":            {`ok`, `it is no report of "cairn run" as JSON`, ""},
		"another version": {`{"format_version": "2.0", "results": []}`, "it is a report in version 2.0, which this version of cairn does not know", ""},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := timeline.Read([]byte(test.report))
			if got := errorText(err); got != test.want {
				t.Fatalf("the error is %q, want %q", got, test.want)
			}
			if got := read.CriticalPath().Text(); err == nil && got != test.path {
				t.Errorf("the path is %s, want %s", got, test.path)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The picture is well-formed whatever the names are, and shows each step and each component.
func TestSVG(t *testing.T) {
	hostile := "<script>alert(1)</script>\u202e\x1b[31m\""
	with := step("apply", 1, 3)
	with.Components = []timeline.Work{
		{Component: "component.network", Kind: "apply", Started: with.Started, Seconds: 1},
		{Component: "component." + hostile, Kind: "apply", Started: with.Started, Seconds: 2, Failed: true},
	}
	rows := []timeline.Row{row(hostile, step("plan", 0, 1), with), {
		Name: "b", State: "failed", Steps: []timeline.Step{step("run", 3, 3, hostile)},
	}}
	svg := timeline.Timeline{Rows: rows}.SVG()
	var elements []string
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "rect" && strings.HasPrefix(start.Attr[0].Value, "bar ") {
			elements = append(elements, start.Attr[0].Value)
		}
	}
	want := []string{
		"bar plan critical", "bar apply critical", "bar apply", "bar apply failed", "bar run failed critical",
		"bar plan", "bar apply", "bar run", "bar failed", "bar critical", // of the legend
	}
	if diff := cmp.Diff(want, elements); diff != "" {
		t.Errorf("bars (-want +got):\n%s", diff)
	}
	if strings.Contains(svg, "<script") || strings.ContainsAny(svg, "\u202e\x1b") {
		t.Error("a name is not made harmless")
	}
	if empty := (timeline.Timeline{}).SVG(); !strings.HasPrefix(empty, "<svg ") {
		t.Error("without rows there is no picture")
	}
}
