// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	_ "github.com/cairnstacks/cairn/internal/cli" // the packages of the program, so that go test runs again for another program
	"github.com/cairnstacks/cairn/internal/rpcapi/stacksplugin"
	"github.com/cairnstacks/cairn/internal/testenv"
)

const cookieName, cookie = "TERRAFORM_RPCAPI_COOKIE", "fba0991c9bcd453982f0d88e2da95940"

// program is the path of cairn, which TestMain builds.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) } //nolint:forbidigo // as a program of tests ends

func run(m *testing.M) int {
	if os.Getenv(stacksplugin.Handshake.MagicCookieKey) != "" {
		servePlugin()
		return 0
	}
	testenv.ResetSignals()
	dir, err := os.MkdirTemp("", "rpctest")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	program = filepath.Join(dir, "cairn")
	if out, err := exec.Command("go", "build", "-o", program, "../../../cmd/cairn").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("building cairn: %v\n%s", err, out))
	}
	return m.Run()
}

// options are how a process is started. The zero value stands for a process with mutual TLS in a
// directory of its own.
type options struct {
	dir   string
	env   []string // besides that of the test
	plain bool     // without TLS
}

// process is a server that has written its line.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	line   string
	fields []string
	cert   tls.Certificate // of the client
	stderr *syncBuffer
	exited chan struct{}
	status error // of the process, once it has exited
}

// command returns the command without a cookie, in an environment in which it calls nobody.
func command(t testing.TB, opts options, args ...string) *exec.Cmd {
	t.Helper()
	if opts.dir == "" {
		opts.dir = t.TempDir()
	}
	cmd := exec.Command(program, append([]string{"rpcapi"}, args...)...)
	cmd.Dir = opts.dir
	cmd.Env = append(os.Environ(),
		"CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, ""), cookieName+"=", "PLUGIN_PROTOCOL_VERSIONS=1")
	cmd.Env = append(cmd.Env, opts.env...)
	return cmd
}

// start starts a process and reads its line. The process has ended when the test has.
func start(t testing.TB, opts options) *process {
	t.Helper()
	p := &process{t: t, stderr: &syncBuffer{}, exited: make(chan struct{})}
	env := append([]string{cookieName + "=" + cookie}, opts.env...)
	if !opts.plain {
		var certificate string
		p.cert, certificate = newCertificate(t)
		env = append(env, "PLUGIN_CLIENT_CERT="+certificate)
	}
	p.cmd = command(t, options{dir: opts.dir, env: env})
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	reader := bufio.NewReader(stdout)
	testenv.Within(t, "the process has written its line", func() { p.line, err = reader.ReadString('\n') })
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, reader)
		p.status = p.cmd.Wait()
		close(p.exited)
	}()
	if err != nil {
		t.Fatalf("reading the line: %v\n%s", err, p.stderr)
	}
	p.fields = strings.Split(strings.TrimSuffix(p.line, "\n"), "|")
	return p
}

// end ends the process if it is still there, and fails the test if it has panicked.
func (p *process) end() {
	if !p.gone(0) {
		_ = p.cmd.Process.Kill()
		p.gone(testenv.Patience)
	}
	if log := p.stderr.String(); strings.Contains(log, "panic") || strings.Contains(log, "goroutine ") {
		p.t.Errorf("the process has panicked:\n%s", log)
	}
}

// gone reports whether the process has exited, or does so within some time.
func (p *process) gone(wait time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(wait):
		return false
	}
}

// exitStatus waits for the end of the process. It is -1 for one that a signal has ended.
func (p *process) exitStatus() int {
	p.t.Helper()
	if !p.gone(testenv.Patience) {
		p.t.Fatal("the process has not ended")
	}
	var exit *exec.ExitError
	if p.status != nil && !errors.As(p.status, &exit) {
		p.t.Fatal(p.status)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// serverCertificate is the certificate in the sixth field of the line.
func (p *process) serverCertificate() *x509.Certificate {
	p.t.Helper()
	der, err := base64.RawStdEncoding.DecodeString(p.fields[5])
	if err != nil {
		p.t.Fatalf("field 6 of %q: %v", p.line, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		p.t.Fatal(err)
	}
	return cert
}

// tlsConfig trusts the certificate of the process alone.
func (p *process) tlsConfig() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(p.serverCertificate())
	return &tls.Config{Certificates: []tls.Certificate{p.cert}, RootCAs: pool, ServerName: "localhost", MinVersion: tls.VersionTLS12}
}

// dial opens a connection, which is closed with the test.
func (p *process) dial() *grpc.ClientConn {
	p.t.Helper()
	transport := insecure.NewCredentials()
	if p.fields[5] != "" {
		transport = credentials.NewTLS(p.tlsConfig())
	}
	network, address := p.fields[2], p.fields[3]
	conn, err := grpc.NewClient("passthrough:///plugin", grpc.WithTransportCredentials(transport),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<31-1)))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// shutdown asks the process to end, as clients do. The connection may break before the answer.
func shutdown(t testing.TB, conn *grpc.ClientConn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	_ = conn.Invoke(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
}

// drain reads the process's own output until the connection is closed, and returns where it goes.
func drain(t testing.TB, conn *grpc.ClientConn) *syncBuffer {
	t.Helper()
	output := &syncBuffer{}
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/plugin.GRPCStdio/StreamStdio")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stream.SendMsg(&emptypb.Empty{}), stream.CloseSend()); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the connection
		for {
			var chunk emptypb.Empty // its fields are kept as unknown ones
			if stream.RecvMsg(&chunk) != nil {
				return
			}
			_, _ = output.Write(chunk.ProtoReflect().GetUnknown())
		}
	}()
	return output
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu    sync.Mutex
	b     bytes.Buffer
	grown *sync.Cond // nil while nobody waits
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.grown != nil {
		b.grown.Broadcast()
	}
	return b.b.Write(p)
}

// waitFor returns once the text is in the buffer.
func (b *syncBuffer) waitFor(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !strings.Contains(b.b.String(), text) {
		if b.grown == nil {
			b.grown = sync.NewCond(&b.mu)
		}
		b.grown.Wait()
	}
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
