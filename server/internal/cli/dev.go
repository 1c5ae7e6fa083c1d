// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/cairnstacks/cairn/server/internal/authority"
	"github.com/cairnstacks/cairn/server/internal/database"
	"github.com/cairnstacks/cairn/server/internal/node"
)

const (
	defaultAddress   = "127.0.0.1:7233"
	defaultFile      = "cairn-server.db"
	defaultNamespace = "cairn"

	warnings = "warn" // the default level of the log

	// minRetention is the least that Temporal accepts.
	minRetention = time.Hour
)

const devHelp = `Usage: cairn-server dev [OPTIONS]

Runs all services of Temporal in this process until Ctrl-C, or a second one to
end at once. Prints a line when it serves, and the block for
cairn.workspace.hcl.

Options:

  -address=ADDRESS     where it listens: an IP address and a port. Default:
                       127.0.0.1:7233
  -db=DATABASE         memory, a file of SQLite, or postgres://USER@HOST/NAME,
                       which also uses a database NAME_visibility. A password
                       is better in PGPASSWORD or PGPASSFILE than in arguments,
                       which others see. Default: cairn-server.db
  -namespace=NAME      registers a namespace; may be repeated. Default: cairn
  -retention=DURATION  how long finished tasks are kept, at least 1h. Default:
                       24h
  -tls-cert=FILE       certificate of this server, PEM
  -tls-key=FILE        its key
  -tls-client-ca=FILE  certificates of those who sign the certificates of
                       clients. The three go together, and with the next two:
  -allow=NAME:QUEUE    lets a worker take tasks from a task queue and those
                       below it, as in worker-prod:cairn/prod. NAME is the
                       common name of its certificate. May be repeated
  -orchestrator=NAME   lets a client start, cancel and see tasks. May be
                       repeated
  -insecure            without certificates, listens also on other addresses
                       than loopback: whoever reaches it can run tasks
  -log-level=LEVEL     debug, info, warn or error, on standard error. Default:
                       warn
`

// settings are the arguments of dev.
type settings struct {
	address     string
	database    string
	namespaces  []string
	retention   time.Duration
	certificate string
	key         string
	clientCA    string
	rules       authority.Rules
	ruled       bool // there is a rule
	insecure    bool
	logLevel    string
}

func dev(ctx context.Context, args []string, stdout io.Writer) error {
	s, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		_, err = fmt.Fprint(stdout, devHelp)
	}
	if err != nil || s == nil {
		return err
	}
	options, err := s.options()
	if err != nil {
		return err
	}
	var steady atomic.Bool
	options.Logger = newLogger(s.logLevel, &steady)
	if options.Database, err = database.Open(ctx, s.database, options.Logger); err != nil {
		return err
	}
	err = serve(ctx, options, &steady, stdout)
	return errors.Join(err, options.Database.Close(context.WithoutCancel(ctx)))
}

// newLogger returns a logger to standard error. The services warn about each other while they start
// and stop; that is left out unless more is asked for than warnings.
func newLogger(level string, steady *atomic.Bool) log.Logger {
	logger := log.BuildZapLogger(log.Config{Level: level, Format: "json"})
	if level == warnings {
		logger = logger.WithOptions(zap.IncreaseLevel(zap.LevelEnablerFunc(func(l zapcore.Level) bool {
			return l >= zap.ErrorLevel || l == zap.WarnLevel && steady.Load()
		})))
	}
	return log.NewZapLogger(logger)
}

// serve runs a node until ctx ends. It sets steady while no service starts or stops.
func serve(ctx context.Context, options node.Options, steady *atomic.Bool, stdout io.Writer) error {
	running, err := node.Start(ctx, options)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "Serving on %s (database: %s; namespaces: %s). Ctrl-C ends it.\nFor cairn.workspace.hcl: %s\n",
		options.Address, options.Database.Name, strings.Join(options.Namespaces, ", "), block(options))
	if err == nil {
		steady.Store(true)
		<-ctx.Done()
		steady.Store(false)
	}
	return errors.Join(err, running.Stop())
}

// block returns the block for a workspace file. Users have to add their certificates.
func block(options node.Options) string {
	address := options.Address.String()
	if options.Address.Addr().IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			address = net.JoinHostPort(name, fmt.Sprint(options.Address.Port()))
		}
	}
	if slices.Contains(options.Namespaces, defaultNamespace) {
		return fmt.Sprintf("workers \"temporal\" { address = %q }", address)
	}
	return fmt.Sprintf("workers \"temporal\" {\n  address   = %q\n  namespace = %q\n}", address, options.Namespaces[0])
}

// parse reads the arguments, and checks each by itself.
func parse(args []string) (*settings, error) {
	s := &settings{}
	flags := flag.NewFlagSet("dev", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.address, "address", defaultAddress, "")
	flags.StringVar(&s.database, "db", defaultFile, "")
	flags.Func("namespace", "", func(name string) error {
		if !validNamespace.MatchString(name) || strings.HasPrefix(name, "temporal-") {
			return errors.New("a namespace has letters, digits, dots, dashes and underscores, and does not begin with temporal-")
		}
		s.namespaces = append(s.namespaces, name)
		return nil
	})
	flags.DurationVar(&s.retention, "retention", 24*time.Hour, "")
	flags.StringVar(&s.certificate, "tls-cert", "", "")
	flags.StringVar(&s.key, "tls-key", "", "")
	flags.StringVar(&s.clientCA, "tls-client-ca", "", "")
	flags.Func("allow", "", func(rule string) error {
		s.ruled = true
		return s.rules.AllowWorker(rule)
	})
	flags.Func("orchestrator", "", func(name string) error {
		s.ruled = true
		return s.rules.AllowOrchestrator(name)
	})
	flags.BoolVar(&s.insecure, "insecure", false, "")
	flags.StringVar(&s.logLevel, "log-level", warnings, "")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, usagef("%v", err)
	}
	switch {
	case flags.NArg() > 0:
		return nil, usagef("dev takes no argument %q", flags.Arg(0))
	case s.database == "":
		return nil, usagef("-db is empty")
	case s.retention < minRetention:
		return nil, usagef("-retention=%s is too short; Temporal keeps finished tasks for at least %s", s.retention, minRetention)
	case !slices.Contains([]string{"debug", "info", warnings, "error"}, s.logLevel):
		return nil, usagef("-log-level is not debug, info, warn or error")
	}
	if len(s.namespaces) == 0 {
		s.namespaces = []string{defaultNamespace}
	}
	return s, nil
}

var validNamespace = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// options checks how the arguments go together.
func (s *settings) options() (node.Options, error) {
	options := node.Options{Namespaces: s.namespaces, Retention: s.retention}
	var err error
	if options.Address, err = parseAddress(s.address); err != nil {
		return options, err
	}
	if options.Secure, err = s.secure(); err != nil {
		return options, err
	}
	if options.Secure == nil && !s.insecure && !options.Address.Addr().IsLoopback() {
		return options, usagef("without certificates, whoever reaches %s could run tasks with the rights of workers; "+
			"use -tls-cert, -tls-key and -tls-client-ca, or -insecure in a network that nobody else reaches", options.Address)
	}
	return options, nil
}

func parseAddress(text string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return netip.AddrPort{}, usagef("-address=%s is not an IP address and a port, as in %s", text, defaultAddress)
	}
	switch host {
	case "localhost":
		host = "127.0.0.1"
	case "":
		host = "0.0.0.0"
	}
	address, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	if err != nil || address.Port() == 0 {
		return netip.AddrPort{}, usagef("-address=%s is not an IP address and a port, as in %s", text, defaultAddress)
	}
	return address, nil
}

// secure returns nil where there are no certificates.
func (s *settings) secure() (*node.Secure, error) {
	files := []string{s.certificate, s.key, s.clientCA}
	switch missing := slices.Contains(files, ""); {
	case missing && strings.Join(files, "") != "":
		return nil, usagef("-tls-cert, -tls-key and -tls-client-ca go together")
	case missing && s.ruled:
		return nil, usagef("-allow and -orchestrator need certificates: -tls-cert, -tls-key and -tls-client-ca")
	case missing:
		return nil, nil //nolint:nilnil // no certificates
	case !s.rules.Complete():
		return nil, usagef("with certificates, nobody may do anything without rules: add -orchestrator=NAME and -allow=NAME:QUEUE")
	}
	return &node.Secure{Certificate: s.certificate, Key: s.key, ClientCA: s.clientCA, Rules: &s.rules}, nil
}
