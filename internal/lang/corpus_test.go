// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A corpusEntry is an expression and terraform's outcome for it.
type corpusEntry struct {
	line    int
	section string // the function it is about
	expr    string
	outcome
}

// An outcome is the result of an expression as terraform's console writes it, and its further
// properties in a plan.
type outcome struct {
	fails bool
	typ   string
	value string
	plan  string // see planText
}

func (o outcome) String() string {
	if o.fails {
		return "! fails\n"
	}
	text := prefixLines(": ", o.typ) + prefixLines("= ", o.value)
	if o.plan != "" {
		text += prefixLines("~ ", o.plan)
	}
	return text
}

func prefixLines(prefix, text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimRight(prefix+line, " ") + "\n")
	}
	return b.String()
}

// withoutDir replaces the directory of the expressions, which is another one each time.
func withoutDir(o outcome, dir string) outcome {
	o.value = strings.ReplaceAll(o.value, dir, "$DIR")
	o.plan = strings.ReplaceAll(o.plan, dir, "$DIR")
	return o
}

// The files of the corpus: calls of each function, and all other kinds of expressions.
const (
	functionsFile   = "testdata/functions.txt"
	expressionsFile = "testdata/expressions.txt"
)

// readCorpus parses a file of the corpus: "# NAME" opens a section, that of a function in
// functionsFile, "> EXPRESSION" an entry, and then come "! fails", or lines of its type (": "), of
// its value ("= "), and of its properties in a plan ("~ ").
func readCorpus(t *testing.T, corpusFile string) []corpusEntry {
	t.Helper()
	source, err := os.ReadFile(corpusFile)
	if err != nil {
		t.Fatal(err)
	}
	var entries []corpusEntry
	var section string
	var types, values []string
	finish := func() {
		if len(entries) > 0 && (types != nil || values != nil) {
			last := &entries[len(entries)-1]
			last.typ, last.value = strings.Join(types, "\n"), strings.Join(values, "\n")
		}
		types, values = nil, nil
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(source), "\n"), "\n") {
		kind, text, _ := strings.Cut(line, " ")
		switch kind {
		case "":
		case "#":
			section = text
		case ">":
			finish()
			entries = append(entries, corpusEntry{line: i + 1, section: section, expr: text})
		case "!":
			entries[len(entries)-1].fails = true
		case ":":
			types = append(types, text)
		case "=":
			values = append(values, text)
		case "~":
			entries[len(entries)-1].plan = text
		default:
			t.Fatalf("%s:%d: cannot read line %q", corpusFile, i+1, line)
		}
	}
	finish()
	return entries
}

func writeCorpus(t *testing.T, corpusFile string, entries []corpusEntry) {
	t.Helper()
	var b strings.Builder
	var section string
	for _, entry := range entries {
		if entry.section != section {
			section = entry.section
			fmt.Fprintf(&b, "# %s\n\n", section)
		}
		fmt.Fprintf(&b, "> %s\n%s\n", entry.expr, entry.outcome)
	}
	if err := os.WriteFile(corpusFile, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Every function has entries of its own, so a function cannot be added without being compared.
func TestCorpusHasEveryFunction(t *testing.T) {
	counts := map[string]int{}
	for _, entry := range readCorpus(t, functionsFile) {
		if !regexp.MustCompile(`\b` + entry.section + `\(`).MatchString(entry.expr) {
			t.Errorf("%s:%d: does not call %s: %s", functionsFile, entry.line, entry.section, entry.expr)
		}
		counts[entry.section]++
	}
	for name := range Functions(Options{}) {
		switch {
		case strings.HasPrefix(name, corePrefix):
			continue
		case name == "plantimestamp": // not in a console: see TestPlanTimestamp
			continue
		case name == "convert": // newer than the terraform that is asked: see TestConvert
			continue
		}
		if counts[name] < 3 {
			t.Errorf("%s has %d entries for %s, want 3 or more", functionsFile, counts[name], name)
		}
	}
}
