// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// The parameters of the provider protocol.
const (
	pluginName    = "provider"
	legacyVersion = 4 // of plugins that do not know versions, which no provider is
	cookieKey     = "TF_PLUGIN_MAGIC_COOKIE"
	cookieValue   = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
	maxSchemaSize = 64 << 20
)

// NoTLSVariable turns the encryption of the connection to a provider off, if it is not empty.
const NoTLSVariable = "TF_DISABLE_PLUGIN_TLS"

// process is a running provider.
type process struct {
	name    string // of the binary
	client  *plugin.Client
	conn    grpc.ClientConnInterface
	words   *lastWords
	release context.CancelFunc // of the context that ends the process
}

// startProcess starts a provider. Ending ctx ends the start, but not the process once it has started.
func startProcess(ctx context.Context, binary string, opts Options) (*process, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	defer stop()

	p := &process{name: filepath.Base(binary), words: &lastWords{}, release: end}
	cmd := exec.CommandContext(life, binary)
	cmd.Env = slices.Clone(opts.Environ)
	endWithParent(cmd)
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
		AutoMTLS:         environ.Get(opts.Environ, NoTLSVariable) == "",
		Cmd:              cmd,
		SkipHostEnv:      true,
		StartTimeout:     opts.StartTimeout,
		Stderr:           p.words,
		Logger:           hclog.NewNullLogger(),
		Managed:          true,
	})
	if err := p.connect(); err != nil {
		p.end()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, p.notStarted(err)
	}
	return p, nil
}

func (p *process) connect() error {
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	conn, err := protocol.Dispense(pluginName)
	if err != nil {
		return err
	}
	p.conn = conn.(grpc.ClientConnInterface)
	return nil
}

// notStarted returns a more useful error than that of go-plugin, which explains at length what may be the cause.
func (p *process) notStarted(err error) error {
	failure := &engine.FunctionError{Problem: "The provider's program " + p.name + " could not be started", Argument: -1}
	switch words := p.words.String(); {
	case words != "":
		failure.Problem += ": it has crashed."
		failure.Said = "Its last words were: " + words
	case strings.HasPrefix(err.Error(), "timeout"):
		failure.Problem += ": it did not answer in time."
	default:
		reason, _, _ := strings.Cut(err.Error(), "\n")
		failure.Problem += ": " + strings.TrimSuffix(strings.TrimSpace(reason), ".") + "."
	}
	return failure
}

// end ends the process, after having given it two seconds to do so itself.
func (p *process) end() {
	p.client.Kill()
	p.release()
}

var errUnimplemented = errors.New("the provider does not have this method")

// invoke calls a method of the provider protocol, which in version 5 and 6 is the same.
//
// Errors: [errUnimplemented]; a [*engine.FunctionError], after which the process has ended; context.Cause(ctx).
func (p *process) invoke(ctx context.Context, timeout time.Duration, method methodName, request, response proto.Message) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := p.conn.Invoke(limited, method.in(p.client.NegotiatedVersion()), request, response, grpc.MaxCallRecvMsgSize(maxSchemaSize))
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch status.Code(err) {
	case codes.DeadlineExceeded, codes.Canceled: // the other side knows the limit, too, and may notice first
		p.end()
		return &engine.FunctionError{
			Problem:  fmt.Sprintf("The provider's program %s did not answer within %s and was ended.", p.name, timeout),
			Argument: -1,
		}
	case codes.Unimplemented:
		return errUnimplemented
	case codes.Unavailable:
		return p.crashed()
	default:
		return &engine.FunctionError{Problem: "The provider's program " + p.name + " failed.", Said: status.Convert(err).Message(), Argument: -1}
	}
}

// crashed collects what the process left behind.
func (p *process) crashed() error {
	p.end() // waits until all that it wrote has been read
	failure := &engine.FunctionError{
		Problem: fmt.Sprintf("The provider's program %s has crashed. That is a mistake in the provider, not in the configuration: "+
			"select another version of it, or report it to the provider's authors.", p.name),
		Argument: -1,
	}
	if words := p.words.String(); words != "" {
		failure.Said = "Its last words were: " + words
	}
	return failure
}

// methodName is a method of the service, which has the same name in both versions of the protocol, unless there is another for 5.
type methodName struct{ name, in5 string }

func (m methodName) in(version int) string {
	name := m.name
	if version == 5 && m.in5 != "" {
		name = m.in5
	}
	return fmt.Sprintf("/tfplugin%d.Provider/%s", version, name)
}

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

// panicLine is how a Go program begins to explain that it has crashed.
var panicLine = regexp.MustCompile(`^(?:panic|fatal error): .*`)

// lastWords remembers from the standard error of a process why it has crashed.
type lastWords struct {
	mu struct {
		sync.Mutex
		line  []byte // the last one, as far as it was written
		words string
	}
}

// maxWords keeps what is shown, and what is remembered of a line without end, small.
const maxWords = 1000

// Write implements [io.Writer].
func (w *lastWords) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range bytes.Lines(data) {
		w.mu.line = append(w.mu.line, line[:min(len(line), maxWords)]...)
		if w.mu.words == "" && panicLine.Match(w.mu.line) {
			w.mu.words = strings.TrimSpace(string(w.mu.line[:min(len(w.mu.line), maxWords)]))
		}
		if bytes.HasSuffix(line, []byte("\n")) || len(w.mu.line) > maxWords {
			w.mu.line = w.mu.line[:0]
		}
	}
	return len(data), nil
}

// String returns the words, empty if there were none.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.words
}
