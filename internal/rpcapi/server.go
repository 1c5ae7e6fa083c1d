// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpcapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/internal/rpcapi/dependencies"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	"github.com/cairnstacks/cairn/internal/rpcapi/packages"
	"github.com/cairnstacks/cairn/internal/rpcapi/stacks"
	"github.com/cairnstacks/cairn/internal/rpcapi/tracing"
	"github.com/cairnstacks/cairn/internal/tempdir"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// Handshake has the values that a client and the process have to agree on.
var Handshake = plugin.HandshakeConfig{
	ProtocolVersion:  1,
	MagicCookieKey:   "TERRAFORM_RPCAPI_COOKIE",
	MagicCookieValue: "fba0991c9bcd453982f0d88e2da95940",
}

// pluginName is the name of the one plugin of the process. It is not said on the wire.
const pluginName = "tfcore"

// maxRequestSize is that of one message, for which the process needs about three times as much.
// Terraform takes 4 MiB; larger plans and states are sent in pieces.
const maxRequestSize = 64 << 20

// ErrNotClient is the error for a process that was started by somebody else than a client of the
// API.
var ErrNotClient = errors.New("the process was not started by a client of the RPC API")

// Options are the parameters of [Serve] and [New].
type Options struct {
	Version string       // of the program
	Environ []string     // of operations and their processes; nil stands for that of this program
	Log     *slog.Logger // may be nil
	Stderr  io.Writer    // gets the log of the library, as JSON

	// NoHandshake serves everything from the start, and not Setup, to a client that this process has
	// started itself: a plugin.
	NoHandshake bool

	// HTTP is for requests to registries; nil stands for the usual one.
	HTTP *http.Client
}

// endTimeout is how long the last calls may take to end.
const endTimeout = 5 * time.Second

// Serve speaks with the client that has started the process, until that ends it. It then ends the
// process itself with status 0.
//
// Errors: [ErrNotClient]; nothing was written then.
func Serve(ctx context.Context, opts Options) error {
	if os.Getenv(Handshake.MagicCookieKey) != Handshake.MagicCookieValue {
		return ErrNotClient
	}
	server := New(opts)
	removeSocketDir, err := makeSocketDir(server.opts.Log)
	if err != nil {
		return fmt.Errorf("making a directory for the socket: %w", err)
	}
	defer removeSocketDir()
	traces := tracing.Of(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  Handshake,
		VersionedPlugins: map[int]plugin.PluginSet{int(Handshake.ProtocolVersion): {pluginName: grpcPlugin{server: server}}},
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: opts.Stderr, JSONFormat: true}),
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			served := server.NewGRPC(append(options, traces.ServerOptions()...)...)
			go func() {
				<-signals
				served.GracefulStop() // running calls go on to their end
			}()
			return served
		},
	})
	ending, end := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer end()
	traces.Wait(ending)
	return server.Close()
}

// makeSocketDir has the socket made in a directory that only this user can enter: the mode of a
// socket is not observed everywhere. A client that has made a directory itself, or that serves a
// group, has its own choice.
func makeSocketDir(log *slog.Logger) (remove func(), err error) {
	if runtime.GOOS == "windows" || os.Getenv(plugin.EnvUnixSocketDir)+os.Getenv(plugin.EnvUnixSocketGroup) != "" {
		return func() {}, nil
	}
	kind := tempdir.Kind{Prefix: "cairn-rpc-", Log: log}
	kind.RemoveLeft()
	dir, err := kind.Make()
	if err != nil {
		return nil, err
	}
	//nolint:errcheck // another process removes the directory if it cannot be removed now
	return func() { _ = dir.Remove() }, os.Setenv(plugin.EnvUnixSocketDir, dir.Path)
}

// Server has the services of the API.
type Server struct {
	opts         Options
	handles      handle.Table
	setup        *setup
	dependencies *dependencies.Service
	packages     *packages.Service
	stacks       *stacks.Service
}

// New returns a server that waits for the handshake of its client, unless it needs none.
func New(opts Options) *Server {
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opts: opts}
	registries := registry.New(opts.HTTP, opts.Environ)
	s.dependencies = dependencies.New(&s.handles, dependencies.Options{Environ: opts.Environ, Log: opts.Log, Registries: registries})
	s.packages = packages.New(packages.Options{Environ: opts.Environ, Registries: registries})
	s.stacks = stacks.New(&s.handles, stacks.Options{Version: opts.Version, Environ: opts.Environ, Log: opts.Log})
	s.setup = &setup{server: s, succeeded: opts.NoHandshake}
	return s
}

// Close removes the server's files from the disk. Nothing may be served any more.
func (s *Server) Close() error { return s.stacks.Close() }

// NewGRPC returns a gRPC server to which the services can be registered: it refuses calls before
// the handshake, and gives memory back when no calls are made.
func (s *Server) NewGRPC(options ...grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(options,
		grpc.MaxRecvMsgSize(maxRequestSize),
		grpc.StatsHandler(newReclaimer()),
		grpc.ChainUnaryInterceptor(s.guardUnary),
		grpc.ChainStreamInterceptor(s.guardStream),
	)...)
}

// Register registers the services.
func (s *Server) Register(registrar grpc.ServiceRegistrar) {
	setuppb.RegisterSetupServer(registrar, s.setup)
	s.RegisterDependencies(registrar)
	s.RegisterPackages(registrar)
	s.RegisterStacks(registrar)
}

// RegisterDependencies registers the service for sources and providers only.
func (s *Server) RegisterDependencies(registrar grpc.ServiceRegistrar) {
	dependenciespb.RegisterDependenciesServer(registrar, s.dependencies)
}

// RegisterPackages registers the service for registries only.
func (s *Server) RegisterPackages(registrar grpc.ServiceRegistrar) {
	packagespb.RegisterPackagesServer(registrar, s.packages)
}

// RegisterStacks registers the service for stacks only.
func (s *Server) RegisterStacks(registrar grpc.ServiceRegistrar) {
	stackspb.RegisterStacksServer(registrar, s.stacks)
}

// grpcPlugin registers the services with the library.
type grpcPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	server *Server
}

// GRPCServer implements [plugin.GRPCPlugin].
func (p grpcPlugin) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	p.server.Register(server)
	return nil
}

// GRPCClient implements [plugin.GRPCPlugin].
func (grpcPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("the process of the RPC API is a server")
}
