// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
)

func TestRPCPackages(t *testing.T) {
	t.Run("K-01 versions of a provider", testProviderVersions)
	t.Run("K-02 provider that does not exist", func(t *testing.T) {
		c, r := withRegistry(t)
		for _, address := range []string{r.host + "/acme/none", "a/b/c/d", "none.invalid/a/b"} {
			response := must[*packagespb.ProviderPackageVersions_Response](t)(
				c.packages.ProviderPackageVersions(t.Context(), &packagespb.ProviderPackageVersions_Request{SourceAddr: address}))
			if !hasError(response.GetDiagnostics()) || len(response.GetVersions()) > 0 {
				t.Errorf("%s: %v", address, response)
			}
		}
	})
	t.Run("K-03 packages of a provider", testFetchProvider)
	t.Run("K-04 hashes that do not match", testFetchOtherHash)
	t.Run("K-05 packages that do not exist", testFetchNothing)
	t.Run("K-06 versions of a module", func(t *testing.T) {
		c, r := withRegistry(t)
		response := must[*packagespb.ModulePackageVersions_Response](t)(
			c.packages.ModulePackageVersions(t.Context(), &packagespb.ModulePackageVersions_Request{SourceAddr: r.host + "/acme/net/cloud"}))
		if want := []string{"1.0.0", "1.1.0"}; !slices.Equal(response.GetVersions(), want) || len(response.GetDiagnostics()) > 0 {
			t.Errorf("got %v, want %q", response, want)
		}
	})
	t.Run("K-07 location and package of a module", testFetchModule)
	t.Run("K-08 modules that do not exist", func(t *testing.T) {
		c, r := withRegistry(t)
		versions := must[*packagespb.ModulePackageVersions_Response](t)(
			c.packages.ModulePackageVersions(t.Context(), &packagespb.ModulePackageVersions_Request{SourceAddr: r.host + "/acme/none/cloud"}))
		location := must[*packagespb.ModulePackageSourceAddr_Response](t)(c.packages.ModulePackageSourceAddr(t.Context(),
			&packagespb.ModulePackageSourceAddr_Request{SourceAddr: r.host + "/acme/net/cloud", Version: "9.0.0"}))
		fetched := must[*packagespb.FetchModulePackage_Response](t)(c.packages.FetchModulePackage(t.Context(),
			&packagespb.FetchModulePackage_Request{CacheDir: t.TempDir(), Url: "https://" + r.host + "/none.zip"}))
		if !hasError(versions.GetDiagnostics()) || !hasError(location.GetDiagnostics()) || !hasError(fetched.GetDiagnostics()) {
			t.Errorf("got %v, %v, %v", versions, location, fetched)
		}
	})
	t.Run("K-09 packages that are zip archives", testFetchZip)
}

func withRegistry(t testing.TB) (*client, *registry) {
	t.Helper()
	r := startRegistry(t)
	c := start(t, options{env: r.env}).connect()
	drain(t, c.conn)
	must[*setuppb.Handshake_Response](t)(c.setup.Handshake(t.Context(), &setuppb.Handshake_Request{}))
	return c, r
}

// Versions are in ascending order; notices become one warning, whose detail has them one a line.
func testProviderVersions(t *testing.T) {
	c, r := withRegistry(t)
	for name, want := range map[string][]string{"single": {"1.0.0"}, "several": {"1.2.0", "1.10.0", "2.0.0-beta1"}} {
		response := must[*packagespb.ProviderPackageVersions_Response](t)(
			c.packages.ProviderPackageVersions(t.Context(), &packagespb.ProviderPackageVersions_Request{SourceAddr: r.host + "/acme/" + name}))
		if !slices.Equal(response.GetVersions(), want) {
			t.Errorf("%s: got %v, want %q", name, response, want)
		}
		diags := response.GetDiagnostics()
		if name == "single" && len(diags) > 0 ||
			name == "several" && (len(diags) != 1 || diags[0].GetSeverity() != terraform1.Diagnostic_WARNING ||
				!slices.Equal(strings.Split(diags[0].GetDetail(), "\n"), []string{"- it moves", "- it is old"})) {
			t.Errorf("%s: diagnostics %v", name, diags)
		}
	}
}

func (c *client) fetchProvider(request *packagespb.FetchProviderPackage_Request) *packagespb.FetchProviderPackage_Response {
	c.t.Helper()
	if request.GetCacheDir() == "" {
		request.CacheDir = c.t.TempDir()
	}
	return must[*packagespb.FetchProviderPackage_Response](c.t)(c.packages.FetchProviderPackage(c.t.Context(), request))
}

func testFetchProvider(t *testing.T) {
	c, r := withRegistry(t)
	dir, address := t.TempDir(), r.host+"/acme/single"
	for name, request := range map[string]*packagespb.FetchProviderPackage_Request{
		"one platform":  {SourceAddr: address, Version: "1.0.0", Platforms: []string{"linux_amd64"}, CacheDir: dir},
		"two platforms": {SourceAddr: address, Version: "1.0.0", Platforms: []string{"darwin_arm64", "linux_amd64"}, CacheDir: t.TempDir()},
		"with its hash": {
			SourceAddr: address,
			Version:    "1.0.0",
			Platforms:  []string{"linux_amd64"},
			Hashes:     []string{r.hash},
			CacheDir:   t.TempDir(),
		},
	} {
		response := c.fetchProvider(request)
		if len(response.GetDiagnostics()) > 0 || len(response.GetResults()) != len(request.GetPlatforms()) {
			t.Errorf("%s: %v", name, response)
			continue
		}
		for i, result := range response.GetResults() {
			provider := result.GetProvider()
			if len(result.GetDiagnostics()) > 0 || provider.GetSourceAddr() != address || provider.GetVersion() != "1.0.0" ||
				!slices.Contains(provider.GetHashes(), r.hash) || !hasHash(provider.GetHashes(), "h1:") {
				t.Errorf("%s: %v", name, result)
			}
			program := filepath.Join(request.GetCacheDir(), address, "1.0.0", request.GetPlatforms()[i], "terraform-provider-single_v1.0.0")
			content, err := os.ReadFile(program)
			if err != nil || string(content) != "the program for "+request.GetPlatforms()[i] {
				t.Errorf("%s: %s has %q, error %v", name, program, content, err)
			}
		}
	}
	c.cached(dir, "linux_amd64")
}

// hasHash reports whether there is a hash of a scheme.
func hasHash(hashes []string, scheme string) bool {
	return slices.ContainsFunc(hashes, func(hash string) bool { return strings.HasPrefix(hash, scheme) })
}

func testFetchOtherHash(t *testing.T) {
	c, r := withRegistry(t)
	response := c.fetchProvider(&packagespb.FetchProviderPackage_Request{
		SourceAddr: r.host + "/acme/single", Version: "1.0.0", Platforms: []string{"linux_amd64"}, Hashes: []string{someHash},
	})
	results := response.GetResults()
	if len(response.GetDiagnostics()) > 0 || len(results) != 1 || results[0].GetProvider() != nil || !hasError(results[0].GetDiagnostics()) {
		t.Errorf("got %v, want one result with an error and without a provider", response)
	}
}

func testFetchNothing(t *testing.T) {
	c, r := withRegistry(t)
	for name, request := range map[string]*packagespb.FetchProviderPackage_Request{
		"address": {SourceAddr: "a/b/c/d", Version: "1.0.0", Platforms: []string{"linux_amd64"}},
		"version": {SourceAddr: r.host + "/acme/single", Version: "x", Platforms: []string{"linux_amd64"}},
	} {
		if response := c.fetchProvider(request); !hasError(response.GetDiagnostics()) || len(response.GetResults()) > 0 {
			t.Errorf("%s: %v", name, response)
		}
	}
	response := c.fetchProvider(&packagespb.FetchProviderPackage_Request{
		SourceAddr: r.host + "/acme/single", Version: "1.0.0", Platforms: []string{"linux", "linux_amd64", "amigaos_m68k"},
	})
	results := response.GetResults()
	if len(response.GetDiagnostics()) > 0 || len(results) != 3 {
		t.Fatalf("got %v, want three results", response)
	}
	for i, good := range []bool{false, true, false} {
		if got := results[i].GetProvider() != nil; got != good || hasError(results[i].GetDiagnostics()) == good {
			t.Errorf("result %d: %v", i, results[i])
		}
	}
}

func testFetchModule(t *testing.T) {
	c, r := withRegistry(t)
	location := must[*packagespb.ModulePackageSourceAddr_Response](t)(c.packages.ModulePackageSourceAddr(t.Context(),
		&packagespb.ModulePackageSourceAddr_Request{SourceAddr: r.host + "/acme/net/cloud", Version: "1.1.0"}))
	if want := "https://" + r.host + "/module.tar.gz//inner"; location.GetUrl() != want || len(location.GetDiagnostics()) > 0 {
		t.Fatalf("got %v, want %s", location, want)
	}
	dir, fetched := c.fetchModule(location.GetUrl())
	if len(fetched.GetDiagnostics()) > 0 {
		t.Fatal(fetched.GetDiagnostics())
	}
	files, err := filepath.Glob(filepath.Join(dir, "main.tf"))
	if inner, innerErr := filepath.Glob(filepath.Join(dir, "inner", "main.tf")); err != nil || innerErr != nil || len(files)+len(inner) != 1 {
		t.Errorf("%q and %q, errors %v and %v, want one main.tf", files, inner, err, innerErr)
	}
}

// fetchModule fetches a package into a new directory.
func (c *client) fetchModule(location string) (dir string, response *packagespb.FetchModulePackage_Response) {
	c.t.Helper()
	dir = filepath.Join(c.t.TempDir(), "module")
	return dir, must[*packagespb.FetchModulePackage_Response](c.t)(
		c.packages.FetchModulePackage(c.t.Context(), &packagespb.FetchModulePackage_Request{CacheDir: dir, Url: location}))
}

func testFetchZip(t *testing.T) {
	c, r := withRegistry(t)
	located := must[*packagespb.ModulePackageSourceAddr_Response](t)(c.packages.ModulePackageSourceAddr(t.Context(),
		&packagespb.ModulePackageSourceAddr_Request{SourceAddr: r.host + "/acme/net/cloud", Version: "1.0.0"}))
	for location, file := range map[string]string{
		located.GetUrl():                                   "main.tf",
		"https://" + r.host + "/module.zip":                "inner/main.tf",
		"https://" + r.host + "/module//inner?archive=zip": "main.tf",
	} {
		dir, response := c.fetchModule(location)
		content, err := os.ReadFile(filepath.Join(dir, file))
		if len(response.GetDiagnostics()) > 0 || err != nil || string(content) != "# zipped" {
			t.Errorf("%s: %q, error %v, diagnostics %v", location, content, err, response.GetDiagnostics())
		}
	}
	for _, location := range []string{
		"/hostile.zip", "/damaged.zip", "/none.zip", "/module.zip//none", "/module.zip//../x", "/module.zip?checksum=md5:0",
	} {
		dir, response := c.fetchModule("https://" + r.host + location)
		left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", "*"))
		if !hasError(response.GetDiagnostics()) || err != nil || len(left) > 0 {
			t.Errorf("%s: %v, left are %q, error %v", location, response, left, err)
		}
	}
}
