// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugintasks

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/yamldoc"
)

// FileName is the file that makes a directory a plugin.
const FileName = "tasks.yaml"

// graphFileName is the file of later plugins for tasks that name their predecessors and successors.
// They are not read.
const graphFileName = "deployment_tasks.yaml"

// Load reads the plugins in a folder and returns their tasks in order. Nothing outside of the
// folder is read, whatever links lead to.
func Load(dir string, mode Mode) ([]*Task, hcl.Diagnostics) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, hcl.Diagnostics{problem.New(problem.BadPath, &hcl.Range{Filename: dir}, "Unreadable plugins folder",
			"The folder of plugins cannot be opened: %s.", safefile.Reason(err))}
	}
	defer root.Close() //nolint:errcheck // nothing is written
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, hcl.Diagnostics{unreadable(dir, err)}
	}
	var all []*Task
	var diags hcl.Diagnostics
	plugins := 0
	for _, entry := range entries {
		info, err := root.Stat(entry.Name())
		if err != nil || !info.IsDir() {
			continue
		}
		if _, err := root.Stat(path.Join(entry.Name(), graphFileName)); err == nil {
			diags = diags.Append(notRead(filepath.Join(dir, entry.Name(), graphFileName)))
		}
		display := filepath.Join(dir, entry.Name(), FileName)
		src, err := yamldoc.ReadFile(root.FS(), path.Join(entry.Name(), FileName))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		plugins++
		if err != nil {
			diags = diags.Append(unreadable(display, err))
			continue
		}
		tasks, moreDiags := Parse(entry.Name(), display, src, mode)
		for _, task := range tasks {
			task.Dir = scriptsDir(root, dir, entry.Name())
		}
		all = append(all, tasks...)
		diags = diags.Extend(moreDiags)
	}
	if plugins == 0 {
		diags = diags.Append(problem.New(problem.BadPath, &hcl.Range{Filename: dir}, "No plugins",
			"No directory in %s holds a file %s. Name the folder that holds the plugins, not one of them.", dir, FileName))
	}
	Sort(all)
	return all, diags
}

// scriptsDir is where the commands of a plugin run: its directory deployment_scripts if it has one,
// which is where the builder of plugins puts them, else its own.
func scriptsDir(root *os.Root, dir, plugin string) string {
	const scripts = "deployment_scripts"
	if info, err := root.Stat(path.Join(plugin, scripts)); err == nil && info.IsDir() {
		return filepath.Join(dir, plugin, scripts)
	}
	return filepath.Join(dir, plugin)
}

func notRead(filename string) *hcl.Diagnostic {
	return problem.Warning(problem.Syntax, &hcl.Range{Filename: filename}, "Ignored tasks",
		"The tasks of this file name others that they come before and after (\"requires\", \"required_for\"), "+
			"and are left out: only the stages of %s are read. "+
			"Write them into that file, or as tasks of a workspace file with \"after\" and \"before\".", FileName)
}

func unreadable(filename string, err error) *hcl.Diagnostic {
	return problem.New(problem.BadPath, &hcl.Range{Filename: filename}, "Unreadable file",
		"The file cannot be read: %s.", safefile.Reason(err))
}

// Sort puts tasks in the order in which they are done.
func Sort(tasks []*Task) { slices.SortStableFunc(tasks, compare) }

func compare(a, b *Task) int {
	return cmp.Or(-cmp.Compare(a.Stage, b.Stage), // "pre_deployment" is the greater word, and the earlier stage
		cmp.Compare(a.Value, b.Value), cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Position, b.Position))
}
