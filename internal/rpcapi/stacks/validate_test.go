// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/cairnstacks/cairn/internal/testenv"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// validate returns the diagnostics of a configuration, with locks and a cache that may be 0.
func (c *client) validate(config, locks, cache int64) ([]*terraform1pb.Diagnostic, error) {
	response, err := c.stacks.ValidateStackConfiguration(c.t.Context(), &stackspb.ValidateStackConfiguration_Request{
		StackConfigHandle: config, DependencyLocksHandle: locks, ProviderCacheHandle: cache,
	})
	return response.GetDiagnostics(), err
}

func (c *client) wantValid(config, locks, cache int64) {
	c.t.Helper()
	if diags, err := c.validate(config, locks, cache); err != nil || len(diags) > 0 {
		c.t.Errorf("got %v, %v", diags, err)
	}
}

// wantDiagnostics compares all but details, of which there have to be some.
func wantDiagnostics(t testing.TB, got []*terraform1pb.Diagnostic, want ...*terraform1pb.Diagnostic) {
	t.Helper()
	if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.IgnoreFields(&terraform1pb.Diagnostic{}, "detail", "context")); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	for _, diag := range got {
		if diag.GetDetail() == "" {
			t.Errorf("%q has no detail", diag.GetSummary())
		}
	}
}

func at(file string, line, column, offset, length int64) *terraform1pb.SourceRange {
	return &terraform1pb.SourceRange{
		SourceAddr: file,
		Start:      &terraform1pb.SourcePos{Byte: offset, Line: line, Column: column},
		End:        &terraform1pb.SourcePos{Byte: offset + length, Line: line, Column: column + length},
	}
}

func TestValidate(t *testing.T) {
	testenv.Engine(t)
	c := serve(t)
	c.wantValid(c.open(oneComponent), 0, 0)
	c.wantValid(c.open(nil), 0, 0)
	c.wantValid(c.open(oneComponent), c.locks(), 0)
	c.wantValid(c.open(oneComponent), 0, c.cache(t.TempDir()))
}

// TestValidateMistakes checks that mistakes of a stack and of a module are found in one call, at
// their places, by the names that clients know.
func TestValidateMistakes(t *testing.T) {
	c := serve(t)
	t.Chdir(t.TempDir())
	files := map[string]string{
		"main.tfcomponent.hcl": "component \"a\" {\n  source = \"./m\"\n  inputs = { x = var.ü }\n}\n",
		"m/main.tf":            "variable \"x\" {}\noutput \"y\" {\n  value = local.missing\n}\n",
	}
	writeFiles(t, "stacks/one", files)
	bundle, _ := c.bundle(files)
	for source, separator := range map[string]string{stackSource: "//", "./stacks/one": "/"} {
		opened, err := c.openAt(bundle, source)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.validate(opened.GetStackConfigHandle(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		reference := at(source+separator+"main.tfcomponent.hcl", 3, 18, 50, 5)
		reference.End.Byte++ // the last character has two bytes
		wantDiagnostics(t, got,
			&terraform1pb.Diagnostic{
				Severity: terraform1pb.Diagnostic_ERROR, Summary: "Reference to undeclared object",
				Subject: at(source+separator+"m/main.tf", 3, 11, 39, 13),
			},
			&terraform1pb.Diagnostic{Severity: terraform1pb.Diagnostic_ERROR, Summary: "Unknown variable", Subject: reference},
		)
	}
}

func TestValidateWithProvider(t *testing.T) {
	testenv.Engine(t)
	c := serve(t)
	locks, cache := c.fakeProvider()
	config := c.open(map[string]string{
		"main.tfcomponent.hcl": `
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "~> 1.0"
  }
}
provider "fake" "a" {}
component "a" {
  source    = "./m"
  providers = { fake = provider.fake.a }
}
`,
		"m/main.tf": fakeModule,
	})
	c.wantValid(config, locks, cache)

	got, err := c.validate(config, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantDiagnostics(t, got, &terraform1pb.Diagnostic{
		Severity: terraform1pb.Diagnostic_ERROR, Summary: "Provider not locked", Subject: at(stackSource+"//main.tfcomponent.hcl", 8, 1, 95, 19),
	})
	c.wantValid(config, locks, cache) // again, with another choice of providers in between
}

const fakeModule = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_resource" "x" {
  value = "x"
}
`

func TestRefusedValidations(t *testing.T) {
	c := serve(t)
	locks, cache := c.fakeProvider()
	config := c.open(oneComponent)
	other := c.locks(&terraform1pb.ProviderPackage{
		SourceAddr: "cairnstacks/fake",
		Version:    "1.0.0",
		Hashes:     []string{"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},
	})
	newer := c.locks(&terraform1pb.ProviderPackage{SourceAddr: "cairnstacks/fake", Version: "1.0.1"})
	for name, given := range map[string]struct{ config, locks, cache int64 }{
		"no configuration":                {0, 0, 0},
		"unknown configuration":           {99, 0, 0},
		"configuration of another kind":   {locks, 0, 0},
		"unknown locks":                   {config, 99, 0},
		"locks of another kind":           {config, cache, cache},
		"unknown cache":                   {config, locks, 99},
		"cache of another kind":           {config, locks, config},
		"locks without a cache":           {config, locks, 0},
		"version not in the cache":        {config, newer, cache},
		"other hash than that locked":     {config, other, cache},
		"locks with a cache without them": {config, locks, c.cache(t.TempDir())},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.validate(given.config, given.locks, given.cache)
			wantStatus(t, err, codes.InvalidArgument, "")
		})
	}
}

// TestWorkDirRemoved checks that the files of an engine are in no other place than the server's
// own, and gone when the configuration is closed.
func TestWorkDirRemoved(t *testing.T) {
	testenv.Engine(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	c := serve(t)
	bundle, dir := c.bundle(oneComponent)
	opened, err := c.openAt(bundle, stackSource)
	if err != nil {
		t.Fatal(err)
	}
	c.wantValid(opened.GetStackConfigHandle(), 0, 0)
	const stackDirs = "cairn-rpcapi-*/stack-*"
	if found, err := filepath.Glob(filepath.Join(temp, stackDirs)); err != nil || len(found) != 1 {
		t.Fatalf("there are %v, %v", found, err)
	}
	if _, err := c.closeConfiguration(opened.GetStackConfigHandle()); err != nil {
		t.Fatal(err)
	}
	if found, err := filepath.Glob(filepath.Join(temp, stackDirs)); err != nil || len(found) != 0 {
		t.Errorf("left: %v, %v", found, err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "stack"))
	if err != nil || len(entries) != 3 {
		t.Errorf("next to the stack: %v, %v", entries, err)
	}
}
