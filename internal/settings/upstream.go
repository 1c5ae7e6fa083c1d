// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// Upstream is where a stack is kept from which this one takes values: one of both is set.
type Upstream struct {
	Stack string // its directory, relative to that of this stack, or of the workspace file
	State string // the location of its state, as in [Settings.State]

	Range hcl.Range // of the block's header
}

// Below returns it with the directory of the stack as seen from another directory.
func (u Upstream) Below(dir string) Upstream {
	if u.Stack != "" && !filepath.IsAbs(u.Stack) {
		u.Stack = filepath.Join(dir, u.Stack)
	}
	if u.State != "" {
		u.State = PlaceState(u.State, func(path string) string {
			if filepath.IsAbs(path) {
				return path
			}
			return filepath.Join(dir, path)
		})
	}
	return u
}

// FileStore is the kind of state store that keeps the states of a stack in a file, and the scheme
// of its locations.
const FileStore = "sqlite"

// PlaceState returns the location of a state, with its path joined with a directory if it is in a
// file.
func PlaceState(location string, join func(path string) string) string {
	path, isFile := strings.CutPrefix(location, FileStore+"://")
	if !isFile && strings.Contains(path, "://") {
		return location
	}
	return join(path)
}

// Same reports whether two are the same place, as far as their texts say it.
func (u Upstream) Same(other Upstream) bool { return u.Stack == other.Stack && u.State == other.State }

// Upstreams are stacks from which others take values, by the addresses that upstream_input blocks
// name.
type Upstreams map[string]Upstream

// Decode adds a block whose label is the address of a stack.
func (u *Upstreams) Decode(block *hcl.Block) hcl.Diagnostics {
	source := block.Labels[0]
	if first, twice := (*u)[source]; twice {
		return hcl.Diagnostics{failure.At(block.LabelRanges[0], "Setting given twice",
			"There is another block that says where %s is kept, at %s.", source, first.Range)}
	}
	content, diags := block.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "stack"}, {Name: "state"}}})
	upstream := Upstream{Range: block.DefRange}
	for name, target := range map[string]*string{"stack": &upstream.Stack, "state": &upstream.State} {
		value, moreDiags := stringSetting(content.Attributes[name])
		*target, diags = value, diags.Extend(moreDiags)
	}
	if (content.Attributes["stack"] == nil) == (content.Attributes["state"] == nil) {
		diags = diags.Append(failure.At(block.DefRange, "Unusable upstream",
			"Give either stack, the directory of the stack, or state, the location of its state."))
	}
	if *u == nil {
		*u = Upstreams{}
	}
	(*u)[source] = upstream
	return diags
}

// WorkspaceFile is the name of the file that lists the stacks of a repository. Its upstream blocks
// count for all of these.
const WorkspaceFile = "cairn.workspace.hcl"

// maxWorkspaceFile is the limit for the size of a workspace file, in bytes.
const maxWorkspaceFile = 4 << 20

// ReadUpstreams reads the upstream blocks of the workspace file in a directory, and nothing else of
// it. It need not exist. Its source is added to files.
func ReadUpstreams(dir string, files map[string]*hcl.File) (Upstreams, hcl.Diagnostics) {
	name := filepath.Join(dir, WorkspaceFile)
	src, err := safefile.Read(os.DirFS(dir), WorkspaceFile, maxWorkspaceFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, hcl.Diagnostics{failure.New("Unreadable workspace file", "The file %s cannot be read: %s.", name, safefile.Reason(err))}
	}
	file, diags := safehcl.ParseConfig(src, name, hcl.InitialPos)
	if file == nil || diags.HasErrors() {
		return nil, diags
	}
	files[name] = file
	content, _, diags := file.Body.PartialContent(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "upstream", LabelNames: []string{"source"}}},
	})
	var upstreams Upstreams
	for _, block := range content.Blocks {
		diags = diags.Extend(upstreams.Decode(block))
	}
	return upstreams, diags
}
