// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/lsp/snapshot"
	"github.com/cairnstacks/cairn/internal/testenv"
)

const asking = `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "~> 1.0"
  }
}
provider "fake" "main" {
  config {
    no_such_argument = 1
  }
}
`

// The schema of a provider is known without an operation, if the user has a package of it: mistakes
// are found as soon as the provider was asked.
func TestProvidersAreAsked(t *testing.T) {
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	e := open(t, asking)
	e.open(mainFile)
	e.want(mainFile, "9:5 Unsupported argument")
	if _, err := os.Stat(filepath.Join(e.dir, ".cairn")); err == nil {
		t.Error("there is a working directory")
	}
	e.leave()
}

// No program runs that a checkout has brought, be it in a working directory that another user's
// cairn has made, or among the plugins of the directory.
func TestProvidersOfCheckoutsAreNotAsked(t *testing.T) {
	mirror := testenv.FakeProviderMirror(t)
	empty := filepath.Join(t.TempDir(), "cli.tfrc")
	put(t, empty, "")
	t.Setenv("TF_CLI_CONFIG_FILE", empty)
	t.Setenv("TF_PLUGIN_CACHE_DIR", "")
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	dir := write(t, asking)
	for _, place := range []string{".cairn/init/.terraform/providers", "terraform.d/plugins"} {
		if err := os.CopyFS(filepath.Join(dir, place), os.DirFS(mirror)); err != nil {
			t.Fatal(err)
		}
	}
	workspace := snapshot.NewWorkspace(snapshot.Options{})
	workspace.AddFolder(dir)
	if workspace.Ask(t.Context(), workspace.Stack(dir)) {
		t.Error("a provider of the checkout was asked")
	}
	if len(workspace.Stack(dir).KnownProviders()) == 0 {
		t.Error("there is no provider that could be asked")
	}
}
