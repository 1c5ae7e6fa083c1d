// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"bytes"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/cairnstacks/cairn/internal/testenv"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
)

func TestRPCProcess(t *testing.T) {
	t.Run("P-01 no cookie", func(t *testing.T) { refused(t, command(t, options{})) })
	t.Run("P-02 argument", func(t *testing.T) {
		refused(t, command(t, options{env: []string{cookieName + "=" + cookie}}, "more"))
		refused(t, command(t, options{env: []string{cookieName + "=" + cookie}}, "-json"))
	})
	t.Run("P-03 line without TLS", func(t *testing.T) {
		p := start(t, options{plain: true})
		if want := []string{"1", "1", "unix", p.fields[3], "grpc", ""}; !slices.Equal(p.fields, want) {
			t.Errorf("line %q, want fields %q", p.line, want)
		}
		handshake(t, p)
	})
	t.Run("P-04 certificate of the server", testServerCertificate)
	t.Run("P-05 certificate of the client", testClientCertificate)
	t.Run("P-06 other protocol version", func(t *testing.T) {
		p := start(t, options{env: []string{"PLUGIN_PROTOCOL_VERSIONS=2,3"}})
		if p.fields[0] != "1" || p.fields[1] != "1" {
			t.Errorf("line %q, want versions 1 and 1", p.line)
		}
	})
	t.Run("P-07 seventh field", func(t *testing.T) {
		p := start(t, options{env: []string{"PLUGIN_MULTIPLEX_GRPC=true"}})
		if len(p.fields) != 7 || p.fields[6] != "true" {
			t.Errorf("line %q, want a seventh field true", p.line)
		}
	})
	t.Run("P-08 directory of the socket", func(t *testing.T) {
		dir := t.TempDir()
		p := start(t, options{env: []string{"PLUGIN_UNIX_SOCKET_DIR=" + dir}})
		if in, name := filepath.Split(p.fields[3]); filepath.Clean(in) != dir || !strings.HasPrefix(name, "plugin") {
			t.Errorf("socket %s, want it in %s with a name that begins with plugin", p.fields[3], dir)
		}
	})
	t.Run("P-09 group of the socket", func(t *testing.T) {
		p := start(t, options{env: []string{"PLUGIN_UNIX_SOCKET_GROUP=" + strconv.Itoa(os.Getgid())}})
		info, err := os.Stat(p.fields[3])
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o660 {
			t.Errorf("mode of the socket %o, want 660", mode)
		}
	})
	t.Run("P-10 log before the line", func(t *testing.T) {
		p := start(t, options{})
		for line := range strings.Lines(p.stderr.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("a line on stderr is not JSON: %s", line)
			}
		}
	})
	t.Run("P-11 health", func(t *testing.T) {
		p := start(t, options{})
		response := must[*healthpb.HealthCheckResponse](t)(
			healthpb.NewHealthClient(p.dial()).Check(t.Context(), &healthpb.HealthCheckRequest{Service: "plugin"}))
		if got := response.GetStatus(); got != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("health of plugin %s, want SERVING", got)
		}
	})
	t.Run("P-12 services", func(t *testing.T) {
		want := []string{
			"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection", "plugin.GRPCBroker",
			"plugin.GRPCController", "plugin.GRPCStdio", "terraform1.dependencies.Dependencies", "terraform1.packages.Packages",
			"terraform1.setup.Setup", "terraform1.stacks.Stacks",
		}
		if got := services(t, start(t, options{}).dial()); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("P-13 shutdown", func(t *testing.T) {
		c := open(t, options{})
		shutdown(t, c.conn)
		if got := c.exitStatus(); got != 0 {
			t.Errorf("status %d, want 0\n%s", got, c.stderr)
		}
		if _, err := os.Stat(c.fields[3]); err == nil {
			t.Error("the socket is left")
		}
	})
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run("P-14 "+s.String(), func(t *testing.T) { testSignal(t, s) })
	}
	t.Run("P-15 hangup", func(t *testing.T) {
		p := start(t, options{})
		p.signal(syscall.SIGHUP)
		if got := p.exitStatus(); got != -1 {
			t.Errorf("status %d, want an end by the signal", got)
		}
	})
	t.Run("P-16 connection lost", func(t *testing.T) {
		c := open(t, options{})
		_ = c.conn.Close()
		other := c.process.connect()
		_, err := other.setup.Handshake(t.Context(), &setuppb.Handshake_Request{})
		wantCode(t, err, codes.FailedPrecondition)
		_, err = other.dependencies.CloseSourceBundle(t.Context(), &dependenciespb.CloseSourceBundle_Request{})
		wantCode(t, err, codes.InvalidArgument)
	})
	t.Run("P-18 traces", testTraces)
	t.Run("P-18 traces of work", testTracesOfWork)
	t.Run("P-17 working directory", func(t *testing.T) {
		dir := t.TempDir()
		writeBundle(t, filepath.Join(dir, "bundle"))
		c := open(t, options{dir: dir})
		must[*dependenciespb.OpenSourceBundle_Response](t)(
			c.dependencies.OpenSourceBundle(t.Context(), &dependenciespb.OpenSourceBundle_Request{LocalPath: "bundle"}))
	})
}

// refused runs a command that has to fail before it serves anything.
func refused(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testenv.Within(t, "the command has failed", func() { _ = cmd.Wait() })
	if status := cmd.ProcessState.ExitCode(); status != 1 || stdout.Len() > 0 || stderr.Len() == 0 {
		t.Errorf("status %d, stdout %q, stderr %q, want status 1 and a message on stderr only", status, &stdout, &stderr)
	}
}

func handshake(t *testing.T, p *process) {
	t.Helper()
	response := must[*setuppb.Handshake_Response](t)(p.connect().setup.Handshake(t.Context(), &setuppb.Handshake_Request{}))
	if response.GetCapabilities() == nil {
		t.Error("the response has no capabilities")
	}
}

func testServerCertificate(t *testing.T) {
	p := start(t, options{})
	cert := p.serverCertificate()
	if key, ok := cert.PublicKey.(interface{ Params() *elliptic.CurveParams }); !ok || key.Params().Name != "P-521" {
		t.Errorf("public key %T, want one of P-521", cert.PublicKey)
	}
	if cert.Subject.CommonName != "localhost" || !slices.Equal(cert.DNSNames, []string{"localhost"}) ||
		!slices.Equal(cert.Subject.Organization, []string{"HashiCorp"}) || !cert.IsCA ||
		!slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageClientAuth) || !slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageServerAuth) {
		t.Errorf("certificate for %s %q %v, CA %t, usages %v",
			cert.Subject, cert.DNSNames, cert.Subject.Organization, cert.IsCA, cert.ExtKeyUsage)
	}
	if other := start(t, options{}).fields[5]; other == p.fields[5] {
		t.Error("two processes have the same certificate")
	}
	handshake(t, p)
}

// The server takes the certificate that it was told alone, and TLS 1.2 or later.
func testClientCertificate(t *testing.T) {
	p := start(t, options{})
	foreign, _ := newCertificate(t)
	for name, change := range map[string]func(*tls.Config){
		"none":    func(c *tls.Config) { c.Certificates = nil },
		"foreign": func(c *tls.Config) { c.Certificates = []tls.Certificate{foreign} },
		"TLS 1.1": func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS11, tls.VersionTLS11 },
	} {
		config := p.tlsConfig()
		config.NextProtos = []string{"h2"}
		change(config)
		if readsFromServer(t, p, config) {
			t.Errorf("%s: the connection was accepted", name)
		}
	}
	config := p.tlsConfig()
	config.NextProtos = []string{"h2"}
	if !readsFromServer(t, p, config) {
		t.Error("the certificate that the server knows was refused")
	}
}

// readsFromServer reports whether the server sends something over TLS: it does so first, once it
// has accepted a client.
func readsFromServer(t *testing.T, p *process, config *tls.Config) bool {
	t.Helper()
	plain, err := net.Dial(p.fields[2], p.fields[3])
	if err != nil {
		t.Fatal(err)
	}
	conn := tls.Client(plain, config)
	defer conn.Close() //nolint:errcheck // it is read to the end
	if err := conn.SetDeadline(time.Now().Add(testenv.Patience)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Handshake(); err != nil {
		return false
	}
	_, err = conn.Read(make([]byte, 1))
	return err == nil
}

// testSignal tests that a process ends by itself once its client has left.
func testSignal(t *testing.T, s syscall.Signal) {
	c := open(t, options{})
	c.signal(s)
	_ = c.conn.Close()
	if got := c.exitStatus(); got != 0 {
		t.Errorf("status %d, want 0\n%s", got, c.stderr)
	}
}
