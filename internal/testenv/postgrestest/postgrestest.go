// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package postgrestest runs PostgreSQL servers for tests, on loopback and in temporary directories.
package postgrestest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cairnstacks/cairn/internal/testenv"
)

const (
	// User and Password are of a superuser of the database.
	User     = "cairn"
	Password = "the-password-of-the-database"

	// Database is the name of the database of the URLs.
	Database = "states"
)

// Server is a PostgreSQL server.
type Server struct {
	programs string // directory
	dir      string
	port     int
	daemon   *testenv.Daemon // nil if it is stopped
}

// Start starts a server with an empty database, which runs until the test ends. Without the
// programs of PostgreSQL, the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{programs: findPrograms(t), port: testenv.FreePort(t)}
	dir, err := os.MkdirTemp("", "cairn-postgres-") //nolint:usetesting // the parent of a directory of a test is for its user alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop(t, syscall.SIGQUIT)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	s.dir = filepath.Join(dir, "data")
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := giveAway(dir, password); err != nil {
		t.Fatal(err)
	}
	initialise := s.command(t.Context(), "initdb", "--pgdata="+s.dir, "--username="+User, "--pwfile="+password,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	if output, err := initialise.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, output)
	}
	s.Run(t)
	s.Exec(t, "postgres", "CREATE DATABASE "+Database)
	return s
}

func findPrograms(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // where Debian keeps them
	if err != nil || len(found) == 0 {
		testenv.Missing(t, "needs the programs of PostgreSQL, initdb and postgres")
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

func (s *Server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.programs, program), args...)
	cmd.Dir = filepath.Dir(s.dir)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = attributes()
	return cmd
}

// Run starts a server that was stopped, and waits until it answers.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	testenv.Within(t, "PostgreSQL answers", func() {
		s.begin(t)
		for s.tryExec(t.Context(), "postgres", "SELECT 1") != nil {
			select {
			case <-s.daemon.Ended: // as sessions of one that was killed may not have ended yet
				s.begin(t)
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}

// begin starts the process.
func (s *Server) begin(t testing.TB) {
	s.daemon = testenv.StartDaemon(t, s.command(context.WithoutCancel(t.Context()), "postgres", "-D", s.dir, "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "shared_buffers=32MB"),
		filepath.Join(filepath.Dir(s.dir), "log"))
}

// Stop ends the server by a signal: SIGTERM waits for its clients, SIGINT ends their sessions,
// SIGQUIT ends them as a crash does, and SIGKILL is one.
func (s *Server) Stop(t testing.TB, signal syscall.Signal) {
	t.Helper()
	s.daemon.End(t, signal)
	s.daemon = nil
}

// Address is where it listens.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL returns the location of a schema, with the password. Without a name, it is that of the
// database.
func (s *Server) URL(schema string) string { return s.Through(s.Address(), schema) }

// Through is [Server.URL] by way of another address.
func (s *Server) Through(address, schema string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(User, Password), Host: address, Path: "/" + Database}
	if schema != "" {
		u.RawQuery = url.Values{"schema": {schema}}.Encode()
	}
	return u.String()
}

// Exec runs statements in a database.
func (s *Server) Exec(t testing.TB, in, statements string) {
	t.Helper()
	if err := s.tryExec(t.Context(), in, statements); err != nil {
		t.Fatal(err)
	}
}

// InStates runs statements in the database of the URLs.
func (s *Server) InStates(t testing.TB, statements string) {
	t.Helper()
	s.Exec(t, Database, statements)
}

func (s *Server) tryExec(ctx context.Context, in, statements string) error {
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://%s:%s@%s/%s", User, Password, s.Address(), in))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // Nothing was begun that could be lost.
	_, err = conn.PgConn().Exec(ctx, statements).ReadAll()
	return err
}
