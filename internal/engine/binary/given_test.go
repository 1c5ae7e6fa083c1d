// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Packages that are there are used where they are. No process installs anything, and the lock file
// of the stack does not count.
func TestGivenPackages(t *testing.T) {
	mirror := testenv.FakeProviderMirror(t)
	t.Setenv("TF_CLI_CONFIG_FILE", os.DevNull)
	t.Setenv("CAIRN_FAKE_STORE", t.TempDir())
	b := newBenchAt(t, t.TempDir(), map[string]string{"mod/main.tf": fakeRequired, workcopy.LockFile: "not a lock file {"})
	b.engine = open(t, b.stack, Options{
		Binary: testenv.Engine(t), WorkDir: filepath.Join(b.stack, ".cairn"),
		Working: func(what string) {
			if what == "Installing providers" {
				t.Error("providers are installed")
			}
		},
	})
	provider := stackaddrs.Provider{Hostname: string(tfaddr.DefaultProviderRegistryHost), Namespace: "cairnstacks", Type: "fake"}
	dir := filepath.Join(mirror, filepath.FromSlash(provider.String()), "1.0.0", runtime.GOOS+"_"+runtime.GOARCH)
	hash, err := release.HashContent(dir)
	if err != nil {
		t.Fatal(err)
	}
	given := &engine.PrepareRequest{
		InstallNothing: true,
		Packages:       []engine.ProviderPackage{{Provider: provider, Version: "1.0.0", Hashes: []string{string(hash)}, Dir: dir}},
	}
	for range 2 {
		if _, diags := b.engine.Prepare(t.Context(), given); diags.HasErrors() {
			t.Fatal(diags)
		}
	}
	locks, err := b.engine.Locks(t.Context())
	if err != nil || locks[provider] != "1.0.0" {
		t.Fatalf("locked: %v, %v", locks, err)
	}
	request := b.request(nil)
	request.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(nil)}
	b.plan(request)

	none := &engine.PrepareRequest{InstallNothing: true}
	if _, diags := b.engine.Prepare(t.Context(), none); diags.HasErrors() {
		t.Fatal(diags)
	}
	if _, diags := b.tryPlan(t.Context(), b.request(nil)); !diags.HasErrors() {
		t.Error("planned without the provider that the module needs")
	}
}
