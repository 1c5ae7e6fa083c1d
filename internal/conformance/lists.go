// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

// list is a list of behaviours, and how its tests are named.
type list struct {
	name       string
	text       string // see [list.rows]
	exceptions string // heading in docs/differences.md of the rows that do not apply

	// source is found in files with tests of rows, unless those are elsewhere.
	source string

	// elsewhere are further tests of rows: their directories, each with the name of a function.
	elsewhere []string

	// rowsOf returns the ids of the rows that a test is for.
	rowsOf func(test string) []string

	// pattern selects tests for go test: at least those of the given rows.
	pattern func(rows []row) string
}

var lists = []*list{language, ordering, rpc, modules}

func listNamed(name string) (*list, error) {
	var names []string
	for _, l := range lists {
		if l.name == name {
			return l, nil
		}
		names = append(names, l.name)
	}
	return nil, fmt.Errorf("there is no list %q; there are %s", name, strings.Join(names, ", "))
}

//go:embed language.txt
var languageText string

var language = &list{
	name: "language", text: languageText, exceptions: "## Rows of the conformance list that do not apply\n",
	source: "\nfunc TestRow", rowsOf: languageRowsOf,
	pattern: func(rows []row) string {
		return "^TestRow(s|[0-9]*.*(" + join(rows, func(r row) string { return r.id }) + "))"
	},
}

var (
	languageFunction = regexp.MustCompile(`^TestRow\d{3}(And\d{3})*`)
	languageSubtest  = regexp.MustCompile(`^TestRows[^/]*/(\d{3})(?:\D|$)`)
	threeDigits      = regexp.MustCompile(`\d{3}`)
)

func languageRowsOf(test string) []string {
	if match := languageSubtest.FindStringSubmatch(test); match != nil {
		return match[1:]
	}
	return threeDigits.FindAllString(languageFunction.FindString(test), -1)
}

//go:embed ordering.txt
var orderingText string

const (
	codePrefix   = "order/"
	scripts      = "TestScripts"
	scriptPrefix = "order_errors_" // of scripts about one code
)

var ordering = &list{
	name: "ordering", text: orderingText, exceptions: "## Rows of the ordering list that do not apply\n",
	source: "\nfunc TestOrder", rowsOf: orderingRowsOf,
	pattern: func(rows []row) string {
		// Functions without a digit have rows as subtests.
		pattern := "^TestOrder([^0-9]*$|.*(" + join(rows, func(r row) string { return strings.ReplaceAll(r.id, "-", "") }) + "))"
		var codes []row
		for _, r := range rows {
			if strings.HasPrefix(r.id, codePrefix) {
				codes = append(codes, r)
			}
		}
		if len(codes) > 0 {
			pattern += "|^" + scripts + "$/^(" + join(codes, scriptOf) + ")$"
		}
		return pattern
	},
}

var (
	orderingFunction = regexp.MustCompile(`^TestOrder((?:[ABCDOX]\d{2})+)`)
	orderingSubtest  = regexp.MustCompile(`^TestOrder[^/]*/([ABCDOX]-\d{2}(?:(?:_and_|_)[ABCDOX]-\d{2})*)(?:\D|$)`)
	orderingNamed    = regexp.MustCompile(`^TestOrder[^/]*/(C-[a-z_]+)(?:/|$)`)
	letterAndDigits  = regexp.MustCompile(`([ABCDOX])-?(\d{2})`)
)

func orderingRowsOf(test string) []string {
	if name, ok := strings.CutPrefix(test, scripts+"/"+scriptPrefix); ok {
		return []string{codePrefix + strings.ReplaceAll(name, "_", "-")}
	}
	if match := orderingNamed.FindStringSubmatch(test); match != nil {
		return match[1:]
	}
	match := orderingSubtest.FindStringSubmatch(test)
	if match == nil {
		match = orderingFunction.FindStringSubmatch(test)
	}
	var ids []string
	if match != nil {
		for _, parts := range letterAndDigits.FindAllStringSubmatch(match[1], -1) {
			ids = append(ids, parts[1]+"-"+parts[2])
		}
	}
	return ids
}

func scriptOf(r row) string {
	return scriptPrefix + strings.ReplaceAll(strings.TrimPrefix(r.id, codePrefix), "-", "_")
}

//go:embed rpc.txt
var rpcText string

var rpc = &list{
	name: "rpc", text: rpcText, exceptions: "## Rows of the RPC list that do not apply\n",
	source: "\nfunc TestRPC", rowsOf: rpcRowsOf,
	pattern: func(rows []row) string {
		return "^TestRPC/^(" + join(rows, func(r row) string { return r.id }) + ")(_|$)"
	},
}

var rpcSubtest = regexp.MustCompile(`^TestRPC[^/]*/([A-Z]-\d{2})(?:\D|$)`)

func rpcRowsOf(test string) []string {
	if match := rpcSubtest.FindStringSubmatch(test); match != nil {
		return match[1:]
	}
	return nil
}

// join joins texts of rows to alternatives of a pattern.
func join(rows []row, text func(row) string) string {
	var texts []string
	for _, r := range rows {
		texts = append(texts, regexp.QuoteMeta(text(r)))
	}
	return strings.Join(texts, "|")
}
