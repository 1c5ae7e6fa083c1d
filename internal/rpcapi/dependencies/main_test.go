// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/cairnstacks/cairn/internal/rpcapi"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
)

// connect returns a client of a server after its handshake.
func connect(t *testing.T, opts rpcapi.Options) dependenciespb.DependenciesClient {
	t.Helper()
	conn := dial(t, opts)
	if _, err := setuppb.NewSetupClient(conn).Handshake(t.Context(), &setuppb.Handshake_Request{}); err != nil {
		t.Fatal(err)
	}
	return dependenciespb.NewDependenciesClient(conn)
}

// dial returns a connection to a new server.
func dial(t *testing.T, opts rpcapi.Options) *grpc.ClientConn {
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
	return conn
}

// wantCode fails unless an error has a code.
func wantCode(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
}

// writeFiles writes files below a directory, by their slash-separated paths. Programs are those
// that are called so.
func writeFiles(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil { //nolint:gosec // programs
			t.Fatal(err)
		}
	}
	return dir
}
