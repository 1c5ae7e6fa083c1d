// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language"
	"github.com/cairnstacks/cairn/internal/lsp/outline"
	"github.com/cairnstacks/cairn/internal/lsp/position"
	"github.com/cairnstacks/cairn/internal/lsp/snapshot"
)

// answers serves requests about one snapshot, or about a workspace file.
type answers struct {
	*language.Stack
	snap *snapshot.Snapshot // nil for a workspace file
}

// place is the file that a request is about, with the answers about it.
type place struct {
	*answers
	server *server
	path   string
	text   *position.Text
}

// answersAbout returns the answers about a stack as it is now, nil for a directory without one.
// Those about the same snapshot are the same.
func (s *server) answersAbout(dir string) *answers {
	snap := s.workspace.Stack(dir)
	if snap == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.mu.answers[snap.Dir]; known != nil && known.snap == snap {
		return known
	}
	view := language.ViewOf(snap)
	view.Directories, view.Schema, view.ProviderFunctions = directories, snap.ProviderSchema, snap.ProviderFunctions
	made := &answers{language.New(view), snap}
	if len(s.mu.answers) > maxEmbedders {
		clear(s.mu.answers)
	}
	s.mu.answers[snap.Dir] = made
	return made
}

// directories returns the names of the directories in a directory, but for hidden ones.
func directories(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names
}

// at returns where a client asks, nil in a document that is neither part of a stack nor a workspace
// file.
func (s *server) at(u uri.URI) *place {
	doc := s.document(u)
	switch {
	case doc == nil:
		return nil
	case kindOf(doc.path) == kindWorkspace:
		file := language.File{Path: doc.path, Name: filepath.Base(doc.path), Src: doc.text.Bytes()}
		view := language.View{Files: []language.File{file}, Directories: directories}
		return &place{&answers{Stack: language.New(view)}, s, doc.path, doc.text}
	case !ofStack(doc.path):
		return nil
	}
	about := s.answersAbout(doc.path)
	if about == nil || about.snap.File(doc.path) == nil {
		return nil
	}
	return &place{about, s, doc.path, about.snap.File(doc.path).Text}
}

// embedders returns the places of the same file as part of other stacks of the workspace: of those
// that embed its stack. Without any it is the place itself.
func (p *place) embedders() []*place {
	if p.snap == nil {
		return []*place{p}
	}
	var all []*place
	stacks := p.server.workspace.Stacks()
	if len(stacks) > maxEmbedders {
		stacks = nil
	}
	for _, dir := range stacks {
		snap := p.server.workspace.Stack(dir)
		if snap == nil || dir == p.snap.Dir || snap.File(p.path) == nil {
			continue
		}
		if about := p.server.answersAbout(dir); about != nil && about.snap.File(p.path) != nil {
			all = append(all, &place{about, p.server, p.path, about.snap.File(p.path).Text})
		}
	}
	if len(all) == 0 {
		return []*place{p}
	}
	return all
}

// in returns a range of the file of the place.
func (p *place) in(rng hcl.Range) protocol.Range { return p.text.Range(rng) }

// textOf returns the text of a file, an empty one if there is none.
func (a *answers) textOf(path string) *position.Text {
	if a.snap == nil {
		return position.NewText(nil)
	}
	if text := a.snap.Text(path); text != nil {
		return text
	}
	return position.NewText(nil)
}

// textOf is that of the answers, with the text in which the place is.
func (p *place) textOf(path string) *position.Text {
	if path == p.path {
		return p.text
	}
	return p.answers.textOf(path)
}

// locations returns places of package language as the client knows them, each once. A directory is
// shown by the file that one would look at first.
func (p *place) locations(found []language.Location) protocol.LocationSlice {
	locations := protocol.LocationSlice{}
	for _, one := range found {
		path := one.Path
		if one.Range == (hcl.Range{}) {
			if path = outline.MainFile(path); path == "" {
				continue
			}
		}
		location := protocol.Location{URI: p.server.uriOf(path), Range: p.textOf(path).Range(one.Range)}
		if !slices.Contains(locations, location) {
			locations = append(locations, location)
		}
	}
	return locations
}

// edits adds edits of package language to those of the client, each once.
func (p *place) edits(changes map[uri.URI][]protocol.TextEdit, edits []language.Edit) {
	for _, edit := range edits {
		u := p.server.uriOf(edit.Path)
		made := protocol.TextEdit{Range: p.textOf(edit.Path).Range(edit.Range), NewText: edit.Text}
		if !slices.Contains(changes[u], made) {
			changes[u] = append(changes[u], made)
		}
	}
}

func markdown(text string) *protocol.MarkupContent {
	return &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: text}
}
