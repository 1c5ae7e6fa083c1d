// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Command conformance runs the tests of the behaviours of the language, and prints a table of them.
//
// The behaviours are the numbered rows of rows.txt. A row's test is a function whose name begins with TestRow and the
// number, as in TestRow055BuiltInDataResource (or TestRow055And056 for two), or a subtest of a function whose name begins with TestRows
// whose own name begins with the number, as in TestRowsValidation/078_in_range. A row has passed if it has tests and all
// of them passed. A row without tests is an error unless docs/differences.md says why, in a table row that begins with its number.
//
//	go run ./internal/conformance [-v] [FIRST[-LAST]...]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	verbose := flag.Bool("v", false, "show the tests of each row")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./internal/conformance [-v] [FIRST[-LAST]...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	ok, err := report(ctx, flag.Args(), *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

func report(ctx context.Context, selection []string, verbose bool) (bool, error) {
	rows, err := selectRows(allRows(), selection)
	if err != nil {
		return false, err
	}
	exceptions, err := readExceptions("docs/differences.md")
	if err != nil {
		return false, err
	}
	results, err := runTests(ctx, rows)
	if err != nil {
		return false, err
	}
	return printTable(os.Stdout, rows, results, exceptions, verbose), nil
}
