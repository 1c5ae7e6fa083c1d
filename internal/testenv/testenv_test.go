// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// TestProvidersInstall lets the engine install both providers from the mirror, under the short
// address that means another registry in each engine.
func TestProvidersInstall(t *testing.T) {
	engine := testenv.Engine(t)
	mirror := testenv.TimeProviderMirror(t)
	testenv.CLIConfig(t, mirror)
	dir := t.TempDir()
	module := `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
    time = { source = "hashicorp/time", version = "0.14.2" }
  }
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(module), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := testenv.Command(t, engine, "init", "-no-color")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("init: %s\n%s", err, out)
	}
	for _, want := range []string{"Installed cairnstacks/fake v1.0.0", "Installed hashicorp/time v0.14.2"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("init prints no %q:\n%s", want, out)
		}
	}
}

func TestMirrorAnswersForBothRegistries(t *testing.T) {
	mirror := testenv.FakeProviderMirror(t)
	name := "terraform-provider-fake_v1.0.0"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		path := filepath.Join(mirror, host, "cairnstacks", "fake", "1.0.0", runtime.GOOS+"_"+runtime.GOARCH, name)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o100 == 0 {
			t.Errorf("%s: error %v, want a program", path, err)
		}
	}
}

func TestEmptyCLIConfig(t *testing.T) {
	testenv.CLIConfig(t, "")
	path := os.Getenv("TF_CLI_CONFIG_FILE")
	if raw, err := os.ReadFile(path); err != nil || len(raw) > 0 {
		t.Errorf("%s: got %q, error %v; want an empty file", path, raw, err)
	}
	if got := os.Getenv("CHECKPOINT_DISABLE"); got != "1" {
		t.Errorf("CHECKPOINT_DISABLE: got %q, want 1", got)
	}
}
