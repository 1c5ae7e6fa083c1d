// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// row is one behaviour.
type row struct {
	id      string
	section string
	title   string
}

// rows reads the text of a list, in which each section begins with a line "# TITLE" and each row is
// a line "ID TITLE".
func (l *list) rows() []row {
	var rows []row
	section := ""
	for line := range strings.Lines(l.text) {
		id, title, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id == "#" {
			section = title
		} else if id != "" {
			rows = append(rows, row{id, section, title})
		}
	}
	return rows
}

// selectRows returns the rows that are meant by one of the texts. No text stands for all rows.
func selectRows(rows []row, texts []string) ([]row, error) {
	if len(texts) == 0 {
		return rows, nil
	}
	var selected []row
	for _, text := range texts {
		found := rowsMeantBy(rows, text)
		if len(found) == 0 {
			return nil, fmt.Errorf("%q is neither a row nor a range of rows, nor the beginning of any; "+
				"rows are %s to %s", text, rows[0].id, rows[len(rows)-1].id)
		}
		selected = append(selected, found...)
	}
	return selected, nil
}

// rowsMeantBy returns one row ("A-05", "55"), those from one to another ("A-05-A-08", "50-77"), or
// those of a letter or word ("B", "order").
func rowsMeantBy(rows []row, text string) []row {
	if n := indexOf(rows, text); n >= 0 {
		return rows[n : n+1]
	}
	for i, char := range text {
		if char != '-' {
			continue
		}
		if first, last := indexOf(rows, text[:i]), indexOf(rows, text[i+1:]); 0 <= first && first <= last {
			return rows[first : last+1]
		}
	}
	var found []row
	for _, r := range rows {
		if text != "" && (strings.HasPrefix(r.id, text+"-") || strings.HasPrefix(r.id, text+"/")) {
			found = append(found, r)
		}
	}
	return found
}

var zeros = regexp.MustCompile(`\b0+(\d)`)

// indexOf finds a row by its id, with or without zeros before numbers.
func indexOf(rows []row, id string) int {
	short := func(text string) string { return zeros.ReplaceAllString(text, "$1") }
	return slices.IndexFunc(rows, func(r row) bool { return short(r.id) == short(id) })
}

var tableLine = regexp.MustCompile(`(?m)^\| *([^|]+?) *\| *(.+?) *\|$`)

// readExceptions reads which rows a document gives a reason for, in the table below a heading;
// without the heading none.
func readExceptions(path, heading string, rows []row) (map[string]string, error) {
	document, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	_, section, _ := strings.Cut(string(document), heading)
	section, _, _ = strings.Cut(section, "\n## ")
	exceptions := map[string]string{}
	for i, match := range tableLine.FindAllStringSubmatch(section, -1) {
		if i < 2 {
			continue // the head of the table
		}
		texts := strings.Split(strings.ReplaceAll(match[1], "–", "-"), ", ")
		excepted, err := selectRows(rows, texts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, r := range excepted {
			exceptions[r.id] = match[2]
		}
	}
	return exceptions, nil
}
