// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// endingTest notes how a helper would have ended the test first, and goes on.
type endingTest struct {
	testing.TB
	ended, reason string
}

func (e *endingTest) Skip(args ...any)  { e.end("skipped", args) }
func (e *endingTest) Fatal(args ...any) { e.end("failed", args) }

func (e *endingTest) end(how string, args []any) {
	e.ended, e.reason = cmp.Or(e.ended, how), cmp.Or(e.reason, fmt.Sprint(args...))
}

// A test with an engine that is missing says so, and fails on CI.
func TestEngineMissing(t *testing.T) {
	t.Setenv(testenv.SkippedVariable, "")
	t.Setenv("PATH", t.TempDir())
	for ci, want := range map[string]string{"": "skipped", "1": "failed"} {
		t.Setenv("CI", ci)
		for _, name := range []string{"terraform", "tofu"} {
			t.Setenv(testenv.EngineVariable, name)
			recorded := &endingTest{TB: t}
			testenv.EngineOnPath(recorded)
			if recorded.ended != want || !strings.Contains(recorded.reason, "needs "+name+" on PATH") {
				t.Errorf("CI=%q, without %s: the test is %q (%s), want %q", ci, name, recorded.ended, recorded.reason, want)
			}
		}
		for _, name := range []string{"", testenv.NativeEngine, testenv.AutoEngine} {
			t.Setenv(testenv.EngineVariable, name)
			recorded := &endingTest{TB: t}
			if testenv.EngineOnPath(recorded); recorded.ended != "" {
				t.Errorf("CI=%q, engine %q: the test is %q (%s)", ci, name, recorded.ended, recorded.reason)
			}
		}
	}
}

// A test that needs tofu fails on CI where it is missing, unless somebody has said that there is
// none.
func TestTofuMissing(t *testing.T) {
	t.Setenv(testenv.SkippedVariable, "")
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CAIRN_CACHE", t.TempDir())
	for _, test := range []struct{ ci, without, want string }{
		{"", "", "skipped"},
		{"1", "", "failed"},
		{"1", "1", "skipped"},
	} {
		t.Setenv("CI", test.ci)
		t.Setenv(testenv.WithoutTofuVariable, test.without)
		recorded := &endingTest{TB: t}
		if path := testenv.Tofu(recorded); path != "" || recorded.ended != test.want || !strings.Contains(recorded.reason, "needs tofu") {
			t.Errorf("CI=%q, without=%q: the test is %q (%s) with %q, want %q",
				test.ci, test.without, recorded.ended, recorded.reason, path, test.want)
		}
	}
}
