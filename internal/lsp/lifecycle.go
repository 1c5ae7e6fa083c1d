// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/cairnstacks/cairn/internal/lsp/outline"
	"github.com/cairnstacks/cairn/internal/lsp/snapshot"
)

// state is the stage of the conversation with the client.
type state int

const (
	stateNew state = iota
	stateRunning
	stateShutDown
)

// server implements [protocol.Server].
type server struct {
	protocol.UnimplementedServer
	opts      Options
	log       *slog.Logger
	client    protocol.Client
	workspace *snapshot.Workspace
	checks    *checks

	exited chan struct{} // closed by the notification
	once   sync.Once

	mu struct {
		sync.Mutex
		state     state
		client    clientAbilities
		documents map[uri.URI]*document
		answers   map[string]*answers // by the directory of the stack
	}
}

// clientAbilities are the abilities of the client.
type clientAbilities struct {
	watches     bool // files, for servers that register for that
	related     bool // information of diagnostics
	versions    bool // of diagnostics
	hierarchies bool // of symbols
	snippets    bool

	suggestsAgain bool // knows the command for that
}

func newServer(ctx context.Context, opts Options, client protocol.Client) *server {
	s := &server{
		opts: opts, log: opts.Log, client: client, exited: make(chan struct{}),
		workspace: snapshot.NewWorkspace(snapshot.Options{Environ: opts.Environ}),
	}
	s.mu.answers = map[string]*answers{}
	s.mu.documents = map[uri.URI]*document{}
	s.checks = newChecks(ctx, s)
	return s
}

// stop waits for the work in the background, whose context has ended.
func (s *server) stop() { s.checks.wait() }

func (s *server) state() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.state
}

func (s *server) abilities() clientAbilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.client
}

// Initialize implements [protocol.Server].
func (s *server) Initialize(_ context.Context, params *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	folders, _ := params.WorkspaceFolders.Get()
	for _, folder := range folders {
		s.addFolder(folder.URI)
	}
	if root := params.RootURI; len(folders) == 0 && root != nil { //nolint:staticcheck // some clients know no other
		s.addFolder(*root)
	}
	s.mu.Lock()
	s.mu.state, s.mu.client = stateRunning, abilitiesOf(&params.Capabilities)
	s.mu.client.suggestsAgain = strings.Contains(params.ClientInfo.Name, "Code") // Visual Studio Code, and its derivatives
	s.mu.Unlock()
	s.log.Info("initialized", "client", params.ClientInfo.Name, "folders", len(folders))
	return &protocol.InitializeResult{
		Capabilities: capabilities(),
		ServerInfo:   protocol.ServerInfo{Name: "cairn", Version: protocol.NewOptional(s.opts.Version)},
	}, nil
}

func abilitiesOf(c *protocol.ClientCapabilities) clientAbilities {
	var can clientAbilities
	if w := c.Workspace; w != nil && w.DidChangeWatchedFiles != nil {
		can.watches = isTrue(w.DidChangeWatchedFiles.DynamicRegistration)
	}
	if t := c.TextDocument; t != nil {
		if d := t.PublishDiagnostics; d != nil {
			can.related, can.versions = isTrue(d.RelatedInformation), isTrue(d.VersionSupport)
		}
		if d := t.DocumentSymbol; d != nil {
			can.hierarchies = isTrue(d.HierarchicalDocumentSymbolSupport)
		}
		if d := t.Completion; d != nil && d.CompletionItem != nil {
			can.snippets = isTrue(d.CompletionItem.SnippetSupport)
		}
	}
	return can
}

func isTrue(b *bool) bool { return b != nil && *b }

// capabilities are the abilities of the server.
func capabilities() protocol.ServerCapabilities {
	yes, incremental := true, protocol.TextDocumentSyncKindIncremental
	return protocol.ServerCapabilities{
		PositionEncoding:                protocol.PositionEncodingKindUTF16,
		TextDocumentSync:                &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &incremental, Save: protocol.Boolean(true)},
		CompletionProvider:              &protocol.CompletionOptions{TriggerCharacters: []string{".", `"`, "/", "="}},
		SignatureHelpProvider:           &protocol.SignatureHelpOptions{TriggerCharacters: []string{"(", ","}},
		HoverProvider:                   protocol.Boolean(true),
		DefinitionProvider:              protocol.Boolean(true),
		ReferencesProvider:              protocol.Boolean(true),
		DocumentHighlightProvider:       protocol.Boolean(true),
		RenameProvider:                  &protocol.RenameOptions{PrepareProvider: &yes},
		CodeActionProvider:              &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix}},
		CodeLensProvider:                &protocol.CodeLensOptions{},
		InlayHintProvider:               protocol.Boolean(true),
		WorkspaceSymbolProvider:         protocol.Boolean(true),
		DocumentSymbolProvider:          protocol.Boolean(true),
		FoldingRangeProvider:            protocol.Boolean(true),
		SelectionRangeProvider:          protocol.Boolean(true),
		DocumentLinkProvider:            &protocol.DocumentLinkOptions{},
		DocumentFormattingProvider:      protocol.Boolean(true),
		DocumentRangeFormattingProvider: protocol.Boolean(true),
		SemanticTokensProvider: &protocol.SemanticTokensOptions{
			Legend: protocol.SemanticTokensLegend{TokenTypes: outline.TokenTypes, TokenModifiers: outline.TokenModifiers},
			Full:   protocol.Boolean(true), Range: protocol.Boolean(true),
		},
		Workspace: &protocol.WorkspaceOptions{
			WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{Supported: &yes, ChangeNotifications: protocol.Boolean(true)},
		},
	}
}

// Initialized implements [protocol.Server].
func (s *server) Initialized(context.Context, *protocol.InitializedParams) error {
	if s.abilities().watches {
		s.checks.background(s.registerWatchers)
	}
	return nil
}

// Shutdown implements [protocol.Server].
func (s *server) Shutdown(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.state = stateShutDown
	return nil
}

// Exit implements [protocol.Server].
func (s *server) Exit(context.Context) error {
	s.once.Do(func() { close(s.exited) })
	return nil
}

// SetTrace implements [protocol.Server]. The log is chosen by the environment.
func (s *server) SetTrace(context.Context, *protocol.SetTraceParams) error { return nil }
