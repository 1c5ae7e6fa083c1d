// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// client has the services on one connection.
type client struct {
	*process
	conn         *grpc.ClientConn
	setup        setuppb.SetupClient
	dependencies dependenciespb.DependenciesClient
	packages     packagespb.PackagesClient
	stacks       stackspb.StacksClient
}

// connect opens a connection and makes no call.
func (p *process) connect() *client {
	return clientOf(p, p.dial())
}

func clientOf(p *process, conn *grpc.ClientConn) *client {
	return &client{
		process: p, conn: conn, setup: setuppb.NewSetupClient(conn), dependencies: dependenciespb.NewDependenciesClient(conn),
		packages: packagespb.NewPackagesClient(conn), stacks: stackspb.NewStacksClient(conn),
	}
}

// open starts a process, drains its output and makes the handshake.
func open(t testing.TB, opts options) *client {
	t.Helper()
	c := start(t, opts).connect()
	drain(t, c.conn)
	if _, err := c.setup.Handshake(t.Context(), &setuppb.Handshake_Request{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// wantCode fails the test if a call did not end with a code.
func wantCode(t testing.TB, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

// must returns the response of a call that has to end with status OK.
func must[T any](t testing.TB) func(response T, err error) T {
	return func(response T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
}
