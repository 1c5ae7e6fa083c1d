// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

var update = flag.Bool("update", os.Getenv("UPDATE_GOLDEN") != "", "rewrite the results in testdata")

// TestApply plans and applies the components of testdata. The lines with a colon in the comments of
// the archives are settings.
func TestApply(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, path, archive, result(t, archive))
		})
	}
}

func result(t *testing.T, archive *txtar.Archive) string {
	settings := string(archive.Comment)
	c := nativetest.New(t, string(txtar.Format(archive)))
	obey(c.Fake)
	plan := c.Plan(t, func(req *planning.Request) {
		switch {
		case strings.Contains(settings, "mode: destroy\n"):
			req.Mode = engine.Destroy
		case strings.Contains(settings, "mode: refresh-only\n"):
			req.Mode = engine.RefreshOnly
		}
		for line := range strings.Lines(settings) {
			if assignment, ok := strings.CutPrefix(line, "unknown: "); ok {
				name, _, _ := strings.Cut(assignment, " = ")
				req.Inputs[name] = cty.UnknownVal(cty.String)
			}
		}
	})
	prior := c.Prior
	applied := c.Apply(t, plan, func(req *applying.Request) {
		for line := range strings.Lines(settings) {
			if assignment, ok := strings.CutPrefix(line, "unknown: "); ok {
				name, value, _ := strings.Cut(strings.TrimSpace(assignment), " = ")
				req.Inputs[name] = cty.StringVal(value)
			}
		}
	})
	checkEvents(t, prior, applied)
	return applied.Show(t)
}

func compare(t *testing.T, path string, archive *txtar.Archive, got string) {
	t.Helper()
	for i, file := range archive.Files {
		switch {
		case file.Name != "want":
		case *update:
			archive.Files[i].Data = []byte(got)
			if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		default:
			if diff := cmp.Diff(string(file.Data), got); diff != "" {
				t.Errorf("Apply: the result differs from the archive (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Errorf("the archive has no file want. The result is:\n%s", got)
}

// obey makes the fake provider act on the names of objects.
func obey(fake *nativetest.Provider) {
	name := func(objects ...cty.Value) string {
		for _, object := range objects {
			if object != cty.NilVal && !object.IsNull() && !object.GetAttr("name").IsNull() {
				return object.GetAttr("name").AsString()
			}
		}
		return ""
	}
	fake.OnApply = func(req provider.ApplyRequest, response provider.ApplyResponse) provider.ApplyResponse {
		null := cty.NullVal(req.Planned.Type())
		fails := provider.Errorf("Applying failed", "As the name says.")
		switch name(req.Config, req.Prior) {
		case "fail null":
			response.New, response.Diagnostics = null, fails
		case "fail partial":
			if req.Planned.IsNull() {
				response.New = req.Prior
			}
			response.Diagnostics = fails
		case "null":
			response.New = null
		case "nothing":
			response.New = cty.NilVal
		case "unknown":
			values := response.New.AsValueMap()
			values["id"] = cty.UnknownVal(cty.String)
			response.New = cty.ObjectVal(values)
		case "inconsistent":
			values := response.New.AsValueMap()
			values["name"] = cty.StringVal("else")
			response.New = cty.ObjectVal(values)
		case "legacy":
			values := response.New.AsValueMap()
			values["name"] = cty.StringVal("else")
			response.New, response.LegacyTypeSystem = cty.ObjectVal(values), true
		case "write-only":
			values := response.New.AsValueMap()
			values["token"] = cty.StringVal("kept")
			response.New = cty.ObjectVal(values)
		case "stays":
			if req.Planned.IsNull() {
				response.New = req.Prior
			}
		}
		return response
	}
}

// checkEvents checks that the events about objects lead from the prior state to the final one.
func checkEvents(t *testing.T, prior engine.State, applied *nativetest.Applied) {
	t.Helper()
	objects := entries(t, prior)
	for _, event := range applied.Events {
		if event.Type != engine.ObjectChanged {
			continue
		}
		change := event.Object
		object := stackaddrs.ResourceInstanceObject{Instance: change.Addr, Deposed: change.Deposed}
		if change.Entry == nil {
			delete(objects, object)
		} else {
			objects[object] = string(change.Entry)
		}
	}
	if diff := cmp.Diff(entries(t, applied.State), objects); diff != "" {
		t.Errorf("the events lead to other objects than the state has (-state +events):\n%s", diff)
	}
}

func entries(t *testing.T, text engine.State) map[stackaddrs.ResourceInstanceObject]string {
	t.Helper()
	doc, err := tfstate.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[stackaddrs.ResourceInstanceObject]string{}
	for _, entry := range doc.Entries() {
		objects[stackaddrs.ResourceInstanceObject{Instance: entry.Addr, Deposed: entry.Deposed}] = string(entry.AppendJSON(nil))
	}
	return objects
}
