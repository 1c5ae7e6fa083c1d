// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/cairnstacks/cairn/internal/providers/client"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// serveVariable makes the program of the tests the fake provider.
const serveVariable = "CAIRN_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := testprovider.Serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var address = stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "fake"}

// start starts the fake provider with more variables in its environment.
func start(t *testing.T, environ ...string) *client.Client {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process, err := plugin.Start(t.Context(), program, plugin.Options{Environ: append(append(os.Environ(), serveVariable+"=1"), environ...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.End)
	answer, err := client.AskSchema(t.Context(), process)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := client.DecodeSchema(answer)
	if err != nil {
		t.Fatal(err)
	}
	return client.New(address, process, schema)
}
