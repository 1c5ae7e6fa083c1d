// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package generated writes the file with the blocks that a plan or a query has generated for
// objects to import.
package generated

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// CheckPath refuses a file that is there already: generated blocks are written to new files only.
func CheckPath(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return exists(path)
}

func exists(path string) error {
	return failure.Error("Existing file for generated configuration",
		"There is a file %s already, and generated configuration is written to new files only. Name another file, or move this one away.", path)
}

// Write writes the blocks of a plan to a new file, which no other user can read. Without any, there
// is no file.
func Write(path string, plan *stackplan.Plan) (written bool, diags hcl.Diagnostics) {
	text, diags := Text(plan)
	if text == "" {
		return false, diags
	}
	if err := Create(path, text); err != nil {
		return false, diags.Extend(failure.Diagnostics(err))
	}
	return true, diags
}

// Create writes a new file, which no other user can read.
func Create(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return exists(path)
	}
	if err == nil {
		if _, err = file.WriteString(text); err != nil {
			err = errors.Join(err, file.Close(), os.Remove(path))
		} else {
			err = file.Close()
		}
	}
	if err != nil {
		return failure.Error("Generated configuration not written", "The file %s cannot be written: %s.", path, failure.Reason(err))
	}
	return nil
}

// Text returns the content of the file: the blocks of each component, sorted by component, below a
// comment with its address and the source of its module. Component instances with the same module
// have the blocks of the first one; that those of another one differ is a warning.
func Text(plan *stackplan.Plan) (string, hcl.Diagnostics) {
	type place struct {
		dir  string
		addr stackaddrs.ResourceInstance
	}
	type origin struct {
		component *stackplan.Component
		block     engine.Generated
	}
	var sections []string
	var diags hcl.Diagnostics
	known := map[place]origin{}
	for _, component := range plan.Components {
		var blocks []string
		for _, block := range component.Generated {
			at := place{block.ModuleDir, block.Addr}
			first, twice := known[at]
			switch {
			case !twice:
				known[at] = origin{component, block}
				blocks = append(blocks, block.Text)
			case first.block.Text != block.Text:
				diags = diags.Append(failure.Warning("Different generated configurations",
					"The objects that %s and %s import as %s differ, and their module can have one block for both. It was generated for the first: "+
						"let the other take its values from variables.", first.component.Addr, component.Addr, block.Addr))
			}
		}
		if len(blocks) > 0 {
			sections = append(sections, fmt.Sprintf("# %s: module %s\n\n%s", component.Addr, component.Source, strings.Join(blocks, "\n")))
		}
	}
	return strings.Join(sections, "\n"), diags
}
