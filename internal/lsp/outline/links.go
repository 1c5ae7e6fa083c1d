// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package outline

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Link leads from a source to the directory that it means.
type Link struct {
	Range  hcl.Range
	Target string // path of a file in it
}

// Links returns those of all local sources that lead to something.
func (f *File) Links() []Link {
	var links []Link
	for _, item := range items(f.Body) {
		if item.block != nil {
			links = append(links, f.linksIn(item.block)...)
		}
	}
	return links
}

func (f *File) linksIn(block *hclsyntax.Block) []Link {
	var links []Link
	source := literal(block.Body, "source")
	if block.Type == "stack" && source == "" && len(block.Body.Blocks) == 0 {
		source = literal(block.Body, "path") // of a workspace file, from its directory
		if source != "" {
			source = "./" + source
		}
	}
	if strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") {
		name := "source"
		if block.Body.Attributes[name] == nil {
			name = "path"
		}
		if target := MainFile(filepath.Join(filepath.Dir(f.Path), filepath.FromSlash(source))); target != "" {
			links = append(links, Link{block.Body.Attributes[name].Expr.Range(), target})
		}
	}
	for _, inner := range block.Body.Blocks {
		links = append(links, f.linksIn(inner)...)
	}
	return links
}

// MainFile returns the file of a directory that one would look at first, or "".
func MainFile(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	first := ""
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case entry.IsDir(), !stackconfig.IsComponentFile(name) && !strings.HasSuffix(name, ".tf") && !strings.HasSuffix(name, ".tofu"):
			continue
		case strings.HasPrefix(name, "main."):
			return filepath.Join(dir, name)
		case first == "":
			first = filepath.Join(dir, name)
		}
	}
	return first
}
