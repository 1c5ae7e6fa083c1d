// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/telemetry"
)

// The parameters of the provider protocol.
const (
	pluginName    = "provider"
	legacyVersion = 4 // of plugins that do not know versions, which no provider is
	cookieKey     = "TF_PLUGIN_MAGIC_COOKIE"
	cookieValue   = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
)

// NoTLSVariable turns the encryption of the connection to a provider off, if it is not empty.
const NoTLSVariable = "TF_DISABLE_PLUGIN_TLS"

// Options are the parameters of [Start].
type Options struct {
	Dir          string         // the process works in; "" for that of this program
	Environ      []string       // of the process; nil for none
	StartTimeout time.Duration  // how long the process may take to start; 0 stands for a minute
	CallTimeout  time.Duration  // how long an answer to [Process.Invoke] may take before the process is ended; 0 for any time
	Log          *enginelog.Log // of the output of the process, and of calls; nil for none
}

// Process is a running provider. Made by [Start] or [Attach]. Safe for concurrent use.
type Process struct {
	name    string // of the program
	version int    // of the protocol
	conn    *grpc.ClientConn
	client  *plugin.Client // nil for a process that somebody else has started
	words   *lastWords
	timeout time.Duration      // of calls; 0 for none
	log     hclog.Logger       // nil for none
	pid     string             // for that
	release context.CancelFunc // of the context that ends the process
	ending  sync.Once

	mu struct {
		sync.Mutex
		over *Error // why no calls can be made any more, nil while they can
	}
}

// sdkLogs are the environment variables for the logs of the libraries of providers. They go to
// standard error at the most detailed level if the variables are not set, and cost more than all
// else that a small resource needs.
var sdkLogs = []string{"TF_LOG_SDK", "TF_LOG_SDK_PROTO", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_HELPER_SCHEMA"}

// quiet returns an environment in which libraries of providers log from a level on, unless it sets
// another.
func quiet(env []string, level string) []string {
	env = slices.Clone(env)
	for _, name := range sdkLogs {
		if _, set := environ.LookUp(env, name); !set {
			env = append(env, name+"="+level)
		}
	}
	return env
}

// Start starts a provider. Ending ctx ends the start, but not the process once it has started.
//
// Errors: an [*Error]; context.Cause(ctx).
func Start(ctx context.Context, program string, opts Options) (*Process, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	defer stop()

	p := &Process{name: filepath.Base(program), words: &lastWords{}, timeout: opts.CallTimeout, log: opts.Log.Core(), release: end}
	if absolute, err := filepath.Abs(program); err == nil {
		program = absolute // which does not depend on where the process works
	}
	cmd := exec.CommandContext(life, program)
	cmd.Dir = opts.Dir
	cmd.Env = quiet(telemetry.Environ(ctx, opts.Environ), opts.Log.LevelOfProviders())
	endWithParent(cmd)
	var security *tls.Config
	if environ.Get(opts.Environ, NoTLSVariable) == "" {
		own, err := ownCertificate()
		if err != nil {
			end()
			return nil, &Error{Problem: "No certificate could be made for the connection to the provider.", Said: err.Error()}
		}
		cmd.Env, security = append(cmd.Env, certificateVariable+"="+own.text), own.config()
	}
	p.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion:  legacyVersion,
			MagicCookieKey:   cookieKey,
			MagicCookieValue: cookieValue,
		},
		VersionedPlugins: map[int]plugin.PluginSet{
			5: {pluginName: clientPlugin{}},
			6: {pluginName: clientPlugin{}},
		},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		TLSConfig:        security,
		Cmd:              cmd,
		SkipHostEnv:      true,
		StartTimeout:     opts.StartTimeout,
		Stderr:           p.listeners(opts.Log.Lines(p.name)),
		SyncStdout:       opts.Log.Lines(p.name), // nil for those that are not read
		SyncStderr:       opts.Log.Lines(p.name),
		Logger:           hclog.NewNullLogger(),
		Managed:          true,
	})
	if err := p.connect(); err != nil {
		p.End()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		failure := p.notStarted(program, err)
		p.logStart(program, failure)
		return nil, failure
	}
	p.logStart(program, nil)
	return p, nil
}

func (p *Process) connect() error {
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	conn, err := protocol.Dispense(pluginName)
	if err != nil {
		return err
	}
	p.conn = conn.(*grpc.ClientConn)
	p.version = p.client.NegotiatedVersion()
	return nil
}

// notStarted returns a more useful error than that of go-plugin, which explains possible causes at
// length.
func (p *Process) notStarted(program string, err error) *Error {
	failure := &Error{Problem: "The provider's program " + p.name + " could not be started"}
	switch words := p.words.String(); {
	case words != "":
		failure.Problem += ": it has crashed."
		failure.Said = "Its last words were: " + words
	case strings.HasPrefix(err.Error(), "timeout"):
		failure.Problem += ": it did not answer in time."
	case isFile(program) && CheckProgram(program) != nil:
		failure.Problem += fmt.Sprintf(": %s. Its package is damaged, or is one for another platform.", CheckProgram(program))
	default:
		reason, _, _ := strings.Cut(err.Error(), "\n")
		failure.Problem += ": " + strings.TrimSuffix(strings.TrimSpace(reason), ".") + "."
	}
	return failure
}

// Name returns the name of the program.
func (p *Process) Name() string { return p.name }

// Exited reports whether the process has ended, or cannot be called any more.
func (p *Process) Exited() bool {
	p.mu.Lock()
	over := p.mu.over != nil
	p.mu.Unlock()
	return over || p.client != nil && p.client.Exited()
}

// End ends the process, after having given it two seconds to do so itself. It waits for that, and
// may be called again.
func (p *Process) End() {
	_ = p.finish(&Error{Problem: "The provider's program " + p.name + " has been shut down."}) //nolint:errcheck // the first cause counts
	p.ending.Do(p.kill)
}

func (p *Process) kill() {
	switch {
	case p.client != nil:
		p.client.Kill()
		p.release()
		p.logEnd()
	case p.conn != nil:
		_ = p.conn.Close() //nolint:errcheck // nobody needs it any more
	}
}

// finish makes err the answer to all further calls, unless there is one already. It returns that.
func (p *Process) finish(err *Error) *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.over == nil {
		p.mu.over = err
	}
	return p.mu.over
}

// KillAll ends all processes. It is for a program that ends without unwinding.
func KillAll() { plugin.CleanupClients() }

// clientPlugin makes go-plugin hand out the bare connection: methods are called by name.
type clientPlugin struct{ plugin.NetRPCUnsupportedPlugin }

var _ plugin.GRPCPlugin = clientPlugin{}

// GRPCClient implements [plugin.GRPCPlugin].
func (clientPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// GRPCServer implements [plugin.GRPCPlugin].
func (clientPlugin) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("only for clients")
}
