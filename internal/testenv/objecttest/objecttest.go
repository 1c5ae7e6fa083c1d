// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package objecttest runs servers of object storage for tests, on loopback and in temporary
// directories, and a proxy that brings faults between them and their clients.
//
// The servers are built or installed as the first test needs them: see [toolcache.Cache.Program].
// None of them is the service that it stands for. All of them create an object under a key only
// once, which is what tests here show of each; what differs is said at their kinds.
package objecttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
)

// Bucket is the name of the bucket or container that a server has.
const Bucket = "states"

// Access is how a client reaches the bucket of a server, or of one behind a proxy.
type Access struct {
	// Location is the URL of the bucket, as gocloud.dev/blob takes it.
	Location string

	// Environ are the variables from which clients take credentials, and the address of a server
	// where the location can't have it.
	Environ map[string]string
}

// SetEnv sets the variables for this process until the test ends, which must not be parallel.
func (a Access) SetEnv(t testing.TB) {
	t.Helper()
	for name, value := range a.Environ {
		t.Setenv(name, value)
	}
}

// Server is a server of object storage.
type Server struct {
	kind   kind
	dir    string // of its data and its log
	port   int
	daemon *testenv.Daemon // nil if it is stopped
}

// Start starts a server of a kind, one of [Kinds], with an empty bucket. It runs until the test
// ends. Where it can't be had on this machine, the test ends.
func Start(t testing.TB, name string) *Server {
	t.Helper()
	kind, ok := kinds[name]
	if !ok {
		t.Fatalf("no kind of server %q; want one of %q", name, Kinds())
	}
	kind.command = kind.find(t)
	dir, err := os.MkdirTemp("", "cairn-objects-") //nolint:usetesting // The server ends after the directory of a test does.
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{kind: kind, dir: dir, port: testenv.FreePort(t)}
	t.Cleanup(func() {
		s.Kill(t)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.MkdirAll(filepath.Join(s.Data(), kind.bucketDir), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Run(t)
	if kind.create != nil {
		if err := kind.create(t.Context(), s.Address()); err != nil {
			t.Fatalf("creating a container: %v", err)
		}
	}
	return s
}

// build returns the command of a server that is built from its module.
func build(program toolcache.Program) func(testing.TB) []string {
	return func(t testing.TB) []string {
		t.Helper()
		path, err := cache(t).Program(context.WithoutCancel(t.Context()), program)
		if err != nil {
			missing(t, "needs a server of object storage from a Go module: "+err.Error())
		}
		return []string{path}
	}
}

func findAzurite(t testing.TB) []string {
	t.Helper()
	command, err := cache(t).Azurite(context.WithoutCancel(t.Context()))
	if err != nil {
		missing(t, "needs Azurite: "+err.Error())
	}
	return command
}

// missing ends a test whose server cannot be had.
func missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(testenv.WithoutObjectsVariable) != "" {
		t.Skip(reason + "; see " + testenv.WithoutObjectsVariable)
	}
	testenv.Missing(t, reason)
}

func cache(t testing.TB) *toolcache.Cache {
	t.Helper()
	c, err := toolcache.Open(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Data is the directory with the data of the server.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

func (s *Server) logFile() string { return filepath.Join(s.dir, "log") }

// Run starts a server that was stopped, with the data that it had, and waits until it answers.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	testenv.Within(t, "the server of object storage answers", func() {
		s.begin(t)
		for !answers(t.Context(), s.Address()) {
			select {
			case <-s.daemon.Ended:
				log, _ := os.ReadFile(s.logFile()) //nolint:errcheck // It is for the message only.
				t.Fatalf("%s ended as it was started: %s", s.kind.command[0], log)
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
}

// answers reports whether a server at an address answers anything.
func answers(ctx context.Context, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", http.NoBody)
	if err != nil {
		return false
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close()) == nil
}

// begin starts the process.
func (s *Server) begin(t testing.TB) {
	args := append(s.kind.command[1:len(s.kind.command):len(s.kind.command)], s.kind.args(s)...)
	//nolint:gosec // one of the programs of kinds
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), s.kind.command[0], args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), s.kind.environ...)
	cmd.SysProcAttr = testenv.OwnProcessGroup()
	s.daemon = testenv.StartDaemon(t, cmd, s.logFile())
}

// Stop ends the server as an operator does.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.end(t, syscall.SIGTERM)
}

// Kill ends the server as a crash does. What it has answered is kept, but for [Azure], which writes
// its index of objects some seconds later.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.end(t, os.Kill)
}

// Restart kills the server, and runs it again at the same address.
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

// Address is where it listens.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Access returns how the server is reached.
func (s *Server) Access() Access { return s.Through(s.Address()) }

// Through is [Server.Access] by way of another address.
func (s *Server) Through(address string) Access {
	location, environ := s.kind.access(address)
	environ = maps.Clone(environ)
	// A machine's own settings are not to be used, or asked for over the network.
	for _, name := range settings {
		if _, ok := environ[name]; !ok {
			environ[name] = ""
		}
	}
	return Access{Location: location, Environ: environ}
}

// Log returns what the server has written to its outputs.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile(s.logFile())
	if err != nil {
		t.Fatal(fmt.Errorf("reading the log of a server: %w", err))
	}
	return string(log)
}
