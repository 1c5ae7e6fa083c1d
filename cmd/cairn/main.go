// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Command cairn runs the Terraform Stacks language.
package main

import (
	"context"
	"os"

	"github.com/cairnstacks/cairn/internal/cli"
	"github.com/cairnstacks/cairn/internal/cli/session"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], session.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
