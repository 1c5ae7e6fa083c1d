// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package sshtest starts the system's sshd for tests, with keys of its own, on a port of this
// machine.
package sshtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// Server is an sshd that runs until the end of a test.
type Server struct {
	Host, User string
	Port       int
	Key        Key // with which one can log in
	HostKey    Key

	listener *net.TCPListener
	mu       struct {
		sync.Mutex
		refused     int // connections that are to be closed
		connections int
	}
}

// Key is a key pair.
type Key struct {
	Signer  ssh.Signer
	Private string // PEM
	Public  string // in the format of authorized keys
}

// NewKey makes a key pair.
func NewKey(t testing.TB) Key {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return Key{signer, string(pem.EncodeToMemory(block)), string(ssh.MarshalAuthorizedKey(signer.PublicKey()))}
}

// Start starts sshd. Further lines are added to its configuration. Where there is no sshd, the test
// is skipped, unless CI is set.
func Start(t testing.TB, config ...string) *Server {
	t.Helper()
	program := find(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // as root, it isolates its unprivileged part in this directory
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := &Server{Host: "127.0.0.1", User: me.Username, Key: NewKey(t), HostKey: NewKey(t)}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := fmt.Sprintf("HostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nUsePAM no\n"+
		"PasswordAuthentication no\nKexAlgorithms curve25519-sha256\n"+
		// Bash reads .bashrc for each command of sshd, where somebody's lines may take a minute.
		"SetEnv HOME=%s\n",
		write("host", s.HostKey.Private), write("authorized", s.Key.Public), t.TempDir())
	for _, line := range config {
		text += line + "\n"
	}
	s.serve(t, program, write("config", text))
	return s
}

func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"sshd", "/usr/sbin/sshd"} { // which is on no path but that of root
		if program, err := exec.LookPath(name); err == nil {
			if program, err = filepath.Abs(program); err == nil { // as it starts itself again
				return program
			}
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("there is no sshd: install openssh-server")
	}
	t.Skip("not run: there is no sshd; install openssh-server")
	return ""
}

// serve starts an sshd for each connection, which needs no port of its own then.
func (s *Server) serve(t testing.TB, program, config string) {
	t.Helper()
	var settings net.ListenConfig
	listener, err := settings.Listen(t.Context(), "tcp", s.Host+":0")
	if err != nil {
		t.Fatal(err)
	}
	s.listener = listener.(*net.TCPListener)
	s.Port = listener.Addr().(*net.TCPAddr).Port
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := s.listener.AcceptTCP()
			if err != nil {
				return
			}
			if s.refuses() {
				hangUp(conn)
				continue
			}
			running.Go(func() { handle(t, conn, program, config) })
		}
	})
	t.Cleanup(func() {
		hangUp(s.listener)
		running.Wait()
	})
}

// Refuse lets the next connections be closed at once.
func (s *Server) Refuse(connections int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.refused = connections
}

func (s *Server) refuses() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.connections++
	s.mu.refused--
	return s.mu.refused >= 0
}

// Connections returns how many connections there were.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.connections
}

func handle(t testing.TB, conn *net.TCPConn, program, config string) {
	file, err := conn.File()
	hangUp(conn)
	if err != nil {
		return
	}
	defer hangUp(file)
	cmd := exec.CommandContext(t.Context(), program, "-i", "-e", "-f", config)
	cmd.Stdin, cmd.Stdout = file, file
	cmd.Stderr = t.Output()
	_ = cmd.Run() //nolint:errcheck // it fails when the connection ends
}

func hangUp(c io.Closer) {
	_ = c.Close() //nolint:errcheck // nothing is lost by it
}
