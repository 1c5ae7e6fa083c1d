// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package ci_test

import (
	"io/fs"
	"os/exec"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/ci"
)

// The scripts are for any shell of POSIX, and say so where shellcheck is there to look.
func TestScripts(t *testing.T) {
	names, err := fs.Glob(ci.Scripts, "*")
	if err != nil || len(names) < 2 {
		t.Fatalf("scripts: %v, %v", names, err)
	}
	for _, name := range names {
		text, err := ci.Scripts.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			// With a trace of the shell, these would show it.
			if strings.Contains(line, "$CAIRN_TOKEN") || strings.Contains(line, "${CAIRN_TOKEN") {
				t.Errorf("%s:%d expands the token: %s", name, i+1, line)
			}
		}
	}
	checks := [][]string{{"sh", "-n", "ci/cairn.sh"}, {"sh", "-n", "ci/api.sh"}}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	if _, err := exec.LookPath("shellcheck"); err == nil {
		checks = append(checks, []string{"shellcheck", "-x", "ci/cairn.sh", "ci/api.sh"})
	}
	for _, check := range checks {
		cmd := exec.CommandContext(t.Context(), check[0], check[1:]...)
		cmd.Dir = ".." // from where the scripts name each other
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(check, " "), err, out)
		}
	}
}
