// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Diagnostics maps the engine's diagnostics in a working copy back to the module, sorted by place:
// the engine's own order depends on scheduling.
func (c *Copy) Diagnostics(reported []diagnostic.Diagnostic) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i := range reported {
		if c.dropped && isAboutGenerated(&reported[i]) || isAboutOverrides(&reported[i]) {
			continue
		}
		diags = diags.Append(c.diagnostic(&reported[i]))
	}
	slices.SortStableFunc(diags, identity.Compare)
	return diags
}

// isAboutOverrides reports whether a message warns of providers in development, which the installer
// has done once for the whole stack.
func isAboutOverrides(reported *diagnostic.Diagnostic) bool {
	return reported.Range == nil && reported.Summary == "Provider development overrides are in effect"
}

// isAboutGenerated reports whether a message is about a generated file. A provider's message about
// the whole of its configuration has no place.
func isAboutGenerated(reported *diagnostic.Diagnostic) bool {
	if reported.Range == nil {
		return strings.HasPrefix(reported.Address, "provider[")
	}
	return isGenerated(cleanName(reported.Range.Filename))
}

func (c *Copy) diagnostic(reported *diagnostic.Diagnostic) *hcl.Diagnostic {
	diag := reported.HCL()
	diag.Summary, diag.Detail = RestoreReferences(diag.Summary), c.restorePlaces(RestoreReferences(diag.Detail))
	diag.Subject = nil                               // until the place in the module is known
	restoreData(diag.Extra.(*engine.DiagnosticData)) //nolint:forcetypeassert // see HCL
	if about := c.providerArgument(reported); about != nil {
		diag.Extra = &engine.DiagnosticData{Provider: about}
		return diag
	}
	if reported.Range == nil {
		return diag
	}
	name := cleanName(reported.Range.Filename)
	if isGenerated(name) {
		c.locateGenerated(diag, reported)
		return diag
	}
	if subject, ok := c.original(name, reported.Range); ok {
		diag.Subject = &subject
	}
	return diag
}

func cleanName(name string) string { return path.Clean(filepath.ToSlash(name)) }

// generatedLeaf is a reference to the variable of a [ProviderLeaf].
var generatedLeaf = regexp.MustCompile(`\bvar\.(` + prefix + `p[0-9]+)\b`)

// providerArgument returns the part of a provider configuration that a message is about; nil if it
// is about something else.
func (c *Copy) providerArgument(reported *diagnostic.Diagnostic) *engine.ProviderArgument {
	config, ok := tfstate.ParseProviderConfig(reported.Address)
	if !ok {
		return nil
	}
	if leaf := c.leafOf(reported.Snippet); leaf != nil {
		return &engine.ProviderArgument{Slot: leaf.Slot, Path: leaf.Path}
	}
	for _, slot := range slices.SortedFunc(maps.Keys(c.providers), compareSlots) {
		if slot.Alias == config.Alias && config.IsOf(c.providers[slot].Provider) {
			return &engine.ProviderArgument{Slot: slot}
		}
	}
	return nil
}

// leafOf returns the part of a provider configuration that a line of a generated file is for, nil
// if there is none.
func (c *Copy) leafOf(snippet *diagnostic.Snippet) *ProviderLeaf {
	if snippet == nil || c.Shape == nil {
		return nil
	}
	match := generatedLeaf.FindStringSubmatch(snippet.Code)
	if match == nil {
		return nil
	}
	i := slices.IndexFunc(c.Shape.Providers, func(leaf ProviderLeaf) bool { return leaf.Variable == match[1] })
	if i < 0 {
		return nil
	}
	return &c.Shape.Providers[i]
}

// original maps a range in a file that the engine names.
func (c *Copy) original(name string, reported *diagnostic.Range) (hcl.Range, bool) {
	if file := c.files[name]; file != nil {
		return hcl.Range{
			Filename: file.display,
			Start:    file.position(reported.Start.Byte),
			End:      file.position(reported.End.Byte),
		}, true
	}
	display, known := c.displays[name]
	if !known {
		return hcl.Range{}, false
	}
	return hcl.Range{
		Filename: display,
		Start:    hcl.Pos(reported.Start),
		End:      hcl.Pos(reported.End),
	}, true
}

// locateGenerated places a message about a generated file where its reason is.
func (c *Copy) locateGenerated(diag *hcl.Diagnostic, reported *diagnostic.Diagnostic) {
	for i, rule := range c.validations {
		if strings.Contains(reported.Address+reported.Block(), checkName(i)) {
			diag.Summary = "Invalid value for variable"
			c.locateVariable(diag, c.tree.Module.Variables[rule.variable])
			return
		}
	}
	if c.locateRule(diag) || reported.Snippet == nil || c.tree == nil {
		return
	}
	// The arguments of the latch's module call are variables of the component's module.
	if match := generatedArgument.FindStringSubmatch(reported.Snippet.Code); match != nil {
		if variable := c.tree.Module.Variables[match[1]]; variable != nil {
			c.locateVariable(diag, variable)
		}
	}
}

// locateVariable places a message at the block of a variable, instead of the code generated for it.
func (c *Copy) locateVariable(diag *hcl.Diagnostic, variable *engine.Variable) {
	diag.Subject = variable.Range.Ptr()
	if known, ok := diag.Extra.(*engine.DiagnosticData); ok {
		known.Block = fmt.Sprintf("variable %q", variable.Name)
	}
}

// validationRule is how the engine names the place of the rule that a root variable's value breaks.
var validationRule = regexp.MustCompile(`validation rule at (.+):(\d+),\d+-`)

// locateRule places a message about the value of a variable at the variable with the rule.
func (c *Copy) locateRule(diag *hcl.Diagnostic) bool {
	match := validationRule.FindStringSubmatch(diag.Detail)
	if match == nil || c.tree == nil {
		return false
	}
	line, err := strconv.Atoi(match[2])
	if err != nil {
		return false
	}
	var found *engine.Variable
	for _, variable := range c.tree.Module.Variables {
		at := variable.Range
		if at.Filename == match[1] && at.Start.Line <= line && (found == nil || found.Range.Start.Line < at.Start.Line) {
			found = variable
		}
	}
	if found != nil {
		c.locateVariable(diag, found)
	}
	return found != nil
}

// display returns the name that users know of a file that the engine names.
func (c *Copy) display(name string) (string, bool) {
	if file := c.files[name]; file != nil {
		return file.display, true
	}
	display, known := c.displays[name]
	return display, known
}

// placeInText is how the engine names a place in a text: relative to the module.
var placeInText = regexp.MustCompile(`([^\s"'()]+\.(?:tf|tofu)(?:\.json)?):(\d+)`)

// restorePlaces names files in a text as users know them.
func (c *Copy) restorePlaces(text string) string {
	return placeInText.ReplaceAllStringFunc(text, func(found string) string {
		name, line, _ := strings.Cut(found, ":")
		if display, known := c.display(cleanName(name)); known {
			return display + ":" + line
		}
		return found
	})
}

var generatedArgument = regexp.MustCompile(`^\s*"([^"]+)":`)

// RestoreReferences replaces the names of generated objects in a text.
func RestoreReferences(text string) string {
	if !strings.Contains(text, prefix) && !strings.Contains(text, latchDir) {
		return text
	}
	return generatedNames.Replace(text)
}

var generatedNames = strings.NewReplacer(
	"module."+latchName+".var.", "var.",
	"module."+latchName+".", "var.",
	"module."+latchName, "the component's inputs",
	"data.terraform_remote_state."+latchName, "the component's inputs",
	"local."+latchName, "the component's inputs",
	"var."+prefix+"e_", "var.",
	latchDir+"/", "",
)

// restoreData names references as the module has them.
func restoreData(data *engine.DiagnosticData) {
	for i := range data.References {
		data.References[i].Reference = RestoreReferences(data.References[i].Reference)
	}
}

// RestoreAddress returns the address of a latched variable in the module for that in the working
// copy.
func RestoreAddress(address string) string {
	return strings.TrimPrefix(address, "module."+latchName+".")
}
