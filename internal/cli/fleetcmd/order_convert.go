// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/statescmd"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/convert"
	"github.com/cairnstacks/cairn/internal/format/terragrunt"
	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/format/terrateam"
	"github.com/cairnstacks/cairn/internal/localsource"
	"github.com/cairnstacks/cairn/internal/nearest"
)

// convertOptions choose the source and the target of a conversion.
type convertOptions struct {
	tree     treeOptions
	from, to string
	out      string
	states   statescmd.Options
}

func orderConvertCommand() *session.Command {
	var o convertOptions
	return &session.Command{
		Name:    "convert",
		Foreign: true,
		Args:    "[ROOT SLS...]",
		Summary: "Writes the stacks and their order in another format.",
		Long: `
From each format to each other one: "dirs" are stack directories, "gates" a .terrateam/config.yml,
"workspace" a cairn.workspace.hcl, "plugins" the tasks of plugins in -plugins=DIR, and "states" the
SLS files that the arguments name, as for "cairn run states". Two are only read: "terragrunt" are
files terragrunt.hcl, and "roots" all directories with a stack or a root module that no other one
uses, without any order.

It is printed; "dirs" are several files, each after a line with its path. With -out=DIR the files
are written below a directory instead; nothing that is there is changed. Everything that the other
format cannot say, or says in another way, is listed on standard error, each with its place.`,
		Example: `cairn order convert -from=roots > cairn.workspace.hcl
cairn order convert -from=dirs > cairn.workspace.hcl
cairn order convert -from=workspace -to=dirs -out=.
cairn order convert -plugins=plugins -to=states > states/plugins.sls
cairn order convert -from=states states web > cairn.workspace.hcl`,
		MaxArgs: 1 << 30,
		Flags: func(f *session.Flags) {
			o = convertOptions{}
			rootFlag(f, &o.tree)
			f.StringVar(&o.tree.plugins.dir, "plugins", "", "read the tasks of the plugins in `DIR`; no -from is needed")
			f.StringVar(&o.from, "from", "", "read `dirs|gates|roots|states|terragrunt|workspace`")
			f.StringVar(&o.to, "to", "", "write `dirs|gates|plugins|states|workspace` (default: workspace, and gates from a workspace file)")
			f.StringVar(&o.out, "out", "", "write the files in `DIR` instead of printing them")
		},
		Run: func(_ context.Context, s *session.Session, args []string) (int, error) {
			if err := o.check(args); err != nil {
				return 0, err
			}
			result, diags, err := convertSource(s, o, args)
			if err != nil {
				return 0, err
			}
			if diags.HasErrors() {
				return 0, diags
			}
			if err := s.Report(diags); err != nil {
				return 0, err
			}
			if o.out == "" {
				s.Print("%s", result.Text())
			} else if err := writeConverted(s, o.out, result.Files); err != nil {
				return 0, err
			}
			for _, loss := range result.Lost {
				s.NoteLine("Lost: %s", loss.String())
			}
			return cmdline.ExitOK, nil
		},
	}
}

// check completes the options.
func (o *convertOptions) check(args []string) error {
	if o.tree.plugins.dir != "" {
		if o.from != "" && o.from != "plugins" {
			return failure.Error("Conflicting options", "The option -plugins reads the tasks of plugins. Leave out -from=%s.", o.from)
		}
		o.from = "plugins"
	}
	// Every conversion goes by way of a workspace file, which is therefore the usual target. Gates are
	// nearest to it: of the other formats, only they plan and apply.
	if o.to == "" {
		o.to = "workspace"
		if o.from == "workspace" {
			o.to = "gates"
		}
	}
	_, known := sources[o.from]
	switch {
	case o.from == "":
		return failure.Error("Missing required option",
			"Name the source: -from=dirs, gates, roots, states, terragrunt or workspace, or -plugins=DIR.")
	case o.from == "plugins" && o.tree.plugins.dir == "":
		return failure.Error("Missing required option", "Say where the plugins are: -plugins=DIR.")
	case !known && o.from != "workspace":
		return failure.Error("Unknown format",
			"There is nothing to convert from %q.%s Use -from=dirs, gates, roots, states, terragrunt or workspace, or -plugins=DIR.",
			o.from, nearest.DidYouMean(o.from, append(slices.Collect(maps.Keys(sources)), "workspace")))
	case targets[o.to] == nil && o.to != "workspace":
		return failure.Error("Unknown format", "Nothing can be written as %q.%s Use -to=dirs, gates, plugins, states or workspace.",
			o.to, nearest.DidYouMean(o.to, append(slices.Collect(maps.Keys(targets)), "workspace")))
	case o.from == o.to:
		return failure.Error("Same source and target format", "The input from %q is of that format already.", o.from)
	case o.from != "states" && len(args) > 0:
		return failure.Error("Too many arguments", "Only -from=states has arguments: the root of the SLS files, and their names.")
	case o.from == "states" && len(args) < 2:
		return failure.Error("Missing argument", "Name the root of the SLS files, and one or more of them, as for \"cairn run states\".")
	}
	return nil
}

// convertSource reads one format and writes another, by way of a workspace file.
func convertSource(s *session.Session, o convertOptions, args []string) (convert.Result, hcl.Diagnostics, error) {
	at, err := o.tree.place()
	if err != nil {
		return convert.Result{}, nil, err
	}
	if o.from == "workspace" {
		if !cairnfile.Exists(at.Root) {
			return convert.Result{}, nil, failure.Error("No workspace file",
				"There is no file %s in %s. Name its repository with -root=DIR.", cairnfile.FileName, shownDir(at.Root))
		}
		model, diags := cairnfile.Load(at.Root)
		if diags.HasErrors() {
			return convert.Result{}, diags, nil
		}
		result, moreDiags := targets[o.to](model)
		return result, diags.Extend(moreDiags), nil
	}
	result, diags, err := sources[o.from](s, at.Root, o, args)
	if err != nil || diags.HasErrors() {
		return result, diags, err
	}
	if o.to == "workspace" {
		return result, diags.Extend(result.Check()), nil
	}
	result, moreDiags := result.Then(targets[o.to])
	return result, diags.Extend(moreDiags), nil
}

// writeConverted writes files below a directory, all or none. Files that are there may only be the
// same.
func writeConverted(s *session.Session, out string, files []convert.File) error {
	dir, err := os.OpenRoot(out)
	if err != nil {
		return failure.Error("Unusable directory", "The option -out names no directory that can be written to: %s.", failure.Reason(err))
	}
	defer dir.Close() //nolint:errcheck // the written files have been closed
	var missing []convert.File
	for _, file := range files {
		is, err := dir.ReadFile(filepath.FromSlash(file.Path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, file)
		case err != nil:
			return failure.Error("File not written", "There is something at %s that cannot be read: %s. "+
				"Nothing was written.", filepath.Join(out, filepath.FromSlash(file.Path)), failure.Reason(err))
		case !bytes.Equal(is, file.Text):
			return failure.Error("File already exists", "There is another file %s. Nothing was written. "+
				"Move it away, or choose another directory.", filepath.Join(out, filepath.FromSlash(file.Path)))
		}
	}
	for _, file := range missing {
		name := filepath.FromSlash(file.Path)
		err := dir.MkdirAll(filepath.Dir(name), 0o777)
		if err == nil {
			err = dir.WriteFile(name, file.Text, 0o666)
		}
		if err != nil {
			return failure.Error("File not written", "The file %s cannot be written: %s.", filepath.Join(out, name), failure.Reason(err))
		}
		s.Print("%s\n", filepath.ToSlash(filepath.Join(out, name)))
	}
	return nil
}

// targets are the formats that a workspace file is written in.
var targets = map[string]func(*cairnfile.Model) (convert.Result, hcl.Diagnostics){
	"dirs": convert.ToDirs, "gates": convert.ToGates, "plugins": convert.ToPlugins, "states": convert.ToStates,
}

// sources are the formats that a workspace file is made of.
var sources = map[string]func(s *session.Session, root string, o convertOptions, args []string) (convert.Result, hcl.Diagnostics, error){
	"dirs":    convertDirs,
	"gates":   convertGates,
	"plugins": convertPlugins,
	"states":  convertStates,

	"roots":      convertRoots,
	"terragrunt": convertTerragrunt,
}

func convertRoots(s *session.Session, root string, _ convertOptions, _ []string) (convert.Result, hcl.Diagnostics, error) {
	dirs, diags := cairnfile.Find(root)
	if !diags.HasErrors() && len(dirs) == 0 {
		diags = diags.Append(failure.Warning("No stacks",
			"There is no directory with a stack or a root module in %s: none with files *.tfcomponent.hcl or *.tf.", shownDir(root)))
	}
	return convert.FromRoots(dirs), diags, nil
}

func convertTerragrunt(s *session.Session, root string, _ convertOptions, _ []string) (convert.Result, hcl.Diagnostics, error) {
	units, diags := terragrunt.Load(root)
	if diags.HasErrors() {
		return convert.Result{}, diags, nil
	}
	return convert.FromTerragrunt(units), diags, nil
}

func convertDirs(s *session.Session, root string, _ convertOptions, _ []string) (convert.Result, hcl.Diagnostics, error) {
	tree, diags := terramate.Load(root)
	for name, file := range tree.Files {
		s.Files[name] = file
	}
	if !diags.HasErrors() {
		_, moreDiags := tree.Graph()
		diags = diags.Extend(moreDiags)
	}
	if diags.HasErrors() {
		return convert.Result{}, diags, nil
	}
	return convert.FromDirs(tree), diags, nil
}

func convertGates(s *session.Session, root string, _ convertOptions, _ []string) (convert.Result, hcl.Diagnostics, error) {
	layout, diags, err := terrateam.Load(root)
	if errors.Is(err, terrateam.ErrNoConfig) {
		err = failure.Error("No configuration",
			"There is no file %s in %s. Name its repository with -root=DIR.", terrateam.ConfigFile, shownDir(root))
	}
	if err != nil || diags.HasErrors() {
		return convert.Result{}, diags, err
	}
	return convert.FromGates(layout), diags, nil
}

func convertPlugins(s *session.Session, root string, o convertOptions, _ []string) (convert.Result, hcl.Diagnostics, error) {
	tasks, _, diags, err := loadPlugins(o.tree.plugins)
	if err != nil {
		return convert.Result{}, nil, err
	}
	if root, err = localsource.RealPath(root); err != nil {
		return convert.Result{}, nil, err
	}
	for _, task := range tasks {
		if task.Dir, err = localsource.RealPath(task.Dir); err != nil {
			return convert.Result{}, nil, err
		}
	}
	return convert.FromPlugins(root, tasks), diags, nil
}

func convertStates(s *session.Session, _ string, o convertOptions, args []string) (convert.Result, hcl.Diagnostics, error) {
	src, err := statescmd.Open(args, o.states)
	if err != nil {
		return convert.Result{}, nil, err
	}
	if err := errors.Join(src.Compile(o.states), src.Close()); err != nil {
		return convert.Result{}, nil, err
	}
	return convert.FromStates(src.Low), src.Warnings, nil
}
