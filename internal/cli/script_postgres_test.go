// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"net"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/testenv/postgrestest"
)

// postgresCommand returns the command postgres of scripts.
//
//   - postgres start: runs a PostgreSQL server until the script ends. The variables of libpq, such
//     as PGHOST, say where its database is
//   - postgres stop: ends it as a crash does
//   - postgres run: runs it again
//   - postgres sql STATEMENTS: runs statements in the database
func postgresCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	var servers sync.Map // by the names of scripts
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if args[0] == "start" {
			servers.Store(ts.Name(), postgrestest.Start(t))
		}
		found, _ := servers.Load(ts.Name())
		server, ok := found.(*postgrestest.Server)
		if !ok {
			ts.Fatalf("no server was started")
		}
		switch args[0] {
		case "start":
			host, port, err := net.SplitHostPort(server.Address())
			ts.Check(err)
			for name, value := range map[string]string{
				"PGHOST": host, "PGPORT": port, "PGUSER": postgrestest.User,
				"PGPASSWORD": postgrestest.Password, "PGDATABASE": postgrestest.Database,
			} {
				ts.Setenv(name, value)
			}
		case "stop":
			server.Stop(t, syscall.SIGKILL)
		case "run":
			server.Run(t)
		case "sql":
			server.InStates(t, args[1])
		default:
			ts.Fatalf("unknown use of postgres: %q", args)
		}
	}
}
