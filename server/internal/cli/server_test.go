// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

// patience is how long a test waits for a process.
const patience = 2 * time.Minute

// server is a process that serves, or has ended.
type server struct {
	address string
	process *exec.Cmd
	output  *output
	ended   chan struct{}
}

// output collects what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// launch starts a process with arguments of dev. It is killed when the test ends.
func launch(t *testing.T, args ...string) *server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{output: &output{}, ended: make(chan struct{})}
	s.process = exec.Command(program, append([]string{"dev"}, args...)...)
	s.process.Env = append(os.Environ(), runVariable+"=1")
	s.process.Dir = t.TempDir()
	s.process.Stdout, s.process.Stderr = s.output, s.output
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		_ = s.process.Wait()
	}()
	t.Cleanup(func() { s.end(t, os.Kill) })
	return s
}

// start starts a server, and waits until it serves.
func start(t *testing.T, address string, args ...string) *server {
	t.Helper()
	begun := time.Now()
	s := launch(t, append([]string{"-address=" + address}, args...)...)
	s.address = address
	s.await(t, "Serving on "+address)
	t.Logf("serves after %s", time.Since(begun).Round(time.Millisecond))
	return s
}

// await waits until a process has written a text.
func (s *server) await(t *testing.T, text string) {
	t.Helper()
	for deadline := time.After(patience); !strings.Contains(s.output.String(), text); {
		select {
		case <-s.ended:
			if !strings.Contains(s.output.String(), text) {
				t.Fatalf("ended without %q: %s", text, s.output)
			}
		case <-deadline:
			t.Fatalf("waited in vain for %q: %s", text, s.output)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// end sends a signal, and waits for the end. It returns the code with which the process has ended.
func (s *server) end(t *testing.T, signal os.Signal) int {
	t.Helper()
	_ = s.process.Process.Signal(signal)
	return s.code(t)
}

// code waits for the end of the process, and returns the code with which it has ended.
func (s *server) code(t *testing.T) int {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		t.Fatalf("has not ended: %s", s.output)
	}
	return s.process.ProcessState.ExitCode()
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // The port is wanted free.
	return listener.Addr().String()
}

// quiet is a logger that writes nothing.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

var _ log.Logger = quiet{}

func dial(t *testing.T, address string, change func(*client.Options)) client.Client {
	t.Helper()
	options := client.Options{HostPort: address, Namespace: "cairn", Logger: quiet{}}
	if change != nil {
		change(&options)
	}
	c, err := client.Dial(options)
	if err != nil {
		t.Fatalf("client.Dial: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

const queue = "cairn/prod/1"

func double(_ context.Context, n int) (int, error) { return 2 * n, nil }

// refuse fails with its argument.
func refuse(_ context.Context, text string) error { return errors.New("refused " + text) }

// work works for a queue until the test ends.
func work(t *testing.T, c client.Client, queue string) {
	t.Helper()
	w := worker.New(c, queue, worker.Options{DisableWorkflowWorker: true})
	w.RegisterActivity(double)
	w.RegisterActivity(refuse)
	if err := w.Start(); err != nil {
		t.Fatalf("starting a worker: %v", err)
	}
	t.Cleanup(w.Stop)
}

// submit starts an activity without a workflow.
func submit(t *testing.T, c client.Client, n int) client.ActivityHandle {
	t.Helper()
	handle, err := c.ExecuteActivity(t.Context(), client.StartActivityOptions{
		ID: "double-" + strconv.Itoa(n), TaskQueue: queue, StartToCloseTimeout: time.Hour, HeartbeatTimeout: time.Minute,
	}, "double", n)
	if err != nil {
		t.Fatalf("ExecuteActivity: %v", err)
	}
	return handle
}

// result waits for the result of an activity that submit has started.
func result(t *testing.T, c client.Client, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	handle := c.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: "double-" + strconv.Itoa(n)})
	var got int
	if err := handle.Get(ctx, &got); err != nil || got != 2*n {
		t.Errorf("result of double(%d): got %d, error %v", n, got, err)
	}
}

// databases are the kinds of databases.
var databases = map[string]func(t *testing.T) (location string){
	"memory": func(*testing.T) string { return "memory" },
	"file":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "a name with spaces & %41.db") },
	"postgres": func(t *testing.T) string {
		location, _ := startPostgres(t)
		return location
	},
}

func TestActivity(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			s := start(t, freeAddress(t), "-db="+database(t), "-namespace=cairn", "-namespace=other")
			c := dial(t, s.address, nil)
			submit(t, c, 21)
			work(t, c, queue)
			result(t, c, 21)
			other := dial(t, s.address, func(o *client.Options) { o.Namespace = "other" })
			submit(t, other, 21) // the name is free there
			if code := s.end(t, os.Interrupt); code != 0 {
				t.Errorf("after an interrupt: got code %d, want 0; output: %s", code, s.output)
			}
			want := fmt.Sprintf("workers \"temporal\" { address = %q }", s.address)
			lines := strings.Split(strings.TrimSpace(s.output.String()), "\n")
			if len(lines) != 2 || !strings.HasSuffix(lines[1], want) {
				t.Errorf("output: got %q; want two lines, the second one with %s", lines, want)
			}
		})
	}
}

func TestKill(t *testing.T) {
	for name, database := range databases {
		if name == "memory" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			location := "-db=" + database(t)
			s := start(t, freeAddress(t), location)
			c := dial(t, s.address, nil)
			const tasks = 20
			t.Run("before", func(t *testing.T) {
				work(t, c, queue)
				submit(t, c, tasks)
				result(t, c, tasks)
			})
			for n := range tasks {
				submit(t, c, n)
			}
			s.end(t, syscall.SIGKILL)
			start(t, s.address, location, "-retention=48h")
			work(t, c, queue)
			for n := range tasks + 1 {
				result(t, c, n)
			}
			namespace, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "cairn"})
			if got := namespace.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); err != nil || got != 48*time.Hour {
				t.Errorf("retention after a start with another one: got %s, error %v; want 48h", got, err)
			}
		})
	}
}

func TestSecondStart(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			location := "-db=" + database(t)
			s := start(t, freeAddress(t), location)
			same := launch(t, "-address="+s.address, "-db=memory")
			same.await(t, "cannot listen on "+s.address+": bind: address already in use; "+
				"stop the server that listens there, or choose another address with -address")
			if name == "memory" {
				return
			}
			other := launch(t, "-address="+freeAddress(t), location)
			other.await(t, "is in use by another cairn-server; stop that one, or choose another database with -db")
			if code := other.code(t); code != 1 {
				t.Errorf("second server: got code %d, want 1", code)
			}
			submit(t, dial(t, s.address, nil), 1) // the first one still serves
		})
	}
}

func TestFileIsPrivate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.db")
	start(t, freeAddress(t), "-db="+file)
	files, err := filepath.Glob(file + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("files: got %q, error %v", files, err)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("mode of %s: got %o, want 600", name, mode)
		}
	}
}

func TestLogHasNoValues(t *testing.T) {
	const secret = "the secret of the task"
	s := start(t, freeAddress(t), "-db=memory", "-log-level=debug")
	c := dial(t, s.address, nil)
	work(t, c, queue)
	handle, err := c.ExecuteActivity(t.Context(), client.StartActivityOptions{
		ID: "refuse", TaskQueue: queue, StartToCloseTimeout: time.Hour, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}, "refuse", secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := handle.Get(t.Context(), nil); err == nil || !strings.Contains(err.Error(), secret) {
		t.Fatalf("the task: got %v, want an error with its argument", err)
	}
	s.end(t, os.Interrupt)
	for _, text := range []string{secret, base64.StdEncoding.EncodeToString([]byte(`"` + secret + `"`))} {
		if strings.Contains(s.output.String(), text) {
			t.Errorf("the log has %q", text)
		}
	}
}

func TestOtherAddresses(t *testing.T) {
	_, port, err := net.SplitHostPort(freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	start(t, "0.0.0.0:"+port, "-db=memory", "-insecure", "-namespace=other")
	dial(t, "127.0.0.1:"+port, func(o *client.Options) { o.Namespace = "other" })
}
