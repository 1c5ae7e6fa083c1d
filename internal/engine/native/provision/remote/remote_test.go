// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package remote_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/cairnstacks/cairn/internal/engine/native/provision/remote"
	"github.com/cairnstacks/cairn/internal/engine/native/provision/sshtest"
	"github.com/cairnstacks/cairn/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.ResetSignals()
	goleak.VerifyTestMain(m)
}

// options returns how to reach a server.
func options(s *sshtest.Server) remote.Options {
	return remote.Options{
		Endpoint: remote.Endpoint{Host: s.Host, Port: s.Port, User: s.User, PrivateKey: s.Key.Private, HostKey: s.HostKey.Public},
		Timeout:  time.Minute,
	}
}

// say has a machine say something, and returns that.
func say(t *testing.T, opts remote.Options) (string, error) {
	t.Helper()
	var out safeBuffer
	err := remote.Connect(t.Context(), opts, func(m *remote.Machine) error {
		return m.Run(t.Context(), "echo $((40 + 2)); echo said >&2", &out)
	})
	return out.String(), err
}

func reach(t *testing.T, opts remote.Options) {
	t.Helper()
	got, err := say(t, opts)
	if err != nil || !strings.Contains(got, "42\n") || !strings.Contains(got, "said\n") {
		t.Errorf("got %q, %v", got, err)
	}
}

type safeBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *safeBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, data...)
	return len(data), nil
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

func TestRun(t *testing.T) {
	opts := options(sshtest.Start(t))
	reach(t, opts)
	for command, want := range map[string]string{"exit 7": "exit code 7", "kill -9 $$": "ended by the signal KILL"} {
		err := remote.Connect(t.Context(), opts, func(m *remote.Machine) error { return m.Run(t.Context(), command, io.Discard) })
		if _, ended := errors.AsType[*remote.ExitError](err); !ended || err.Error() != want {
			t.Errorf("%s: got %v, want %q", command, err, want)
		}
	}
}

// A machine that refuses at first is tried again.
func TestRetry(t *testing.T) {
	s := sshtest.Start(t)
	s.Refuse(2)
	opts := options(s)
	var failures []error
	opts.Failed = func(err error) { failures = append(failures, err) }
	reach(t, opts)
	if s.Connections() != 3 || len(failures) == 0 {
		t.Errorf("got %d connections and %v, want 3 and a failure", s.Connections(), failures)
	}
}

// Nobody logs in to a machine with another host key than the expected one.
func TestHostKey(t *testing.T) {
	s := sshtest.Start(t)
	opts := options(s)
	opts.HostKey, opts.Timeout = sshtest.NewKey(t).Public, 2*time.Second
	_, err := say(t, opts)
	if _, late := errors.AsType[*remote.TimeoutError](err); !late || !strings.Contains(err.Error(), "host key mismatch") {
		t.Errorf("got %v", err)
	}
	opts.HostKey = ""
	opts.Timeout = time.Minute
	reach(t, opts)
}

// The expected host key may be that of an authority, which has signed the one of the machine. The
// same goes for users.
func TestCertificates(t *testing.T) {
	authority, host, me := sshtest.NewKey(t), sshtest.NewKey(t), sshtest.NewKey(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sign := func(key sshtest.Key, kind uint32, principal string) string {
		certificate := &ssh.Certificate{
			Key:             key.Signer.PublicKey(),
			CertType:        kind,
			ValidPrincipals: []string{principal},
			ValidBefore:     ssh.CertTimeInfinity,
		}
		if err := certificate.SignCert(rand.Reader, authority.Signer); err != nil {
			t.Fatal(err)
		}
		return string(ssh.MarshalAuthorizedKey(certificate))
	}
	s := sshtest.Start(t,
		"HostKey "+write("host2", host.Private), "HostCertificate "+write("host2-cert.pub", sign(host, ssh.HostCert, "127.0.0.1")),
		"TrustedUserCAKeys "+write("users", authority.Public))
	opts := options(s)
	opts.HostKey, opts.PrivateKey, opts.Certificate = authority.Public, me.Private, sign(me, ssh.UserCert, s.User)
	reach(t, opts)
}

// Keys may be those of an agent, of which one may be named.
func TestAgent(t *testing.T) {
	s := sshtest.Start(t, "MaxAuthTries 2")
	keyring := agent.NewKeyring()
	for i := range 4 {
		key := s.Key
		comment := "the one"
		if i < 3 {
			key, comment = sshtest.NewKey(t), "another"
		}
		private, err := ssh.ParseRawPrivateKey([]byte(key.Private))
		if err != nil {
			t.Fatal(err)
		}
		if err := keyring.Add(agent.AddedKey{PrivateKey: private, Comment: comment}); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	defer hangUp(listener)
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer hangUp(conn)
				_ = agent.ServeAgent(keyring, conn) // until it is closed
			})
		}
	})
	for _, identity := range []string{"the one", s.Key.Public} {
		opts := options(s)
		opts.PrivateKey, opts.Agent, opts.Identity = "", listener.Addr().String(), identity
		reach(t, opts)
	}
}

func TestBastion(t *testing.T) {
	outer, inner := sshtest.Start(t), sshtest.Start(t)
	opts := options(inner)
	through := options(outer)
	opts.Bastion = &through.Endpoint
	reach(t, opts)
	if outer.Connections() != 1 {
		t.Errorf("got %d connections with the bastion, want 1", outer.Connections())
	}
}

// One proxy is for the first machine that is connected with.
func TestProxy(t *testing.T) {
	s := sshtest.Start(t)
	proxy := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := parseProxyAuth(r); user != "me" || password != "pass" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		there, err := net.Dial("tcp", r.Host)
		if err != nil {
			t.Error(err)
			return
		}
		here, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = here.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		go func() {
			_, _ = io.Copy(there, buffered)
			hangUp(there)
		}()
		_, _ = io.Copy(here, there)
		hangUp(here)
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = proxy.Serve(listener) })
	defer serving.Wait()
	defer hangUp(proxy)
	opts := options(s)
	opts.Proxy = &remote.Proxy{Scheme: "http", Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, User: "me", Password: "pass"}
	reach(t, opts)
	opts.Proxy.Password, opts.Timeout = "wrong", 50*time.Millisecond
	if _, err := say(t, opts); err == nil || !strings.Contains(err.Error(), "407") {
		t.Errorf("wrong password: got %v", err)
	}
}

func parseProxyAuth(r *http.Request) (user, password string, ok bool) {
	return (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
}

// A command that is interrupted is not waited for longer than the grace.
func TestInterrupt(t *testing.T) {
	opts := options(sshtest.Start(t))
	opts.Grace = time.Millisecond
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	begun := writer(func([]byte) { cancel(stopped) })
	err := remote.Connect(ctx, opts, func(m *remote.Machine) error { return m.Run(ctx, "while echo begun; do sleep 0.05; done", begun) })
	if !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}

func hangUp(c io.Closer) { _ = c.Close() }

type writer func([]byte)

func (w writer) Write(data []byte) (int, error) {
	w(data)
	return len(data), nil
}

// An impossible proxy, endpoint or key is reported at once.
func TestSettings(t *testing.T) {
	key := sshtest.NewKey(t)
	for name, opts := range map[string]remote.Options{
		"proxies of scheme":   {Proxy: &remote.Proxy{Scheme: "ftp"}},
		"private key":         {Endpoint: remote.Endpoint{PrivateKey: "no key"}},
		"certificate cannot":  {Endpoint: remote.Endpoint{PrivateKey: key.Private, Certificate: "no certificate"}},
		"a key without one":   {Endpoint: remote.Endpoint{PrivateKey: key.Private, Certificate: key.Public}},
		"host key cannot":     {Endpoint: remote.Endpoint{HostKey: "no key"}},
		"agent cannot be use": {Agent: filepath.Join(t.TempDir(), "nothing")},
	} {
		_, err := say(t, opts)
		if _, settings := errors.AsType[*remote.SettingsError](err); !settings || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want one about %s", err, name)
		}
	}
}
