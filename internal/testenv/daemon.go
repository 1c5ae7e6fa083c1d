// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"testing"
)

// Daemon is a process that runs beside tests. Made by [StartDaemon].
type Daemon struct {
	Ended <-chan struct{} // is closed when the process has ended

	cmd *exec.Cmd
}

// StartDaemon starts a command, whose output is added to a file.
func StartDaemon(t testing.TB, cmd *exec.Cmd, logFile string) *Daemon {
	t.Helper()
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // The process has its own.
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() //nolint:errcheck // It ends by a signal.
	}()
	return &Daemon{ended, cmd}
}

// End ends the process by a signal. It may be called for nil.
func (d *Daemon) End(t testing.TB, signal os.Signal) {
	t.Helper()
	if d == nil {
		return
	}
	if err := d.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	Receive(t, "end of "+d.cmd.Path, d.Ended)
}

// FreePort returns a port of loopback at which nobody listens.
func FreePort(t testing.TB) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // The port is wanted free.
	return listener.Addr().(*net.TCPAddr).Port
}
