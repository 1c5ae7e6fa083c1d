// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	_ "embed"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed modules.txt
var modulesText string

// modulesTestsText has lines "DIRECTORY/TEST ROW|FIRST-LAST...", for tests that are not archives of
// package differential.
//
//go:embed modules_tests.txt
var modulesTestsText string

var modules = &list{
	name: "modules", text: modulesText, exceptions: "## Rows of the modules list that do not apply\n",
	source: "\nfunc TestDifferential", rowsOf: modulesRowsOf, elsewhere: modulesElsewhere().paths,
	pattern: func(rows []row) string {
		pattern := "^TestDifferential$/^(.*-)?(" + join(rows, func(r row) string { return r.id }) + ")-"
		var others []row // named by tests
		all := modulesElsewhere().rows
		for _, test := range slices.Sorted(maps.Keys(all)) {
			if slices.ContainsFunc(rows, func(r row) bool { return slices.Contains(all[test], r.id) }) {
				others = append(others, row{id: test})
			}
		}
		if len(others) > 0 {
			pattern += "|^(" + join(others, func(r row) string { return r.id }) + ")$"
		}
		return pattern
	},
}

var modulesSubtest = regexp.MustCompile(`^TestDifferential/((?:\d{3}-)+)`)

// modulesRowsOf returns the numbers with which the name of an archive begins, or those of a test
// elsewhere. Subtests of these do not count by themselves.
func modulesRowsOf(test string) []string {
	if match := modulesSubtest.FindStringSubmatch(test); match != nil {
		return strings.Split(strings.TrimSuffix(match[1], "-"), "-")
	}
	return modulesElsewhere().rows[test]
}

// elsewhereTests are tests with names that say nothing of rows.
type elsewhereTests struct {
	rows  map[string][]string // ids, by the name of the test
	paths []string            // directories, each with the name of a test
}

var modulesElsewhere = sync.OnceValue(func() elsewhereTests {
	rows := (&list{text: modulesText}).rows()
	found := elsewhereTests{rows: map[string][]string{}}
	for line := range strings.Lines(modulesTestsText) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		found.paths = append(found.paths, words[0])
		test := path.Base(words[0])
		for _, word := range words[1:] {
			for _, r := range rowsMeantBy(rows, word) {
				found.rows[test] = append(found.rows[test], r.id)
			}
		}
	}
	return found
})
