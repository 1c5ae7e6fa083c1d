// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// The program makes the stack of the quickstart, and does not take away from it.
func TestEmbedding(t *testing.T) {
	testenv.CLIConfig(t, "")
	t.Setenv("CAIRN_ENGINE", testenv.Engine(t))
	program := filepath.Join(t.TempDir(), "embedding")
	if out, err := testenv.Command(t, "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	stack := t.TempDir()
	if err := os.CopyFS(stack, os.DirFS("../quickstart")); err != nil {
		t.Fatal(err)
	}
	run := func(environ ...string) (stdout, stderr string, status int) {
		var out, errs bytes.Buffer
		cmd := testenv.Command(t, program, stack)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), environ...), &out, &errs
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}

	made := regexp.MustCompile(`\Aapp_endpoint = "https://demo-app\.example\.com/[0-9a-f-]+"
workers = {
  batch = "batch: batch-0, batch-1, batch-2"
  web   = "web: web-0, web-1, web-2, web-3, web-4"
}
\z`)
	first, errs, status := run()
	if !made.MatchString(first) || errs != "" || status != 0 {
		t.Fatalf("exit code %d\n%s%s", status, first, errs)
	}
	out, errs, status := run("TF_VAR_pools={ batch = { size = 1 }, web = { size = 3, spare = 2 } }")
	if out != "" || status != 1 || !strings.Contains(errs, "Error: Approval refused") ||
		!strings.Contains(errs, `component.worker["batch"] would lose 1 of its objects. Nothing was changed.`) {
		t.Errorf("a plan that deletes: exit code %d\n%s%s", status, out, errs)
	}
	if out, errs, status := run(); out != first || errs != "" || status != 0 {
		t.Errorf("afterwards: exit code %d\n%s%s", status, out, errs)
	}
}
