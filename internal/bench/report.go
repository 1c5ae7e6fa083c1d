// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// report is the Markdown text of the results of one part.
type report struct {
	part     string // "" for that of components, which has no name in the document
	sections []string
}

func (r *report) section(title, explanation string, t *table) {
	r.sections = append(r.sections, "### "+title, explanation, t.String())
}

func (r *report) text() string { return strings.Join(r.sections, "\n\n") + "\n" }

// The markers around the results in a document.
const endMarker = "<!-- end of results -->\n"

func beginMarker(part string) string {
	if part == "" {
		return "<!-- results of make bench -->\n"
	}
	return "<!-- results of make bench, " + part + " -->\n"
}

// update replaces the results in a document.
func (r *report) update(file string) error {
	document, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begin := beginMarker(r.part)
	before, rest, begins := bytes.Cut(document, []byte(begin))
	_, after, ends := bytes.Cut(rest, []byte(endMarker))
	if !begins || !ends {
		return fmt.Errorf("%s has no lines %q and %q to put the results between", file, strings.TrimSpace(begin), strings.TrimSpace(endMarker))
	}
	updated := slices.Concat(before, []byte(begin+"\n"+r.text()+"\n"+endMarker), after)
	return os.WriteFile(file, updated, 0o644)
}

// table is a Markdown table whose columns line up in plain text too.
type table struct{ rows [][]string }

func newTable(heads ...string) *table { return &table{[][]string{heads}} }

func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = fmt.Sprint(cell)
	}
	t.rows = append(t.rows, texts)
}

// String writes columns of words to the left and columns of numbers to the right.
func (t *table) String() string {
	widths := make([]int, len(t.rows[0]))
	numbers := make([]bool, len(t.rows[0]))
	for i := range widths {
		numbers[i] = len(t.rows) > 1
		for j, row := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]), 3)
			numbers[i] = numbers[i] && (j == 0 || isNumber(row[i]))
		}
	}
	var b strings.Builder
	for j, row := range t.rows {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if numbers[i] {
				b.WriteString("| " + pad + cell + " ")
			} else {
				b.WriteString("| " + cell + pad + " ")
			}
		}
		b.WriteString("|\n")
		if j == 0 {
			for i, width := range widths {
				line := strings.Repeat("-", width)
				if numbers[i] {
					line = line[1:] + ":"
				}
				b.WriteString("| " + line + " ")
			}
			b.WriteString("|\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// isNumber reports whether a cell has a number, or the sign for one that is not known.
func isNumber(cell string) bool {
	_, err := strconv.ParseFloat(cell, 64)
	return err == nil || cell == unknownNumber
}

const unknownNumber = "–"

// seconds writes a duration with three digits that matter.
func seconds(value float64) string {
	if value < 1 {
		return fmt.Sprintf("%.3f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

func megabytes(size int64) string {
	if size == 0 {
		return unknownNumber
	}
	return fmt.Sprintf("%.0f", float64(size)/1e6)
}

// median returns the middle one of the values, of which there must be one at least, or the mean of
// the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
