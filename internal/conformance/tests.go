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
	"slices"
	"strings"
)

// outcome is how one test ended: "pass", "fail" or "skip".
type outcome struct {
	pkg, test, result string
	output            []string
}

// results are the outcomes of tests by row.
type results map[string][]outcome

// ofNoRow are the results of tests that have failed on their own account, and are for no row: such
// as a function whose subtests are.
const ofNoRow = ""

// runTests runs the tests of the given rows, if not more.
func (l *list) runTests(ctx context.Context, rows []row) (results, error) {
	packages, err := l.packages(".")
	if err != nil {
		return nil, err
	}
	args := append([]string{"test", "-json", "-timeout=60m", "-run=" + l.pattern(rows)}, packages...)
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
	return l.byRow(outcomes), nil
}

func (l *list) byRow(outcomes []outcome) results {
	found := results{}
	failed := map[outcomeKey]bool{} // tests with a failed subtest
	for _, o := range outcomes {    // subtests come before their parents
		ids := l.rowsOf(o.test)
		for _, id := range ids {
			found[id] = append(found[id], o)
		}
		if o.result != "fail" {
			continue
		}
		if len(ids) == 0 && !failed[outcomeKey{o.pkg, o.test}] {
			found[ofNoRow] = append(found[ofNoRow], o)
		}
		if i := strings.LastIndexByte(o.test, '/'); i >= 0 {
			failed[outcomeKey{o.pkg, o.test[:i]}] = true
		}
	}
	return found
}

type outcomeKey struct{ pkg, test string }

// packages returns the directories below root with tests of rows, sorted.
func (l *list) packages(root string) ([]string, error) {
	var dirs []string
	err := l.eachSource(root, func(path string, _ []byte) error {
		if dir := "./" + filepath.ToSlash(filepath.Dir(path)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return nil
	})
	slices.Sort(dirs)
	return dirs, err
}

// eachSource calls visit with each file below root that has tests of rows.
func (l *list) eachSource(root string, visit func(path string, source []byte) error) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil || !l.isIn(path, source) {
			return err
		}
		return visit(path, source)
	})
}

// isIn reports whether a file may have tests of rows.
func (l *list) isIn(path string, source []byte) bool {
	if bytes.Contains(source, []byte(l.source)) {
		return true
	}
	for _, elsewhere := range l.elsewhere {
		dir, test := filepath.Split(elsewhere)
		if strings.HasSuffix(filepath.ToSlash(filepath.Dir(path))+"/", dir) && bytes.Contains(source, []byte("\nfunc "+test+"(")) {
			return true
		}
	}
	return false
}

// readOutcomes reads the output of go test -json. Unfinished is the output of packages that failed
// on their own account.
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
