// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// modulesEngine is an engine that plans and applies the modules of a stack.
type modulesEngine struct {
	name     string
	setting  func(t *testing.T) string
	programs []string // of its processes, besides cairn and the providers
	records  string   // pattern of the files with its record of changes, below the directory of the stack

	// objects returns the objects that a record says were made.
	objects func(record string) []instance
}

// modulesEngines are the engines that lives are lived with.
var modulesEngines = []modulesEngine{
	{
		name: "binary", setting: func(t *testing.T) string { return testenv.Engine(t) }, programs: []string{"terraform", "tofu"},
		records: filepath.Join(".cairn", "runs", "*", "apply.json"), objects: stateObjects,
	},
	{
		name: "native", setting: func(*testing.T) string { return "native" },
		records: filepath.Join(".cairn", "runs", "native", "*.journal"), objects: journalObjects,
	},
}

// instance is an object in a state.
type instance struct {
	Attributes struct{ ID string }
}

// stateObjects reads the state file of the process that a record names. A file that is half written
// has no objects.
func stateObjects(record string) (objects []instance) {
	var apply struct{ Root string }
	src, err := os.ReadFile(record)
	if err != nil || json.Unmarshal(src, &apply) != nil {
		return nil
	}
	src, err = os.ReadFile(filepath.Join(filepath.Dir(record), apply.Root, "terraform.tfstate"))
	if err != nil {
		return nil
	}
	var state struct {
		Resources []struct{ Instances []instance }
	}
	if json.Unmarshal(src, &state) != nil {
		return nil
	}
	for _, resource := range state.Resources {
		objects = append(objects, resource.Instances...)
	}
	return objects
}

// journalObjects reads the objects that were stored according to a journal, up to its last whole
// line.
func journalObjects(record string) (objects []instance) {
	src, err := os.ReadFile(record)
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(src) {
		text, _, signed := bytes.Cut(line, []byte("\t"))
		var r struct {
			Kind  string
			Entry instance
		}
		if signed && bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(text, &r) == nil && r.Kind == "stored" {
			objects = append(objects, r.Entry)
		}
	}
	return objects
}

// kinds returns the kinds of kills that there are with the engine.
func (e *modulesEngine) kinds() []kill {
	return slices.DeleteFunc(slices.Clone(kinds), func(k kill) bool { return k.engine && len(e.programs) == 0 })
}
