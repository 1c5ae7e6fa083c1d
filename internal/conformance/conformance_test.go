// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRowsOf(t *testing.T) {
	for test, want := range map[string][]int{
		"TestRow055BuiltInData":                     {55},
		"TestRow055BuiltInData/any_subtest":         {55},
		"TestRow041And042Cycles":                    {41, 42},
		"TestRowsValidation/078_number_in_range":    {78},
		"TestRowsValidation/078_number/123_further": {78},
		"TestRowsValidation/078":                    {78},
		"TestRowsValidation":                        nil,
		"TestRowsValidation/other_078":              nil,
		"TestRowsValidation/0780":                   nil,
		"TestRowsOf":                                nil,
		"TestOther055":                              nil,
	} {
		if got := rowsOf(test); !slices.Equal(got, want) {
			t.Errorf("rowsOf(%q) = %v, want %v", test, got, want)
		}
	}
}

func TestAllRowsAreNumberedInOrder(t *testing.T) {
	rows := allRows()
	if len(rows) != 282 {
		t.Fatalf("%d rows, want 282", len(rows))
	}
	for i, r := range rows {
		if r.number != i+1 || r.section == "" || r.title == "" {
			t.Errorf("row %d is %+v", i+1, r)
		}
	}
}

func TestSelectRows(t *testing.T) {
	rows, err := selectRows(allRows(), []string{"3", "280-282"})
	var numbers []int
	for _, r := range rows {
		numbers = append(numbers, r.number)
	}
	if want := []int{3, 280, 281, 282}; err != nil || !slices.Equal(numbers, want) {
		t.Errorf("got %v, %v, want %v", numbers, err, want)
	}
	for _, bad := range []string{"x", "0", "5-3", "283", "-"} {
		if _, err := selectRows(allRows(), []string{bad}); err == nil {
			t.Errorf("%q was taken for a range", bad)
		}
	}
}

func TestReadExceptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	document := "| 1 | elsewhere |\n" + exceptionsHeading + "\n| row | reason |\n| --- | --- |\n| 10, 147–149 | no policies |\n\n## Next\n| 2 | x |\n"
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	exceptions, err := readExceptions(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{10, 147, 148, 149} {
		if exceptions[n] != "no policies" {
			t.Errorf("exception %d: got %q", n, exceptions[n])
		}
	}
	if len(exceptions) != 4 {
		t.Errorf("got %v, want four exceptions", exceptions)
	}
}

func TestTable(t *testing.T) {
	rows := []row{{1, "s", "one"}, {2, "s", "two"}, {3, "s", "three"}}
	var b strings.Builder
	good := results{1: {{"p", "TestRow001", "pass", nil}}, 2: {{"p", "TestRow002", "pass", nil}}}
	if !printTable(&b, rows, good, map[int]string{3: "why"}, false) {
		t.Errorf("passed and excepted rows are not enough:\n%s", &b)
	}
	for name, bad := range map[string]results{
		"failed":   {1: good[1], 2: {{"p", "TestRow002/a", "pass", nil}, {"p", "TestRow002/b", "fail", nil}}},
		"skipped":  {1: good[1], 2: {{"p", "TestRow002", "skip", nil}}},
		"untested": {1: good[1]},
		"surprise": {1: good[1], 2: good[2], 3: {{"p", "TestRow003", "pass", nil}}},
	} {
		if printTable(&b, rows, bad, map[int]string{3: "why"}, false) {
			t.Errorf("%s: the table is taken for good", name)
		}
	}
}

func TestReadOutcomes(t *testing.T) {
	outcomes, unfinished, err := readOutcomes(strings.NewReader(`
{"Action":"output","Package":"p","Test":"TestRow001","Output":"why\n"}
{"Action":"fail","Package":"p","Test":"TestRow001"}
{"Action":"fail","Package":"p"}
{"Action":"output","Package":"q","Output":"panic\n"}
{"Action":"fail","Package":"q"}
`))
	if err != nil || len(outcomes) != 1 || outcomes[0].output[0] != "why\n" {
		t.Errorf("outcomes = %v, %v", outcomes, err)
	}
	if !slices.Equal(unfinished, []string{"panic\n"}) {
		t.Errorf("unfinished = %q", unfinished)
	}
	if _, _, err := readOutcomes(strings.NewReader("{")); err == nil {
		t.Error("no error for output that was cut off")
	}
}
