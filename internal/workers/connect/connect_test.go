// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package connect_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
	"github.com/cairnstacks/cairn/internal/workers/config"
	"github.com/cairnstacks/cairn/internal/workers/connect"
	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/queue/queuetest"
)

// certificate writes a certificate that has signed itself, and its key, and returns their files.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	return certificateUntil(t, time.Now().Add(time.Hour))
}

// serverName is the name in all certificates.
const serverName = "temporal.internal"

func certificateUntil(t *testing.T, end time.Time) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{serverName}, NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, "cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		file(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFilesOfTLS(t *testing.T) {
	cert, key := certificate(t)
	other, otherKey := certificate(t)
	expired, expiredKey := certificateUntil(t, time.Now().Add(-time.Hour))
	missing, nonsense := filepath.Join(t.TempDir(), "missing.pem"), file(t, "nonsense.pem", []byte("nonsense"))
	for name, row := range map[string]struct {
		tls  config.TLS
		want []string // in the error; nil for none
	}{
		"nothing":           {config.TLS{}, nil},
		"all":               {config.TLS{Cert: cert, Key: key, CA: other, ServerName: "a"}, nil},
		"missing cert":      {config.TLS{Cert: missing, Key: key}, []string{missing}},
		"missing key":       {config.TLS{Cert: cert, Key: missing}, []string{missing}},
		"cert without key":  {config.TLS{Cert: cert}, []string{cert}},
		"key without cert":  {config.TLS{Key: key}, []string{key}},
		"expired":           {config.TLS{Cert: expired, Key: expiredKey}, []string{expired, "has expired at"}},
		"key of another":    {config.TLS{Cert: cert, Key: otherKey}, []string{cert, otherKey, "does not match"}},
		"cert is no cert":   {config.TLS{Cert: nonsense, Key: key}, []string{nonsense}},
		"missing ca":        {config.TLS{CA: missing}, []string{missing}},
		"ca is no cert":     {config.TLS{CA: nonsense}, []string{nonsense}},
		"ca without a cert": {config.TLS{CA: key}, []string{key}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := connect.Open(t.Context(), &config.Config{Address: "127.0.0.1:1", Records: t.TempDir(), TLS: &row.tls}, connect.Options{})
			if err == nil {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
			if (err == nil) != (row.want == nil) {
				t.Fatalf("Open: got error %v, want %q", err, row.want)
			}
			for _, text := range row.want {
				if detail := failure.Diagnostics(err)[0].Detail; !strings.Contains(detail, text) {
					t.Errorf("the error has no %q: %s", text, detail)
				}
			}
		})
	}
}

// Who has no way to a queue because of certificates is told so.
func TestReasonOfOutage(t *testing.T) {
	cert, key := certificate(t)
	secured := temporaltest.Start(t, temporaltest.Memory, "-tls-cert="+cert, "-tls-key="+key, "-tls-client-ca="+cert,
		"-orchestrator=ci", "-allow=worker:cairn/prod")
	plain := temporaltest.Start(t, temporaltest.Memory)
	for name, row := range map[string]struct {
		server *temporaltest.Server
		tls    *config.TLS
		want   string
	}{
		"no block": {secured, nil, "for clients with certificates"},
		// The server says that it requires one, or is not heard since it ends the connection.
		"no certificate": {secured, &config.TLS{CA: cert, ServerName: serverName}, "certificate"},
		"other name":     {secured, &config.TLS{CA: cert, ServerName: "other"}, "certificate is valid for " + serverName},
		"other ca":       {secured, &config.TLS{ServerName: serverName}, "unknown authority"},
		"plain server":   {plain, &config.TLS{}, "does not look like a TLS handshake"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := make(chan queue.Outage, 1)
			c, err := connect.Open(t.Context(), &config.Config{
				Address: row.server.Address(), Namespace: temporaltest.Namespace, Records: t.TempDir(), TLS: row.tls,
			}, connect.Options{Away: func(o queue.Outage) { told <- o }})
			if err != nil {
				t.Fatal(err)
			}
			doing := queuetest.Do(t, c.Queues, queuetest.Task())
			if got := testenv.Receive(t, "word of the outage", told).Reason; !strings.Contains(got, row.want) {
				t.Errorf("the reason is %q, want %q in it", got, row.want)
			}
			doing.Stop()
			doing.Ends(queue.ErrStopped)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A certificate that was renewed counts from the next connection on.
func TestRenewedCertificate(t *testing.T) {
	cert, key := certificate(t)
	old, oldKey := certificateUntil(t, time.Now().Add(-time.Hour))
	server := temporaltest.Start(t, temporaltest.Memory, "-tls-cert="+cert, "-tls-key="+key, "-tls-client-ca="+cert,
		"-orchestrator=ci", "-allow=worker:cairn/prod")
	own, ownKey := file(t, "own.pem", read(t, cert)), file(t, "own.key", read(t, key))
	told := make(chan queue.Outage, 10)
	c, err := connect.Open(t.Context(), &config.Config{
		Address: server.Address(), Namespace: temporaltest.Namespace, Records: t.TempDir(),
		TLS: &config.TLS{Cert: own, Key: ownKey, CA: cert, ServerName: serverName},
	}, connect.Options{Away: func(o queue.Outage) { told <- o }})
	if err != nil {
		t.Fatal(err)
	}
	replace(t, own, read(t, old))
	replace(t, ownKey, read(t, oldKey))
	doing := queuetest.Do(t, c.Queues, queuetest.Task())
	if got := testenv.Receive(t, "word of the outage", told); !strings.Contains(got.Reason, "has expired at") {
		t.Errorf("the reason is %q", got.Reason)
	}
	replace(t, ownKey, read(t, key))
	replace(t, own, read(t, cert))
	if got := testenv.Receive(t, "word of its end", told); !got.Over {
		t.Errorf("got %+v, want the end of the outage", got)
	}
	doing.Stop()
	if err := doing.End(); err == nil { // the rules of the server are about clients with names
		t.Error("got no error")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// Who may not do something is told where, and what to do. A worker would wait forever otherwise.
func TestDenied(t *testing.T) {
	cert, key := certificate(t)
	server := temporaltest.Start(t, temporaltest.Memory, "-tls-cert="+cert, "-tls-key="+key, "-tls-client-ca="+cert,
		"-orchestrator=ci", "-allow=worker:cairn/prod")
	plain := temporaltest.Start(t, temporaltest.Memory)
	task := queuetest.Task()
	for name, row := range map[string]struct {
		config config.Config
		want   string
	}{
		"certificate": {
			config.Config{
				Address: server.Address(), Namespace: temporaltest.Namespace,
				TLS: &config.TLS{Cert: cert, Key: key, CA: cert, ServerName: serverName}, // without a name of the rules
			}, "block \"tls\"",
		},
		"namespace": {config.Config{Address: plain.Address(), Namespace: "missing"}, "argument \"namespace\""},
	} {
		t.Run(name, func(t *testing.T) {
			row.config.Records = t.TempDir()
			c, err := connect.Open(t.Context(), &row.config, connect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for call, do := range map[string]func() error{
				"Do": queuetest.Do(t, c.Queues, task).End,
				"Serve": func() error {
					return c.Queues.Serve(t.Context(), task.Line, 1, func(queue.Task, <-chan struct{}) error { return nil })
				},
			} {
				var err error
				testenv.Within(t, call, func() { err = do() })
				denied, ok := errors.AsType[*queue.DeniedError](err)
				if !ok || denied.Place != row.config.Address || !strings.Contains(err.Error(), row.want) {
					t.Errorf("%s: got error %v, want one of %s with %s", call, err, row.config.Address, row.want)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func replace(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The queues of pools in several namespaces tell of an outage once.
func TestOutageIsToldOnce(t *testing.T) {
	server := temporaltest.Start(t, temporaltest.Memory, "-namespace=other")
	told := make(chan queue.Outage, 10)
	one, other := queuetest.Task(), queuetest.Task()
	c, err := connect.Open(t.Context(), &config.Config{
		Address: server.Address(), Namespace: temporaltest.Namespace, Records: t.TempDir(),
		Pools: []config.Pool{{Name: one.Pool, Namespace: temporaltest.Namespace}, {Name: other.Pool, Namespace: "other"}},
	}, connect.Options{Away: func(o queue.Outage) { told <- o }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	w, otherWorker := queuetest.Serve(t, c.Queues, one.Line, 2), queuetest.Serve(t, c.Queues, other.Line, 2)
	doing, doingOther := queuetest.Do(t, c.Queues, one), queuetest.Do(t, c.Queues, other)
	w.Next()
	otherWorker.Next()
	server.Kill(t)
	if got := testenv.Receive(t, "word of the outage", told); got.Over {
		t.Errorf("got %+v, want its beginning", got)
	}
	server.Run(t) // without what it knew
	w.Next().End(nil)
	otherWorker.Next().End(nil)
	doing.Ends(nil)
	doingOther.Ends(nil)
	if got := testenv.Receive(t, "word of the end of the outage", told); !got.Over {
		t.Errorf("got %+v, want its end", got)
	}
	if len(told) != 0 {
		t.Errorf("got %+v, want no more", <-told)
	}
}
