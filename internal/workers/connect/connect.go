// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package connect opens the queues and the records that a block "workers" names.
package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/workers/config"
	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/queue/temporal"
	"github.com/cairnstacks/cairn/internal/workers/records"
)

// Options say who connects.
type Options struct {
	Environ  []string
	Identity string             // of this program, as others see it
	Away     func(queue.Outage) // may be nil

	// RecordsAway is told when the records are away and are waited for. It may be nil.
	RecordsAway func(statestore.Outage)

	Log *slog.Logger // may be nil
}

// Connection has the queues of the pools, and the records. Close it.
type Connection struct {
	Records records.Store
	Queues  *Queues
}

// Open connects. The queues need not be there yet.
func Open(ctx context.Context, c *config.Config, opts Options) (*Connection, error) {
	security, err := tlsOf(c.TLS)
	if err != nil {
		return nil, err
	}
	store, err := records.Open(ctx, c.Records, opts.Environ, opts.RecordsAway)
	if err != nil {
		return nil, err
	}
	return &Connection{store, &Queues{config: c, opts: opts, tls: security}}, nil
}

// Close ends the connection.
func (c *Connection) Close() error {
	c.Queues.Close()
	return c.Records.Close()
}

// Queues are the queues of all pools: those of pools in one namespace are one.
type Queues struct {
	config *config.Config
	opts   Options
	tls    *tls.Config

	mu     sync.Mutex
	queues map[string]queue.Queue // by namespace
	away   int                    // queues that are
}

var _ queue.Queue = (*Queues)(nil)

// of returns the queue of a pool.
func (q *Queues) of(pool string) (queue.Queue, error) {
	namespace := q.config.Namespace
	if p := q.config.Pool(pool); p != nil {
		namespace = p.Namespace
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if opened := q.queues[namespace]; opened != nil {
		return opened, nil
	}
	opened, err := temporal.Open(temporal.Options{
		Address: q.config.Address, Namespace: namespace, TLS: q.tls, Identity: q.opts.Identity, Log: q.opts.Log, Away: q.outage,
	})
	if err != nil {
		return nil, err
	}
	if q.queues == nil {
		q.queues = map[string]queue.Queue{}
	}
	q.queues[namespace] = opened
	return opened, nil
}

// outage tells of an outage once, however many queues it is of.
func (q *Queues) outage(outage queue.Outage) {
	if q.opts.Away == nil {
		return
	}
	q.mu.Lock()
	if outage.Over {
		q.away--
	} else {
		q.away++
	}
	tells := q.away == 1 && !outage.Over || q.away == 0
	q.mu.Unlock()
	if tells {
		q.opts.Away(outage)
	}
}

// Do implements [queue.Queue].
func (q *Queues) Do(ctx context.Context, task queue.Task) error {
	of, err := q.of(task.Pool)
	if err != nil {
		return err
	}
	return of.Do(ctx, task)
}

// Stop implements [queue.Queue].
func (q *Queues) Stop(ctx context.Context, task queue.Task) error {
	of, err := q.of(task.Pool)
	if err != nil {
		return err
	}
	return of.Stop(ctx, task)
}

// Serve implements [queue.Queue].
func (q *Queues) Serve(ctx context.Context, line queue.Line, slots int, handle queue.Handler) error {
	of, err := q.of(line.Pool)
	if err != nil {
		return err
	}
	return of.Serve(ctx, line, slots, handle)
}

// Close implements [queue.Queue].
func (q *Queues) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, opened := range q.queues {
		opened.Close()
	}
}

// tlsOf returns the settings of a connection with TLS, nil for one without.
func tlsOf(files *config.TLS) (*tls.Config, error) {
	if files == nil {
		return nil, nil //nolint:nilnil // see above
	}
	security := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: files.ServerName}
	if files.Cert != "" || files.Key != "" {
		if _, err := ownCertificate(files); err != nil {
			return nil, err
		}
		// A worker may live longer than its certificate: files that were renewed count for the next
		// connection.
		security.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return ownCertificate(files) }
	}
	if files.CA != "" {
		content, err := os.ReadFile(files.CA)
		if err != nil {
			return nil, failure.Error("Certificate not read", "The certificates %s cannot be read: %s.", files.CA, failure.Reason(err))
		}
		security.RootCAs = x509.NewCertPool()
		if !security.RootCAs.AppendCertsFromPEM(content) {
			return nil, failure.Error("Certificate not read", "The file %s has no certificates.", files.CA)
		}
	}
	return security, nil
}

// ownCertificate reads the certificate of this machine.
func ownCertificate(files *config.TLS) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		return nil, failure.Error("Certificate not read", "The certificate %s and its key %s cannot be used: %s.",
			files.Cert, files.Key, failure.Reason(err))
	}
	// A server that refuses it may end the connection before it has said why.
	if end := pair.Leaf.NotAfter; time.Now().After(end) {
		return nil, failure.Error("Certificate expired", "The certificate %s has expired at %s. Renew it.",
			files.Cert, end.UTC().Format(time.RFC3339))
	}
	return &pair, nil
}
