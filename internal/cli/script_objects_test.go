// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/testenv/objecttest"
)

// objectsCommand is the command objects of scripts: "objects start KIND" starts a server of object
// storage with a bucket, whose location is in $BUCKET then, and the address of the server in
// $ADDRESS; stop kills it, and run starts it again.
func objectsCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	var servers sync.Map // by the names of scripts
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if args[0] == "start" {
			servers.Store(ts.Name(), objecttest.Start(t, args[1]))
		}
		found, _ := servers.Load(ts.Name())
		server, ok := found.(*objecttest.Server)
		if !ok {
			ts.Fatalf("no server was started")
		}
		switch args[0] {
		case "start":
			ts.Setenv("BUCKET", server.Access().Location)
			ts.Setenv("ADDRESS", server.Address())
			for name, value := range server.Access().Environ {
				ts.Setenv(name, value)
			}
		case "stop":
			server.Kill(t)
		case "run":
			server.Run(t)
		default:
			ts.Fatalf("unknown use of objects: %q", args)
		}
	}
}
