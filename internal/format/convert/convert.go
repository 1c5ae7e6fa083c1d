// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package convert translates one format of order into another, and reports the losses.
//
// Each format is written from a workspace file, and a workspace file from each format, so that all
// others go by two steps: see [Result.Then]. The output can always be read, and the same input
// always gives the same bytes.
//
// Rules:
//
//	V1. If one leaf is before another in one format, it is before it in the other, also if it was so
//	    by way of a leaf that got lost. Where that cannot be, the loss says so: [Loss.Order].
//	V2. A loss is something that is there, with its place, not something that might be.
package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Result is the output of a conversion.
type Result struct {
	Files []File
	Many  bool   // the format has a file for each stack, however many there are
	Lost  []Loss // in the order in which it was found

	origins map[string]order.Place // of the blocks of a workspace file, by their names
}

// File is one that was written.
type File struct {
	Path string // with slashes, from the root of the repository
	Text []byte
}

// Text returns the file, or of a format with many all of them, each after a line "-- PATH --".
func (r *Result) Text() []byte {
	if !r.Many {
		return r.Files[0].Text
	}
	var b strings.Builder
	for _, file := range r.Files {
		fmt.Fprintf(&b, "-- %s --\n%s", file.Path, file.Text)
	}
	return []byte(b.String())
}

// Loss is something that the other format cannot say, or says in another way.
type Loss struct {
	What  string // a sentence without a full stop
	Place order.Place
	Order bool // something may run in another order than before
}

func (l Loss) String() string {
	if l.Place.File == "" {
		return l.What + "."
	}
	return fmt.Sprintf("%s (%s).", l.What, l.Place)
}

// lose adds a loss that says nothing about order.
func (r *Result) lose(at order.Place, format string, args ...any) {
	r.Lost = append(r.Lost, Loss{What: fmt.Sprintf(format, args...), Place: at})
}

// loseOrder adds one that does.
func (r *Result) loseOrder(at order.Place, format string, args ...any) {
	r.Lost = append(r.Lost, Loss{What: fmt.Sprintf(format, args...), Place: at, Order: true})
}

// Then converts a written workspace file once more. A loss of this second step has the place of the
// original that the block was written from.
func (r *Result) Then(to func(*cairnfile.Model) (Result, hcl.Diagnostics)) (Result, hcl.Diagnostics) {
	m, diags := r.workspace()
	if diags.HasErrors() {
		return Result{}, diags
	}
	second, diags := to(m)
	if diags.HasErrors() {
		return Result{}, diags
	}
	result := Result{Files: second.Files, Many: second.Many, Lost: r.Lost}
	for _, loss := range second.Lost {
		loss.Place = r.origin(m.Workspace, loss.Place)
		result.Lost = append(result.Lost, loss)
	}
	return result, nil
}

// workspace reads the workspace file that was written.
func (r *Result) workspace() (*cairnfile.Model, hcl.Diagnostics) {
	w, diags := cairnfile.Parse(cairnfile.FileName, r.Files[0].Text)
	if diags.HasErrors() {
		return nil, diags
	}
	return cairnfile.Resolve(w)
}

// graph returns the order of the workspace file that was written.
func (r *Result) graph(phased bool) (*cairnfile.Graph, hcl.Diagnostics) {
	m, diags := r.workspace()
	if diags.HasErrors() {
		return nil, diags
	}
	return m.Graph(phased)
}

// Check reads a workspace file that was written. Errors would be mistakes of the conversion.
func (r *Result) Check() hcl.Diagnostics {
	_, diags := r.graph(false)
	if !diags.HasErrors() {
		return nil
	}
	return diags.Append(problem.New(problem.Conflict, nil, "Conversion failed",
		"The result cannot be read, for the reasons above. This is a bug in cairn; please report it."))
}

// origin returns the original of the block around a place in the workspace file.
func (r *Result) origin(w *cairnfile.Workspace, at order.Place) order.Place {
	after, _ := slices.BinarySearchFunc(w.Blocks, at.Line, func(block *cairnfile.Block, line int) int {
		return cmp.Or(cmp.Compare(block.Range.Start.Line, line), -1) // they are as written
	})
	if after == 0 {
		return order.Place{}
	}
	return r.origins[w.Blocks[after-1].Name]
}
