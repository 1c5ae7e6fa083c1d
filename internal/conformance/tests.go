// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// outcome is how one test ended: "pass", "fail" or "skip".
type outcome struct {
	pkg, test, result string
	output            []string
}

// results are the outcomes of tests by row.
type results map[int][]outcome

// runTests runs the tests of the given rows.
func runTests(ctx context.Context, rows []row) (results, error) {
	packages, err := packagesWithRows(".")
	if err != nil {
		return nil, err
	}
	args := append([]string{"test", "-json", "-timeout=30m", "-run=" + testPattern(rows)}, packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	outcomes, unfinished, readErr := readOutcomes(stdout)
	waitErr := cmd.Wait()
	var exit *exec.ExitError
	if readErr != nil || waitErr != nil && !errors.As(waitErr, &exit) {
		return nil, errors.Join(readErr, waitErr)
	}
	if len(unfinished) > 0 {
		return nil, fmt.Errorf("packages did not build or ended early:\n%s", strings.Join(unfinished, ""))
	}
	found := results{}
	for _, o := range outcomes {
		for _, n := range rowsOf(o.test) {
			found[n] = append(found[n], o)
		}
	}
	return found, nil
}

// packagesWithRows returns the directories below root with tests of rows, sorted.
func packagesWithRows(root string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if dir := "./" + filepath.ToSlash(filepath.Dir(path)); bytes.Contains(source, []byte("\nfunc TestRow")) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return err
	})
	slices.Sort(dirs)
	return dirs, err
}

// testPattern selects the functions of the rows, and all those with rows as subtests.
func testPattern(rows []row) string {
	if len(rows) == len(allRows()) {
		return "^TestRow"
	}
	var numbers []string
	for _, r := range rows {
		numbers = append(numbers, fmt.Sprintf("%03d", r.number))
	}
	return "^TestRow(s|[0-9]*.*(" + strings.Join(numbers, "|") + "))"
}

// readOutcomes reads what go test -json prints. Unfinished is the output of packages that failed on their own account.
func readOutcomes(r io.Reader) (outcomes []outcome, unfinished []string, err error) {
	type key struct{ pkg, test string }
	output := map[key][]string{}
	failed := map[string]bool{} // packages with a failed test
	decoder := json.NewDecoder(r)
	for {
		var event struct{ Action, Package, ImportPath, Test, Output string }
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return outcomes, unfinished, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("reading the output of go test: %w", err)
		}
		k := key{event.Package, event.Test}
		switch event.Action {
		case "output":
			output[k] = append(output[k], event.Output)
		case "build-output":
			unfinished = append(unfinished, event.Output)
		case "pass", "fail", "skip":
			if event.Test != "" {
				outcomes = append(outcomes, outcome{event.Package, event.Test, event.Action, output[k]})
				failed[event.Package] = failed[event.Package] || event.Action == "fail"
			} else if event.Action == "fail" && !failed[event.Package] {
				unfinished = append(unfinished, output[k]...)
			}
		}
	}
}

var (
	functionPattern = regexp.MustCompile(`^TestRow\d{3}(And\d{3})*`)
	subtestPattern  = regexp.MustCompile(`^TestRows[^/]*/(\d{3})(?:\D|$)`)
	numberPattern   = regexp.MustCompile(`\d{3}`)
)

// rowsOf returns the numbers of the rows that a test is for.
func rowsOf(test string) []int {
	var texts []string
	if match := subtestPattern.FindStringSubmatch(test); match != nil {
		texts = match[1:]
	} else {
		texts = numberPattern.FindAllString(functionPattern.FindString(test), -1)
	}
	var numbers []int
	for _, text := range texts {
		if n, err := strconv.Atoi(text); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
