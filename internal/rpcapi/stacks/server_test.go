// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/rpcapi"
	"github.com/cairnstacks/cairn/internal/testenv"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// stackSource is the address of the package in which the stacks of tests are.
const stackSource = "git::https://example.com/stack.git"

// client has a connection to a server of its own, with which the handshake was made.
type client struct {
	t            testing.TB
	stacks       stackspb.StacksClient
	dependencies dependenciespb.DependenciesClient
}

// serve starts a server, which ends with the test.
func serve(t testing.TB) *client {
	t.Helper()
	testenv.CLIConfig(t, "")
	listener := bufconn.Listen(1 << 20)
	server := rpcapi.New(rpcapi.Options{Version: "1.0.0"})
	served := server.NewGRPC()
	server.Register(served)
	ended := make(chan error, 1)
	go func() { ended <- served.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///test", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		served.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := setuppb.NewSetupClient(conn).Handshake(t.Context(), &setuppb.Handshake_Request{}); err != nil {
		t.Fatal(err)
	}
	return &client{t: t, stacks: stackspb.NewStacksClient(conn), dependencies: dependenciespb.NewDependenciesClient(conn)}
}

// writeFiles writes files, by their paths below a directory.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// bundleManifest has one package, and the module in it that a registry knows.
const bundleManifest = `{
  "terraform_source_bundle": 1,
  "packages": [{"source": "` + stackSource + `", "local": "stack", "meta": {}}],
  "registry": [{"source": "example.com/acme/net/aws", "versions": {
    "1.0.0": {"source": "` + stackSource + `//net"}, "1.2.3": {"source": "` + stackSource + `//net"}
  }}]
}`

// bundle opens a source bundle whose package has files.
func (c *client) bundle(files map[string]string) (opened int64, dir string) {
	c.t.Helper()
	dir = c.t.TempDir()
	writeFiles(c.t, filepath.Join(dir, "stack"), files)
	writeFiles(c.t, dir, map[string]string{"terraform-sources.json": bundleManifest, "stack/README": ""})
	response, err := c.dependencies.OpenSourceBundle(c.t.Context(), &dependenciespb.OpenSourceBundle_Request{LocalPath: dir})
	if err != nil {
		c.t.Fatal(err)
	}
	return response.GetSourceBundleHandle(), dir
}

// open opens the configuration of a stack that has files.
func (c *client) open(files map[string]string) int64 {
	c.t.Helper()
	bundle, _ := c.bundle(files)
	response, err := c.openAt(bundle, stackSource)
	if err != nil || response.GetStackConfigHandle() == 0 || len(response.GetDiagnostics()) > 0 {
		c.t.Fatalf("opening the configuration: %v, %v", response, err)
	}
	return response.GetStackConfigHandle()
}

func (c *client) openAt(bundle int64, source string) (*stackspb.OpenStackConfiguration_Response, error) {
	return c.stacks.OpenStackConfiguration(c.t.Context(), &stackspb.OpenStackConfiguration_Request{
		SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{Source: source},
	})
}

// fakeProvider opens locks and a cache that have the provider of package testprovider.
func (c *client) fakeProvider() (locks, cache int64) {
	c.t.Helper()
	mirror := testenv.FakeProviderMirror(c.t)
	hash, err := release.HashContent(filepath.Join(mirror, "registry.terraform.io/cairnstacks/fake/1.0.0", runtime.GOOS+"_"+runtime.GOARCH))
	if err != nil {
		c.t.Fatal(err)
	}
	return c.locks(&terraform1pb.ProviderPackage{
		SourceAddr: "cairnstacks/fake",
		Version:    "1.0.0",
		Hashes:     []string{string(hash)},
	}), c.cache(mirror)
}

func (c *client) locks(selected ...*terraform1pb.ProviderPackage) int64 {
	c.t.Helper()
	response, err := c.dependencies.CreateDependencyLocks(c.t.Context(),
		&dependenciespb.CreateDependencyLocks_Request{ProviderSelections: selected})
	if err != nil {
		c.t.Fatal(err)
	}
	return response.GetDependencyLocksHandle()
}

func (c *client) cache(dir string) int64 {
	c.t.Helper()
	response, err := c.dependencies.OpenProviderPluginCache(c.t.Context(), &dependenciespb.OpenProviderPluginCache_Request{CacheDir: dir})
	if err != nil {
		c.t.Fatal(err)
	}
	return response.GetProviderCacheHandle()
}

// wantStatus fails the test unless an error is a status with a code, whose message has some text.
func wantStatus(t testing.TB, err error, code codes.Code, text string) {
	t.Helper()
	if status.Code(err) != code || err != nil && !strings.Contains(status.Convert(err).Message(), text) {
		t.Errorf("got %v, want %s with %q", err, code, text)
	}
}
