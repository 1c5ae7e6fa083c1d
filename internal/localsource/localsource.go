// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package localsource finds the local directories that the configuration in a directory takes
// modules and stacks from.
//
// It reads only the necessary parts, of files of the Terraform language and of the Terraform Stacks
// language alike, and keeps silent about all mistakes in them: others report these when the
// configuration is used.
package localsource

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// Call is a block with a source.
type Call struct {
	Block string // "module", "component", "stack" or "removed"
	Name  string // its label, if it has one
	Dir   string // cleaned path of the directory
	Range hcl.Range
}

// suffix is how the names of files end that are read.
type suffix struct {
	text string
	json bool
}

var suffixes = []suffix{
	{".tf", false},
	{".tofu", false},
	{".tf.json", true},
	{".tofu.json", true},
	{".tfcomponent.hcl", false},
	{".tfcomponent.json", true},
	{".tfstack.hcl", false}, // the names until 2025
	{".tfstack.json", true},
}

var schema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "module", LabelNames: []string{"name"}},
	{Type: "component", LabelNames: []string{"name"}},
	{Type: "stack", LabelNames: []string{"name"}},
	{Type: "removed"},
}}

// In returns the calls in the files of a directory, in the order of files and of lines.
//
// Errors: those of reading the directory.
func In(dir string) ([]Call, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var calls []Call
	for _, entry := range entries {
		isJSON, ok := kind(entry.Name())
		if !ok || entry.IsDir() {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		src, err := safefile.Read(os.DirFS(dir), entry.Name(), hclsource.MaxSize)
		if err != nil {
			continue // the user of the configuration reports it
		}
		calls = append(calls, inFile(dir, path, src, isJSON)...)
	}
	return calls, nil
}

// RealPath returns the absolute path of a directory without links, so that it can be compared with
// others.
func RealPath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// IsStackFile reports whether a file with this name is of the Terraform Stacks language.
func IsStackFile(name string) bool {
	_, known := kind(name)
	return known && (strings.Contains(name, ".tfcomponent.") || strings.Contains(name, ".tfstack."))
}

// IsModuleFile reports whether a file with this name is of a plain module.
func IsModuleFile(name string) bool {
	_, known := kind(name)
	return known && !IsStackFile(name)
}

func kind(name string) (isJSON, ok bool) {
	i := slices.IndexFunc(suffixes, func(s suffix) bool { return strings.HasSuffix(name, s.text) })
	if i < 0 || strings.HasPrefix(name, ".") {
		return false, false
	}
	return suffixes[i].json, true
}

func inFile(dir, path string, src []byte, isJSON bool) []Call {
	var file *hcl.File
	if isJSON {
		file, _ = hclsource.ParseJSON(src, path) //nolint:errcheck // see the package comment
	} else {
		file, _ = hclsource.Parse(src, path) //nolint:errcheck // see the package comment
	}
	if file == nil || file.Body == nil {
		return nil
	}
	content, _, _ := file.Body.PartialContent(schema) //nolint:errcheck // see the package comment
	var calls []Call
	for _, block := range content.Blocks {
		source, rng := literalSource(block)
		if !isLocal(source) {
			continue
		}
		call := Call{Block: block.Type, Dir: filepath.Join(dir, filepath.FromSlash(source)), Range: rng}
		if len(block.Labels) > 0 {
			call.Name = block.Labels[0]
		}
		calls = append(calls, call)
	}
	return calls
}

func literalSource(block *hcl.Block) (string, hcl.Range) {
	//nolint:errcheck // see the package comment
	content, _, _ := block.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "source"}}})
	attr, ok := content.Attributes["source"]
	if !ok {
		return "", block.DefRange
	}
	value, diags := hclsource.Constant(attr.Expr)
	if diags.HasErrors() || value.IsNull() || !value.IsKnown() || value.Type() != cty.String {
		return "", attr.Expr.Range()
	}
	return value.AsString(), attr.Expr.Range()
}

func isLocal(source string) bool {
	return source == "." || source == ".." || strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../")
}
