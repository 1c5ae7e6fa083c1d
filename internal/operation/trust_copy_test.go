// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/states"
	"github.com/cairnstacks/cairn/internal/settings"
)

// The copy of a stack is no way to have a program run that the repository has brought along.
func TestTrustOfCopy(t *testing.T) {
	top := t.TempDir()
	repository, stack := filepath.Join(top, "repository"), filepath.Join(top, "copy", "stack")
	for _, dir := range []string{filepath.Join(repository, ".git"), filepath.Join(top, "elsewhere"), stack} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{repository, filepath.Join(top, "elsewhere"), filepath.Join(top, "copy")} {
		if err := os.WriteFile(filepath.Join(dir, "terraform"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for program, trusted := range map[string]bool{
		filepath.Join(repository, "terraform"):       false,
		filepath.Join(top, "elsewhere", "terraform"): true,
		"terraform":    true,
		"../terraform": false,
	} {
		t.Run(program, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(stack, settings.File), fmt.Appendf(nil, "engine = %q\n", program), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(Options{Env: env.Options{
				Dir: stack, Home: filepath.Join(repository, "deleted", "stack"),
				Environ: []string{},
			}}).Engines().Search()
			diags, _ := errors.AsType[hcl.Diagnostics](err)
			untrusted := len(diags) == 1 && diags[0].Extra == engines.CodeUntrusted
			if untrusted == trusted || err != nil && !untrusted {
				t.Errorf("got %v, want trusted: %t", failure.Diagnostics(err), trusted)
			}
		})
	}
}

// The state and the working directory of a copy are those of the original, which need not exist.
func TestHomeOfCopy(t *testing.T) {
	top := t.TempDir()
	dir, home := filepath.Join(top, "copy", "stack"), filepath.Join(top, "repository", "stack")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]string{
		"": filepath.Join(home, states.Default),
		"state \"sqlite\" { path = \"../x.db\" }": filepath.Join(top, "repository", "x.db"),
	} {
		if err := os.WriteFile(filepath.Join(dir, settings.File), []byte(state), 0o600); err != nil {
			t.Fatal(err)
		}
		stack := Open(Options{Env: env.Options{Dir: dir, Home: home, Environ: []string{}}})
		if got := stack.States().File(); got != want {
			t.Errorf("with %q the state is in %s, want %s", state, got, want)
		}
		if want := filepath.Join(home, env.WorkDir); stack.env.WorkDir != want {
			t.Errorf("got the working directory %s, want %s", stack.env.WorkDir, want)
		}
	}
	named := Open(Options{Env: env.Options{Dir: dir, Home: home, Environ: []string{env.StateVariable + "=y.db"}}})
	if got, want := named.States().File(), filepath.Join(home, "y.db"); got != want {
		t.Errorf("with a relative path in the environment the state is in %s, want %s", got, want)
	}
}
