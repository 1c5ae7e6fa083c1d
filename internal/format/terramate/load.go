// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/localsource"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// Load reads the tree below a directory. With errors the tree holds the readable part, for showing
// the source of diagnostics, and is not fit for anything else.
func Load(root string) (*Tree, hcl.Diagnostics) {
	l := &loader{
		tree: &Tree{Root: root, Files: map[string]*hcl.File{}}, dirs: map[string]bool{}, embedded: map[string]bool{},
		budget: order.ReferenceBudget, deployFiles: map[string][]string{},
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		return l.tree, append(l.diags, unreadable(root, err))
	}
	defer inside.Close() //nolint:errcheck // nothing is written
	l.root = inside
	l.directory("/")
	for _, stack := range l.own {
		// A stack that others embed is a part of them, unless it is said to be a stack here.
		if !l.embedded[stack.Path] {
			l.tree.Stacks = append(l.tree.Stacks, stack)
		}
	}
	slices.SortFunc(l.tree.Stacks, func(a, b *Stack) int { return strings.Compare(a.Path, b.Path) })
	l.readDeployments()
	l.checkIDs()
	if !l.diags.HasErrors() {
		l.resolve()
		l.circularWants()
	}
	return l.tree, l.diags
}

type loader struct {
	tree     *Tree
	root     *os.Root         // of the tree; links do not lead out of it
	own      []*Stack         // of our language, without a file of one of the formats
	embedded map[string]bool  // paths of directories that stacks of our language embed
	dirs     map[string]bool  // all directories
	tagged   map[string][]int // the stacks that have a tag; nil until somebody asks
	budget   order.Budget
	diags    hcl.Diagnostics

	deployFiles map[string][]string // names of deployment files, by the path of their directory
}

// directory reads a directory and those below it. Dir is its path from the root.
func (l *loader) directory(dir string) {
	entries, err := os.ReadDir(l.onDisk(dir))
	if errors.Is(err, fs.ErrNotExist) && dir != "/" {
		return // removed in the meantime
	}
	if err != nil {
		l.diags = l.diags.Append(unreadable(l.onDisk(dir), err))
		return
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == ".tmskip" }) {
		return
	}
	l.dirs[dir] = true
	found := &found{loader: l, dir: dir}
	for _, entry := range entries {
		if name := entry.Name(); !strings.HasPrefix(name, ".") && !entry.IsDir() {
			found.file(name)
		}
	}
	l.add(found)
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			l.directory(path.Join(dir, entry.Name()))
		}
	}
}

func unreadable(dir string, err error) *hcl.Diagnostic {
	return problem.New(problem.BadPath, &hcl.Range{Filename: dir}, "Unreadable directory",
		"The directory cannot be read: %s.", safefile.Reason(err))
}

func (l *loader) add(f *found) {
	switch {
	case f.stack != nil:
		f.stack.Kind = f.kind()
		l.tree.Stacks = append(l.tree.Stacks, f.stack)
	case f.marker != nil:
		l.tree.Stacks = append(l.tree.Stacks, &Stack{Path: f.dir, Kind: f.kind(), Range: *f.marker})
	case f.ownFile != "":
		l.own = append(l.own, &Stack{Path: f.dir, Kind: rollout.Components, Range: hcl.Range{Filename: f.ownFile}})
	}
	if f.ownFile == "" {
		return
	}
	calls, err := localsource.In(l.onDisk(f.dir))
	if err != nil {
		return // its entries have just been read
	}
	for _, call := range calls {
		if rel, ok := l.fromRoot(call.Dir); ok && call.Block == "stack" {
			l.embedded[rel] = true
		}
	}
}

// onDisk returns where a path from the root is.
func (l *loader) onDisk(dir string) string {
	return filepath.Join(l.tree.Root, filepath.FromSlash(dir))
}

// fromRoot is the reverse of onDisk.
func (l *loader) fromRoot(dir string) (string, bool) {
	rel, err := filepath.Rel(l.tree.Root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return path.Join("/", filepath.ToSlash(rel)), true
}

// found is the result of reading the files of one directory.
type found struct {
	*loader
	dir     string
	stack   *Stack
	marker  *hcl.Range // of a terrastack block
	ownFile string     // one of our language
	module  bool       // there are files of a plain module
}

func (f *found) kind() rollout.Kind {
	switch {
	case f.ownFile != "":
		return rollout.Components
	case f.module:
		return rollout.Root
	}
	return ""
}

func isTerrastack(name string) bool { return strings.HasSuffix(name, ".tsk.hcl") }

func isTerramate(name string) bool {
	return strings.HasSuffix(name, ".tm") || strings.HasSuffix(name, ".tm.hcl")
}

func (f *found) file(name string) {
	if localsource.IsStackFile(name) && f.ownFile == "" {
		f.ownFile = filepath.Join(f.onDisk(f.dir), name)
	}
	if deployconfig.IsDeployFile(name) {
		f.deployFiles[f.dir] = append(f.deployFiles[f.dir], name)
	}
	f.module = f.module || localsource.IsModuleFile(name)
	if !isTerrastack(name) && !isTerramate(name) {
		return
	}
	full := filepath.Join(f.onDisk(f.dir), name)
	src, err := safefile.Read(f.root.FS(), path.Join(".", f.dir, name), hclsource.MaxSize)
	if err != nil {
		f.diags = f.diags.Append(problem.New(problem.BadPath, &hcl.Range{Filename: full}, "Unreadable file",
			"The file cannot be read: %s.", safefile.Reason(err)))
		return
	}
	f.source(name, full, src)
}

// blocks are the blocks in files of the two formats that are read. There are many others in
// Terramate's.
var blocks = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "terrastack"}, {Type: "terramate"}, {Type: "stack"}}}

func (f *found) source(name, full string, src []byte) {
	file, diags := hclsource.Parse(src, full)
	if file != nil {
		f.tree.Files[full] = file
	}
	if diags.HasErrors() {
		f.diags = f.diags.Extend(coded(diags, problem.Syntax))
		return
	}
	content, _, diags := file.Body.PartialContent(blocks)
	f.diags = f.diags.Extend(coded(diags, problem.Syntax))
	for _, block := range content.Blocks {
		switch {
		case block.Type == "stack":
			f.stackBlock(block)
		case block.Type == "terrastack" && isTerrastack(name):
			f.marker = block.DefRange.Ptr()
			f.version(block)
		case block.Type == "terramate" && isTerramate(name):
			f.version(block)
		}
	}
}

func (f *found) version(block *hcl.Block) {
	content, _, diags := block.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "required_version"}}})
	f.diags = f.diags.Extend(coded(diags, problem.Syntax))
	attr, ok := content.Attributes["required_version"]
	if !ok {
		return
	}
	text, diag := literal(attr)
	if diag == nil {
		diag = checkVersion(block.Type, text, attr.Expr.Range())
	}
	if diag != nil {
		f.diags = f.diags.Append(diag)
	}
}

// MayDefine reports whether a file that has this name can make its directory a stack.
func MayDefine(name string) bool {
	return localsource.IsStackFile(name) || isTerrastack(name) || isTerramate(name)
}

// Defines reports whether the source of a file that has this name makes its directory a stack.
func Defines(name string, src []byte) bool {
	if localsource.IsStackFile(name) {
		return true
	}
	if !MayDefine(name) {
		return false
	}
	file, _ := hclsource.Parse(src, name) //nolint:errcheck // the readable part of it is enough
	if file == nil {
		return false
	}
	content, _, _ := file.Body.PartialContent(blocks) //nolint:errcheck // see above
	return slices.ContainsFunc(content.Blocks, func(b *hcl.Block) bool {
		return b.Type == "stack" || b.Type == "terrastack" && isTerrastack(name)
	})
}

// coded gives diagnostics of the parser a code.
func coded(diags hcl.Diagnostics, code problem.Code) hcl.Diagnostics {
	for _, diag := range diags {
		if diag.Extra == nil {
			diag.Extra = code
		}
	}
	return diags
}
