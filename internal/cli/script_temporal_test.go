// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
)

// temporalCommand returns the command temporal of scripts: "temporal start" runs cairn-server in
// memory, at the address in $TEMPORAL. Scripts ask for [temporal] before. It runs until all scripts
// have ended: what they have left in the background needs it to come to its end.
func temporalCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if len(args) != 1 || args[0] != "start" {
			ts.Fatalf("unknown use of temporal: %q", args)
		}
		ts.Setenv("TEMPORAL", temporaltest.Start(t, temporaltest.Memory).Address())
	}
}

// hasTemporal reports whether there is a cairn-server, or can be.
func hasTemporal() (bool, error) {
	_, err := temporaltest.Program(testContext())
	if err == nil {
		return true, nil
	}
	if os.Getenv("CI") != "" && os.Getenv(testenv.WithoutTemporalVariable) == "" {
		return false, err
	}
	testenv.RecordSkipped("TestScripts", "scripts: "+err.Error())
	return false, nil
}
