// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// The program makes the stack of the quickstart with a server in another process, and then finds
// nothing to do.
func TestRPCClient(t *testing.T) {
	testenv.CLIConfig(t, "")
	t.Setenv("CAIRN_ENGINE", testenv.Engine(t))
	bin := t.TempDir()
	if out, err := testenv.Command(t, "go", "build", "-o", bin, ".", "../../cmd/cairn").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	stack, err := filepath.Abs("../quickstart")
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "quickstart.tfstackstate")
	run := func() (stdout, stderr string) {
		var out, errs bytes.Buffer
		cmd := testenv.Command(t, filepath.Join(bin, "rpcclient"), filepath.Join(bin, "cairn"), stack, state)
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s%s", err, &out, &errs)
		}
		return out.String(), errs.String()
	}

	made := regexp.MustCompile(`\Aapp_endpoint = "https://demo-app\.example\.com/[0-9a-f-]+"
workers = {
  batch = "batch: batch-0, batch-1, batch-2"
  web   = "web: web-0, web-1, web-2, web-3, web-4"
}
\z`)
	first, errs := run()
	if !made.MatchString(first) || !strings.Contains(errs, "component.network: APPLIED") {
		t.Fatalf("%s%s", first, errs)
	}
	second, errs := run()
	if second != first || regexp.MustCompile(`(add|change|remove) [1-9]`).MatchString(errs) {
		t.Errorf("afterwards:\n%s%s", second, errs)
	}
}
