// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package cli is the command line of cairn-server.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/cairnstacks/cairn/server/internal/database"
	"github.com/cairnstacks/cairn/server/internal/node"
)

// Codes with which the process ends.
const (
	codeFailed = 1
	codeUsage  = 2
)

const help = `Usage: cairn-server COMMAND [OPTIONS]

Runs Temporal for cairn, for development and small teams. Production uses a
Temporal cluster of its own, or Temporal Cloud.

Commands:

  dev      runs all services of Temporal in this process until Ctrl-C
  version  prints the versions of this program and of Temporal

"cairn-server dev -h" lists the options of dev.
`

// usageError is a mistake in the arguments.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// Main runs the command that the arguments of the process name, and returns the code with which the
// process ends. A first interrupt ends the command in order, a second one the process.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// Run runs a command until it ends or ctx does, and returns the code with which the process ends.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := run(ctx, args, stdout)
	switch _, usage := errors.AsType[*usageError](err); {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		return 0
	case usage:
		fmt.Fprintf(stderr, "cairn-server: %v\n\nRun \"cairn-server help\" or \"cairn-server dev -h\".\n", err)
		return codeUsage
	default:
		fmt.Fprintf(stderr, "cairn-server: %v%s\n", err, remedy(err))
		return codeFailed
	}
}

// remedy returns what to do about an error of the libraries, which know no options.
func remedy(err error) string {
	if _, ok := errors.AsType[*database.InUseError](err); ok {
		return "; stop that one, or choose another database with -db"
	}
	if _, ok := errors.AsType[*node.AddressInUseError](err); ok {
		return "; stop the server that listens there, or choose another address with -address"
	}
	if errors.Is(err, database.ErrForeign) {
		return "; choose another database with -db"
	}
	return ""
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return usagef("a command is missing")
	}
	switch command, rest := args[0], args[1:]; command {
	case "dev":
		return dev(ctx, rest, stdout)
	case "version", "-version", "--version":
		_, err := fmt.Fprintln(stdout, versions())
		return err
	case "help", "-h", "-help", "--help":
		_, err := fmt.Fprint(stdout, help)
		return err
	default:
		return usagef("there is no command %q", command)
	}
}
