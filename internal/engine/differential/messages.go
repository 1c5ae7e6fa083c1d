// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// message is the part of a diagnostic that counts.
type message struct {
	place, summary string // place: severity, file, line and resource
}

// In some summaries, terraform has names: those of the members of a cycle, in any order, and those
// in quotation marks.
var (
	cycle  = regexp.MustCompile(`^Cycle: .*`)
	quoted = regexp.MustCompile(`"[^"]*"`)
)

func newMessage(diag *hcl.Diagnostic) message {
	m := message{"error", quoted.ReplaceAllString(cycle.ReplaceAllString(diag.Summary, "Cycle"), `"…"`)}
	if diag.Severity == hcl.DiagWarning {
		m.place = "warning"
	}
	if diag.Subject != nil {
		m.place += fmt.Sprintf(" %s:%d", diag.Subject.Filename, diag.Subject.Start.Line)
	}
	if data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](diag); ok && data.Resource != "" {
		m.place += " " + data.Resource
	}
	return m
}

func (m message) hasPlace() bool { return strings.Contains(m.place, " ") }

func (m message) String() string { return m.place + ": " + m.summary }

var messageLine = regexp.MustCompile(`^((?:error|warning)(?: [^ :]+:\d+)?(?: [^ :]*)?): (.*)$`)

func parseMessage(line string) (message, bool) {
	match := messageLine.FindStringSubmatch(line)
	if match == nil {
		return message{}, false
	}
	return message{match[1], match[2]}, true
}

//go:embed testdata/summaries.txt
var summariesText string

// summaries are pairs of terraform's summary of a diagnostic and one that the native engine has for
// the same. In the file, they are lines "TERRAFORM'S => NATIVE'S".
var summaries = readSummaries(summariesText)

func readSummaries(text string) map[[2]string]bool {
	found := map[[2]string]bool{}
	for line := range strings.Lines(text) {
		if of, own, ok := strings.Cut(strings.TrimSpace(line), " => "); ok {
			found[[2]string{of, own}] = true
		}
	}
	return found
}

// InWordsOf returns the native engine's answer with its diagnostics as terraform has them, if want
// is terraform's answer: with other summaries, and without a place or a resource where terraform
// has none. Those that are then the same count once.
func InWordsOf(want, got string) string {
	lines := strings.Split(got, "\n")
	lacking := map[message]int{} // by step, which is part of the place
	inWant := map[message]bool{}
	eachMessage(strings.Split(want, "\n"), func(_ int, step string, m message) {
		lacking[m.in(step)]++
		inWant[m.in(step)] = true
	})
	eachMessage(lines, func(_ int, step string, m message) { lacking[m.in(step)]-- })
	eachMessage(lines, func(i int, step string, m message) {
		if lacking[m.in(step)] >= 0 {
			return
		}
		for _, theirs := range m.asTerraform() {
			if wanted := theirs.in(step); lacking[wanted] > 0 || theirs.place != m.place && inWant[wanted] {
				lacking[wanted]--
				lacking[m.in(step)]++
				lines[i] = theirs.String()
				return
			}
		}
	})
	return strings.Join(sortMessages(lines), "\n")
}

func eachMessage(lines []string, visit func(i int, step string, m message)) {
	step := ""
	for i, line := range lines {
		if strings.HasPrefix(line, "# ") {
			step = line
		}
		if m, ok := parseMessage(line); ok {
			visit(i, step, m)
		}
	}
}

func (m message) in(step string) message { return message{m.place + step, m.summary} }

// located are the parts of a place: severity, file with line, and resource.
var located = regexp.MustCompile(`^(error|warning)( [^ :]+:\d+)?( .*)?$`)

// asTerraform returns the forms that terraform may give to a diagnostic.
func (m message) asTerraform() []message {
	parts := located.FindStringSubmatch(m.place)
	var found []message
	for _, place := range []string{m.place, parts[1] + parts[2], parts[1] + parts[3], parts[1]} {
		found = append(found, message{place, m.summary})
		for pair := range summaries {
			if pair[1] == m.summary {
				found = append(found, message{place, pair[0]})
			}
		}
	}
	return found
}

// sortMessages sorts neighbouring diagnostics, and drops repeated ones.
func sortMessages(lines []string) []string {
	var sorted []string
	for len(lines) > 0 {
		end := slices.IndexFunc(lines, func(line string) bool { _, ok := parseMessage(line); return !ok })
		if end < 0 {
			end = len(lines)
		}
		slices.Sort(lines[:end])
		sorted = append(sorted, slices.Compact(lines[:end])...)
		if end < len(lines) {
			sorted = append(sorted, lines[end])
			end++
		}
		lines = lines[end:]
	}
	return sorted
}
