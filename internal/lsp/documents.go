// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"context"
	"maps"
	"net/url"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/lsp/position"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// document is a file that is open in the editor.
type document struct {
	uri     uri.URI
	path    string // as the workspace has it
	version int32
	text    *position.Text
}

// kind is the role of a file for the server.
type kind int

const (
	kindOther     kind = iota // a file of a module, or any other one
	kindComponent             // a file of a stack
	kindDeploy                // a deployment file of a stack
	kindWorkspace             // a workspace file
)

func kindOf(path string) kind {
	switch {
	case stackconfig.IsComponentFile(path):
		return kindComponent
	case deployconfig.IsDeployFile(path):
		return kindDeploy
	case filepath.Base(path) == cairnfile.FileName:
		return kindWorkspace
	}
	return kindOther
}

// ofStack reports whether a file is one of a stack.
func ofStack(path string) bool { return kindOf(path) == kindComponent || kindOf(path) == kindDeploy }

// pathOf returns the path of a URI, empty for one that is no file.
func (s *server) pathOf(u uri.URI) string {
	parsed, err := url.Parse(string(u))
	if err != nil || parsed.Scheme != "file" {
		return ""
	}
	return s.workspace.Path(u.FsPath())
}

// uriOf returns the URI of a path: the one by which the client has opened it, if it has.
func (s *server) uriOf(path string) uri.URI {
	s.mu.Lock()
	defer s.mu.Unlock()
	for u, doc := range s.mu.documents {
		if doc.path == path {
			return u
		}
	}
	return uri.File(path)
}

// document returns an open document, nil if it is not open.
func (s *server) document(u uri.URI) *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.documents[u]
}

// versions returns those of all open documents, by path.
func (s *server) versions() map[string]int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	versions := make(map[string]int32, len(s.mu.documents))
	for doc := range maps.Values(s.mu.documents) {
		versions[doc.path] = doc.version
	}
	return versions
}

func (s *server) setDocument(doc *document) {
	s.mu.Lock()
	s.mu.documents[doc.uri] = doc
	s.mu.Unlock()
	s.workspace.Edit(doc.path, doc.text.Bytes())
}

// DidOpen implements [protocol.Server].
func (s *server) DidOpen(_ context.Context, params *protocol.DidOpenTextDocumentParams) error {
	opened := params.TextDocument
	path := s.pathOf(opened.URI)
	if path == "" {
		s.log.Info("a document that is no file is left alone", "uri", string(opened.URI))
		return nil
	}
	s.setDocument(&document{
		uri:     uri.URI(strings.Clone(string(opened.URI))),
		path:    path,
		version: opened.Version,
		text:    position.NewText([]byte(opened.Text)),
	})
	s.checks.edited(path)
	return nil
}

// DidChange implements [protocol.Server].
func (s *server) DidChange(_ context.Context, params *protocol.DidChangeTextDocumentParams) error {
	before := s.document(params.TextDocument.URI)
	if before == nil {
		return nil // it was left alone when it was opened
	}
	text := before.text
	for _, change := range params.ContentChanges {
		switch change := change.(type) {
		case *protocol.TextDocumentContentChangePartial:
			text = text.Replaced(change.Range, change.Text)
		case *protocol.TextDocumentContentChangeWholeDocument:
			text = position.NewText([]byte(change.Text))
		}
	}
	s.setDocument(&document{uri: before.uri, path: before.path, version: params.TextDocument.Version, text: text})
	s.checks.edited(before.path)
	return nil
}

// DidSave implements [protocol.Server]. Clients that do not watch files say by it that one has
// changed.
func (s *server) DidSave(_ context.Context, params *protocol.DidSaveTextDocumentParams) error {
	if path := s.pathOf(params.TextDocument.URI); path != "" {
		s.workspace.Changed()
		s.checks.changed()
	}
	return nil
}

// DidClose implements [protocol.Server].
func (s *server) DidClose(_ context.Context, params *protocol.DidCloseTextDocumentParams) error {
	doc := s.document(params.TextDocument.URI)
	if doc == nil {
		return nil
	}
	s.mu.Lock()
	delete(s.mu.documents, doc.uri)
	s.mu.Unlock()
	s.workspace.Close(doc.path)
	s.checks.closed(doc.path)
	return nil
}

func (s *server) addFolder(folder uri.URI) {
	if path := s.pathOf(folder); path != "" {
		s.workspace.AddFolder(path)
	}
}

// DidChangeWorkspaceFolders implements [protocol.Server].
func (s *server) DidChangeWorkspaceFolders(_ context.Context, params *protocol.DidChangeWorkspaceFoldersParams) error {
	for _, folder := range params.Event.Removed {
		if path := s.pathOf(folder.URI); path != "" {
			s.workspace.RemoveFolder(path)
		}
	}
	for _, folder := range params.Event.Added {
		s.addFolder(folder.URI)
	}
	s.checks.changed()
	return nil
}

// DidChangeWatchedFiles implements [protocol.Server].
func (s *server) DidChangeWatchedFiles(_ context.Context, params *protocol.DidChangeWatchedFilesParams) error {
	if len(params.Changes) > 0 {
		s.workspace.Changed()
		s.checks.changed()
	}
	return nil
}

// DidChangeConfiguration implements [protocol.Server]. There are no settings.
func (s *server) DidChangeConfiguration(context.Context, *protocol.DidChangeConfigurationParams) error {
	return nil
}

// watched are the files whose changes on the disk the client reports: those of stacks and modules,
// workspace files, and lock files.
var watched = []string{
	"**/*.{tfcomponent.hcl,tfcomponent.json,tfstack.hcl,tfstack.json,tfdeploy.hcl,tfdeploy.json}", "**/*.{tf,tf.json,tofu,tofu.json}",
	"**/" + cairnfile.FileName, "**/*.lock.hcl",
}

// registerWatchers asks the client to watch files.
func (s *server) registerWatchers(ctx context.Context) {
	options := protocol.DidChangeWatchedFilesRegistrationOptions{}
	for _, pattern := range watched {
		options.Watchers = append(options.Watchers, protocol.FileSystemWatcher{GlobPattern: protocol.Pattern(pattern)})
	}
	raw, err := protocol.Marshal(&options)
	if err == nil {
		err = s.client.RegisterCapability(ctx, &protocol.RegistrationParams{Registrations: []protocol.Registration{{
			ID: "files", Method: protocol.MethodWorkspaceDidChangeWatchedFiles, RegisterOptions: raw,
		}}})
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("files are not watched", "error", err.Error())
	}
}
