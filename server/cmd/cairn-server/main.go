// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Command cairn-server runs Temporal for cairn, for development and small teams: see its help, and
// docs/server.md. It is a module of its own because nothing of Temporal's server may be linked into
// cairn.
package main

import (
	"os"

	"github.com/cairnstacks/cairn/server/internal/cli"
)

func main() { os.Exit(cli.Main()) }
