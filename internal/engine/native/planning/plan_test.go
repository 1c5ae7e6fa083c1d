// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var update = flag.Bool("update", os.Getenv("UPDATE_GOLDEN") != "", "rewrite the plans in testdata")

// script is an archive of testdata: a component, with the plan of it in the file want. The lines of
// its comment with a colon are settings.
type script struct {
	name    string
	path    string
	text    string
	archive *txtar.Archive
}

func scripts(t testing.TB) []script {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	var all []script
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, script{strings.TrimSuffix(filepath.Base(path), ".txtar"), path, string(text), txtar.Parse(text)})
	}
	return all
}

// settings returns the values of a setting.
func (s *script) settings(name string) []string {
	var values []string
	for line := range strings.Lines(string(s.archive.Comment)) {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

func (s *script) mode(t testing.TB) engine.Mode {
	for _, name := range s.settings("mode") {
		switch name {
		case "destroy":
			return engine.Destroy
		case "refresh-only":
			return engine.RefreshOnly
		default:
			t.Fatalf("unknown mode %s", name)
		}
	}
	return engine.Normal
}

func (s *script) file(name string) *txtar.File {
	for i, file := range s.archive.Files {
		if file.Name == name {
			return &s.archive.Files[i]
		}
	}
	return nil
}

// request applies the settings to the request.
func (s *script) request(t testing.TB) func(*planning.Request) {
	return func(req *planning.Request) {
		req.Mode = s.mode(t)
		req.Replace = s.settings("replace")
		req.SkipRefresh = s.settings("skip refresh") != nil
		req.DeferAll = s.settings("defer all") != nil
		for _, name := range s.settings("unknown") {
			req.Inputs[name] = cty.UnknownVal(req.Tree.Variables[name].Type)
		}
	}
}

// TestPlan plans the components of testdata.
func TestPlan(t *testing.T) {
	for _, s := range scripts(t) {
		t.Run(s.name, func(t *testing.T) {
			c := nativetest.New(t, s.text)
			obey(c.Fake)
			c.UnknownProvider = s.settings("unknown provider") != nil
			got := c.Plan(t, s.request(t)).Show()
			want := s.file("want")
			if *update {
				if want == nil {
					s.archive.Files = append(s.archive.Files, txtar.File{Name: "want"})
					want = s.file("want")
				}
				want.Data = []byte(got)
				if err := os.WriteFile(s.path, txtar.Format(s.archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want == nil {
				t.Fatalf("the archive has no file want. The plan is:\n%s", got)
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("Plan: the plan differs from the archive (-want +got):\n%s", diff)
			}
		})
	}
}

// obey makes the fake provider act on the names of objects.
func obey(fake *nativetest.Provider) {
	says := func(object cty.Value, word string) bool {
		return object != cty.NilVal && !object.IsNull() && object.GetAttr("name").IsKnown() && !object.GetAttr("name").IsNull() &&
			strings.HasPrefix(object.GetAttr("name").AsString(), word)
	}
	fake.OnRead = func(req provider.ReadRequest, response provider.ReadResponse) provider.ReadResponse {
		switch {
		case says(req.Current, "gone"):
			response.New = cty.NullVal(req.Current.Type())
		case says(req.Current, "drifted"):
			values := req.Current.AsValueMap()
			values["size"] = cty.NumberIntVal(99)
			response.New = cty.ObjectVal(values)
		case says(req.Current, "defer read"):
			response = provider.ReadResponse{Deferred: provider.DeferredAbsentPrerequisite}
		case says(req.Current, "fail read"):
			response.Diagnostics = provider.Errorf("Reading failed", "As the name says.")
		}
		return response
	}
	fake.OnPlan = func(req provider.PlanRequest, response provider.PlanResponse) provider.PlanResponse {
		if says(req.Config, "defer plan") {
			response.Deferred = provider.DeferredResourceConfigUnknown
		}
		if says(req.Config, "fail plan") {
			response.Diagnostics = provider.Errorf("Planning failed", "As the name says.")
		}
		return response
	}
	fake.OnReadData = func(req provider.ReadDataRequest, response provider.ReadDataResponse) provider.ReadDataResponse {
		if says(req.Config, "defer data") {
			return provider.ReadDataResponse{Deferred: provider.DeferredAbsentPrerequisite}
		}
		if says(req.Config, "fail data") {
			response.Diagnostics = provider.Errorf("Reading failed", "As the name says.")
		}
		return response
	}
	fake.OnImport = func(req provider.ImportRequest, response provider.ImportResponse) provider.ImportResponse {
		switch req.ID {
		case "none":
			response.Objects = nil
		case "deferred":
			response = provider.ImportResponse{Deferred: provider.DeferredAbsentPrerequisite}
		}
		return response
	}
}
