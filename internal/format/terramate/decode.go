// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// stackBlock decodes the block that there may be once in a directory.
// arguments are those of a stack block.
var arguments = []string{"after", "before", "description", "id", "name", "tags", "wanted_by", "wants", "watch"}

func (f *found) stackBlock(block *hcl.Block) {
	if f.stack != nil {
		f.diags = f.diags.Append(problem.New(problem.DuplicateID, &block.DefRange, "Duplicate stack block",
			"The directory %s has another stack block, at %s:%d. A directory is one stack: put everything into one block.",
			f.dir, f.stack.Range.Filename, f.stack.Range.Start.Line))
		return
	}
	f.stack = &Stack{Path: f.dir, Range: block.DefRange}
	attrs, diags := block.Body.JustAttributes()
	f.diags = f.diags.Extend(coded(diags, problem.UnknownKey))
	lists := map[string]*[]Reference{
		"before": &f.stack.Before, "after": &f.stack.After, "wants": &f.stack.Wants,
		"wanted_by": &f.stack.WantedBy, "watch": &f.stack.Watch, "tags": nil,
	}
	sorted := slices.SortedFunc(maps.Values(attrs), func(a, b *hcl.Attribute) int {
		return cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte)
	})
	for _, attr := range sorted {
		list, isList := lists[attr.Name]
		switch {
		case attr.Name == "tags":
			f.tags(attr)
		case isList:
			*list = f.set(attr)
		case attr.Name == "id":
			f.id(attr)
		// Names may be made of values that are not known here. Nothing depends on them.
		case attr.Name == "name":
			f.stack.Name, _ = literal(attr) //nolint:errcheck // see above
		case attr.Name == "description":
			f.stack.Description, _ = literal(attr) //nolint:errcheck // see above
		default:
			f.diags = f.diags.Append(problem.New(problem.UnknownKey, &attr.NameRange, "Unknown stack argument",
				"A stack has no argument %q.%s There are: %s.", attr.Name, nearest.DidYouMean(attr.Name, arguments), strings.Join(arguments, ", ")))
		}
	}
}

// set decodes a set of strings. Repetitions are dropped.
func (f *found) set(attr *hcl.Attribute) []Reference {
	items, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		value, diags := constant(attr.Expr)
		if !diags.HasErrors() && value.IsNull() {
			return nil
		}
		if texts, ok := textsOf(value); ok && !diags.HasErrors() {
			var set []Reference
			for _, text := range texts {
				set = append(set, Reference{text, attr.Expr.Range()})
			}
			return set
		}
		f.diags = f.diags.Append(problem.New(problem.NotASet, attr.Expr.Range().Ptr(), "Not a set of strings",
			"The argument %q is a set of strings, as in %[1]s = [\"../a\", \"../b\"].", attr.Name))
		return nil
	}
	var set []Reference
	seen := map[string]bool{}
	for _, item := range items {
		value, diags := constant(item)
		if diags.HasErrors() || value.IsNull() || !value.IsKnown() || value.Type() != cty.String {
			f.diags = f.diags.Append(problem.New(problem.NotASet, item.Range().Ptr(), "Not a set of strings",
				"Each entry of %q is a string in quotes, written out; this is %s.", attr.Name, describe(value, diags)))
			continue
		}
		if text := value.AsString(); !seen[text] {
			seen[text] = true
			set = append(set, Reference{text, item.Range()})
		}
	}
	return set
}

func describe(value cty.Value, diags hcl.Diagnostics) string {
	switch {
	case diags.HasErrors():
		return "an expression that is not known here, where only literals are, and some functions of them"
	case value.IsNull():
		return "null"
	case value.Type().IsObjectType():
		return "an object"
	case value.Type().IsTupleType():
		return "a list"
	}
	return "a " + value.Type().FriendlyName()
}

func (f *found) tags(attr *hcl.Attribute) {
	for _, tag := range f.set(attr) {
		if err := tagquery.CheckTag(tag.Text); err != nil {
			f.diags = f.diags.Append(problem.New(problem.BadTagQuery, &tag.Range, "Invalid tag", "%s.", upperFirst(err.Error())))
			continue
		}
		f.stack.Tags = append(f.stack.Tags, tag.Text)
	}
	slices.Sort(f.stack.Tags)
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (f *found) id(attr *hcl.Attribute) {
	id, diag := literal(attr)
	if diag == nil && !idPattern.MatchString(id) {
		diag = problem.New(problem.Syntax, attr.Expr.Range().Ptr(), "Invalid stack ID",
			"%q cannot be an ID: it has 1 to 64 letters, digits, _ and -.", id)
	}
	if diag != nil {
		f.diags = f.diags.Append(diag)
		return
	}
	f.stack.ID = id
}

// checkIDs finds stacks with the same ID.
func (l *loader) checkIDs() {
	byID := map[string]*Stack{}
	for _, stack := range l.tree.Stacks {
		key := strings.ToLower(stack.ID)
		if other, taken := byID[key]; taken && key != "" {
			l.diags = l.diags.Append(problem.New(problem.DuplicateID, &stack.Range, "Duplicate stack ID",
				"The stacks %s and %s have the same ID %q. Give one of them another, or none.", other.Path, stack.Path, stack.ID))
		}
		byID[key] = stack
	}
}

// literal returns a string that is written out.
func literal(attr *hcl.Attribute) (string, *hcl.Diagnostic) {
	value, diags := constant(attr.Expr)
	if !diags.HasErrors() && value.IsNull() {
		return "", nil
	}
	if diags.HasErrors() || !value.IsKnown() || value.Type() != cty.String {
		return "", problem.New(problem.Syntax, attr.Expr.Range().Ptr(), "Not a string",
			"The argument %q is a string in quotes, written out.", attr.Name)
	}
	return value.AsString(), nil
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
