// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"golang.org/x/tools/txtar"

	"github.com/cairnstacks/cairn/internal/lsp/position"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// editor is a client of a server, as an editor has it.
type editor struct {
	protocol.Server // to which it speaks

	t    testing.TB
	dir  string
	done chan error // of the server
	conn jsonrpc2.Conn

	hangUp func() // ends the connection

	mu struct {
		sync.Mutex
		diagnostics map[uri.URI]*protocol.PublishDiagnosticsParams
		told        int
		changed     chan struct{} // closed with the next diagnostics
		registered  []string
	}
	versions map[string]int32
	texts    map[string]*position.Text
}

// screen is the side of an editor to which the server speaks.
type screen struct {
	protocol.UnimplementedClient
	e *editor
}

// PublishDiagnostics implements [protocol.Client].
func (s screen) PublishDiagnostics(_ context.Context, params *protocol.PublishDiagnosticsParams) error {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.e.mu.diagnostics[params.URI] = params
	s.e.mu.told++
	close(s.e.mu.changed)
	s.e.mu.changed = make(chan struct{})
	return nil
}

// RegisterCapability implements [protocol.Client].
func (s screen) RegisterCapability(_ context.Context, params *protocol.RegistrationParams) error {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	for _, registration := range params.Registrations {
		s.e.mu.registered = append(s.e.mu.registered, registration.Method)
	}
	close(s.e.mu.changed)
	s.e.mu.changed = make(chan struct{})
	return nil
}

type pipe struct {
	io.Reader
	io.WriteCloser
	reader io.Closer
}

func (p pipe) Close() error {
	_ = p.reader.Close()
	return p.WriteCloser.Close()
}

// testQuiet is the time for which servers of tests wait for another edit.
const testQuiet = 10 * time.Millisecond

// connect starts a server and a client that is not initialized.
func connect(t testing.TB, dir string) *editor {
	t.Helper()
	fromServer, toClient := io.Pipe()
	fromClient, toServer := io.Pipe()
	e := &editor{t: t, dir: dir, done: make(chan error, 1), versions: map[string]int32{}, texts: map[string]*position.Text{}}
	e.mu.diagnostics, e.mu.changed = map[uri.URI]*protocol.PublishDiagnosticsParams{}, make(chan struct{})
	log := slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	go func() {
		e.done <- Serve(context.Background(), pipe{fromClient, toClient, fromClient}, Options{
			Version: "1.2.3", Log: log, Timing: Timing{Quiet: testQuiet},
		})
	}()
	conn := jsonrpc2.NewConn(jsonrpc2.NewStream(pipe{fromServer, toServer, fromServer}), jsonrpc2.WithCodec(codec{}))
	client := screen{e: e}
	conn.Go(protocol.WithClient(context.Background(), client), inOrder(protocol.ClientHandler(client, jsonrpc2.MethodNotFoundHandler)))
	e.Server, e.conn, e.hangUp = protocol.ServerDispatcher(conn), conn, func() { _ = toServer.Close() }
	t.Cleanup(func() {
		_ = toServer.Close()
		_ = conn.Close()
	})
	return e
}

// inOrder lets requests run at the same time and notifications one after the other, as editors do:
// of two reports about a file, the later one counts.
func inOrder(handler jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		if req.IsCall() {
			jsonrpc2.Async(ctx)
			return handler(ctx, req)
		}
		return handler(ctx, req.Clone()) // the library reads the next message into the bytes of this one
	}
}

type testLog struct{ t testing.TB }

func (l testLog) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "panic") {
		l.t.Errorf("log: %s", line)
	}
	return len(line), nil
}

// open starts a session in a directory with the files of an archive.
func open(t testing.TB, archive string) *editor {
	t.Helper()
	return openIn(t, write(t, archive))
}

// write makes a directory with the files of an archive.
func write(t testing.TB, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range txtar.Parse([]byte(archive)).Files {
		put(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	return dir
}

func openIn(t testing.TB, dir string) *editor {
	t.Helper()
	e := connect(t, dir)
	yes := true
	_, err := e.Initialize(t.Context(), &protocol.InitializeParams{
		WorkspaceFoldersInitializeParams: protocol.WorkspaceFoldersInitializeParams{
			WorkspaceFolders: protocol.NewNullable([]protocol.WorkspaceFolder{{URI: uri.File(dir), Name: "test"}}),
		},
		Capabilities: protocol.ClientCapabilities{
			Workspace: &protocol.WorkspaceClientCapabilities{
				DidChangeWatchedFiles: &protocol.DidChangeWatchedFilesClientCapabilities{DynamicRegistration: &yes},
			},
			TextDocument: &protocol.TextDocumentClientCapabilities{
				PublishDiagnostics: &protocol.PublishDiagnosticsClientCapabilities{
					DiagnosticsCapabilities: protocol.DiagnosticsCapabilities{RelatedInformation: &yes}, VersionSupport: &yes,
				},
				DocumentSymbol: &protocol.DocumentSymbolClientCapabilities{HierarchicalDocumentSymbolSupport: &yes},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.check(e.Initialized(t.Context(), &protocol.InitializedParams{}))
	return e
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (e *editor) check(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) uri(name string) uri.URI { return uri.File(filepath.Join(e.dir, name)) }

// open opens a file with the text that it has on the disk.
func (e *editor) open(name string) {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.dir, name))
	e.check(err)
	e.openText(name, string(text))
}

func (e *editor) openText(name, text string) {
	e.t.Helper()
	e.versions[name], e.texts[name] = 1, position.NewText([]byte(text))
	e.check(e.DidOpen(e.t.Context(), &protocol.DidOpenTextDocumentParams{
		TextDocument: protocol.TextDocumentItem{URI: e.uri(name), LanguageID: "terraform-stack", Version: 1, Text: text},
	}))
}

// replace replaces the first occurrence of a text in a file.
func (e *editor) replace(name, old, text string) {
	e.t.Helper()
	src := string(e.texts[name].Bytes())
	at := strings.Index(src, old)
	if at < 0 {
		e.t.Fatalf("%s has no %q", name, old)
	}
	e.edit(name, e.texts[name].Span(at, at+len(old)), text)
}

func (e *editor) edit(name string, rng protocol.Range, text string) {
	e.t.Helper()
	e.versions[name]++
	e.texts[name] = e.texts[name].Replaced(rng, text)
	e.check(e.DidChange(e.t.Context(), &protocol.DidChangeTextDocumentParams{
		TextDocument: protocol.VersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: e.uri(name)},
			Version:                e.versions[name],
		},
		ContentChanges: []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangePartial{Range: rng, Text: text}},
	}))
}

func (e *editor) close(name string) {
	e.t.Helper()
	e.check(e.DidClose(e.t.Context(), &protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: e.uri(name)}}))
	delete(e.texts, name)
}

// diskChanged sends the notification of an editor that watches files.
func (e *editor) diskChanged(name string) {
	e.t.Helper()
	e.check(e.DidChangeWatchedFiles(e.t.Context(), &protocol.DidChangeWatchedFilesParams{
		Changes: []protocol.FileEvent{{URI: e.uri(name), Type: protocol.FileChangeTypeChanged}},
	}))
}

// shown returns the diagnostics of a file: for each, where it begins, counted from 1, and its first
// line.
func (e *editor) shown(name string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []string
	if params := e.mu.diagnostics[e.uri(name)]; params != nil {
		for _, diag := range params.Diagnostics {
			first, _, _ := strings.Cut(string(diag.Message.(protocol.String)), "\n")
			all = append(all, fmt.Sprintf("%d:%d %s", diag.Range.Start.Line+1, diag.Range.Start.Character+1, first))
		}
	}
	return all
}

// want waits until the diagnostics of a file are those.
func (e *editor) want(name string, want ...string) {
	e.t.Helper()
	e.until(func() string { return cmp.Diff(want, e.shown(name)) }, name+": diagnostics (-want +got)")
}

// until waits until there is no difference.
func (e *editor) until(difference func() string, what string) {
	e.t.Helper()
	deadline := time.After(testenv.Patience) // each change wakes it
	for {
		e.mu.Lock()
		changed := e.mu.changed
		e.mu.Unlock()
		diff := difference()
		if diff == "" {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			e.t.Fatalf("%s:\n%s", what, diff)
		}
	}
}

// last returns the diagnostics of a file as they were told last.
func (e *editor) last(name string) *protocol.PublishDiagnosticsParams {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.diagnostics[e.uri(name)]
}

// leave ends the session as the protocol has it.
func (e *editor) leave() {
	e.t.Helper()
	e.check(e.Shutdown(e.t.Context()))
	e.check(e.Exit(e.t.Context()))
	if err := <-e.done; err != nil {
		e.t.Errorf("Serve = %v", err)
	}
}
