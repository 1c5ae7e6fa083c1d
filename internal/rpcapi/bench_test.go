// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpcapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/cairnstacks/cairn/internal/testenv"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// validations is how many calls a server has at the same time, configurations on how many stacks
// these are.
const validations, configurations = 1000, 20

// used has the resources that a server holds.
type used struct {
	goroutines, handles, files int
	heap                       uint64
}

// measure returns the held resources once all that runs out has run out.
func measure(s *Server) used {
	runtime.GC()
	runtime.GC() // the memory that finalizers have let go
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	files, _ := os.ReadDir("/proc/self/fd") // none on other systems
	return used{goroutines: runtime.NumGoroutine(), handles: s.handles.Len(), files: len(files), heap: memory.HeapAlloc}
}

// BenchmarkValidations opens stacks, validates them a thousand times at the same time on one
// server, and closes them, again and again. The resources of the server must not grow with that:
// goroutines, handles and open files are as before, and memory is within some megabytes of its size
// after the first thousand.
func BenchmarkValidations(b *testing.B) {
	testenv.CLIConfig(b, "")
	testenv.Engine(b)
	server, conn := serveTest(b)
	dir := writeBundle(b)
	bundle, err := dependenciespb.NewDependenciesClient(conn).OpenSourceBundle(b.Context(),
		&dependenciespb.OpenSourceBundle_Request{LocalPath: dir})
	if err != nil {
		b.Fatal(err)
	}
	client := stackspb.NewStacksClient(conn)
	validateAll(b, client, bundle.GetSourceBundleHandle()) // the engine is found, files are parsed, buffers are made
	before := measure(server)
	for b.Loop() {
		validateAll(b, client, bundle.GetSourceBundleHandle())
	}
	after := measure(server)
	deadline, again := time.After(10*time.Second), time.NewTicker(10*time.Millisecond)
	defer again.Stop()
	for ended := false; after.goroutines > before.goroutines && !ended; after = measure(server) { // streams end after their answers were read
		select {
		case <-again.C:
		case <-deadline:
			ended = true
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*validations), "ms/validation")
	b.ReportMetric(float64(after.goroutines-before.goroutines), "goroutines-left")
	b.ReportMetric(float64(after.heap)/1e6-float64(before.heap)/1e6, "MB-left")
	if after.goroutines > before.goroutines || after.handles != before.handles ||
		after.files > before.files || after.heap > before.heap+16<<20 {
		b.Errorf("before: %+v, after: %+v", before, after)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "cairn-rpcapi-*", "stack-*")) //nolint:usetesting // it is that of the server
	if err != nil || len(left) > 0 {
		b.Errorf("left on the disk: %v, %v", left, err)
	}
}

func validateAll(b *testing.B, client stackspb.StacksClient, bundle int64) {
	b.Helper()
	var wg sync.WaitGroup
	errs := make([]error, configurations)
	for i := range configurations {
		wg.Go(func() { errs[i] = validateOne(b.Context(), client, bundle) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
}

// validateOne opens a configuration, makes its share of the validations, and closes it.
func validateOne(ctx context.Context, client stackspb.StacksClient, bundle int64) error {
	opened, err := client.OpenStackConfiguration(ctx, &stackspb.OpenStackConfiguration_Request{
		SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{Source: "git::https://example.com/stack.git"},
	})
	if err != nil {
		return err
	}
	config := opened.GetStackConfigHandle()
	var wg sync.WaitGroup
	errs := make([]error, validations/configurations)
	for i := range errs {
		wg.Go(func() {
			found, err := client.ValidateStackConfiguration(ctx, &stackspb.ValidateStackConfiguration_Request{StackConfigHandle: config})
			if err == nil && len(found.GetDiagnostics()) > 0 {
				err = fmt.Errorf("%v", found.GetDiagnostics())
			}
			errs[i] = err
		})
	}
	wg.Wait()
	_, err = client.CloseStackConfiguration(ctx, &stackspb.CloseStackConfiguration_Request{StackConfigHandle: config})
	return errors.Join(errors.Join(errs...), err)
}

// serveTest starts a server with a client, with the handshake made.
func serveTest(b *testing.B) (*Server, *grpc.ClientConn) {
	b.Helper()
	b.Setenv("TMPDIR", b.TempDir())
	listener := bufconn.Listen(1 << 20)
	server := New(Options{Version: "1.0.0"})
	served := server.NewGRPC()
	server.Register(served)
	ended := make(chan error, 1)
	go func() { ended <- served.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///test", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		closeErr := conn.Close()
		served.Stop()
		if err := errors.Join(closeErr, <-ended, server.Close()); err != nil {
			b.Error(err)
		}
	})
	if _, err := setuppb.NewSetupClient(conn).Handshake(b.Context(), &setuppb.Handshake_Request{}); err != nil {
		b.Fatal(err)
	}
	return server, conn
}

// writeBundle writes a source bundle with a stack of two components.
func writeBundle(b *testing.B) (dir string) {
	b.Helper()
	dir = b.TempDir()
	for name, content := range map[string]string{
		"terraform-sources.json": `{"terraform_source_bundle":1,` +
			`"packages":[{"source":"git::https://example.com/stack.git","local":"stack","meta":{}}]}`,
		"stack/main.tfcomponent.hcl": `
component "a" {
  source = "./m"
  inputs = { text = "hello" }
}
component "b" {
  source = "./m"
  inputs = { text = component.a.text }
}
`,
		"stack/m/main.tf": `
variable "text" { type = string }
resource "terraform_data" "x" { input = var.text }
output "text" { value = terraform_data.x.output }
`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}
