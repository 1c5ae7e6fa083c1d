// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := measure
	if len(os.Args) > 1 && os.Args[1] == libraryCommand {
		run = runLibrary
	}
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	engine      string
	cairn       string
	only        string
	rounds      int
	largeRounds int
	update      string
	mirror      string
	database    string
	machine     string // conditions of the results, as they were before all of them
}

func measure(ctx context.Context, args []string, out io.Writer) (err error) {
	var opts options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&opts.engine, "engine", os.Getenv("CAIRN_ENGINE"), "the engine's binary; by default tofu or terraform from PATH")
	flags.StringVar(&opts.cairn, "cairn", "", "the cairn program; without it only the library is compared with the engine")
	flags.StringVar(&opts.only, "only", "", `"evaluator", "engine", "native", "providers", "ordering", "rpc" or "stores": measure this part only`)
	flags.IntVar(&opts.rounds, "rounds", 5, "how often each comparison is made")
	flags.IntVar(&opts.largeRounds, "large-rounds", 1, "how often each comparison with 300 components is made")
	flags.StringVar(&opts.update, "update", "", "also put the results into this `file`, between its markers")
	flags.StringVar(&opts.mirror, "mirror", "",
		"a `directory` that is a filesystem mirror with the provider hashicorp/aws, for modules with that")
	flags.StringVar(&opts.database, "database", "",
		"for the part stores, which is measured only with it: the `URL` of a database or of object storage")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if parts := []string{"", "evaluator", "engine", "native", "providers", "ordering", "rpc", "stores"}; !slices.Contains(parts, opts.only) {
		return fmt.Errorf("-only=%s is not one of the parts %s", opts.only, strings.Join(parts[1:], ", "))
	}
	found, err := toolchain.Search{Setting: opts.engine}.Find(ctx)
	if err != nil {
		return err
	}
	opts.engine = found.Path
	if opts.cairn != "" {
		if opts.cairn, err = filepath.Abs(opts.cairn); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "cairn-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if opts.machine, err = describeMachine(ctx, opts.engine, dir); err != nil {
		return err
	}

	// The parts that compare plans of components share one place in the document.
	if !slices.Contains([]string{"ordering", "rpc", "stores"}, opts.only) {
		if err := measurePart(ctx, opts, "", dir, out, (*report).measureComponents); err != nil {
			return err
		}
	}
	if opts.only == "" || opts.only == "ordering" {
		if err := measurePart(ctx, opts, "ordering", dir, out, (*report).measureOrdering); err != nil {
			return err
		}
	}
	if opts.only == "rpc" || opts.only == "" && opts.cairn != "" {
		if err := measurePart(ctx, opts, "rpc", dir, out, (*report).measureRPC); err != nil {
			return err
		}
	}
	if opts.only == "stores" || opts.only == "" && opts.database != "" {
		return measurePart(ctx, opts, "stores", dir, out, (*report).measureStores)
	}
	return nil
}

// measurePart measures a part that has a place of its own in the document.
func measurePart(
	ctx context.Context,
	opts options,
	part, dir string,
	out io.Writer,
	measure func(r *report, ctx context.Context, opts options, dir string) error,
) error {
	r := &report{part: part, sections: []string{opts.machine}}
	// Results from before an interrupt or a failure are printed, but put into no document.
	err := measure(r, ctx, opts, dir)
	if err == nil && opts.update != "" {
		err = r.update(opts.update)
	}
	_, printErr := io.WriteString(out, r.text())
	return errors.Join(err, printErr)
}

func (r *report) measureComponents(ctx context.Context, opts options, dir string) error {
	for _, part := range []struct {
		name    string
		program bool // it measures the cairn program
		measure func(context.Context, options, string) error
	}{
		{"evaluator", false, r.measureEvaluator},
		{"engine", false, r.measureEngine},
		{"native", true, r.measureNative},
		{"providers", true, r.measureProviders},
	} {
		if opts.only != "" && opts.only != part.name || part.program && opts.cairn == "" {
			continue
		}
		if err := part.measure(ctx, opts, dir); err != nil {
			return err
		}
	}
	return nil
}

// progress shows the present measurement, apart from the results.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
