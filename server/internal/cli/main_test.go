// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli_test

import (
	"os"
	"testing"

	"github.com/cairnstacks/cairn/server/internal/cli"
)

// runVariable makes the test program run the command line, as a process that can be killed.
const runVariable = "CAIRN_SERVER_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runVariable) != "" {
		os.Exit(cli.Main())
	}
	code := m.Run()
	stopPostgres()
	os.Exit(code)
}
