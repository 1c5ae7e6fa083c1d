// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/workers/config"
)

// MaxSize is the limit for the size of a file, in bytes: enough for some ten thousand blocks.
const MaxSize = 4 << 20

// Parse reads a file. With errors the workspace holds the readable part.
func Parse(filename string, src []byte) (*Workspace, hcl.Diagnostics) {
	w := &Workspace{Filename: filename, Ties: TiesByName, Limits: map[string]int{}}
	if len(src) > MaxSize {
		return w, hcl.Diagnostics{problem.New(problem.Syntax, &hcl.Range{Filename: filename}, "File too large",
			"The file has %d bytes; cairn reads workspace files of at most %d. Is it the right one?", len(src), MaxSize)}
	}
	file, diags := hclsource.Parse(src, filename)
	for _, diag := range diags {
		if diag.Extra == nil {
			diag.Extra = problem.Syntax
		}
	}
	if diags.HasErrors() {
		return w, diags
	}
	d := decoder{workspace: w, source: file}
	d.file(file.Body.(*hclsyntax.Body))
	return w, diags.Extend(d.diags)
}

type decoder struct {
	workspace *Workspace
	diags     hcl.Diagnostics
	settings  *hcl.Range // of the block workspace
	source    *hcl.File

	usualFiles *arguments // the same block, with "files" for stacks without that argument
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func (d *decoder) file(body *hclsyntax.Body) {
	for _, attribute := range attributesOf(body) {
		d.unknown(attribute.NameRange, "argument", attribute.Name, nil, "outside of blocks")
	}
	d.locals(body)
	seen := map[string]hcl.Range{}
	for _, block := range body.Blocks {
		switch block.Type {
		case "workspace":
			d.settingsBlock(block)
			continue
		case localsType:
			continue
		case upstreamType:
			d.upstream(block)
			continue
		case config.BlockType:
			d.workers(block)
			continue
		}
		decode, known := blockTypes[Type(block.Type)]
		if !known {
			types := []string{"stack", "group", "task", "workspace", localsType, upstreamType, config.BlockType}
			d.unknown(block.TypeRange, "block type", block.Type, types, "in this file")
			continue
		}
		b := &Block{Type: Type(block.Type), Range: block.DefRange()}
		if !d.name(b, block) {
			continue
		}
		if first, again := seen[b.Name]; again {
			d.problem(problem.DuplicateID, block.LabelRanges[0], "Name used twice",
				"There is already a block with the name %q at %s. Names are unique over stacks, groups and tasks; choose another.",
				b.Name, problem.PlaceOf(first))
			continue
		}
		seen[b.Name] = block.DefRange()
		a := d.arguments(block.Body, block.Type)
		decode(b, a)
		a.common(b)
		a.finish()
		d.workspace.Blocks = append(d.workspace.Blocks, b)
	}
	d.filesOfAll()
}

// workers reads the block that says where workers are.
func (d *decoder) workers(block *hclsyntax.Block) {
	if d.workspace.Workers != nil {
		d.problem(problem.DuplicateID, block.DefRange(), "Duplicate workers block",
			"There is already a block \"workers\" in this file. A run has one queue, with several pools.")
		return
	}
	read, diags := config.Decode(block, filepath.Dir(d.workspace.Filename))
	for _, diag := range diags {
		if diag.Extra == nil {
			diag.Extra = problem.BadValue
		}
	}
	d.diags, d.workspace.Workers = d.diags.Extend(diags), read
}

// filesOfAll gives stacks the patterns of files that all have that do not say otherwise. A mistake
// is reported once.
func (d *decoder) filesOfAll() {
	if d.usualFiles == nil || d.usualFiles.body.Attributes["files"] == nil {
		return
	}
	before := len(d.diags)
	for _, b := range d.workspace.Blocks {
		if b.Stack != nil && b.Stack.Files == nil && len(d.diags) == before {
			b.Stack.Files = d.usualFiles.filePatterns("files", b.Stack.Dir)
		}
	}
}

func (d *decoder) name(b *Block, block *hclsyntax.Block) bool {
	if len(block.Labels) != 1 {
		d.problem(problem.BadValue, block.DefRange(), "Invalid block labels",
			"A block of this type has exactly one name: %s \"NAME\" { … }.", block.Type)
		return false
	}
	b.Name = block.Labels[0]
	if !namePattern.MatchString(b.Name) {
		d.problem(problem.BadValue, block.LabelRanges[0], "Invalid name",
			"The name %q cannot be referred to. Names consist of letters, digits, _, . and -, and do not begin with . or -.", b.Name)
		return false
	}
	return true
}

func (d *decoder) settingsBlock(block *hclsyntax.Block) {
	if d.settings != nil {
		d.problem(problem.DuplicateID, block.DefRange(), "Duplicate workspace block",
			"There is already a block \"workspace\" at %s. Put everything into one.", problem.PlaceOf(*d.settings))
		return
	}
	d.settings = block.DefRange().Ptr()
	a := d.arguments(block.Body, "workspace")
	d.workspace.Ties = a.ties("ties")
	d.usualFiles = a
	a.known = append(a.known, "files")
	d.workspace.Parallel = a.count("parallel", 1)
	for key, value := range a.valueMap("limits") {
		if n, ok := wholeNumber(value); ok && n > 0 {
			d.workspace.Limits[key] = n
		} else {
			a.bad("limits", "The limit of %q must be a whole number from 1.", key)
		}
	}
	a.finish()
}

func (a *arguments) ties(name string) Ties {
	switch ties := Ties(a.text(name)); ties {
	case TiesByName, TiesByDirectory:
		return ties
	case "":
		return TiesByName
	default:
		a.bad(name, "Blocks that no rule orders are ordered by \"name\", or by \"directory\" as stack directories are; there is no %q.", ties)
		return TiesByName
	}
}

func (d *decoder) problem(code problem.Code, at hcl.Range, summary, detail string, args ...any) {
	d.diags = d.diags.Append(problem.New(code, &at, summary, detail, args...))
}

func (d *decoder) unknown(at hcl.Range, what, name string, known []string, where string) {
	hint := nearest.DidYouMean(name, known)
	if hint == "" && len(known) > 0 && len(known) < 12 {
		hint = " There are " + strings.Join(slices.Sorted(slices.Values(known)), ", ") + "."
	}
	d.problem(problem.UnknownKey, at, "Unknown "+what, "There is no %s %q %s.%s", what, name, where, hint)
}

func attributesOf(body *hclsyntax.Body) []*hclsyntax.Attribute {
	return slices.SortedFunc(maps.Values(body.Attributes), func(a, b *hclsyntax.Attribute) int {
		return a.SrcRange.Start.Byte - b.SrcRange.Start.Byte
	})
}

// arguments are those of one block. Each is asked for by name; those never asked for are unknown
// arguments.
type arguments struct {
	*decoder
	body  *hclsyntax.Body
	block string // its type
	known []string
}

func (d *decoder) arguments(body *hclsyntax.Body, block string) *arguments {
	return &arguments{decoder: d, body: body, block: block}
}

// finish reports arguments that nobody has asked for.
func (a *arguments) finish() {
	for _, attribute := range attributesOf(a.body) {
		if !slices.Contains(a.known, attribute.Name) {
			a.unknown(attribute.NameRange, "argument", attribute.Name, a.known, "in a "+a.block+" block")
		}
	}
	for _, block := range a.body.Blocks {
		if !slices.Contains(a.known, block.Type) {
			a.unknown(block.TypeRange, "block type", block.Type, nil, "in a "+a.block+" block")
		}
	}
}

// get returns an attribute, nil if it is not there.
func (a *arguments) get(name string) *hclsyntax.Attribute {
	a.known = append(a.known, name)
	return a.body.Attributes[name]
}

// bad reports a mistake in an attribute that is there.
func (a *arguments) bad(name, detail string, args ...any) {
	a.problem(problem.BadValue, a.body.Attributes[name].Expr.Range(), "Invalid argument", detail, args...)
}

// value returns the value of an attribute; ok is false without one, or if it is null.
func (a *arguments) value(name string) (value cty.Value, ok bool) {
	attribute := a.get(name)
	if attribute == nil {
		return cty.NilVal, false
	}
	value, ok = a.evaluate(attribute.Expr)
	return value, ok && !value.IsNull()
}

func (a *arguments) evaluate(expr hclsyntax.Expression) (cty.Value, bool) {
	value, diags := hclsource.Constant(expr)
	if diags.HasErrors() {
		for _, traversal := range expr.Variables() {
			a.problem(problem.BadValue, traversal.SourceRange(), "Not a constant",
				"Everything in this file is written out: there are no variables. If %q is to be a text, put it in quotes.", traversal.RootName())
			return cty.NilVal, false
		}
		for _, diag := range diags {
			diag.Extra = problem.BadValue
		}
		a.diags = a.diags.Extend(diags)
		return cty.NilVal, false
	}
	return value, true
}

func (a *arguments) text(name string) string {
	value, ok := a.value(name)
	if !ok {
		return ""
	}
	if value.Type() != cty.String {
		a.bad(name, "The argument %q must be a string, not a %s.", name, value.Type().FriendlyName())
		return ""
	}
	return value.AsString()
}

func (a *arguments) rangeOf(name string) hcl.Range {
	if attribute := a.body.Attributes[name]; attribute != nil {
		return attribute.Expr.Range()
	}
	return a.body.SrcRange
}

// count is a whole number from least, or 0 without the attribute.
func (a *arguments) count(name string, least int) int {
	value, ok := a.value(name)
	if !ok {
		return 0
	}
	n, ok := wholeNumber(value)
	if !ok || n < least {
		a.bad(name, "The argument %q must be a whole number from %d.", name, least)
		return 0
	}
	return n
}

func wholeNumber(value cty.Value) (int, bool) {
	if value.IsNull() || value.Type() != cty.Number {
		return 0, false
	}
	n, accuracy := value.AsBigFloat().Int64()
	return int(n), accuracy == 0 && n >= -1e9 && n <= 1e9
}

func (a *arguments) boolean(name string) *bool {
	value, ok := a.value(name)
	if !ok {
		return nil
	}
	if value.Type() != cty.Bool {
		a.bad(name, "The argument %q must be true or false.", name)
		return nil
	}
	truth := value.True()
	return &truth
}

// valueMap returns the elements of an object.
func (a *arguments) valueMap(name string) map[string]cty.Value {
	value, ok := a.value(name)
	if !ok {
		return nil
	}
	if !value.Type().IsObjectType() {
		a.bad(name, "The argument %q must be a map: { key = value }.", name)
		return nil
	}
	return value.AsValueMap()
}

// texts returns the elements of an object as they are given on a command line: strings, numbers and
// booleans.
func (a *arguments) texts(name string) map[string]string {
	texts := map[string]string{}
	for key, value := range a.valueMap(name) {
		text, ok := hclsource.Text(value)
		if !ok {
			a.bad(name, "The value of %q must be a string, a number or a boolean. Write others as in a variables file, in a string.", key)
			continue
		}
		texts[key] = text
	}
	return texts
}

// set returns the elements of a list of strings, each once, with their places.
func (a *arguments) set(name string) []Reference {
	attribute := a.get(name)
	if attribute == nil {
		return nil
	}
	list, ok := attribute.Expr.(*hclsyntax.TupleConsExpr)
	if !ok {
		a.problem(problem.NotASet, attribute.Expr.Range(), "Not a list",
			"The argument %q must be a list of strings, such as [\"network\"].", name)
		return nil
	}
	var refs []Reference
	seen := map[string]bool{}
	for _, expr := range list.Exprs {
		value, ok := a.evaluate(expr)
		if !ok {
			continue
		}
		if value.IsNull() || value.Type() != cty.String {
			a.problem(problem.NotASet, expr.Range(), "Not a list of strings",
				"The elements of %q must be strings; this one is %s.", name, friendly(value))
			continue
		}
		if text := value.AsString(); !seen[text] {
			seen[text] = true
			refs = append(refs, Reference{Text: text, Range: expr.Range()})
		}
	}
	return refs
}

func friendly(value cty.Value) string {
	if value.IsNull() {
		return "null"
	}
	return "of type " + value.Type().FriendlyName()
}

func (a *arguments) strings(name string) []string {
	var list []string
	for _, ref := range a.set(name) {
		list = append(list, ref.Text)
	}
	return list
}

// command is a list of program and arguments, or a line for the shell.
func (a *arguments) command(name string) []string {
	attribute := a.get(name)
	if attribute == nil {
		return nil
	}
	value, ok := a.evaluate(attribute.Expr)
	if !ok {
		return nil
	}
	if text, ok := hclsource.Text(value); ok && value.Type() == cty.String &&
		strings.TrimSpace(text) != "" && !strings.Contains(text, "\x00") {
		return []string{"/bin/sh", "-c", text}
	}
	if value.Type().IsTupleType() {
		var words []string
		for _, element := range value.AsValueSlice() {
			if text, ok := hclsource.Text(element); ok && !strings.Contains(text, "\x00") {
				words = append(words, text)
			}
		}
		if len(words) == value.LengthInt() && len(words) > 0 && words[0] != "" {
			return words
		}
	}
	a.bad(name, "The argument %q must be a line for the shell, or a list of a program and its arguments.", name)
	return nil
}
