// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package node runs all services of Temporal in this process, for development and small teams.
//
// Rules:
//
//	N1. Only the address that was asked for is reachable from outside. The services talk to each
//	    other on loopback.
//	N2. With certificates, every call from outside is checked by the rules of package authority, and
//	    the services know each other by certificates that exist in the memory of this process only.
//	N3. Nothing is sent to anybody: the check for new versions is off.
package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/cairnstacks/cairn/server/internal/authority"
	"github.com/cairnstacks/cairn/server/internal/database"
)

// startPatience is how long the services may take until they answer. A second is usual.
const startPatience = time.Minute

// Options are the settings of a node.
type Options struct {
	Address    netip.AddrPort // of the clients
	Database   *database.Database
	Namespaces []string
	Retention  time.Duration // of closed activities
	Secure     *Secure       // nil for clients without certificates, who may do everything
	Logger     log.Logger
}

// Secure names the files of certificates, which are read again when they change, and the rules.
type Secure struct {
	Certificate, Key string // of this server
	ClientCA         string // who signs the certificates of clients
	Rules            *authority.Rules
}

// check reads the files, so that a mistake in them is not a line in the log of a service.
func (s *Secure) check() error {
	if _, err := tls.LoadX509KeyPair(s.Certificate, s.Key); err != nil {
		return fmt.Errorf("reading the certificate of this server: %w", err)
	}
	signers, err := os.ReadFile(s.ClientCA)
	if err == nil && !x509.NewCertPool().AppendCertsFromPEM(signers) {
		err = fmt.Errorf("%s has no certificate in PEM", s.ClientCA)
	}
	if err != nil {
		return fmt.Errorf("reading the certificates that sign those of clients: %w", err)
	}
	return nil
}

// Node is a running server.
type Node struct {
	server temporal.Server
}

// AddressInUseError says that another process listens at the address.
type AddressInUseError struct {
	Address netip.AddrPort
	err     error
}

func (e *AddressInUseError) Error() string {
	return fmt.Sprintf("cannot listen on %s: %v", e.Address, e.err)
}

func (e *AddressInUseError) Unwrap() error { return e.err }

// Start registers the namespaces, starts the services, and returns when they answer.
//
// Errors:
//   - [*AddressInUseError]: the address cannot be listened at.
func Start(ctx context.Context, options Options) (*Node, error) {
	// The services would end the process with a line in the log.
	if err := tryListen(ctx, options.Address); err != nil {
		return nil, &AddressInUseError{options.Address, err}
	}
	cfg, addresses, err := configure(ctx, options)
	if err != nil {
		return nil, err
	}
	settings := []temporal.ServerOption{
		temporal.WithConfig(cfg),
		temporal.ForServices(names(addresses)),
		temporal.WithStaticHosts(hosts(addresses)),
		temporal.WithDynamicConfigClient(behaviour),
		temporal.WithLogger(options.Logger),
	}
	check := addresses[frontend]
	transport := insecure.NewCredentials()
	if options.Secure != nil {
		if err := options.Secure.check(); err != nil {
			return nil, err
		}
		own, err := newCertificates()
		if err != nil {
			return nil, fmt.Errorf("making certificates for the services: %w", err)
		}
		secure(cfg, options.Secure, own)
		settings = append(settings, temporal.WithAuthorizer(options.Secure.Rules), temporal.WithClaimMapper(authority.Mapper))
		check, transport = addresses[internalFrontend], credentials.NewTLS(own.client())
	}
	if err := register(ctx, cfg, options); err != nil {
		return nil, fmt.Errorf("registering namespaces: %w", err)
	}
	server, err := temporal.NewServer(settings...)
	if err != nil {
		return nil, fmt.Errorf("preparing the services of Temporal: %w", err)
	}
	if err := server.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the services of Temporal: %w", err), server.Stop())
	}
	if err := awaitNamespaces(ctx, check, transport, options.Namespaces); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return &Node{server}, nil
}

// Stop ends the services one after the other.
func (n *Node) Stop() error { return n.server.Stop() }

func tryListen(ctx context.Context, address netip.AddrPort) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address.String())
	if err != nil {
		if failed, ok := errors.AsType[*net.OpError](err); ok {
			err = failed.Err // without the address, which is named already
		}
		return err
	}
	return listener.Close()
}

// awaitNamespaces returns when the frontend knows the namespaces.
func awaitNamespaces(ctx context.Context, address string, transport credentials.TransportCredentials, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(transport))
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // Nothing is under way.
	client := workflowservice.NewWorkflowServiceClient(conn)
	for _, name := range namespaces {
		for {
			_, err := client.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: name})
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("waiting for the services of Temporal: %w", err)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}
