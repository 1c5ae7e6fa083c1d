// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Command conformance runs the tests of a list of behaviours, and prints a table of them.
//
// There are four lists, in files of the same names: language.txt of the language, whose rows are
// numbered, ordering.txt of the ordering of many stacks, whose rows have letters and numbers, or
// names, rpc.txt of the RPC API, and modules.txt of the language of modules. The name of a test
// says which rows it is for:
//
//   - of the language: a function such as TestRow055BuiltInResource (or TestRow055And056 for two
//     rows), and a subtest of a function whose name begins with TestRows, such as
//     TestRowsValidation/078_in_range;
//   - of ordering: a function such as TestOrderA16 (or TestOrderB60B61Gates), a subtest of a
//     function whose name begins with TestOrder, such as TestOrderA/A-03_repeated_entries (or
//     B-01_B-06, or C-20_and_C-28), and for the code order/bad-path the script
//     order_errors_bad_path;
//   - of the RPC API: a subtest of a function whose name begins with TestRPC, such as
//     TestRPCSetup/S-03_second_handshake;
//   - of modules: an archive of package differential, such as 161-replace-chain.txtar, or a test
//     that is in modules_tests.txt.
//
// A row has passed if it has tests and all of them passed. A test for no row that has failed is
// shown below the table. A row without tests is an error unless docs/differences.md says why, in a
// table row that begins with its id.
//
//	go run ./internal/conformance [-v] [-list=language|ordering|rpc|modules] [ROW|FIRST-LAST|BEGINNING]...
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
	name := flag.String("list", language.name, "which `list` of behaviours: language, ordering, rpc or modules")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(),
			"usage: go run ./internal/conformance [-v] [-list=language|ordering|rpc|modules] [ROW|FIRST-LAST|BEGINNING]...")
		flag.PrintDefaults()
	}
	flag.Parse()
	ok, err := report(ctx, *name, flag.Args(), *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

func report(ctx context.Context, name string, selection []string, verbose bool) (bool, error) {
	l, err := listNamed(name)
	if err != nil {
		return false, err
	}
	all := l.rows()
	rows, err := selectRows(all, selection)
	if err != nil {
		return false, err
	}
	exceptions, err := readExceptions("docs/differences.md", l.exceptions, all)
	if err != nil {
		return false, err
	}
	results, err := l.runTests(ctx, rows)
	if err != nil {
		return false, err
	}
	return printTable(os.Stdout, rows, results, exceptions, verbose), nil
}
