// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"context"
	"errors"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

func code(err error) jsonrpc2.Code {
	if known, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return known.Code
	}
	return 0
}

func TestLifecycle(t *testing.T) {
	e := connect(t, t.TempDir())
	hover := &protocol.HoverParams{}
	if _, err := e.Hover(t.Context(), hover); code(err) != jsonrpc2.ServerNotInitialized {
		t.Errorf("a request before initialize: %v", err)
	}
	e.check(e.DidOpen(t.Context(), &protocol.DidOpenTextDocumentParams{})) // is ignored
	result, err := e.Initialize(t.Context(), &protocol.InitializeParams{})
	e.check(err)
	if version, _ := result.ServerInfo.Version.Get(); result.ServerInfo.Name != "cairn" || version != "1.2.3" {
		t.Errorf("the server is %+v", result.ServerInfo)
	}
	if _, err := e.Initialize(t.Context(), &protocol.InitializeParams{}); code(err) != jsonrpc2.InvalidRequest {
		t.Errorf("a second initialize: %v", err)
	}
	if _, err := e.Request(t.Context(), "cairn/nothing", nil); code(err) != jsonrpc2.MethodNotFound {
		t.Errorf("an unknown request: %v", err)
	}
	e.check(e.Shutdown(t.Context()))
	if _, err := e.Hover(t.Context(), hover); code(err) != jsonrpc2.InvalidRequest {
		t.Errorf("a request after shutdown: %v", err)
	}
	e.check(e.Exit(t.Context()))
	e.check(<-e.done)
}

func TestExitWithoutShutdown(t *testing.T) {
	e := open(t, network)
	e.check(e.Exit(t.Context()))
	if err := <-e.done; !errors.Is(err, ErrNoShutdown) {
		t.Errorf("Serve = %v, want %v", err, ErrNoShutdown)
	}
}

func TestClientIsGone(t *testing.T) {
	e := open(t, network)
	e.open("main.tfcomponent.hcl")
	e.hangUp()
	if err := <-e.done; !errors.Is(err, ErrNoShutdown) {
		t.Errorf("Serve = %v, want %v", err, ErrNoShutdown)
	}
}

func TestWatchedFilesAreRegistered(t *testing.T) {
	e := open(t, network)
	e.until(func() string {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.mu.registered) == 1 && e.mu.registered[0] == protocol.MethodWorkspaceDidChangeWatchedFiles {
			return ""
		}
		return "nothing"
	}, "registrations")
}

func TestCancelledRequest(t *testing.T) {
	e := open(t, network)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Hover(ctx, &protocol.HoverParams{}); err == nil {
		t.Error("a request that was cancelled has a result")
	}
	e.leave() // the connection lives on
}

// Notifications of a client that make no sense change nothing.
func TestMalformedNotifications(t *testing.T) {
	e := open(t, network)
	e.open("main.tfcomponent.hcl")
	e.check(e.conn.Notify(t.Context(), protocol.MethodTextDocumentDidChange, []int{1}))
	e.check(e.conn.Notify(t.Context(), protocol.MethodTextDocumentDidOpen, map[string]any{
		"textDocument": map[string]any{"uri": "untitled:x"},
	}))
	e.check(e.conn.Notify(t.Context(), "$/unknown", nil))
	e.close("main.tfcomponent.hcl")
	e.check(e.DidClose(t.Context(), &protocol.DidCloseTextDocumentParams{}))
	e.leave()
}
