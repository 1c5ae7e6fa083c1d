// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// nobody is a user without rights. PostgreSQL refuses to be run by root.
const nobody = 65534

// The user and the password have characters that URLs escape.
const (
	postgresUser     = "temporal user"
	postgresPassword = "a secret: 100% + /@?"
)

// postgres is the PostgreSQL server of all tests, which the first one starts that needs it.
var postgres struct {
	address   string
	dir       string
	process   *exec.Cmd // nil if it does not run
	databases int
}

// startPostgres returns the URL of a database that does not exist yet, and its name.
func startPostgres(t *testing.T) (location, database string) {
	t.Helper()
	programs := postgresPrograms(t)
	if postgres.process == nil {
		runPostgres(t, programs)
	}
	postgres.databases++
	database = fmt.Sprintf("temporal-of-cairn %d", postgres.databases)
	return postgresURL(database), database
}

func postgresURL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(postgresUser, postgresPassword), Host: postgres.address, Path: "/" + database}
	return u.String()
}

// inPostgres runs statements in a database.
func inPostgres(ctx context.Context, database, statements string) error {
	conn, err := pgx.Connect(ctx, postgresURL(database))
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Exec(ctx, statements).ReadAll()
	return errors.Join(err, conn.Close(ctx))
}

func runPostgres(t *testing.T, programs string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cairn-server-postgres-") //nolint:usetesting // It outlives the test.
	if err != nil {
		t.Fatal(err)
	}
	postgres.dir = dir
	data, password := filepath.Join(dir, "data"), filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(postgresPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		for _, path := range []string{dir, password} {
			if err := os.Chown(path, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	command := func(program string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(programs, program), args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, append(os.Environ(), "LC_ALL=C.UTF-8"), attributes
		return cmd
	}
	initialise := command("initdb", "--pgdata="+data, "--username="+postgresUser, "--pwfile="+password,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	if out, err := initialise.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	postgres.address = freeAddress(t)
	_, port, err := net.SplitHostPort(postgres.address)
	if err != nil {
		t.Fatal(err)
	}
	running := command("postgres", "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "shared_buffers=32MB", "-c", "fsync=off")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	postgres.process = running
	for deadline := time.Now().Add(patience); ; {
		err := inPostgres(t.Context(), "postgres", "SELECT 1")
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("PostgreSQL does not answer: %v", err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// stopPostgres stops the server after all tests.
func stopPostgres() {
	if postgres.process != nil {
		_ = postgres.process.Process.Signal(syscall.SIGQUIT)
		_ = postgres.process.Wait()
	}
	if postgres.dir != "" {
		_ = os.RemoveAll(postgres.dir)
	}
}

func postgresPrograms(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // where Debian keeps them
	if err == nil && len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	const reason = "needs the programs of PostgreSQL, initdb and postgres"
	if os.Getenv("CI") != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
	return ""
}
