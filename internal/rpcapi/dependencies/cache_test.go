// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/rpcapi"
	"github.com/cairnstacks/cairn/internal/rpcapi/dependencies"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

// newCache returns a directory of packages: example.com/foo/bar 1.2.3 for two platforms, and things
// that are no packages.
func newCache(t *testing.T) string {
	t.Helper()
	return writeFiles(t, t.TempDir(), map[string]string{
		"example.com/foo/bar/1.2.3/os_arch/terraform-provider-bar_v1.2.3": "program",
		"example.com/foo/bar/1.2.3/os_more/terraform-provider-bar_v1.2.3": "other program",
		"example.com/foo/bar/1.2/os_arch/terraform-provider-bar":          "not in the normal form",
		"example.com/foo/Bar/1.2.3/os_arch/terraform-provider-Bar":        "the same",
		"example.com/foo/bar/1.2.4/os_arch":                               "a file",
		"lost+found/x":                                                    "",
	})
}

// barHash is that of the package for os_arch.
func barHash(t *testing.T, dir string) release.Hash {
	t.Helper()
	hash, err := release.HashContent(filepath.Join(dir, "example.com/foo/bar/1.2.3/os_arch"))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestGetCachedProviders(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	dir := newCache(t)
	cached := func(path, platform string) []*terraform1pb.ProviderPackage {
		t.Helper()
		opened, err := client.OpenProviderPluginCache(t.Context(), &dependenciespb.OpenProviderPluginCache_Request{
			CacheDir:         path,
			OverridePlatform: platform,
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.GetCachedProviders(t.Context(), &dependenciespb.GetCachedProviders_Request{
			ProviderCacheHandle: opened.GetProviderCacheHandle(),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []codes.Code{codes.OK, codes.InvalidArgument} {
			_, err = client.CloseProviderPluginCache(t.Context(), &dependenciespb.CloseProviderPluginCache_Request{
				ProviderCacheHandle: opened.GetProviderCacheHandle(),
			})
			wantCode(t, err, want)
		}
		return got.GetAvailableProviders()
	}
	want := []*terraform1pb.ProviderPackage{{SourceAddr: "example.com/foo/bar", Version: "1.2.3", Hashes: []string{string(barHash(t, dir))}}}
	if diff := cmp.Diff(want, cached(dir, "os_arch"), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if got := cached(dir, ""); len(got) != 0 {
		t.Errorf("for this platform: got %v", got)
	}
	if got := cached(filepath.Join(dir, "missing"), "os_arch"); len(got) != 0 {
		t.Errorf("without a directory: got %v", got)
	}
}

func TestProviderPluginCacheRefused(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	for _, platform := range []string{"linux", "_", "linux_", "linux_amd64_x", "linux/amd64"} {
		_, err := client.OpenProviderPluginCache(t.Context(), &dependenciespb.OpenProviderPluginCache_Request{
			CacheDir:         "x",
			OverridePlatform: platform,
		})
		wantCode(t, err, codes.InvalidArgument)
	}
	locks := createLocks(t, client)
	for _, bad := range []int64{0, 99, locks} {
		_, err := client.GetCachedProviders(t.Context(), &dependenciespb.GetCachedProviders_Request{ProviderCacheHandle: bad})
		wantCode(t, err, codes.InvalidArgument)
	}
}

func TestProviders(t *testing.T) {
	dir := newCache(t)
	hash := barHash(t, dir)
	var table handle.Table
	cache := handle.Open(&table, &dependencies.Cache{Dir: packagecache.Dir{Path: dir, Platform: release.Platform{OS: "os", Arch: "arch"}}})
	bar, err := release.ParseProvider("example.com/foo/bar")
	if err != nil {
		t.Fatal(err)
	}
	version, err := release.ParseVersion("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	other, err := release.ParseVersion("1.2.4")
	if err != nil {
		t.Fatal(err)
	}
	lock := func(l locks.Lock) int64 {
		l.Provider = bar
		set := &locks.Locks{}
		set.Set(l)
		return handle.Open(&table, &dependencies.Locks{Locks: set})
	}
	none := handle.Open(&table, &dependencies.Locks{Locks: &locks.Locks{}})
	fits := lock(locks.Lock{Version: version, Hashes: []release.Hash{"zh:abc", hash, "h1:other"}})
	for name, test := range map[string]struct {
		given   dependencies.Handles
		want    int    // providers
		problem string // or this
	}{
		"nothing":         {dependencies.Handles{}, 0, ""},
		"no locks":        {dependencies.Handles{Cache: cache}, 0, ""},
		"empty, no cache": {dependencies.Handles{Locks: none}, 0, ""},
		"fits":            {dependencies.Handles{Locks: fits, Cache: cache}, 1, ""},
		"required":        {dependencies.Handles{Locks: fits, Cache: cache, Required: true}, 1, ""},
		"no hashes":       {dependencies.Handles{Locks: lock(locks.Lock{Version: version}), Cache: cache}, 1, ""},
		"no cache":        {dependencies.Handles{Locks: fits}, 0, "no provider plugin cache"},
		"requires locks":  {dependencies.Handles{Cache: cache, Required: true}, 0, "handle 0"},
		"requires cache":  {dependencies.Handles{Locks: none, Required: true}, 0, "handle 0"},
		"bad locks":       {dependencies.Handles{Locks: cache, Cache: cache}, 0, "no set of dependency locks"},
		"bad cache":       {dependencies.Handles{Locks: none, Cache: none}, 0, "no provider plugin cache"},
		"other version":   {dependencies.Handles{Locks: lock(locks.Lock{Version: other}), Cache: cache}, 0, "there is no package"},
		"other hash": {
			dependencies.Handles{Locks: lock(locks.Lock{Version: version, Hashes: []release.Hash{"h1:x"}}), Cache: cache},
			0,
			"none of those that are locked",
		},
		"only archive hash": {
			dependencies.Handles{Locks: lock(locks.Lock{Version: version, Hashes: []release.Hash{"zh:x"}}), Cache: cache},
			0,
			"scheme h1:",
		},
		"only unknown hash": {
			dependencies.Handles{Locks: lock(locks.Lock{Version: version, Hashes: []release.Hash{"x:x"}}), Cache: cache},
			0,
			"scheme h1:",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := dependencies.Providers(&table, test.given)
			if test.problem != "" {
				wantCode(t, err, codes.InvalidArgument)
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("got %v, want %q", err, test.problem)
				}
				return
			}
			if err != nil || len(got) != test.want {
				t.Fatalf("got %v, %v; want %d providers", got, err, test.want)
			}
			for _, one := range got {
				if one.Provider != bar || one.Version != version || one.Dir != filepath.Join(dir, "example.com/foo/bar/1.2.3/os_arch") {
					t.Errorf("got %v", one)
				}
				if path, err := one.Executable(); err != nil || filepath.Base(path) != "terraform-provider-bar_v1.2.3" {
					t.Errorf("got the program %q, %v", path, err)
				}
			}
		})
	}
}
