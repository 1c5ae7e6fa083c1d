// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compatibility

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/cli"
	"github.com/cairnstacks/cairn/internal/cli/session"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cairn": func() {
			streams := session.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
			os.Exit(cli.Main(context.Background(), os.Args[1:], streams)) // as package main does
		},
	})
}
