// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/cairnstacks/cairn/internal/engine/native/provision/remote"
	"github.com/cairnstacks/cairn/internal/engine/native/provision/sshtest"
)

// serve starts a server whose connections are handled by a function, until the end of the test.
func serve(t *testing.T, handle func(net.Conn)) remote.Options {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer hangUp(conn)
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		hangUp(listener)
		serving.Wait()
	})
	return remote.Options{
		Endpoint: remote.Endpoint{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, User: "me", Password: "pass"},
		Timeout:  time.Minute,
	}
}

// sessions handles connections by a server that lets the user with the password in, and gives the
// requests of sessions to a function.
func sessions(t *testing.T, handle func(*ssh.ServerConn, ssh.Channel, <-chan *ssh.Request)) func(net.Conn) {
	t.Helper()
	login := func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
		answers, err := ask("", "", []string{"Password:"}, []bool{false})
		if err == nil && (len(answers) != 1 || answers[0] != "pass") {
			err = errors.New("wrong")
		}
		return nil, err
	}
	config := &ssh.ServerConfig{KeyboardInteractiveCallback: login}
	config.AddHostKey(sshtest.NewKey(t).Signer)
	return func(raw net.Conn) {
		conn, channels, requests, err := ssh.NewServerConn(raw, config)
		if err != nil {
			return
		}
		go ssh.DiscardRequests(requests)
		for channel := range channels {
			session, requests, err := channel.Accept()
			if err != nil {
				return
			}
			handle(conn, session, requests)
		}
	}
}

// accept answers requests, until one of the type is there.
func accept(requests <-chan *ssh.Request, kind string) {
	for request := range requests {
		_ = request.Reply(true, nil)
		if request.Type == kind {
			return
		}
	}
}

// A server that never sends the expected line is given up after some time.
func TestEndlessBanner(t *testing.T) {
	for name, banner := range map[string]string{"lines": "welcome\r\n", "no line": "welcome "} {
		t.Run(name, func(t *testing.T) {
			opts := serve(t, func(conn net.Conn) {
				for {
					if _, err := io.WriteString(conn, strings.Repeat(banner, 1000)); err != nil {
						return
					}
				}
			})
			opts.Timeout = 50 * time.Millisecond
			_, err := say(t, opts)
			if _, late := errors.AsType[*remote.TimeoutError](err); !late {
				t.Errorf("got %v", err)
			}
		})
	}
	opts := serve(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }) // says nothing at all
	opts.Timeout = 50 * time.Millisecond
	if _, err := say(t, opts); err == nil || !strings.Contains(err.Error(), "has not answered") {
		t.Errorf("got %v", err)
	}
}

// A connection that ends before the command is an error, not its end.
func TestLostConnection(t *testing.T) {
	opts := serve(t, sessions(t, func(conn *ssh.ServerConn, session ssh.Channel, requests <-chan *ssh.Request) {
		accept(requests, "exec")
		_, _ = io.WriteString(session, "begun\n")
		hangUp(conn)
	}))
	out, err := say(t, opts)
	if err == nil || !strings.Contains(err.Error(), "lost") || out != "begun\n" {
		t.Errorf("got %q, %v", out, err)
	}
	opts.Password, opts.Timeout = "wrong", 50*time.Millisecond
	if _, err := say(t, opts); err == nil || !strings.Contains(err.Error(), "unable to authenticate") {
		t.Errorf("wrong password: got %v", err)
	}
}

// A machine that does not answer any more is gone.
func TestKeepAlive(t *testing.T) {
	opts := serve(t, func(conn net.Conn) {
		sessions(t, func(_ *ssh.ServerConn, _ ssh.Channel, requests <-chan *ssh.Request) { accept(requests, "exec") })(&deaf{
			Conn:  conn,
			after: 40,
		})
	})
	opts.KeepAlive = 10 * time.Millisecond
	if _, err := say(t, opts); err == nil || !strings.Contains(err.Error(), "lost") {
		t.Errorf("got %v", err)
	}
}

// deaf is a connection on which nothing is written any more after so many times, and nothing is
// said about that.
type deaf struct {
	net.Conn
	after int
}

func (d *deaf) Write(data []byte) (int, error) {
	if d.after--; d.after < 0 {
		return len(data), nil
	}
	return d.Conn.Write(data)
}

// An interrupted command gets a signal, and the time to end.
func TestSignal(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	signals := make(chan string, 1)
	opts := serve(t, sessions(t, func(_ *ssh.ServerConn, session ssh.Channel, requests <-chan *ssh.Request) {
		accept(requests, "exec")
		_, _ = io.WriteString(session, "begun\n")
		for request := range requests {
			if request.Type == "signal" {
				signals <- string(request.Payload[4:])
				_, _ = session.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{130}))
				hangUp(session)
			}
		}
	}))
	opts.Grace = time.Minute
	stopped := errors.New("stopped")
	err := remote.Connect(ctx, opts, func(m *remote.Machine) error {
		return m.Run(ctx, "long", writer(func([]byte) { cancel(stopped) }))
	})
	if got := <-signals; !errors.Is(err, stopped) || got != "INT" {
		t.Errorf("got %v, and the signal %s", err, got)
	}
}

// Waiting for a machine ends with the work.
func TestInterruptedConnection(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	opts := serve(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	opts.Password = "pass"
	dialled := serve(t, func(conn net.Conn) { cancel(stopped) })
	for _, opts := range []remote.Options{dialled, opts} {
		err := remote.Connect(ctx, opts, func(*remote.Machine) error { return errors.New("connected") })
		if !errors.Is(err, stopped) {
			t.Errorf("got %v", err)
		}
	}
}
