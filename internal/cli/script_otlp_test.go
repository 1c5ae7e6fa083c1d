// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"os"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/testenv/otlptest"
)

// otlpCommand returns the command otlp of scripts.
//
//   - otlp start: receives traces and metrics until the script ends, and has cairn send them
//   - otlp tree FILE: writes the tree of all spans since the last time to a file
//   - otlp metrics FILE: likewise the metrics
func otlpCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	var receivers sync.Map // by the names of scripts
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if args[0] == "start" {
			started := otlptest.Start()
			ts.Defer(started.Close)
			receivers.Store(ts.Name(), started)
			ts.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", started.URL())
			return
		}
		found, _ := receivers.Load(ts.Name())
		receiver, ok := found.(*otlptest.Receiver)
		if !ok || len(args) != 2 {
			ts.Fatalf("unknown use of otlp, or it was not started: %q", args)
		}
		text := receiver.Tree
		if args[0] == "metrics" {
			text = receiver.Measured
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text()), 0o600))
		receiver.Forget()
	}
}
