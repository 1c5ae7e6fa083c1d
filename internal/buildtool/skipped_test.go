// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

func TestPrintSkipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "skipped.txt")
	t.Setenv(testenv.SkippedVariable, path)
	for _, name := range []string{"TestG", "TestA", "TestA", "TestB", "TestC", "TestD", "TestE", "TestF"} {
		testenv.RecordSkipped(name, "needs terraform")
	}
	testenv.RecordSkipped("TestX", "needs\ngit")
	var out strings.Builder
	if err := printSkipped(&out, path); err != nil {
		t.Fatal(err)
	}
	const want = "not run: needs git: buildtool.TestX\n" +
		"not run: needs terraform: buildtool.TestA, buildtool.TestB, buildtool.TestC, buildtool.TestD, buildtool.TestE, and 2 more\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	out.Reset()
	if err := errors.Join(os.Remove(path), printSkipped(&out, path)); err != nil || out.Len() > 0 {
		t.Errorf("without a file: %q, %v", out.String(), err)
	}
}
