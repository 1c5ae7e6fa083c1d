// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Directory is the configuration in one module directory.
type Directory struct {
	Dir   string // its absolute path
	Files []*File

	// TofuFiles are those that only tofu reads, and that were not read: how messages name them.
	TofuFiles []string

	// ValueFiles are those with values of variables for a run of the engine in the directory: how
	// messages name them.
	ValueFiles []string

	Variables map[string]*Variable
	Locals    map[string]*Local
	Outputs   map[string]*Output
	Calls     map[string]*Call
	Resources map[stackaddrs.Resource]*Resource // managed, data (those nested in checks, too) and ephemeral ones
	Checks    map[string]*Check
	Actions   map[string]*Action // by TYPE.NAME

	Moved   []*Moved
	Removed []*Removed
	Imports []*Import

	// ProviderMeta are the bodies of provider_meta blocks, by the local names of the providers.
	ProviderMeta map[string]*ProviderMeta

	// Functions are the calls of functions outside of files in JSON syntax.
	Functions []refs.FunctionCall

	// Unsupported are errors about features of the language that the native engine lacks, by feature
	// and place.
	Unsupported hcl.Diagnostics

	Required map[string]*Requirement // by local name

	// ProviderUses has the references to provider configurations by resources, actions and functions,
	// each with the first range where it occurs.
	ProviderUses map[engine.ProviderSlot]hcl.Range

	// DataProviders are those of ProviderUses that data sources use.
	DataProviders map[engine.ProviderSlot]bool

	// Providers are the provider blocks.
	Providers []ProviderBlock

	// ConstVariables are the ranges of const arguments in variable blocks.
	ConstVariables []hcl.Range

	// WorkspaceUses are where the name of the workspace is asked for, which the modules of components
	// have not.
	WorkspaceUses []hcl.Range

	// Backends are the backend and cloud blocks.
	Backends []*hcl.Block

	// Versions are the constraints on the version of terraform.
	Versions []VersionConstraint

	// HasActions reports whether there are action blocks.
	HasActions bool

	strict hcl.Diagnostics // mistakes that an engine with a binary finds itself

	// HasRequiredProviders reports whether there is a required_providers block.
	HasRequiredProviders bool
}

// Requirement is an entry of required_providers.
type Requirement struct {
	Provider stackaddrs.Provider
	Version  string // as written, or empty
	Aliases  []string
	Range    hcl.Range
}

// ProviderBlock is a provider block in a module.
type ProviderBlock struct {
	Slot engine.ProviderSlot

	// Proxy is set if the block configures nothing: an old way to declare a slot.
	Proxy bool

	Version string   // constraint as written, or empty
	Config  hcl.Body // the arguments of the provider
	Range   hcl.Range
}

var readRoot = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "terraform"},
	{Type: "provider", LabelNames: []string{"name"}},
	{Type: "variable", LabelNames: []string{"name"}},
	{Type: "output", LabelNames: []string{"name"}},
	{Type: "module", LabelNames: []string{"name"}},
	{Type: "resource", LabelNames: []string{"type", "name"}},
	{Type: "data", LabelNames: []string{"type", "name"}},
	{Type: "ephemeral", LabelNames: []string{"type", "name"}},
	{Type: "action", LabelNames: []string{"type", "name"}},
	{Type: "check", LabelNames: []string{"name"}},
}}

func schemaOf(names ...string) *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for _, name := range names {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	return schema
}

var (
	readTerraform = &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "required_version"}},
		Blocks: []hcl.BlockHeaderSchema{
			{Type: "required_providers"},
			{Type: "backend", LabelNames: []string{"type"}},
			{Type: "cloud"},
		},
	}
	readVariable = schemaOf("type", "default", "nullable", "sensitive", "ephemeral", "const")
	readOutput   = schemaOf("sensitive", "ephemeral")
	readCall     = schemaOf("source", "version", "providers")
	usageSchema  = schemaOf("provider")
	readCheck    = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "data", LabelNames: []string{"type", "name"}}}}
)

func newDirectory(path string) *Directory {
	return &Directory{
		Dir:           path,
		Variables:     map[string]*Variable{},
		Locals:        map[string]*Local{},
		Outputs:       map[string]*Output{},
		Calls:         map[string]*Call{},
		Resources:     map[stackaddrs.Resource]*Resource{},
		Checks:        map[string]*Check{},
		Actions:       map[string]*Action{},
		ProviderMeta:  map[string]*ProviderMeta{},
		Required:      map[string]*Requirement{},
		ProviderUses:  map[engine.ProviderSlot]hcl.Range{},
		DataProviders: map[engine.ProviderSlot]bool{},
	}
}

// addFile merges the content of a file. Primary files must come before override files.
func (d *Directory) addFile(file *File) hcl.Diagnostics {
	d.Files = append(d.Files, file)
	content, _, diags := file.File.Body.PartialContent(readRoot)
	for _, block := range content.Blocks {
		diags = diags.Extend(d.addBlock(block, file.Override))
	}
	d.addFunctionProviders(file)
	d.addWorkspaceUses(file)
	return diags
}

func (d *Directory) addBlock(block *hcl.Block, override bool) hcl.Diagnostics {
	switch block.Type {
	case "terraform":
		return d.addTerraform(block, override)
	case "provider":
		return d.addProvider(block, override)
	case "variable":
		return d.addVariable(block, override)
	case "output":
		return d.addOutput(block)
	case "module":
		return d.addCall(block)
	case "check":
		content, _, diags := block.Body.PartialContent(readCheck)
		for _, nested := range content.Blocks {
			diags = diags.Extend(d.addUsage(nested))
		}
		return diags
	default:
		return d.addUsage(block)
	}
}

func (d *Directory) addOutput(block *hcl.Block) hcl.Diagnostics {
	name := block.Labels[0]
	output := d.Outputs[name]
	if output == nil {
		output = &Output{Output: &engine.Output{Name: name, Range: block.DefRange}}
		d.Outputs[name] = output
	}
	content, _, diags := block.Body.PartialContent(readOutput)
	diags = diags.Extend(decodeBool(content, "sensitive", &output.Sensitive))
	return diags.Extend(decodeBool(content, "ephemeral", &output.Ephemeral))
}

func (d *Directory) addCall(block *hcl.Block) hcl.Diagnostics {
	name := block.Labels[0]
	call := d.Calls[name]
	if call == nil {
		call = &Call{
			Name: name, SourceRange: block.DefRange, Range: block.DefRange, Inputs: map[string]*Expr{}, Names: map[string]hcl.Range{},
		}
		d.Calls[name] = call
	}
	content, _, diags := block.Body.PartialContent(readCall)
	if attr := content.Attributes["source"]; attr != nil {
		call.SourceRange = attr.Expr.Range()
		moreDiags := gohcl.DecodeExpression(attr.Expr, nil, &call.Source)
		diags = diags.Extend(moreDiags)
		if !moreDiags.HasErrors() && call.Source == "" {
			diags = diags.Append(sourceError(call, "Empty source address", fmt.Sprintf(
				"Module call %q has no address of a module. Write the path of a directory, which begins with ./ or ../, or the address "+
					"of a package.", name)))
		}
	}
	if attr := content.Attributes["version"]; attr != nil {
		call.Constrained = true
		if value, moreDiags := attr.Expr.Value(nil); moreDiags.HasErrors() || !value.IsNull() {
			diags = diags.Extend(gohcl.DecodeExpression(attr.Expr, nil, &call.Version))
		}
	}
	if attr := content.Attributes["providers"]; attr != nil {
		diags = diags.Extend(call.addProviders(attr.Expr))
	}
	return diags
}

func (c *Call) addProviders(expr hcl.Expression) hcl.Diagnostics {
	pairs, diags := hcl.ExprMap(expr)
	c.Providers = make(map[engine.ProviderSlot]engine.ProviderSlot, len(pairs))
	c.ProviderRanges = make(map[engine.ProviderSlot]hcl.Range, len(pairs))
	for _, pair := range pairs {
		child, moreDiags := decodeSlot(pair.Key)
		diags = diags.Extend(moreDiags)
		parent, moreDiags := decodeSlot(pair.Value)
		diags = diags.Extend(moreDiags)
		c.Providers[child], c.ProviderRanges[child] = parent, pair.Key.Range()
	}
	return diags
}

// ParseSlot returns the provider configuration that an expression names.
func ParseSlot(expr hcl.Expression) (engine.ProviderSlot, hcl.Diagnostics) { return decodeSlot(expr) }

// decodeSlot decodes NAME or NAME.ALIAS, in native syntax also in quotes, as old modules have it.
func decodeSlot(expr hcl.Expression) (engine.ProviderSlot, hcl.Diagnostics) {
	slot, ok := slotOf(expr)
	if !ok {
		return engine.ProviderSlot{}, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Invalid provider reference",
			Detail:   "A provider configuration is named by the local name of its provider, followed by a dot and an alias if it has one.",
			Subject:  expr.Range().Ptr(),
		}}
	}
	if invalid := checkLocalName(slot.LocalName, expr.Range()); invalid != nil {
		return engine.ProviderSlot{}, hcl.Diagnostics{invalid}
	}
	return slot, nil
}

func slotOf(expr hcl.Expression) (slot engine.ProviderSlot, ok bool) {
	if traversal, diags := hcl.AbsTraversalForExpr(expr); !diags.HasErrors() {
		slot.LocalName = traversal.RootName()
		if len(traversal) == 1 {
			return slot, true
		}
		step, ok := traversal[1].(hcl.TraverseAttr)
		slot.Alias = step.Name
		return slot, ok && len(traversal) == 2
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String || !value.IsKnown() || value.IsNull() {
		return slot, false
	}
	var aliased bool
	slot.LocalName, slot.Alias, aliased = strings.Cut(value.AsString(), ".")
	return slot, !aliased || hclsyntax.ValidIdentifier(slot.Alias)
}

// decodeBool sets *target if the argument is present.
func decodeBool(content *hcl.BodyContent, name string, target *bool) hcl.Diagnostics {
	attr := content.Attributes[name]
	if attr == nil {
		return nil
	}
	value, diags := attr.Expr.Value(nil)
	if diags.HasErrors() {
		return diags
	}
	if value.IsNull() || gohcl.DecodeExpression(attr.Expr, nil, target).HasErrors() {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Invalid argument value",
			Detail:   fmt.Sprintf("The argument %q must be true or false.", name),
			Subject:  attr.Expr.Range().Ptr(),
		}}
	}
	return nil
}
