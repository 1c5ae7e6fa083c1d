// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
)

// runIn runs cairn in a tree of stacks, one a line: the directory, and the arguments of its stack
// block.
func runIn(t *testing.T, stacks []string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	root := t.TempDir()
	for _, line := range stacks {
		dir, arguments, _ := strings.Cut(line, " ")
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "stack.tm"), []byte("stack {\n"+arguments+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	var out, errs strings.Builder
	status = Main(testContext(), args, session.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return status, out.String(), errs.String()
}

// Line A-16: everything after the options is the command, with its own arguments untouched.
func TestOrderA16(t *testing.T) {
	stacks := []string{`a after = ["../b"]`, `b`}
	for name, args := range map[string][]string{
		"from the first word": {"run", "echo", "-reverse", "--tags=x", "--", "a  b"},
		"after two dashes":    {"run", "--", "echo", "-reverse", "--tags=x", "--", "a  b"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := runIn(t, stacks, args...)
			if want := "b | -reverse --tags=x -- a  b\na | -reverse --tags=x -- a  b\n"; status != cmdline.ExitOK || stdout != want {
				t.Errorf("exit code %d, output %q, want %q\n%s", status, stdout, want, stderr)
			}
		})
	}
}

// Line A-17: with a cycle, nothing is run, also where it is among stacks that are not selected.
func TestOrderA17(t *testing.T) {
	for _, stacks := range [][]string{
		{`a after = ["../a"]`, `free tags = ["t"]`},
		{`a after = ["../b"]`, `b after = ["../a"]`, `free tags = ["t"]`},
		{`a after = ["../b"]`, `b after = ["../c"]`, `c after = ["../d"]`, `d after = ["../a"]`, `free tags = ["t"]`},
	} {
		status, stdout, stderr := runIn(t, stacks, "run", "-tags=t", "echo", "ran")
		if status != cmdline.ExitError || stdout != "" || !strings.Contains(stderr, "/a → ") {
			t.Errorf("%v: exit code %d, output %q, errors:\n%s\nwant the cycle and nothing run", stacks, status, stdout, stderr)
		}
	}
}
