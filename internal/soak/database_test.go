// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv/postgrestest"
)

// database is the server that has the states of all lives, and is killed as well.
type database struct {
	t      *testing.T
	server *postgrestest.Server
	mu     sync.Mutex // held while it is away
}

// startDatabase starts the server that -store asks for, nil for none.
func startDatabase(t *testing.T) *database {
	t.Helper()
	switch *storeFlag {
	case "sqlite":
		return nil
	case "postgres":
		return &database{t: t, server: postgrestest.Start(t)}
	default:
		t.Fatalf("-store is %q; want sqlite or postgres", *storeFlag)
		return nil
	}
}

// location returns the setting of where the state of a life is.
func (d *database) location(engine string, seed uint64) string {
	if d == nil {
		return ""
	}
	return d.server.URL(fmt.Sprintf("life_%s_%d", engine, seed))
}

// kill kills the server, and starts it again.
func (d *database) kill() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.server.Stop(d.t, syscall.SIGKILL)
	d.server.Run(d.t)
	return true
}

// await waits until the server is there.
func (d *database) await() {
	d.mu.Lock()
	defer d.mu.Unlock()
}
