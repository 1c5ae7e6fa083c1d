// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
)

// A part of a module that is no mistake, and has no effect, is a warning: it would be taken for a
// part of the module otherwise.

func ignored(at hcl.Range, summary, detail string) *hcl.Diagnostic {
	return failure.WarningAt(at, summary, "%s", detail)
}

func startOf(file string) hcl.Range {
	return hcl.Range{Filename: file, Start: hcl.InitialPos, End: hcl.InitialPos}
}

// withoutTofu warns of the files that only tofu reads.
func (d *Directory) withoutTofu() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, file := range d.TofuFiles {
		diags = diags.Append(ignored(startOf(file), "File for tofu ignored", fmt.Sprintf(
			"Only tofu reads the file %s. With this engine, nothing in it is a part of the module. Choose tofu as the engine, or move "+
				"its blocks to a file that ends with .tf.", file)))
	}
	return diags
}

// withoutValues warns of files with values of variables.
func (d *Directory) withoutValues() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, file := range d.ValueFiles {
		diags = diags.Append(ignored(startOf(file), "Values of variables ignored", fmt.Sprintf(
			"The file %s is not read: the variables of a component's module get their values from the inputs of the "+
				"component only.", file)))
	}
	return diags
}

// WithoutBackends warns of a block of some types that says where the state is kept. There is one at
// most in a module.
func (d *Directory) WithoutBackends(types ...string) hcl.Diagnostics {
	for _, block := range d.Backends {
		if slices.Contains(types, block.Type) {
			return hcl.Diagnostics{ignored(block.DefRange, "Backend of a module ignored", fmt.Sprintf(
				"The stack keeps the state of its components, so that a block of type %q in one of their modules has no "+
					"effect. Remove it.", block.Type))}
		}
	}
	return nil
}
