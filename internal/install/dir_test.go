// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func TestChanges(t *testing.T) {
	p := func(name string) stackaddrs.Provider {
		return stackaddrs.Provider{Hostname: "example.com", Namespace: "a", Type: name}
	}
	before := map[stackaddrs.Provider]string{p("gone"): "1.0.0", p("same"): "1.0.0", p("newer"): "1.0.0"}
	after := map[stackaddrs.Provider]string{p("added"): "1.0.0", p("same"): "1.0.0", p("newer"): "2.0.0"}
	want := []engine.LockChange{
		{Provider: p("added"), After: "1.0.0"},
		{Provider: p("gone"), Before: "1.0.0"},
		{Provider: p("newer"), Before: "1.0.0", After: "2.0.0"},
	}
	got := install.Changes(before, after)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Changes (-want +got):\n%s", diff)
	}
	detail := install.OutOfDate(got).Detail
	for _, want := range []string{"example.com/a/added is required and not in it", "a/gone 1.0.0 is in it and not required", "with version " +
		"1.0.0, and 2.0.0 would be chosen"} {
		if !strings.Contains(detail, want) {
			t.Errorf("OutOfDate says %q, want %q in it", detail, want)
		}
	}
}

func TestExclusive(t *testing.T) {
	dir := install.In(t.TempDir())
	unlock, err := dir.Exclusive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancelCause(t.Context())
	cause := errors.New("given up")
	end(cause)
	if _, err := dir.Exclusive(ended); !errors.Is(err, cause) {
		t.Errorf("while somebody installs: %v", err)
	}
	unlock()
	again, err := dir.Exclusive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestHashesAreRemembered(t *testing.T) {
	top := t.TempDir()
	program, file := filepath.Join(top, "p", "program"), filepath.Join(top, "packages.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(program), 0o700), os.WriteFile(program, []byte("one"), 0o600)); err != nil {
		t.Fatal(err)
	}
	packages := []install.Package{{Path: "a", Dir: filepath.Dir(program)}, {Path: "absent", Dir: filepath.Join(top, "absent")}}
	first := (&install.Hashes{}).Remembered(t.Context(), file, packages)
	if len(first) != 1 || !strings.HasPrefix(first["a"], "h1:") {
		t.Fatalf("the hashes are %v", first)
	}
	if record := install.Records(file)["a"]; record.Hash != first["a"] {
		t.Errorf("remembered is %v", record)
	}
	if err := os.WriteFile(program, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if other := (&install.Hashes{}).Remembered(t.Context(), file, packages); other["a"] == first["a"] {
		t.Errorf("another content has the same hash %s", other["a"])
	}
}
