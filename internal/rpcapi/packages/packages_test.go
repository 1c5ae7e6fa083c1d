// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package packages_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/cairnstacks/cairn/internal/bundle/sourcetest"
	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
	"github.com/cairnstacks/cairn/internal/rpcapi"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
)

// connect returns a client of a server after its handshake.
func connect(t *testing.T, opts rpcapi.Options) packagespb.PackagesClient {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	server := rpcapi.New(opts)
	served := server.NewGRPC()
	server.Register(served)
	go served.Serve(listener) //nolint:errcheck // it ends with the server
	t.Cleanup(served.Stop)
	conn, err := grpc.NewClient("passthrough:", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := setuppb.NewSetupClient(conn).Handshake(t.Context(), &setuppb.Handshake_Request{}); err != nil {
		t.Fatal(err)
	}
	return packagespb.NewPackagesClient(conn)
}

// newRegistry returns a registry of providers, and a client of a server that trusts it.
func newRegistry(t *testing.T) (*registrytest.Server, packagespb.PackagesClient) {
	t.Helper()
	server := registrytest.Start(t)
	return server, connect(t, rpcapi.Options{HTTP: server.Client, Environ: []string{"HOME=" + t.TempDir()}})
}

// wantDiagnostic fails unless there is one error with a text in it.
func wantDiagnostic(t *testing.T, diags []*terraform1pb.Diagnostic, want string) {
	t.Helper()
	if len(diags) != 1 || diags[0].GetSeverity() != terraform1pb.Diagnostic_ERROR ||
		!strings.Contains(diags[0].GetSummary()+": "+diags[0].GetDetail(), want) {
		t.Errorf("got %v, want an error with %q", diags, want)
	}
}

func TestProviderPackageVersions(t *testing.T) {
	server, client := newRegistry(t)
	for _, version := range []string{"1.10.0", "1.9.0", "2.0.0-beta1"} {
		server.Publish(t, registrytest.Release{Namespace: "foo", Type: "bar", Version: version, Warnings: []string{"It is old.", "It moves."}})
	}
	got, err := client.ProviderPackageVersions(t.Context(), &packagespb.ProviderPackageVersions_Request{SourceAddr: server.Host + "/foo/bar"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"1.9.0", "1.10.0", "2.0.0-beta1"}; !slices.Equal(got.GetVersions(), want) {
		t.Errorf("got %q, want %q", got.GetVersions(), want)
	}
	diags := got.GetDiagnostics()
	if len(diags) != 1 || diags[0].GetSeverity() != terraform1pb.Diagnostic_WARNING || diags[0].GetDetail() != "- It is old.\n- It moves." {
		t.Errorf("got %v, want one warning", diags)
	}
	for addr, want := range map[string]string{"a//b": "Invalid provider address", server.Host + "/foo/none": "has no provider"} {
		got, err := client.ProviderPackageVersions(t.Context(), &packagespb.ProviderPackageVersions_Request{SourceAddr: addr})
		if err != nil {
			t.Fatal(err)
		}
		wantDiagnostic(t, got.GetDiagnostics(), want)
	}
}

func TestFetchProviderPackage(t *testing.T) {
	server, client := newRegistry(t)
	program := func(content string) []byte {
		return registrytest.Zip(t, registrytest.File{Name: "terraform-provider-bar_v1.0.0", Content: content})
	}
	server.Publish(t, registrytest.Release{
		Namespace: "foo",
		Type:      "bar",
		Version:   "1.0.0",
		Archives:  map[string][]byte{"os_arch": program("1"), "os_more": program("2")},
	})
	dir := t.TempDir()
	fetch := func(req *packagespb.FetchProviderPackage_Request) *packagespb.FetchProviderPackage_Response {
		t.Helper()
		req.CacheDir = dir
		if req.GetSourceAddr() == "" {
			req.SourceAddr = server.Host + "/foo/bar"
		}
		got, err := client.FetchProviderPackage(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := fetch(&packagespb.FetchProviderPackage_Request{Version: "1.0.0", Platforms: []string{"os_more", "bad", "os_none", "os_arch"}})
	if len(got.GetResults()) != 4 || len(got.GetDiagnostics()) > 0 {
		t.Fatalf("got %v, want four results", got)
	}
	wantDiagnostic(t, got.GetResults()[1].GetDiagnostics(), "not a platform")
	wantDiagnostic(t, got.GetResults()[2].GetDiagnostics(), "has no package")
	for i, platform := range map[int]string{0: "os_more", 3: "os_arch"} {
		result := got.GetResults()[i]
		if result.GetProvider().GetSourceAddr() != server.Host+"/foo/bar" ||
			result.GetProvider().GetVersion() != "1.0.0" || len(result.GetDiagnostics()) > 0 {
			t.Errorf("got %v", result)
		}
		content, signed := 0, 0
		for _, hash := range result.GetProvider().GetHashes() {
			if strings.HasPrefix(hash, "h1:") {
				content++
			} else if strings.HasPrefix(hash, "zh:") {
				signed++
			}
		}
		if content != 1 || signed != 2 {
			t.Errorf("got hashes %q, want that of the files and those that are signed", result.GetProvider().GetHashes())
		}
		path := filepath.Join(dir, server.Host, "foo", "bar", "1.0.0", platform, "terraform-provider-bar_v1.0.0")
		if info, err := os.Stat(path); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("the program is not in the cache: %v", err)
		}
	}

	hashes := got.GetResults()[3].GetProvider().GetHashes()
	for _, hash := range hashes[:1] {
		again := fetch(&packagespb.FetchProviderPackage_Request{
			Version:   "1.0.0",
			Platforms: []string{"os_arch"},
			Hashes:    []string{"zh:other", hash},
		})
		if again.GetResults()[0].GetProvider() == nil {
			t.Errorf("with %s: got %v", hash, again)
		}
	}
	mismatch := fetch(&packagespb.FetchProviderPackage_Request{Version: "1.0.0", Platforms: []string{"os_arch"}, Hashes: []string{"h1:other"}})
	wantDiagnostic(t, mismatch.GetResults()[0].GetDiagnostics(), "checksums recorded")
	if mismatch.GetResults()[0].GetProvider() != nil {
		t.Error("there is a provider, too")
	}

	for name, test := range map[string]struct {
		req  *packagespb.FetchProviderPackage_Request
		want string
	}{
		"address": {
			&packagespb.FetchProviderPackage_Request{SourceAddr: "a//b", Version: "1.0.0", Platforms: []string{"os_arch"}},
			"not the source address",
		},
		"version": {&packagespb.FetchProviderPackage_Request{Version: "new", Platforms: []string{"os_arch"}}, "not an exact version"},
		"built in": {
			&packagespb.FetchProviderPackage_Request{SourceAddr: "terraform.io/builtin/terraform", Version: "1.0.0", Platforms: []string{"os_arch"}},
			"built in",
		},
		"hash": {&packagespb.FetchProviderPackage_Request{Version: "1.0.0", Platforms: []string{"os_arch"}, Hashes: []string{"x"}}, "not a hash"},
	} {
		t.Run(name, func(t *testing.T) {
			got := fetch(test.req)
			wantDiagnostic(t, got.GetDiagnostics(), test.want)
			if len(got.GetResults()) > 0 {
				t.Errorf("got %v", got.GetResults())
			}
		})
	}
	server.Handle("/files/bar_1.0.0_SHA256SUMS", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) })
	broken := fetch(&packagespb.FetchProviderPackage_Request{Version: "1.0.0", Platforms: []string{"os_arch"}})
	wantDiagnostic(t, broken.GetResults()[0].GetDiagnostics(), "502")
}

func TestModulePackages(t *testing.T) {
	server := sourcetest.Start(t)
	client := connect(t, rpcapi.Options{HTTP: server.Client, Environ: server.Environ()})
	archive := server.Archive("m.tgz", sourcetest.Pack(t,
		sourcetest.Entry{Name: "main.tf", Content: "# top"}, sourcetest.Entry{Name: "sub/main.tf", Content: "# below"}))
	repository, _ := server.Repository(t, "r.git", map[string]string{"main.tf": "# repository"}, "v1")
	server.Publish("modules/ns/m/x", "1.0.0", archive+"//sub")
	server.Publish("modules/ns/m/x", "1.2.0", "/archives/m.tgz")
	addr := server.Host + "/ns/m/x"

	versions, err := client.ModulePackageVersions(t.Context(), &packagespb.ModulePackageVersions_Request{SourceAddr: addr})
	if err != nil || !slices.Equal(versions.GetVersions(), []string{"1.0.0", "1.2.0"}) || len(versions.GetDiagnostics()) > 0 {
		t.Errorf("got %v, %v", versions, err)
	}
	locate := func(addr, version string) *packagespb.ModulePackageSourceAddr_Response {
		t.Helper()
		located, err := client.ModulePackageSourceAddr(t.Context(), &packagespb.ModulePackageSourceAddr_Request{
			SourceAddr: addr,
			Version:    version,
		})
		if err != nil {
			t.Fatal(err)
		}
		return located
	}
	if got := locate(addr, "1.0.0"); got.GetUrl() != archive+"//sub" || len(got.GetDiagnostics()) > 0 {
		t.Errorf("got %v", got)
	}
	if got := locate(addr, "1.2.0").GetUrl(); got != archive {
		t.Errorf("got %q, want %q", got, archive)
	}
	wantDiagnostic(t, locate(addr, "9.0.0").GetDiagnostics(), "has no")
	wantDiagnostic(t, locate(addr, "~> 1.0").GetDiagnostics(), "not an exact version")
	wantDiagnostic(t, locate("./x", "1.0.0").GetDiagnostics(), "not the address of a module")
	for name, want := range map[string]string{"./x": "not the address of a module", server.Host + "/ns/none/x": "has no"} {
		got, err := client.ModulePackageVersions(t.Context(), &packagespb.ModulePackageVersions_Request{SourceAddr: name})
		if err != nil {
			t.Fatal(err)
		}
		wantDiagnostic(t, got.GetDiagnostics(), want)
	}

	fetch := func(dir, url string) []*terraform1pb.Diagnostic {
		t.Helper()
		got, err := client.FetchModulePackage(t.Context(), &packagespb.FetchModulePackage_Request{CacheDir: dir, Url: url})
		if err != nil {
			t.Fatal(err)
		}
		return got.GetDiagnostics()
	}
	for url, want := range map[string]string{
		archive:           "# top",
		archive + "//sub": "# below",
		"git::" + strings.TrimPrefix(repository, "git::") + "?ref=v1": "# repository",
	} {
		dir := filepath.Join(t.TempDir(), "new")
		if diags := fetch(dir, url); len(diags) > 0 {
			t.Errorf("%s: got %v", url, diags)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "main.tf")); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", url, got, err, want)
		}
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	server.Archive("bad.tgz", []byte("<html>"))
	hostile := server.Archive("hostile.tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "../x", Content: "x"}))
	for name, test := range map[string]struct{ dir, url, want string }{
		"not empty":    {full, archive, "is not empty"},
		"no directory": {"", archive, "directory is missing"},
		"no package":   {filepath.Join(t.TempDir(), "x"), "./x", "neither that of a repository"},
		"no address":   {filepath.Join(t.TempDir(), "x"), "", "cannot be used"},
		"gone":         {filepath.Join(t.TempDir(), "x"), "https://" + server.Host + "/archives/none.tgz", "404"},
		"no archive":   {filepath.Join(t.TempDir(), "x"), "https://" + server.Host + "/archives/bad.tgz", "archive is cut off"},
		"hostile":      {filepath.Join(t.TempDir(), "x"), hostile, "leads out of it"},
		"no path":      {filepath.Join(t.TempDir(), "x"), archive + "//none", "has no directory"},
	} {
		t.Run(name, func(t *testing.T) {
			wantDiagnostic(t, fetch(test.dir, test.url), test.want)
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(test.dir), ".new-*")); test.dir != "" && (err != nil || len(left) > 0) {
				t.Errorf("%q are left, %v", left, err)
			}
		})
	}
}
