// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package settings reads the settings for operations in a stack's own files: cairn.hcl, and the
// file that names a version of terraform for version managers.
package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/internal/statestore/locations"
)

// File is the name of the settings file in the directory of a stack.
const File = "cairn.hcl"

// Settings are the settings of the settings file. Zero values stand for missing ones.
type Settings struct {
	Name        string // key of the stack where states of many stacks are kept
	State       string // location: a path, or a URL
	Engine      Engine
	Parallelism int // number of components that are worked on at the same time

	// ProviderProcesses is how many processes of providers the native engine leaves running at most,
	// besides those that are in use.
	ProviderProcesses int

	Identity   Identity
	Varsets    Varsets
	Upstreams  Upstreams
	Pools      Pools
	Encryption *Encryption // nil for none
}

// Read reads the settings file in the directory of a stack. It need not exist. Its source is added
// to files, by its name.
func Read(dir string, files map[string]*hcl.File) (Settings, hcl.Diagnostics) {
	src, err := os.ReadFile(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil
	}
	if err != nil {
		return Settings{}, hcl.Diagnostics{failure.New("Unreadable settings file", "The settings file cannot be read: %s.", failure.Reason(err))}
	}
	file, diags := safehcl.ParseConfig(src, File, hcl.InitialPos)
	if file == nil {
		return Settings{}, diags
	}
	files[File] = file
	if diags.HasErrors() {
		return Settings{}, diags
	}
	return decode(file.Body)
}

var schema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "name"}, {Name: "parallelism"}, {Name: "provider_processes"}, {Name: "engine"}},
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "state", LabelNames: []string{"store"}},
		{Type: "engine"},
		{Type: "encryption"},
		{Type: "identity", LabelNames: []string{"source"}},
		{Type: "varset", LabelNames: []string{"name"}},
		{Type: "upstream", LabelNames: []string{"source"}},
		{Type: "pool", LabelNames: []string{"name"}},
	},
}

func decode(body hcl.Body) (Settings, hcl.Diagnostics) {
	var result Settings
	content, diags := body.Content(schema)
	diags = diags.Extend(decodeCount(content.Attributes["parallelism"], &result.Parallelism, "Unusable parallelism",
		"At least one component must be worked on at a time: give a number from 1."))
	diags = diags.Extend(decodeCount(content.Attributes["provider_processes"], &result.ProviderProcesses, "Unusable number of processes",
		"At least one provider must run: give a number from 1."))
	name, moreDiags := decodeName(content.Attributes["name"])
	result.Name, diags = name, diags.Extend(moreDiags)
	named := content.Attributes["engine"]
	binary, moreDiags := stringSetting(named)
	result.Engine.Binary, diags = binary, diags.Extend(moreDiags)
	seen := map[string]*hcl.Block{}
	for _, block := range content.Blocks {
		switch block.Type { // of which there may be several
		case "identity":
			diags = diags.Extend(result.Identity.decode(block))
			continue
		case "varset":
			diags = diags.Extend(result.Varsets.decode(block))
			continue
		case "upstream":
			diags = diags.Extend(result.Upstreams.Decode(block))
			continue
		case "pool":
			diags = diags.Extend(result.Pools.decode(block))
			continue
		}
		if first := seen[block.Type]; first != nil {
			diags = diags.Append(failure.At(block.DefRange, "Setting given twice",
				"There can be only one %s block; the first is at %s.", block.Type, first.DefRange))
			continue
		}
		seen[block.Type] = block
		switch block.Type {
		case "state":
			diags = diags.Extend(decodeState(block, &result))
		case "encryption":
			var moreDiags hcl.Diagnostics
			result.Encryption, moreDiags = decodeEncryption(block)
			diags = diags.Extend(moreDiags)
		case "engine":
			if named != nil {
				diags = diags.Append(failure.At(named.NameRange, "Setting given twice",
					"The engine is named by an argument or by a block: put its name into the block as binary, beside its other arguments."))
				continue
			}
			var moreDiags hcl.Diagnostics
			result.Engine, moreDiags = decodeEngine(block.Body)
			diags = diags.Extend(moreDiags)
		}
	}
	return result, diags
}

// decodeCount decodes a number from 1. Without an attribute it is left alone.
func decodeCount(attr *hcl.Attribute, n *int, summary, detail string) hcl.Diagnostics {
	if attr == nil {
		return nil
	}
	diags := gohcl.DecodeExpression(attr.Expr, nil, n)
	if !diags.HasErrors() && *n < 1 {
		diags = diags.Append(failure.At(attr.Expr.Range(), summary, "%s", detail))
	}
	return diags
}

// nameForm is that of names of stacks, which are in names of schemas and objects.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$`)

func decodeName(attr *hcl.Attribute) (string, hcl.Diagnostics) {
	name, diags := stringSetting(attr)
	if name != "" && !nameForm.MatchString(name) {
		diags = diags.Append(failure.At(attr.Expr.Range(), "Unusable name of a stack",
			"A name has at most 128 letters of the English alphabet, digits, and characters of \"._/-\", of which it begins with none."))
	}
	return name, diags
}

// The kinds of state stores that keep the states of many stacks.
const (
	PostgresStore = "postgres" // in a database
	ObjectStore   = "objects"  // on object storage, or in a directory that several machines mount
)

func decodeState(block *hcl.Block, result *Settings) hcl.Diagnostics {
	var diags hcl.Diagnostics
	switch store := block.Labels[0]; store {
	case FileStore:
		var path string
		if path, diags = stringArgument(block.Body, "path"); path != "" {
			result.State = FileStore + "://" + path
		}
	case PostgresStore:
		result.State, diags = stringArgument(block.Body, "url")
		if result.State != "" && !locations.IsPostgres(result.State) {
			diags = diags.Append(failure.At(block.DefRange, "Unusable URL of a database",
				"Give postgres://USER@HOST:PORT/DATABASE, whose parts may be missing as with psql: they are taken from the environment then."))
		}
	case ObjectStore:
		result.State, diags = stringArgument(block.Body, "url")
		if result.State != "" && !locations.IsObjects(result.State) {
			diags = diags.Append(failure.At(block.DefRange, "Unusable URL of object storage",
				"Give s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, azblob://CONTAINER/PREFIX, or file:///DIRECTORY."))
		}
	default:
		diags = hcl.Diagnostics{failure.At(block.LabelRanges[0], "Unknown state store",
			"There is no state store %q. Use \"sqlite\", which keeps the state in a file, \"postgres\", or \"objects\".", store)}
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
		diags = diags.Append(failure.At(attr.Expr.Range(), "Empty setting", "Give a text that is not empty, or leave the setting out."))
	}
	return value, diags
}
