// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{file: filepath.Join(t.TempDir(), "ca.pem")}
	der, key := sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	var err error
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.key = key
	write(t, a.file, "CERTIFICATE", der)
	return a
}

// issue writes a certificate and its key to files.
func (a *authority) issue(t *testing.T, name string) (certificate, key string) {
	t.Helper()
	der, private := sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, certificate, "CERTIFICATE", der)
	write(t, key, "PRIVATE KEY", encoded)
	return certificate, key
}

// sign makes a certificate, which signs itself without an authority.
func sign(t *testing.T, template *x509.Certificate, by *authority) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.certificate, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return der, key
}

func write(t *testing.T, file, kind string, contents []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: contents}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// as returns the options of a client with a certificate for a name, or without one for no name.
func (a *authority) as(t *testing.T, name string) func(*client.Options) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	cfg := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if name != "" {
		pair, err := tls.LoadX509KeyPair(a.issue(t, name))
		if err != nil {
			t.Fatal(err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return func(o *client.Options) { o.ConnectionOptions.TLS = cfg }
}

func TestCertificates(t *testing.T) {
	a := newAuthority(t)
	certificate, key := a.issue(t, "server")
	s := start(t, freeAddress(t), "-db=memory", "-tls-cert="+certificate, "-tls-key="+key, "-tls-client-ca="+a.file,
		"-allow=worker-prod:cairn/prod", "-allow=worker-dev:cairn/dev", "-orchestrator=orchestrator")

	t.Run("without a certificate", func(t *testing.T) { refusesConnection(t, s.address, a.as(t, "")) })
	t.Run("without encryption", func(t *testing.T) { refusesConnection(t, s.address, func(*client.Options) {}) })
	t.Run("certificate of another authority", func(t *testing.T) {
		other := newAuthority(t)
		refusesConnection(t, s.address, func(o *client.Options) {
			other.as(t, "worker-prod")(o)
			o.ConnectionOptions.TLS.RootCAs.AddCert(a.certificate)
		})
	})

	prod, dev := dial(t, s.address, a.as(t, "worker-prod")), dial(t, s.address, a.as(t, "worker-dev"))
	orchestrator := dial(t, s.address, a.as(t, "orchestrator"))
	t.Run("worker of another pool", func(t *testing.T) {
		refused(t, poll(t.Context(), dev))
	})
	t.Run("worker that starts work", func(t *testing.T) {
		task := client.StartActivityOptions{ID: "x", TaskQueue: queue, StartToCloseTimeout: time.Hour}
		_, err := prod.ExecuteActivity(t.Context(), task, "double", 1)
		refused(t, err)
	})
	t.Run("orchestrator that takes tasks", func(t *testing.T) {
		refused(t, poll(t.Context(), orchestrator))
	})
	t.Run("orchestrator that registers namespaces", func(t *testing.T) {
		_, err := orchestrator.WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{Namespace: "mine"})
		refused(t, err)
	})
	t.Run("worker of the pool", func(t *testing.T) {
		submit(t, orchestrator, 4)
		work(t, prod, queue)
		result(t, orchestrator, 4)
	})
	t.Run("cancel", func(t *testing.T) {
		task := client.StartActivityOptions{ID: "y", TaskQueue: "cairn/nobody", StartToCloseTimeout: time.Hour}
		handle, err := orchestrator.ExecuteActivity(t.Context(), task, "double", 1)
		if err != nil {
			t.Fatal(err)
		}
		by := dev.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: "y"})
		refused(t, by.Cancel(t.Context(), client.CancelActivityOptions{}))
		if err := handle.Cancel(t.Context(), client.CancelActivityOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// poll asks for a task of the queue.
func poll(ctx context.Context, c client.Client) error {
	_, err := c.WorkflowService().PollActivityTaskQueue(ctx, &workflowservice.PollActivityTaskQueueRequest{
		Namespace: "cairn", TaskQueue: &taskqueuepb.TaskQueue{Name: queue},
	})
	return err
}

func refused(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*serviceerror.PermissionDenied](err); !ok {
		t.Errorf("got %v, want a refusal", err)
	}
}

func refusesConnection(t *testing.T, address string, change func(*client.Options)) {
	t.Helper()
	options := client.Options{HostPort: address, Namespace: "cairn", Logger: quiet{}}
	change(&options)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	c, err := client.DialContext(ctx, options)
	if err == nil {
		c.Close()
		t.Error("the server accepts the connection")
	}
}
