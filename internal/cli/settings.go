// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/cairnstacks/cairn/internal/safehcl"
)

// settingsFile is read from the directory of the stack.
const settingsFile = "cairn.hcl"

// settings are what cairn.hcl says. Zero values stand for what it doesn't say.
type settings struct {
	state       string // location
	engine      engineSettings
	parallelism int
}

// The environment variables that beat the settings file.
const (
	stateVariable  = "CAIRN_STATE"
	engineVariable = "CAIRN_ENGINE"
)

// defaultState is where the state is kept, beside the stack.
const defaultState = "cairn.state.db"

// readSettings reads the settings file, which need not exist. Its source is added to files.
func readSettings(files map[string]*hcl.File) (settings, hcl.Diagnostics) {
	src, err := os.ReadFile(settingsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return settings{}, nil
	}
	if err != nil {
		return settings{}, hcl.Diagnostics{problem("Settings cannot be read", "The settings file cannot be read: %s.", reason(err))}
	}
	file, diags := safehcl.ParseConfig(src, settingsFile, hcl.InitialPos)
	if file == nil {
		return settings{}, diags
	}
	files[settingsFile] = file
	if diags.HasErrors() {
		return settings{}, diags
	}
	return decodeSettings(file.Body)
}

var settingsSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "parallelism"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "state", LabelNames: []string{"store"}}, {Type: "engine"}},
}

func decodeSettings(body hcl.Body) (settings, hcl.Diagnostics) {
	var result settings
	content, diags := body.Content(settingsSchema)
	if attr := content.Attributes["parallelism"]; attr != nil {
		moreDiags := gohcl.DecodeExpression(attr.Expr, nil, &result.parallelism)
		if !moreDiags.HasErrors() && result.parallelism < 1 {
			moreDiags = moreDiags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Unusable parallelism",
				Detail:   "At least one component must be worked on at a time: give a number from 1.",
				Subject:  attr.Expr.Range().Ptr(),
			})
		}
		diags = diags.Extend(moreDiags)
	}
	seen := map[string]*hcl.Block{}
	for _, block := range content.Blocks {
		if first := seen[block.Type]; first != nil {
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Setting given twice",
				Detail:   fmt.Sprintf("There can be only one %s block; the first is at %s.", block.Type, first.DefRange),
				Subject:  block.DefRange.Ptr(),
			})
			continue
		}
		seen[block.Type] = block
		switch block.Type {
		case "state":
			diags = diags.Extend(decodeStateSettings(block, &result))
		case "engine":
			var moreDiags hcl.Diagnostics
			result.engine, moreDiags = decodeEngineSettings(block.Body)
			diags = diags.Extend(moreDiags)
		}
	}
	return result, diags
}

func decodeStateSettings(block *hcl.Block, result *settings) hcl.Diagnostics {
	if store := block.Labels[0]; store != "sqlite" {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Unknown state store",
			Detail:   fmt.Sprintf("There is no state store %q. Use \"sqlite\", which keeps the state in a file.", store),
			Subject:  block.LabelRanges[0].Ptr(),
		}}
	}
	path, diags := stringArgument(block.Body, "path")
	if path != "" {
		result.state = "sqlite://" + path
	}
	return diags
}

// stringArgument decodes the one argument that a block has.
func stringArgument(body hcl.Body, name string) (string, hcl.Diagnostics) {
	content, diags := body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name, Required: true}}})
	value, moreDiags := stringSetting(content.Attributes[name])
	return value, diags.Extend(moreDiags)
}

// stringSetting decodes an argument that may be missing. If it is there, it must not be empty.
func stringSetting(attr *hcl.Attribute) (string, hcl.Diagnostics) {
	if attr == nil {
		return "", nil
	}
	var value string
	diags := gohcl.DecodeExpression(attr.Expr, nil, &value)
	if !diags.HasErrors() && value == "" {
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Empty setting",
			Detail:   "Give a text that is not empty, or leave the setting out.",
			Subject:  attr.Expr.Range().Ptr(),
		})
	}
	return value, diags
}

// countValue is an option with a number from 1; 0 when it was not given.
type countValue int

func (c *countValue) String() string { return strconv.Itoa(int(*c)) }

// Set implements [flag.Value].
func (c *countValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("must be a whole number from 1")
	}
	*c = countValue(n)
	return nil
}

// firstSet returns the first text that is not empty.
func firstSet(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
