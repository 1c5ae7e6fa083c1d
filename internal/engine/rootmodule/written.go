// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/module"
)

// Written is where a root module keeps its states according to its text alone. Init records it, so
// that this counts where the module was never initialized.
type Written struct {
	Block *hcl.Block     // of the backend, cloud or state store; nil for none
	Local *initdir.Local // the places of states that are in files; nil if they are in none
}

// NotWrittenError says that an argument of a backend is not a text that is written out.
type NotWrittenError struct{ Argument string }

func (e *NotWrittenError) Error() string {
	return fmt.Sprintf("the argument %q of its backend is not a text that is written out", e.Argument)
}

// ReadWritten reads where the module in a directory keeps its states. Relative paths start at home.
//
// Errors: a [*NotWrittenError]; [hcl.Diagnostics] about the block.
func ReadWritten(dir, home string) (Written, error) {
	tofu, _ := filepath.Glob(filepath.Join(dir, "*.tofu")) //nolint:errcheck // the pattern is a good one
	//nolint:errcheck // reported by the work on the module
	tree, _ := module.NewLoader(module.Options{Base: dir, Tofu: len(tofu) > 0}).Load(dir)
	var written Written
	if tree != nil && tree.Root != nil && len(tree.Root.Backends) > 0 {
		written.Block = tree.Root.Backends[len(tree.Root.Backends)-1] // that of an override file is the last one
	}
	var path, workspaces string
	if block := written.Block; block != nil {
		if block.Type != "backend" || block.Labels[0] != initdir.LocalBackend {
			return written, nil
		}
		attributes, diags := block.Body.JustAttributes()
		if diags.HasErrors() {
			return written, diags
		}
		for name, to := range map[string]*string{"path": &path, "workspace_dir": &workspaces} {
			if attribute := attributes[name]; attribute != nil {
				value, _ := attribute.Expr.Value(nil) //nolint:errcheck // it is not known then
				if value.IsNull() || !value.IsKnown() || value.Type() != cty.String {
					return written, &NotWrittenError{name}
				}
				*to = value.AsString()
			}
		}
	}
	local := initdir.Dir{Path: home}.Local(path, workspaces)
	written.Local = &local
	return written, nil
}
