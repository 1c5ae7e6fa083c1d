// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

var (
	languageSchema = &hcl.BodySchema{
		Attributes: schemaOf("edition", "experiments").Attributes,
		Blocks:     []hcl.BlockHeaderSchema{{Type: "compatible_with"}},
	}
	compatibleSchema = schemaOf("opentofu")
)

// readsTofu reports whether the loader reads .tofu files.
func (l *Loader) readsTofu() bool { return l.opts.Tofu || l.opts.ForTofu }

// signOfTofu returns the place that says that a directory with these files is for tofu, or nil
// (rule D7).
func signOfTofu(files []*File) *hcl.Range {
	for _, file := range files {
		if file.Tofu {
			return startOf(file.Display).Ptr()
		}
	}
	for _, file := range files {
		content, _, _ := file.File.Body.PartialContent(rootSchema) //nolint:errcheck // decoding the file reports them
		i := slices.IndexFunc(content.Blocks, func(block *hcl.Block) bool {
			return block.Type == "language" && len(demandsOfLanguage(block)) > 0
		})
		if i >= 0 {
			return content.Blocks[i].DefRange.Ptr()
		}
	}
	return nil
}

// demandsOfLanguage returns the arguments of a language block with constraints on the version of
// OpenTofu.
func demandsOfLanguage(block *hcl.Block) []*hcl.Attribute {
	var found []*hcl.Attribute
	content, _, _ := block.Body.PartialContent(languageSchema) //nolint:errcheck // decoding the block reports them
	for _, nested := range content.Blocks {
		inner, _, _ := nested.Body.PartialContent(compatibleSchema) //nolint:errcheck // all else in it is for other programs
		if attr := inner.Attributes["opentofu"]; attr != nil {
			found = append(found, attr)
		}
	}
	return found
}

// language decodes a block about the programs that the module is for.
func (d *decoder) language(block *hcl.Block) {
	if !d.hasOfTofu(block.DefRange, `blocks of type "language"`) {
		return
	}
	content := d.content(block.Body, languageSchema)
	d.experiments(content.Attributes["experiments"])
	if attr := content.Attributes["edition"]; attr != nil && hcl.ExprAsKeyword(attr.Expr) != "tofu2024" {
		d.unsupported(attr.Range, "The only edition of OpenTofu's language is tofu2024.")
	}
	for _, attr := range demandsOfLanguage(block) {
		d.versionConstraint(attr, true)
	}
}

// encryption decodes a block about the encryption of states and plans, with which components have
// nothing to do.
func (d *decoder) encryption(block *hcl.Block) {
	if d.hasOfTofu(block.DefRange, `blocks of type "encryption"`) {
		d.warn(block.DefRange, "Encryption of a module ignored", "The stack keeps the state of its components, so that a block of type "+
			"\"encryption\" in one of their modules has no effect.")
	}
}

// hasOfTofu reports whether the directory has something that OpenTofu adds to the language of
// terraform, and notes its use if not (rule D7).
func (d *decoder) hasOfTofu(at hcl.Range, addition string) bool {
	if !d.tofu {
		d.unsupported(at, fmt.Sprintf("Only OpenTofu has %s. The native engine has them in modules that say that they are for OpenTofu: by "+
			"files whose names end with .tofu, or by a language block.", addition))
	}
	return d.tofu
}

// enabled decodes an argument that makes the single instance of a block optional, and removes it
// from content.
func (d *decoder) enabled(content *hcl.BodyContent, repeat *Repeat) {
	attr := content.Attributes["enabled"]
	if attr == nil {
		return
	}
	delete(content.Attributes, attr.Name)
	repeat.Enabled = d.expr(attr.Expr)
	if !d.hasOfTofu(attr.NameRange, `the lifecycle argument "enabled"`) {
		return
	}
	for _, several := range []*Expr{repeat.Count, repeat.ForEach} {
		if several != nil {
			d.problem(several.Range(), "Both enabled and several instances", "The argument enabled is for a block with one instance or none, "+
				"and so excludes count and for_each.")
		}
	}
}
