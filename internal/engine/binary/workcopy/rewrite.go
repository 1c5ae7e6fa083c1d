// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
)

// The names of generated modules and files. Users' names rarely start with two underscores.
const (
	prefix    = "__stack_"
	latchName = prefix + "in"
	latchDir  = ".stack-inputs"
)

// validation is a rule for a latched variable that refers to more than this variable, so
// that it can't move with it.
type validation struct {
	variable                string
	condition, errorMessage string // templates
}

// rewriter changes the files of one module tree.
type rewriter struct {
	latched     map[string]bool
	timestamp   time.Time
	dir         string // see [Spec.Abspath]
	validations []validation
}

// replacement returns the text that takes the place of var.name, if any does.
func (r *rewriter) replacement(name string) (string, bool) {
	return "module." + latchName + "." + name, r.latched[name]
}

func (r *rewriter) edits(w *walker, inRoot bool) []edit {
	var edits []edit
	for _, ref := range w.references {
		if text, ok := r.replacement(ref.name); ok && inRoot {
			edits = append(edits, edit{ref.start, ref.end, text})
		}
	}
	for _, at := range w.timestamps {
		if r.timestamp.IsZero() {
			break
		}
		edits = append(edits, edit{at.Start.Byte, at.End.Byte, strconv.Quote(r.timestamp.UTC().Format(time.RFC3339))})
	}
	for _, at := range w.absolutes {
		if r.dir == "" {
			break
		}
		edits = append(edits, edit{at.Start.Byte, at.Start.Byte, absoluteBefore}, edit{at.End.Byte, at.End.Byte, r.absoluteAfter()})
	}
	return edits
}

// The text that makes of a path one below a directory, unless it is absolute: one part before it,
// and one after it, as the path may have edits of its own.
const absoluteBefore = "[for " + prefix + "path in ["

func (r *rewriter) absoluteAfter() string {
	dir := hclwrite.TokensForValue(cty.StringVal(r.dir + "/")).Bytes()
	return "]: substr(" + prefix + "path, 0, 1) == \"/\" ? " + prefix + "path : join(\"\", [" + string(dir) + ", " + prefix + "path])][0]"
}

// concerns reports whether a file has to be looked at in detail.
func (r *rewriter) concerns(file *module.File, inRoot bool) bool {
	source := string(file.Source)
	if strings.Contains(source, "plantimestamp") || r.dir != "" && strings.Contains(source, "abspath") {
		return true
	}
	if !inRoot {
		return false
	}
	if slices.ContainsFunc(module.BackendBlocks, func(block string) bool { return strings.Contains(source, block) }) {
		return true
	}
	for name := range r.latched {
		if strings.Contains(source, name) {
			return true
		}
	}
	return false
}

// native rewrites a file in native syntax. inner is the part of it that moves to the child
// module of the latch; nil if nothing does.
func (r *rewriter) native(file *module.File, body *hclsyntax.Body, inRoot bool) (outer, inner *edited) {
	if !inRoot {
		return newEdited(file.Display, file.Source, file.Source, r.edits(walk(body), false)), nil
	}
	root := []byte(string(file.Source))
	moved := []byte(string(file.Source))
	blank(moved)
	anyMoved := false
	var edits, movedEdits []edit

	for _, block := range body.Blocks {
		start, end := block.Range().Start.Byte, block.Range().End.Byte
		switch {
		case block.Type == "terraform":
			for _, nested := range block.Body.Blocks {
				if slices.Contains(module.BackendBlocks, nested.Type) {
					blank(root[nested.Range().Start.Byte:nested.Range().End.Byte])
				}
			}
		case block.Type == "variable" && len(block.Labels) == 1 && r.latched[block.Labels[0]]:
			anyMoved = true
			blank(root[start:end])
			copy(moved[start:end], file.Source[start:end])
			movedEdits = append(movedEdits, r.edits(walk(block.Body), false)...)
			for _, nested := range r.foreignValidations(file, block) {
				blank(moved[nested.Range().Start.Byte:nested.Range().End.Byte])
			}
			continue // the references in it are the child module's
		}
		edits = append(edits, r.edits(walk(block.Body), true)...)
	}
	for _, attr := range body.Attributes { // an error, which the engine reports
		edits = append(edits, r.edits(walk(attr), true)...)
	}
	outer = newEdited(file.Display, file.Source, root, unblanked(root, edits))
	if anyMoved {
		inner = newEdited(file.Display, file.Source, moved, unblanked(moved, movedEdits))
	}
	return outer, inner
}

// unblanked drops the edits of blanked text.
func unblanked(source []byte, edits []edit) []edit {
	var kept []edit
	for _, e := range edits {
		start, end := e.start, e.end
		if start == end { // an insertion stands beside something
			start, end = max(0, start-1), min(len(source), end+1)
		}
		if strings.TrimSpace(string(source[start:end])) != "" {
			kept = append(kept, e)
		}
	}
	return kept
}

// foreignValidations returns the validation blocks that can't move with their variable, and
// notes their rules.
func (r *rewriter) foreignValidations(file *module.File, block *hclsyntax.Block) []*hclsyntax.Block {
	var foreign []*hclsyntax.Block
	for _, nested := range block.Body.Blocks {
		if nested.Type != "validation" {
			continue
		}
		w := walk(nested.Body)
		if !w.others && onlyVariable(w, block.Labels[0]) {
			continue
		}
		foreign = append(foreign, nested)
		rule := validation{variable: block.Labels[0]}
		if attr := nested.Body.Attributes["condition"]; attr != nil {
			rule.condition = r.text(file.Source, attr.Expr)
		}
		if attr := nested.Body.Attributes["error_message"]; attr != nil {
			rule.errorMessage = r.text(file.Source, attr.Expr)
		}
		r.validations = append(r.validations, rule)
	}
	return foreign
}

func onlyVariable(w *walker, name string) bool {
	for _, ref := range w.references {
		if ref.name != name {
			return false
		}
	}
	return true
}

// text returns an expression's source with its references replaced.
func (r *rewriter) text(source []byte, expr hclsyntax.Expression) string {
	start, end := expr.Range().Start.Byte, expr.Range().End.Byte
	edits := r.edits(walk(expr), true)
	for i := range edits {
		edits[i].start -= start
		edits[i].end -= start
	}
	return "${" + string(newEdited("", source[start:end], source[start:end], edits).content) + "}"
}
