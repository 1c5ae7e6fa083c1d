// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/userfile"
)

// triggersDir is the directory in the root of a tree for files that say that a stack is to count as changed, or as not changed. Below it
// are the paths of stacks. What counts is that such a file was added or changed; what is in those that were there before has had its effect.
const triggersDir = "/.tmtriggers"

// trigger returns the path of the stack that a file is a trigger of.
func (f *finder) trigger(file string) (stackPath string, ok bool) {
	inTree, ok := f.inTree(file)
	if !ok || !strings.HasPrefix(inTree, triggersDir+"/") {
		return "", false
	}
	return path.Dir(strings.TrimPrefix(inTree, triggersDir)), true
}

// triggers adds the stacks that files say are to count as changed, and takes away those that are not to.
func (f *finder) triggers() {
	ignored, changed := map[int]bool{}, map[int]Reason{}
	for _, file := range f.diff.Files {
		stackPath, ok := f.trigger(file.Path)
		if !ok || file.Deleted || !strings.HasSuffix(file.Path, ".tm.hcl") && !strings.HasSuffix(file.Path, ".tm") {
			continue
		}
		i, ok := f.tree.Index(stackPath)
		if !ok {
			f.note(file.Path, "Trigger of no stack", "The file is a trigger of %s, where there is no stack, and has no effect. Remove it.", stackPath)
			continue
		}
		kind, reason, err := readTrigger(f.diff.repository.Dir, file.Path)
		switch {
		case err != nil:
			f.note(file.Path, "Trigger not readable", "The file cannot be read as a trigger: %s. %s counts as changed.", err, stackPath)
		case kind == "ignore-change":
			ignored[i] = true
			continue
		case kind != "changed":
			f.note(file.Path, "Unknown kind of trigger", "The trigger is of the type %q; there are \"changed\" and \"ignore-change\". %s counts as changed.", kind, stackPath)
		}
		text := "it was triggered by " + file.Path
		if reason != "" {
			text += ": " + reason
		}
		changed[i] = Reason{Kind: Triggered, File: file.Path, Text: text}
	}
	for i := range ignored {
		delete(f.result.Reasons, i)
	}
	for i, reason := range changed {
		f.add(i, reason)
	}
}

// note adds a warning about a file of the tree, by its path from the top of the repository.
func (f *finder) note(file, summary, detail string, args ...any) {
	inTree, _ := f.inTree(file)
	at := &hcl.Range{Filename: filepath.Join(f.tree.Root, filepath.FromSlash(inTree))}
	f.result.Notes = f.result.Notes.Append(problem.Warning(problem.BadValue, at, summary, detail, args...))
}

// readTrigger reads the block "trigger" of a file.
func readTrigger(dir, name string) (kind, reason string, err error) {
	src, err := userfile.Read(os.DirFS(dir), name, hclsource.MaxSize)
	if err != nil {
		return "", "", fmt.Errorf("%s", userfile.Reason(err))
	}
	file, diags := hclsource.Parse(src, name)
	if diags.HasErrors() {
		return "", "", fmt.Errorf("line %d: %s", diags[0].Subject.Start.Line, diags[0].Summary)
	}
	content, _, diags := file.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "trigger"}}})
	if diags.HasErrors() || len(content.Blocks) == 0 {
		return "", "", fmt.Errorf("there is no block \"trigger\"")
	}
	attributes, _ := content.Blocks[0].Body.JustAttributes() //nolint:errcheck // what can be read of it is enough
	text := func(name, otherwise string) string {
		attribute, ok := attributes[name]
		if !ok {
			return otherwise
		}
		value, diags := hclsource.Constant(attribute.Expr)
		if diags.HasErrors() || value.IsNull() || value.Type() != cty.String {
			return otherwise
		}
		return value.AsString()
	}
	return text("type", "changed"), text("reason", ""), nil
}
