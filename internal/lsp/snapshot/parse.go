// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/lsp/position"
	"github.com/cairnstacks/cairn/internal/lsp/snapshot/reparse"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// fileID identifies a file of a stack: its path, and how ranges name it.
type fileID struct{ path, name string }

// parsedFile is a file with its parse results.
type parsedFile struct {
	text  *position.Text
	tree  *hcl.File
	diags hcl.Diagnostics
	good  *hcl.File // the last without syntax errors; nil if there was none
}

// file describes a parsed file.
func (p *parsedFile) file(id fileID, open bool) *File {
	return &File{
		Path: id.path, Name: id.name, Text: p.text, Open: open, JSON: strings.HasSuffix(id.path, ".json"),
		Tree: p.tree, Diagnostics: p.diags, LastGood: p.good,
	}
}

// openFiles has the files that are open in the editor as they were parsed last, for all stacks that
// they are part of. It is safe for concurrent use.
type openFiles struct {
	sync.Mutex
	parsed map[fileID]*parsedFile
}

// parse returns a file with a text, parsed only if it is another one than before. A tree of an
// earlier text helps with that.
func (o *openFiles) parse(id fileID, src []byte, before *parsedFile) *parsedFile {
	o.Lock()
	defer o.Unlock()
	parsed := o.parsed[id]
	if parsed == nil {
		parsed = before
	}
	if parsed == nil || !bytes.Equal(parsed.text.Bytes(), src) {
		parsed = parseAgain(id, src, parsed)
	}
	if parsed.good == nil && before != nil && before.good != nil {
		parsed = &parsedFile{text: parsed.text, tree: parsed.tree, diags: parsed.diags, good: before.good}
	}
	o.parsed[id] = parsed
	return parsed
}

// close forgets a file.
func (o *openFiles) close(path string) {
	o.Lock()
	defer o.Unlock()
	maps.DeleteFunc(o.parsed, func(id fileID, _ *parsedFile) bool { return id.path == path })
}

// parser parses files, but for those that are as before.
type parser struct {
	before, now map[fileID]*parsedFile
	buffers     map[string][]byte
	open        *openFiles
	broken      bool // whether there are syntax errors
}

// parse returns a file as it is.
func (p *parser) parse(path, name string, src []byte) (*hcl.File, hcl.Diagnostics) {
	parsed := p.get(fileID{path, name}, src)
	p.broken = p.broken || parsed.diags.HasErrors()
	return parsed.tree, slices.Clone(parsed.diags)
}

// declared returns a file with its declarations, and those of its last correct version.
func (p *parser) declared(path, name string, src []byte) (*hcl.File, hcl.Diagnostics) {
	parsed := p.get(fileID{path, name}, src)
	if !parsed.diags.HasErrors() {
		return parsed.tree, nil
	}
	return restored(parsed.tree, parsed.good), nil
}

func (p *parser) get(id fileID, src []byte) *parsedFile {
	if parsed := p.now[id]; parsed != nil {
		return parsed
	}
	parsed := p.before[id]
	if parsed == nil || !bytes.Equal(parsed.text.Bytes(), src) {
		if _, open := p.buffers[id.path]; open {
			parsed = p.open.parse(id, src, parsed)
		} else {
			parsed = parseAgain(id, src, parsed)
		}
	}
	p.now[id] = parsed
	return parsed
}

func parseAgain(id fileID, src []byte, before *parsedFile) *parsedFile {
	parsed := &parsedFile{text: position.NewText(src)}
	if before != nil && before.good != nil {
		if tree := reparse.File(before.good, id.name, src); tree != nil {
			parsed.tree, parsed.good = tree, tree
			return parsed
		}
	}
	if deployconfig.IsDeployFile(id.path) {
		parsed.tree, parsed.diags = deployconfig.ParseFile(id.name, src)
	} else {
		parsed.tree, parsed.diags = stackconfig.ParseFileAs(filepath.Base(id.path), id.name, src)
	}
	switch {
	case !parsed.diags.HasErrors():
		parsed.good = parsed.tree
	case before != nil:
		parsed.good = before.good
	}
	return parsed
}

// restored returns a broken file with the blocks of a good version of it that are missing.
func restored(broken, good *hcl.File) *hcl.File {
	if good == nil {
		return broken
	}
	now, isNative := broken.Body.(*hclsyntax.Body)
	before, wasNative := good.Body.(*hclsyntax.Body)
	if !isNative || !wasNative {
		return good
	}
	body := *now
	body.Blocks = slices.Clone(now.Blocks)
	there := map[string]bool{}
	for _, block := range now.Blocks {
		there[header(block)] = true
	}
	for _, block := range before.Blocks {
		if !there[header(block)] {
			body.Blocks = append(body.Blocks, block)
		}
	}
	file := *broken
	file.Body = &body
	return &file
}

// header is the type and the labels that identify a block.
func header(block *hclsyntax.Block) string {
	return strings.Join(append([]string{block.Type}, block.Labels...), "\x00")
}
