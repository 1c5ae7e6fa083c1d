// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// refusedCommand runs cairn, which must find a problem of the given code at the given place, end
// with exit code 1, and run nothing: any command it ran would make the file ran in the work
// directory.
func refusedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("refused cannot be negated")
	}
	problemCommand(ts, "error", args)
}

// warnedCommand is [refusedCommand] for warnings, with which cairn must end with exit code 0,
// whatever it runs.
func warnedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("warned cannot be negated")
	}
	problemCommand(ts, "warning", args)
}

// problemCommand checks the text, or the document where the arguments ask for JSON. The place "-"
// stands for none.
func problemCommand(ts *testscript.TestScript, severity string, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: refused|warned CODE FILE:LINE:COLUMN ARGUMENT...")
	}
	code, place := args[0], args[1]
	failure := ts.Exec("cairn", args[2:]...)
	stdout, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if (failure != nil) != (severity == "error") {
		ts.Fatalf("exit: %v", failure)
	}
	if failure != nil && failure.Error() != "exit status 1" {
		ts.Fatalf("%v, want exit status 1", failure)
	}
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasSuffix(arg, "json") }) {
		ts.Check(findInDocument(stdout, severity, code, place))
	} else if err := findInText(stderr, severity, code, place); err != nil {
		ts.Fatalf("%v in:\n%s", err, stderr)
	}
	if severity == "warning" {
		return
	}
	if _, err := os.Lstat(ts.MkAbs(ts.Getenv("WORK") + "/ran")); !errors.Is(err, fs.ErrNotExist) {
		ts.Fatalf("something was run, in spite of %s", code)
	}
}

// findInText looks for a box with the code and the place.
func findInText(text, severity, code, place string) error {
	for box := range strings.SplitSeq(text, "╷") {
		title := map[string]string{"error": "Error: ", "warning": "Warning: "}[severity]
		first, rest, _ := strings.Cut(strings.TrimPrefix(box, "\n│ "), "\n")
		if !strings.HasPrefix(first, title) || !strings.HasSuffix(first, " ("+code+")") {
			continue
		}
		at, _, found := strings.Cut(rest, "  on ")
		if place == "-" && (!found || strings.Contains(at, "\n│ \n")) {
			return nil
		}
		if after := strings.TrimPrefix(rest, at+"  on "+place); found && after != rest && strings.ContainsRune(":,\n", rune(after[0])) {
			return nil
		}
	}
	return fmt.Errorf("no %s %s at %s", severity, code, place)
}

// findInDocument looks for the code and the place in a JSON document, which must be the only thing
// that is printed.
func findInDocument(text, severity, code, place string) error {
	var document struct {
		Diagnostics []struct {
			Severity, Code string
			Range          *struct {
				Filename string
				Start    struct{ Line, Column int }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		return fmt.Errorf("standard output is not a JSON document: %w\n%s", err, text)
	}
	for _, d := range document.Diagnostics {
		at := "-"
		if d.Range != nil {
			at = d.Range.Filename
			if d.Range.Start.Line > 0 {
				at = fmt.Sprintf("%s:%d:%d", d.Range.Filename, d.Range.Start.Line, d.Range.Start.Column)
			}
		}
		if d.Severity == severity && d.Code == code && at == place {
			return nil
		}
	}
	return fmt.Errorf("no %s %s at %s in:\n%s", severity, code, place, text)
}
