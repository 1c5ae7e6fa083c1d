// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// pluginName is the name of the services between this package and the library. It is not sent.
const pluginName = "terraform"

// closePatience is how long closing something in the server may take.
const closePatience = 10 * time.Second

// Options are the parameters of [Start].
type Options struct {
	Program string   // path or name of the program
	Args    []string // nil stands for its command rpcapi
	Dir     string   // working directory, to which relative paths and source addresses are relative; "" is that of this process
	Environ []string // nil stands for that of this process

	// Credentials are tokens by host. The server stores them in the CLI configuration of the user.
	Credentials map[string]string

	// Log gets the log and the output of the process, as they are. nil drops them.
	Log io.Writer
}

// Client is a running server. It is safe for concurrent use.
type Client struct {
	process      *plugin.Client
	setup        setuppb.SetupClient
	dependencies dependenciespb.DependenciesClient
	packages     packagespb.PackagesClient
	stacks       stackspb.StacksClient
}

// Start starts a server and makes the handshake with it. The caller calls [Client.Close].
//
// It waits for a minute at most, or until ctx ends. The process does not end with ctx.
func Start(ctx context.Context, opts Options) (*Client, error) {
	process := plugin.NewClient(processConfig(ctx, opts))
	client, err := connect(process)
	if err == nil {
		err = client.handshake(ctx, opts.Credentials)
	}
	if err != nil {
		process.Kill()
		return nil, fmt.Errorf("starting %s: %w", opts.Program, err)
	}
	return client, nil
}

func processConfig(ctx context.Context, opts Options) *plugin.ClientConfig {
	if opts.Args == nil {
		opts.Args = []string{"rpcapi"}
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	cmd := exec.Command(opts.Program, opts.Args...) //nolint:noctx // ends with Close
	cmd.Dir, cmd.Env = opts.Dir, opts.Environ
	log := &lockedWriter{w: opts.Log}
	return &plugin.ClientConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion: 1, MagicCookieKey: "TERRAFORM_RPCAPI_COOKIE", MagicCookieValue: "fba0991c9bcd453982f0d88e2da95940",
		},
		Plugins: plugin.PluginSet{pluginName: services{}}, AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, AutoMTLS: true,
		Cmd: cmd, SkipHostEnv: true, StartTimeout: startTimeout(ctx),
		Logger: hclog.NewNullLogger(), Stderr: log, SyncStdout: log, SyncStderr: log,
	}
}

func startTimeout(ctx context.Context) time.Duration {
	timeout := time.Minute
	if deadline, ok := ctx.Deadline(); ok {
		timeout = max(time.Nanosecond, min(timeout, time.Until(deadline)))
	}
	return timeout
}

func connect(process *plugin.Client) (*Client, error) {
	protocol, err := process.Client()
	if err != nil {
		return nil, err
	}
	dispensed, err := protocol.Dispense(pluginName)
	if err != nil {
		return nil, err
	}
	conn := dispensed.(grpc.ClientConnInterface)
	return &Client{
		process: process, setup: setuppb.NewSetupClient(conn), dependencies: dependenciespb.NewDependenciesClient(conn),
		packages: packagespb.NewPackagesClient(conn), stacks: stackspb.NewStacksClient(conn),
	}, nil
}

func (c *Client) handshake(ctx context.Context, tokens map[string]string) error {
	credentials := map[string]*setuppb.HostCredential{}
	for host, token := range tokens {
		credentials[host] = &setuppb.HostCredential{Token: token}
	}
	_, err := c.setup.Handshake(ctx, &setuppb.Handshake_Request{
		Capabilities: &setuppb.ClientCapabilities{}, Config: &setuppb.Config{Credentials: credentials},
	})
	return err
}

// Close ends the process and all that runs in it. Applies should have ended before: see
// [Client.Stop].
func (c *Client) Close() { c.process.Kill() }

// Stop asks all plans and applies that run in the process to end gracefully, as an interrupt does.
// It does not wait for them. Later operations are not concerned.
func (c *Client) Stop(ctx context.Context) error {
	_, err := c.setup.Stop(ctx, &setuppb.Stop_Request{})
	return wrap("stopping operations", err)
}

// Dependencies returns the service for sources and providers, for calls that this package has no
// function for. Handles of its own are closed by the caller.
func (c *Client) Dependencies() dependenciespb.DependenciesClient { return c.dependencies }

// Packages returns the service for registries.
func (c *Client) Packages() packagespb.PackagesClient { return c.packages }

// Stacks returns the service for stacks, for calls that this package has no function for.
func (c *Client) Stacks() stackspb.StacksClient { return c.stacks }

// services is the plugin that a server of the API is.
type services struct{ plugin.NetRPCUnsupportedPlugin }

// GRPCServer implements [plugin.GRPCPlugin].
func (services) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this is a client")
}

// GRPCClient implements [plugin.GRPCPlugin]: it gives the connection back.
func (services) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// lockedWriter is a writer for several goroutines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements [io.Writer].
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// wrap adds to an error the name of the failed step. The gRPC status is kept.
func wrap(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
