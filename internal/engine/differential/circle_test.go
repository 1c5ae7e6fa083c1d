// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// TestStateCircle passes on a state that the native engine has written of a module in the language
// of terraform 1.16: to terraform 1.11, to tofu and back, and so on. Each has to find nothing to
// do, changes something, and passes on the state that it has written itself.
//
// After objects are set, the first step of an archive is of the native engine, then each engine has
// two, of which the first is a plan. Terraform and tofu have the files of step 2, in the language
// that they know.
func TestStateCircle(t *testing.T) {
	paths, err := filepath.Glob("testdata/circle/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("archives: %d, %v", len(paths), err)
	}
	native := NewNative(t)
	circle := []*Bench{native, NewTerraform(t), newBinary(t, testenv.Tofu(t))}
	for _, b := range circle {
		b.withoutCalls = true
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := ParseCase(text)
			if err != nil {
				t.Fatal(err)
			}
			r := newRun(t, native, c)
			turn := 0
			for i, step := range c.Steps {
				if step.Verb == "set" {
					r.do(c, 1, step)
					continue
				}
				turn++
				r.bench = circle[turn/2%len(circle)]
				r.dir = filepath.Join(r.bench.stackDir, filepath.Base(r.dir))
				files := 2
				if r.bench == native {
					files = 1
				}
				got := r.do(c, files, step)
				if strings.HasPrefix(got, "error ") || strings.Contains(got, "\nerror ") {
					t.Fatalf("step %d, %s:\n%s", i+1, step.line, got)
				}
				if quiet := strings.Contains(got, "applyable false") && !strings.Contains(got, "outside: "); quiet != (step.Verb == "plan") {
					t.Errorf("step %d, %s, has changes: %t\n%s", i+1, step.line, !quiet, got)
				}
			}
		})
	}
}
