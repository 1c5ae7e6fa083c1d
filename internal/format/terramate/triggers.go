// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// triggersDir is the directory in the root of a tree for files that mark a stack as changed, or as
// not changed. Below it are the paths of stacks. Only adding or changing such a file counts; those
// that were there before have had their effect.
const triggersDir = "/.tmtriggers"

// isTrigger reports whether a file says something of a stack in whose directory it is not, by its
// path from the root.
func isTrigger(file string) bool { return strings.HasPrefix(file, triggersDir+"/") }

// triggers adds the stacks that files say are to count as changed, and takes away those that are
// not to.
func (f *finder) triggers() {
	ignored, changed := map[int]bool{}, map[int]gitdiff.Reason{}
	for _, file := range f.diff.Files {
		inTree, ok := f.inTree(file.Path)
		if !ok || !isTrigger(inTree) || file.Deleted || !strings.HasSuffix(file.Path, ".tm.hcl") && !strings.HasSuffix(file.Path, ".tm") {
			continue
		}
		stackPath := path.Dir(strings.TrimPrefix(inTree, triggersDir))
		i, ok := f.tree.Index(stackPath)
		if !ok {
			f.note(inTree, "Trigger without a stack",
				"The file is a trigger of %s, where there is no stack, and has no effect. Remove it.", stackPath)
			continue
		}
		kind, reason, err := readTrigger(f.tree.Root, strings.TrimPrefix(inTree, "/"))
		switch {
		case err != nil:
			f.note(inTree, "Unreadable trigger", "The file cannot be read as a trigger: %s. %s counts as changed.", err, stackPath)
		case kind == "ignore-change":
			ignored[i] = true
			continue
		case kind != "changed":
			f.note(inTree, "Unknown trigger type",
				"The trigger is of the type %q; there are \"changed\" and \"ignore-change\". %s counts as changed.", kind, stackPath)
		}
		text := "it was triggered by " + file.Path
		if reason != "" {
			text += ": " + reason
		}
		changed[i] = gitdiff.Reason{Kind: gitdiff.Triggered, File: file.Path, Text: text}
	}
	for i := range ignored {
		delete(f.result.Reasons, i)
	}
	for i, reason := range changed {
		f.add(i, reason)
	}
}

// readTrigger reads the block "trigger" of a file.
func readTrigger(dir, name string) (kind, reason string, err error) {
	src, err := safefile.Read(os.DirFS(dir), name, hclsource.MaxSize)
	if err != nil {
		return "", "", fmt.Errorf("%s", safefile.Reason(err))
	}
	file, diags := hclsource.Parse(src, name)
	if diags.HasErrors() {
		return "", "", fmt.Errorf("line %d: %s", diags[0].Subject.Start.Line, diags[0].Summary)
	}
	content, _, diags := file.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "trigger"}}})
	if diags.HasErrors() || len(content.Blocks) == 0 {
		return "", "", fmt.Errorf("there is no block \"trigger\"")
	}
	attributes, _ := content.Blocks[0].Body.JustAttributes() //nolint:errcheck // the readable part of it is enough
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
