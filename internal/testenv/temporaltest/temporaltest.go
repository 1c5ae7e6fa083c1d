// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package temporaltest runs Temporal for tests: cairn-server, on loopback and in temporary
// directories. It can be stopped, killed, and run again at the same address with the same database.
//
// The program is built from the folder server of the repository as the first test needs it: see
// [toolcache.Cache.Server].
package temporaltest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
)

// Namespace is the namespace that a server has.
const Namespace = "cairn"

// Databases of a server. A URL of PostgreSQL, with any name of a database, is another one.
const (
	// Memory is gone when the server stops. It is the fastest one.
	Memory = "memory"

	// File is a file of SQLite, in a temporary directory.
	File = "file"
)

// Server is a server of Temporal.
type Server struct {
	command []string // a program with its first arguments
	args    []string
	dir     string // of its file and its log
	port    int
	daemon  *testenv.Daemon // nil if it is stopped
}

// Start starts a server with a database, and further arguments of "cairn-server dev". It runs until
// the test ends. Where the program can't be built, the test ends.
func Start(t testing.TB, database string, args ...string) *Server {
	t.Helper()
	return StartCommand(t, []string{find(t)}, database, args...)
}

// StartCommand starts a server, as [Start] does, by a command that runs a cairn-server with the
// arguments that are added to it, as the process of that command.
func StartCommand(t testing.TB, command []string, database string, args ...string) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "cairn-temporal-") //nolint:usetesting // The server ends after the directory of a test does.
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{command: command, dir: dir, port: testenv.FreePort(t)}
	t.Cleanup(func() {
		s.Kill(t)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if database == File {
		database = filepath.Join(dir, "temporal.db")
	}
	s.args = append([]string{"dev", "-address=" + s.Address(), "-db=" + database, "-namespace=" + Namespace}, args...)
	s.Run(t)
	return s
}

// Program returns the path of cairn-server, which is built if it has changed.
func Program(ctx context.Context) (string, error) {
	cache, err := toolcache.Open(os.Stderr)
	if err != nil {
		return "", err
	}
	program, err := cache.Server(ctx)
	if err != nil {
		return "", fmt.Errorf("needs cairn-server: %w", err)
	}
	return program, nil
}

func find(t testing.TB) string {
	t.Helper()
	program, err := Program(context.WithoutCancel(t.Context()))
	if err != nil {
		if os.Getenv(testenv.WithoutTemporalVariable) != "" {
			t.Skip(err.Error() + "; see " + testenv.WithoutTemporalVariable)
		}
		testenv.Missing(t, err.Error())
	}
	return program
}

// Run starts a server that was stopped, and waits until it serves.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	testenv.Within(t, "cairn-server serves", func() {
		before := len(s.Log(t))
		//nolint:gosec // a program that this repository has built
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), s.command[0], slices.Concat(s.command[1:], s.args)...)
		cmd.Dir = s.dir
		cmd.SysProcAttr = testenv.OwnProcessGroup()
		s.daemon = testenv.StartDaemon(t, cmd, s.logFile())
		for !strings.Contains(s.Log(t)[before:], "Serving on "+s.Address()) {
			select {
			case <-s.daemon.Ended:
				t.Fatalf("cairn-server ended as it was started: %s", s.Log(t)[before:])
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
}

// Stop ends the server as an operator does.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.end(t, syscall.SIGTERM)
}

// Kill ends the server as a crash does. Its databases, other than [Memory], lose nothing that a
// client was told of.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.end(t, os.Kill)
}

// Restart kills the server, and runs it again.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Kill(t)
	s.Run(t)
}

func (s *Server) end(t testing.TB, signal os.Signal) {
	t.Helper()
	s.daemon.End(t, signal)
	s.daemon = nil
}

// Dir returns the directory with the file of its database, and its log.
func (s *Server) Dir() string { return s.dir }

// Address is where it listens, the same after each [Server.Run].
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

func (s *Server) logFile() string { return filepath.Join(s.dir, "log") }

// Log returns what the server has written to its outputs, in all its runs.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile(s.logFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(log)
}
