// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package mistakes gathers an engine's diagnostics about a tree of modules from several runs, each
// for a part of it: once, and without those that only come from the way in which it was run.
package mistakes

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/module"
)

// Found are the diagnostics about a tree from several runs, each once.
type Found struct {
	Diags  hcl.Diagnostics
	Faulty map[*module.Directory]bool // with errors

	tree  *module.Tree
	files map[string]*module.Directory // by the name in ranges
	known map[identity.ID]bool         // whichever module the engine was run for
}

// New returns the mistakes known before the first run: modules that cannot be read.
func New(tree *module.Tree) *Found {
	m := &Found{tree: tree, Faulty: maps.Clone(tree.Faulty), files: map[string]*module.Directory{}, known: map[identity.ID]bool{}}
	for _, dir := range tree.Directories() {
		for _, file := range dir.Files {
			m.files[file.Display] = dir
		}
	}
	return m
}

// Add adds the diagnostics of another run.
func (m *Found) Add(diags hcl.Diagnostics) {
	for _, diag := range diags {
		id := identity.Of(diag)
		id.Detail = ownModule.ReplaceAllString(id.Detail, "")
		if m.known[id] {
			continue
		}
		m.known[id] = true
		m.Diags = m.Diags.Append(diag)
		if diag.Severity != hcl.DiagError || diag.Subject == nil {
			continue
		}
		if dir := m.files[diag.Subject.Filename]; dir != nil {
			m.Faulty[dir] = true
		}
	}
}

// AddWhole is Add for the tree as it is. An error that the engine only reports because it could not
// load a called module is left out: that this does not require the provider whose configuration is
// passed to it. Where it is so, it is found again next to the stand-ins.
func (m *Found) AddWhole(diags hcl.Diagnostics) {
	isMismatch := func(diag *hcl.Diagnostic) bool { return diag.Summary == "Provider type mismatch" }
	m.Add(slices.DeleteFunc(slices.Clone(diags), isMismatch))
	if m.ToReplace() == 0 {
		m.Add(diags)
	}
}

// ToReplace counts the modules below the root that need a stand-in.
func (m *Found) ToReplace() int {
	count := len(m.Faulty) + len(m.tree.Missing)
	if m.Faulty[m.tree.Root.Directory] {
		count--
	}
	return count
}

// ownModule is how the engine names the module that a mistake is in, which depends on where it was
// run.
var ownModule = regexp.MustCompile(`\bthe root module\b|\bthis module\b|\bmodule\.[\w-]+(\.module\.[\w-]+)*`)

// AsCalled returns the errors in a module that was validated on its own, as far as they are errors
// also where it is called.
func AsCalled(diags hcl.Diagnostics) hcl.Diagnostics {
	var called hcl.Diagnostics
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError || diag.Summary == "Output refers to sensitive values" { // a rule for roots
			continue
		}
		diag := *diag // the remembered one belongs to all callers
		diag.Detail = strings.ReplaceAll(diag.Detail, "the root module", "this module")
		called = called.Append(&diag)
	}
	return called
}

// BesideStandIns returns the errors in a tree with stand-ins, as far as they are errors also
// without them. Stand-ins have no resources that could be imported.
func BesideStandIns(diags hcl.Diagnostics) hcl.Diagnostics {
	return slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool {
		return diag.Severity != hcl.DiagError || diag.Summary == "Configuration for import target does not exist"
	})
}

// IsEphemeralOutput reports whether a mistake is that an output is ephemeral. That is one in a
// component's module, as [engine.Session.Module] reports, and none in a module that is called.
func IsEphemeralOutput(root *module.Directory, diag *hcl.Diagnostic) bool {
	if diag.Subject == nil {
		return false
	}
	for _, output := range root.Outputs {
		if output.Ephemeral && *diag.Subject == output.Range {
			return true
		}
	}
	return false
}
