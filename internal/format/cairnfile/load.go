// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/localsource"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// Exists reports whether a directory has something with the name of a workspace file, be it a link
// that leads nowhere, which should not be overlooked.
func Exists(root string) bool {
	_, err := os.Lstat(filepath.Join(root, FileName))
	return err == nil
}

// Load reads the workspace file in the root of a repository and looks at the directories that it
// names: whether they exist, inside of the root wherever links lead to, and the kind of their
// contents. Without a model there are errors.
func Load(root string) (*Model, hcl.Diagnostics) {
	filename := filepath.Join(root, FileName)
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, hcl.Diagnostics{unreadable(filename, err)}
	}
	defer dir.Close() //nolint:errcheck // nothing is written
	src, err := safefile.Read(dir.FS(), FileName, MaxSize)
	if err != nil {
		return nil, hcl.Diagnostics{unreadable(filename, err)}
	}
	return loadText(dir, filename, src)
}

// LoadText is [Load] with the text that an editor has in place of the file. The directories that it
// names are looked at all the same.
func LoadText(root string, src []byte) (*Model, hcl.Diagnostics) {
	filename := filepath.Join(root, FileName)
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, hcl.Diagnostics{unreadable(filename, err)}
	}
	defer dir.Close() //nolint:errcheck // nothing is written
	return loadText(dir, filename, src)
}

func loadText(dir *os.Root, filename string, src []byte) (*Model, hcl.Diagnostics) {
	w, diags := Parse(filename, src)
	deployments := &outlines{fsys: dir.FS(), shown: filepath.Dir(filename), read: map[string]*deployconfig.Outline{}}
	for _, block := range w.Blocks {
		if block.Stack != nil {
			diags = diags.Extend(lookAt(dir, block, deployments))
		}
	}
	if !diags.HasErrors() {
		diags = diags.Extend(w.expand())
	}
	if !diags.HasErrors() {
		diags = diags.Extend(findLinks(dir.Name(), w))
	}
	if diags.HasErrors() {
		return nil, diags
	}
	m, moreDiags := Resolve(w)
	return m, diags.Extend(moreDiags)
}

func unreadable(filename string, err error) *hcl.Diagnostic {
	return problem.New(problem.BadPath, &hcl.Range{Filename: filename}, "Unreadable file",
		"The workspace file cannot be read: %s.", safefile.Reason(err))
}

// lookAt checks the directory of a stack, and finds out its kind if the file does not say it, and
// its deployments.
func lookAt(root *os.Root, block *Block, deployments *outlines) hcl.Diagnostics {
	stack := block.Stack
	entries, err := fs.ReadDir(root.FS(), stack.Dir)
	if err != nil {
		detail := "The directory %q of the stack %q cannot be read: %s."
		if errors.Is(err, fs.ErrNotExist) {
			err = fs.ErrNotExist
			detail = "The directory %q of the stack %q: %s. Set \"path\" to where it is, seen from the root of the repository."
		}
		return hcl.Diagnostics{problem.New(problem.BadPath, &stack.DirRange, "Unreadable stack directory", detail, stack.Dir, block.Name, err)}
	}
	if stack.Kind == "" {
		stack.Kind = kindOf(entries)
	}
	if stack.Kind == "" {
		return hcl.Diagnostics{problem.New(problem.BadPath, &stack.DirRange, "Directory without a configuration",
			"The directory %q of the stack %q holds neither a stack of the Terraform Stacks language "+
				"(*.tfcomponent.hcl) nor a root module (*.tf).", stack.Dir, block.Name)}
	}
	if stack.Deployment != "" && stack.Kind == rollout.Root {
		return hcl.Diagnostics{problem.New(problem.BadValue, &stack.DeploymentRange, "Deployment for a root module",
			"In %q there is a plain root module, which has no deployments. Use \"variables\" or \"var_files\".", stack.Dir)}
	}
	if stack.Workspace != "" && stack.Kind == rollout.Components {
		return hcl.Diagnostics{problem.New(problem.BadValue, &stack.WorkspaceRange, "Workspace for a stack",
			"In %q there is a stack of the Terraform Stacks language, which has no workspaces. Use \"deployment\".", stack.Dir)}
	}
	return missingVarFiles(root, block).Extend(deployments.deployments(block, entries))
}

// missingVarFiles warns of files with values that are not there. A task may yet make them.
func missingVarFiles(root *os.Root, block *Block) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, file := range block.Stack.VarFiles {
		if _, err := root.Stat(filepath.FromSlash(file)); errors.Is(err, fs.ErrNotExist) {
			diags = diags.Append(problem.Warning(problem.BadPath, &block.Stack.VarFilesRange, "Variables file not found",
				"There is no file %q for the stack %q. The entries of \"var_files\" are seen from the root of the repository.", file, block.Name))
		}
	}
	return diags
}

func kindOf(entries []fs.DirEntry) rollout.Kind {
	var kind rollout.Kind
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case entry.IsDir():
		case localsource.IsStackFile(name):
			return rollout.Components
		case localsource.IsModuleFile(name):
			kind = rollout.Root
		}
	}
	return kind
}
