// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stacksplugin runs the plugin of the stacks command of terraform: a program that does the
// work of that command line, and calls the services of the RPC API in the process that has started
// it.
//
// The protocol of the plugin has no TLS, three streams of the broker with one service each, and no
// handshake of the API.
package stacksplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/cairnstacks/cairn/internal/rpcapi"
	"github.com/cairnstacks/cairn/proto/stacksproto1"
)

// Handshake has the values that the plugin and the process that starts it have to agree on.
var Handshake = plugin.HandshakeConfig{
	ProtocolVersion: 1,
	MagicCookieKey:  "TF_STACKS_MAGIC_COOKIE",
	MagicCookieValue: "c9183f264a1db49ef2cbcc7b74f508a7bba9c3704c47cde3d130ae7f3b7a59c8" +
		"f97a1e43d9e17ec0ac43a57fd250f373b2a8d991431d9fb1ea7bc48c8e7696fd",
}

// Name is the plugin's name between the library and its users.
const Name = "stacks"

// Exit codes for outcomes that are not the plugin's own result.
const (
	ExitFailed     = 1   // the plugin has not said how its command ended
	ExitOutOfRange = 255 // the plugin has said something that no exit code can be
	ExitNotStarted = 98
	ExitUnusable   = 99 // it was started, and does not speak the protocol
)

// Plugin is a program that is run once.
type Plugin struct {
	Program  string            // path
	Environ  []string          // all of it
	Args     []string          // those after "stacks"
	Metadata map[string]string // sent with the call: where the platform is, and the token for it

	Server         *rpcapi.Server // whose services the plugin calls; it needs no handshake: see [rpcapi.Options]
	Stdout, Stderr io.Writer
	Log            *slog.Logger // gets the other output of the process, such as the logs of its libraries
}

// Run runs the plugin to its end and returns its exit code. When ctx ends, so does the call, and
// then the program.
//
// Errors: for every exit code that is not the plugin's own.
func (p *Plugin) Run(ctx context.Context) (exitCode int, err error) {
	cmd := exec.Command(p.Program) //nolint:gosec,noctx // the program that the user has named; the library ends it
	cmd.Env = p.Environ
	process := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: Handshake, Plugins: plugin.PluginSet{Name: command{}}, AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Cmd: cmd, SkipHostEnv: true, Logger: hclog.NewNullLogger(), Stderr: logWriter{p.Log},
	})
	defer process.Kill()
	protocol, err := process.Client()
	if err != nil {
		return ExitNotStarted, fmt.Errorf("starting %s: %w", p.Program, err)
	}
	dispensed, err := protocol.Dispense(Name)
	if err != nil {
		return ExitUnusable, fmt.Errorf("connecting with %s: %w", p.Program, err)
	}
	exitCode, err = p.execute(ctx, dispensed.(*connection))
	if err != nil {
		return exitCode, fmt.Errorf("running %s: %w", p.Program, err)
	}
	return exitCode, nil
}

func (p *Plugin) execute(ctx context.Context, c *connection) (exitCode int, err error) {
	request := &stacksproto1.CommandRequest{
		Args:               p.Args,
		DependenciesServer: c.serve(p.Server, p.Server.RegisterDependencies),
		PackagesServer:     c.serve(p.Server, p.Server.RegisterPackages),
		StacksServer:       c.serve(p.Server, p.Server.RegisterStacks),
	}
	defer c.stop()
	stream, err := stacksproto1.NewCommandServiceClient(c.conn).Execute(metadata.NewOutgoingContext(ctx, metadata.New(p.Metadata)), request)
	if err != nil {
		return ExitFailed, err
	}
	for {
		response, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return ExitFailed, errors.New("it ended without an exit code")
		case err != nil:
			return ExitFailed, err
		}
		switch data := response.GetData().(type) {
		case *stacksproto1.CommandResponse_Stdout:
			_, err = p.Stdout.Write(data.Stdout)
		case *stacksproto1.CommandResponse_Stderr:
			_, err = p.Stderr.Write(data.Stderr)
		default:
			if code := response.GetExitCode(); code >= 0 && code <= 255 {
				return int(code), nil
			}
			return ExitOutOfRange, nil
		}
		if err != nil {
			return ExitFailed, fmt.Errorf("writing its output: %w", err)
		}
	}
}

// connection is that with a plugin.
type connection struct {
	broker  *plugin.GRPCBroker
	conn    *grpc.ClientConn
	servers []*grpc.Server
}

// serve serves the registered services on a stream of its own, which it returns.
func (c *connection) serve(server *rpcapi.Server, register func(grpc.ServiceRegistrar)) uint32 {
	served := server.NewGRPC()
	register(served)
	c.servers = append(c.servers, served)
	id := c.broker.NextId()
	go c.broker.AcceptAndServe(id, func([]grpc.ServerOption) *grpc.Server { return served })
	return id
}

// stop ends the services, and with them the calls that the plugin has left running.
func (c *connection) stop() {
	for _, server := range c.servers {
		server.Stop()
	}
}

// logWriter writes lines to a log.
type logWriter struct{ log *slog.Logger }

// Write implements [io.Writer].
func (w logWriter) Write(line []byte) (int, error) {
	if text := strings.TrimSpace(string(line)); text != "" {
		w.log.Debug("plugin", "line", text)
	}
	return len(line), nil
}

// command is the plugin for the library.
type command struct{ plugin.NetRPCUnsupportedPlugin }

// GRPCServer implements [plugin.GRPCPlugin].
func (command) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this is a client")
}

// GRPCClient implements [plugin.GRPCPlugin].
func (command) GRPCClient(_ context.Context, broker *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return &connection{broker: broker, conn: conn}, nil
}
