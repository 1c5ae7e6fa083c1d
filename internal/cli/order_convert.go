// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order/convert"
	"github.com/cairnstacks/cairn/internal/order/gated"
	"github.com/cairnstacks/cairn/internal/order/stackdir"
	"github.com/cairnstacks/cairn/internal/order/workspace"
)

func orderConvertCommand() *command {
	var options treeOptions
	var from, to string
	return &command{
		name:    "convert",
		summary: "Writes what there is in another format of order.",
		long: `
What is read from stack directories, .terrateam/config.yml or plugins is written as a workspace file; what is read from a workspace file, as a
.terrateam/config.yml or as files of stack directories, each after a line with its path. It is printed. What the other format cannot say is listed on standard error.`,
		example: "cairn order convert -from=dirs > cairn.workspace.hcl\ncairn order convert -from=workspace > .terrateam/config.yml",
		flags: func(f *flagSet) {
			options = treeOptions{}
			f.rootFlag(&options)
			f.StringVar(&options.plugins.dir, "plugins", "", "read the tasks of the plugins in `DIR`; no -from is needed")
			f.StringVar(&from, "from", "", "read `dirs|gates|workspace`")
			f.StringVar(&to, "to", "", "write `dirs|gates|workspace` (default: workspace, and gates from a workspace file)")
		},
		run: func(_ context.Context, s *session, _ []string) (int, error) {
			if options.plugins.dir != "" {
				from = "plugins"
			}
			read, ok := conversions[from]
			if from == "workspace" && to == "dirs" {
				read = fromWorkspace(convert.ToTree)
			} else if to != "" && (to != "gates" || from != "workspace") && (to != "workspace" || from == "workspace") {
				return 0, fail("No such conversion", "What is read from %q cannot be written as %q. A workspace file becomes \"gates\" or \"dirs\", and all others a \"workspace\".", from, to)
			}
			if !ok {
				return 0, fail("Unknown format", "There is nothing to convert from %q.%s Use -from=dirs, gates or workspace, or -plugins=DIR.",
					from, didYouMean(from, slices.Collect(maps.Keys(conversions)), ""))
			}
			root, _, err := treeRoot(options.root)
			if err != nil {
				return 0, err
			}
			result, diags, err := read(root, options)
			if err != nil {
				return 0, err
			}
			if diags.HasErrors() {
				return 0, diags
			}
			if err := s.report(diags); err != nil {
				return 0, err
			}
			s.stdout("%s", result.Text)
			for _, loss := range result.Lost {
				s.note("Lost: %s\n", loss)
			}
			return exitOK, nil
		},
	}
}

var conversions = map[string]func(root string, options treeOptions) (convert.Result, hcl.Diagnostics, error){
	"plugins": func(_ string, options treeOptions) (convert.Result, hcl.Diagnostics, error) {
		tasks, _, diags, err := loadPlugins(options.plugins)
		return convert.Tasks(tasks), diags, err
	},
	"dirs": func(root string, _ treeOptions) (convert.Result, hcl.Diagnostics, error) {
		tree, diags := stackdir.Load(root)
		if diags.HasErrors() {
			return convert.Result{}, diags, nil
		}
		return convert.Tree(tree), diags, nil
	},
	"gates": func(root string, _ treeOptions) (convert.Result, hcl.Diagnostics, error) {
		layout, diags, err := gated.Load(root)
		if errors.Is(err, gated.ErrNoConfig) {
			err = fail("No configuration", "There is no file %s in %s. Name its repository with -root=DIR.", gated.ConfigFile, root)
		}
		if err != nil || diags.HasErrors() {
			return convert.Result{}, diags, err
		}
		return convert.Gated(layout), diags, nil
	},
	"workspace": fromWorkspace(convert.ToGated),
}

// fromWorkspace reads the workspace file and converts it.
func fromWorkspace(to func(*workspace.Model) convert.Result) func(string, treeOptions) (convert.Result, hcl.Diagnostics, error) {
	return func(root string, _ treeOptions) (convert.Result, hcl.Diagnostics, error) {
		if !workspace.Exists(root) {
			return convert.Result{}, nil, fail("No workspace file", "There is no file %s in %s. Name its repository with -root=DIR.", workspace.FileName, root)
		}
		model, diags := workspace.Load(root)
		if diags.HasErrors() {
			return convert.Result{}, diags, nil
		}
		return to(model), diags, nil
	}
}
