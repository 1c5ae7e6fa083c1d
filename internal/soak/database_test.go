// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/cairnstacks/cairn/internal/statestore/locations"
	"github.com/cairnstacks/cairn/internal/testenv/objecttest"
	"github.com/cairnstacks/cairn/internal/testenv/postgrestest"
)

// database is the server that has the states of all lives, and is killed as well.
type database struct {
	place   string // of the states of many stacks
	restart func()
	mu      sync.Mutex // held while it is away
}

// startDatabase starts the server that -store asks for, nil for none.
func startDatabase(t *testing.T) *database {
	t.Helper()
	switch *storeFlag {
	case "sqlite":
		return nil
	case "directory":
		return &database{place: "file://" + t.TempDir()}
	case "postgres":
		server := postgrestest.Start(t)
		return &database{place: server.URL(""), restart: func() {
			server.Stop(t, syscall.SIGKILL)
			server.Run(t)
		}}
	case objecttest.S3, objecttest.GoFakeS3, objecttest.GCS:
		server := objecttest.Start(t, *storeFlag)
		server.Access().SetEnv(t)
		return &database{place: server.Access().Location, restart: func() { server.Restart(t) }}
	default:
		t.Fatalf("-store is %q; want sqlite, postgres, directory, %s, %s or %s",
			*storeFlag, objecttest.S3, objecttest.GoFakeS3, objecttest.GCS)
		return nil
	}
}

// location returns the setting of where the state of a life is.
func (d *database) location(engine string, seed uint64) string {
	if d == nil {
		return ""
	}
	return locations.WithKey(d.place, fmt.Sprintf("life_%s_%d", engine, seed))
}

// kill kills the server, and starts it again.
func (d *database) kill() bool {
	if d.restart == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.restart()
	return true
}

// await waits until the server is there.
func (d *database) await() {
	d.mu.Lock()
	defer d.mu.Unlock()
}
