// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/hclsource"
)

// Categories of the variables of a set.
const (
	TerraformCategory   = "terraform"
	EnvironmentCategory = "env"
)

// Varsets are the places of the values of variable sets: the varset blocks, in their order.
type Varsets struct {
	Sets []Varset
}

// Varset is one varset block. One of File, Environment and Command is there.
type Varset struct {
	Name     string    // the set in store blocks: its name, or its ID
	Category string    // empty for both
	Range    hcl.Range // of the block's header

	File       string // path; may be relative to the stack
	Format     string // of the file; empty for one by its name
	KeyFile    string // with age identities; may be relative to the stack
	SharedFile bool   // others on the machine may read the file

	Environment bool
	Prefix      string // of names in the environment; empty for the default of the category

	Command []string // program and arguments
	Timeout time.Duration

	Sensitive      bool     // all values are
	SensitiveNames []string // the values of these are, if not all
}

// For returns the block for a category of a set that is called by its name or its ID, nil if there
// is none.
func (v *Varsets) For(id, name, category string) *Varset {
	for i := range v.Sets {
		set := &v.Sets[i]
		if (set.Name == id || set.Name == name) && (set.Category == "" || set.Category == category) {
			return set
		}
	}
	return nil
}

func (v *Varsets) decode(block *hcl.Block) hcl.Diagnostics {
	a := argumentsOf(block.Body, nil,
		"category", "file", "format", "key_file", "shared", "environment", "command", "timeout", "sensitive")
	set := Varset{
		Name:       block.Labels[0],
		Range:      block.DefRange,
		Category:   a.oneOf("category", TerraformCategory, EnvironmentCategory),
		File:       a.text("file"),
		Format:     a.oneOf("format", "hcl", "json", "env", "yaml"),
		KeyFile:    a.text("key_file"),
		SharedFile: a.bool("shared"),
		Command:    a.command("command"),
		Timeout:    a.duration("timeout", time.Second, time.Hour),
	}
	if set.Name == "" {
		a.diags = a.diags.Append(failure.At(block.LabelRanges[0], "Unnamed variable set",
			"The label of a varset block is the name or the ID of the set, as store blocks have it."))
	}
	a.environment(&set)
	a.sensitive(&set)
	a.oneSource(block)
	for _, earlier := range v.Sets {
		if earlier.Name == set.Name && (earlier.Category == set.Category || earlier.Category == "" || set.Category == "") {
			a.diags = a.diags.Append(failure.At(block.DefRange, "Duplicate variable set", "The block at %s is for the same variables. There can "+
				"be two blocks for a set if one has category = \"terraform\" and the other category = \"env\".", earlier.Range))
		}
	}
	v.Sets = append(v.Sets, set)
	return a.diags
}

// environment decodes true, or a prefix.
func (a *arguments) environment(set *Varset) {
	if !a.has("environment") {
		return
	}
	value, diags := hclsource.Constant(a.attrs["environment"].Expr)
	a.diags = a.diags.Extend(diags)
	switch {
	case diags.HasErrors():
	case value.IsNull() || value.Type() != cty.Bool && value.Type() != cty.String:
		a.fail("environment", "Unusable environment", "Give true, or the prefix of the names that are meant, such as \"NETWORK_\".")
	case value.Type() == cty.String && (value.AsString() == "" || strings.ContainsAny(value.AsString(), "=\x00")):
		a.fail("environment", "Unusable environment",
			"A prefix is the beginning of names of environment variables, such as \"NETWORK_\". All names are meant by true.")
	case value.Type() == cty.String:
		set.Environment, set.Prefix = true, value.AsString()
	default:
		set.Environment = value.True()
		if !set.Environment {
			a.fail("environment", "Unusable environment", "Give true or a prefix, or leave the setting out.")
		}
	}
}

// sensitive decodes whether values are sensitive, or which. Where nothing is said, all are.
func (a *arguments) sensitive(set *Varset) {
	set.Sensitive = true
	if !a.has("sensitive") {
		return
	}
	value, diags := hclsource.Constant(a.attrs["sensitive"].Expr)
	a.diags = a.diags.Extend(diags)
	if diags.HasErrors() {
		return
	}
	if value.Type() == cty.Bool && !value.IsNull() {
		set.Sensitive = value.True()
		return
	}
	names, ok := textsIn(value)
	if !ok {
		a.fail("sensitive", "Unusable list", "Give true, false, or a list of the names of those that are sensitive, such as [\"password\"].")
		return
	}
	set.Sensitive, set.SensitiveNames = false, names
}

// oneSource checks that there is one place for values, with the attributes that belong to it.
func (a *arguments) oneSource(block *hcl.Block) {
	var given []string
	for _, name := range []string{"file", "environment", "command"} {
		if a.has(name) {
			given = append(given, name)
		}
	}
	if len(given) != 1 {
		a.diags = a.diags.Append(failure.At(block.DefRange, "Unusable variable set",
			"Say where the values of the set are by one of the arguments file, environment and command."))
		return
	}
	for _, about := range [][2]string{{"format", "file"}, {"key_file", "file"}, {"shared", "file"}, {"timeout", "command"}} {
		if name, of := about[0], about[1]; a.has(name) && given[0] != of {
			a.fail(name, "Unused setting",
				"The argument %s is about a %s, and the values of this set are from its %s. Remove it.", name, of, given[0])
		}
	}
}
