// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

//go:embed rows.txt
var rowsFile string

// row is a behaviour of the language.
type row struct {
	number  int
	section string
	title   string
}

// allRows reads rows.txt, in which each section begins with a line "# TITLE" and each row is a line "NNN TITLE".
func allRows() []row {
	var rows []row
	section := ""
	for line := range strings.Lines(rowsFile) {
		line = strings.TrimSpace(line)
		number, title, _ := strings.Cut(line, " ")
		if number == "#" {
			section = title
		} else if n, err := strconv.Atoi(number); err == nil {
			rows = append(rows, row{n, section, title})
		}
	}
	return rows
}

// selectRows returns the rows that are in one of the ranges, such as "55" or "50-77". No range stands for all rows.
func selectRows(rows []row, ranges []string) ([]row, error) {
	if len(ranges) == 0 {
		return rows, nil
	}
	var selected []row
	for _, text := range ranges {
		first, last, ok := parseRange(text)
		if !ok || first < 1 || last < first || first > len(rows) {
			return nil, fmt.Errorf("%q is no row or range of rows between 1 and %d", text, len(rows))
		}
		selected = append(selected, rows[first-1:min(last, len(rows))]...)
	}
	return selected, nil
}

// parseRange reads "55" or "50-77".
func parseRange(text string) (first, last int, ok bool) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	return first, last, err1 == nil && err2 == nil
}

var (
	exceptionsHeading = "## Rows of the conformance list that do not apply\n"
	exceptionPattern  = regexp.MustCompile(`(?m)^\| *([0-9, –-]+?) *\| *(.+?) *\|$`)
)

// readExceptions reads which rows a document gives a reason for.
func readExceptions(path string) (map[int]string, error) {
	document, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	_, section, _ := strings.Cut(string(document), exceptionsHeading)
	section, _, _ = strings.Cut(section, "\n## ")
	exceptions := map[int]string{}
	for _, match := range exceptionPattern.FindAllStringSubmatch(section, -1) {
		numbers := strings.FieldsFunc(strings.ReplaceAll(match[1], "–", "-"), func(r rune) bool { return r == ',' || r == ' ' })
		for _, text := range numbers {
			first, last, ok := parseRange(text)
			if !ok {
				continue // the line below the head of the table
			}
			for n := first; n <= last; n++ {
				exceptions[n] = match[2]
			}
		}
	}
	return exceptions, nil
}
