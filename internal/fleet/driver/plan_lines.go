// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// planLines passes on what an engine prints that makes a plan, and takes notice of the line that sums it up: a plan file can be read by
// engines only, and another process for each root module would take longer than many a plan. The zero value knows of no line.
type planLines struct {
	to   io.Writer
	rest []byte // of a line that has not ended
	long bool   // the line is no such line, as it is too long

	totals  []string // what such lines say, each once, up to two
	outputs bool     // outputs change, which no such line counts
}

// longestTotal is more than a line has that sums up a plan.
const longestTotal = 1 << 10

// Write implements [io.Writer].
func (p *planLines) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		if p.long = p.long || len(p.rest)+len(line) > longestTotal; !p.long {
			p.rest = append(p.rest, line...)
		}
		if line[len(line)-1] == '\n' {
			p.line()
			p.rest, p.long = p.rest[:0], false
		}
	}
	return p.to.Write(text)
}

var (
	colors    = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	totalLine = regexp.MustCompile(`^Plan: ([0-9]{1,9} to [a-z]+(?:, [0-9]{1,9} to [a-z]+)*)\.(?: Actions: [0-9]+ to invoke\.)?$`)
)

func (p *planLines) line() {
	if !bytes.Contains(p.rest, []byte("Plan:")) && !bytes.Contains(p.rest, []byte(outputsLine)) {
		return
	}
	line := bytes.TrimRight(colors.ReplaceAll(p.rest, nil), " \r\n")
	p.outputs = p.outputs || string(line) == outputsLine
	match := totalLine.FindSubmatch(line)
	if match != nil && len(p.totals) < 2 && !slices.Contains(p.totals, string(match[1])) {
		p.totals = append(p.totals, string(match[1]))
	}
}

// outputsLine stands over changes of outputs. If nothing else changes, there is no line that sums up.
const outputsLine = "Changes to Outputs:"

// counts returns what a plan with changes would do. It is nil if that is not known: options in the environment may ask for another form,
// and a warning may have a line that looks like this one.
func (p *planLines) counts() *stackplan.Counts {
	if len(p.totals) == 0 && p.outputs {
		return &stackplan.Counts{}
	}
	if len(p.totals) != 1 {
		return nil
	}
	var c stackplan.Counts
	fields := map[string]*int{
		"import": &c.Import, "add": &c.Add, "change": &c.Change, "destroy": &c.Remove, "move": &c.Move, "forget": &c.Forget,
	}
	for part := range strings.SplitSeq(p.totals[0], ", ") {
		number, what, _ := strings.Cut(part, " to ")
		field := fields[what]
		n, err := strconv.Atoi(number)
		if field == nil || err != nil {
			return nil
		}
		*field = n
		delete(fields, what) // each is there once
	}
	for _, always := range []string{"add", "change", "destroy"} {
		if fields[always] != nil {
			return nil
		}
	}
	return &c
}
