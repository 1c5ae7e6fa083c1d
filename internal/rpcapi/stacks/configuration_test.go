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

	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

var oneComponent = map[string]string{
	"main.tfcomponent.hcl": `
variable "text" {
  type    = string
  default = "hello"
}
component "a" {
  source = "./m"
  inputs = { text = var.text }
}
output "text" {
  type  = string
  value = component.a.text
}
`,
	"m/main.tf": `
variable "text" { type = string }
resource "terraform_data" "x" { input = var.text }
output "text" { value = terraform_data.x.output }
`,
}

func TestConfigurationHoldsBundle(t *testing.T) {
	c := serve(t)
	bundle, _ := c.bundle(oneComponent)
	opened, err := c.openAt(bundle, stackSource)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.dependencies.CloseSourceBundle(t.Context(), &dependenciespb.CloseSourceBundle_Request{SourceBundleHandle: bundle})
	wantStatus(t, err, codes.InvalidArgument, "in use")
	if _, err := c.closeConfiguration(opened.GetStackConfigHandle()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.dependencies.CloseSourceBundle(t.Context(),
		&dependenciespb.CloseSourceBundle_Request{SourceBundleHandle: bundle}); err != nil {
		t.Fatal(err)
	}
	_, err = c.closeConfiguration(opened.GetStackConfigHandle())
	wantStatus(t, err, codes.InvalidArgument, "no stack configuration with handle")
	_, err = c.openAt(bundle, stackSource)
	wantStatus(t, err, codes.InvalidArgument, "no source bundle with handle")
}

func (c *client) closeConfiguration(opened int64) (*stackspb.CloseStackConfiguration_Response, error) {
	return c.stacks.CloseStackConfiguration(c.t.Context(), &stackspb.CloseStackConfiguration_Request{StackConfigHandle: opened})
}

func TestRefusedConfigurations(t *testing.T) {
	c := serve(t)
	bundle, _ := c.bundle(oneComponent)
	config := c.open(oneComponent)
	for name, req := range map[string]*stackspb.OpenStackConfiguration_Request{
		"empty":           {},
		"no bundle":       {SourceAddress: &terraform1pb.SourceAddress{Source: stackSource}},
		"unknown bundle":  {SourceBundleHandle: 99, SourceAddress: &terraform1pb.SourceAddress{Source: stackSource}},
		"of another kind": {SourceBundleHandle: config, SourceAddress: &terraform1pb.SourceAddress{Source: stackSource}},
		"no address":      {SourceBundleHandle: bundle},
		"empty address":   {SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{}},
		"bare word":       {SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{Source: "stack"}},
		"not in the bundle": {
			SourceBundleHandle: bundle,
			SourceAddress:      &terraform1pb.SourceAddress{Source: "git::https://example.com/other.git"},
		},
		"needless versions": {SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{Source: stackSource, Versions: "1.0.0"}},
		"component":         {SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{Source: "example.com/acme/net"}},
		"no such version": {
			SourceBundleHandle: bundle,
			SourceAddress:      &terraform1pb.SourceAddress{Source: "example.com/acme/net/aws", Versions: "> 2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.stacks.OpenStackConfiguration(t.Context(), req)
			wantStatus(t, err, codes.InvalidArgument, "")
		})
	}
	for name, handle := range map[string]int64{"none": 0, "unknown": 99, "of another kind": bundle} {
		t.Run("close "+name, func(t *testing.T) {
			_, err := c.closeConfiguration(handle)
			wantStatus(t, err, codes.InvalidArgument, "there is no stack configuration")
		})
		t.Run("components of "+name, func(t *testing.T) {
			_, err := c.stacks.FindStackConfigurationComponents(t.Context(), &stackspb.FindStackConfigurationComponents_Request{
				StackConfigHandle: handle,
			})
			wantStatus(t, err, codes.InvalidArgument, "there is no stack configuration")
		})
	}
}

// TestNamesOfFiles checks that diagnostics name files by their source addresses, whatever the
// source of the stack is, and that there is no handle then.
func TestNamesOfFiles(t *testing.T) {
	c := serve(t)
	work := t.TempDir()
	t.Chdir(work)
	mistaken := map[string]string{"main.tfcomponent.hcl": "component \"a\" {\n  source = \"./missing\"\n}\n"}
	bundle, _ := c.bundle(map[string]string{
		"deep/main.tfcomponent.hcl": mistaken["main.tfcomponent.hcl"],
		"net/main.tfcomponent.hcl":  mistaken["main.tfcomponent.hcl"],
	})
	writeFiles(t, filepath.Join(work, "stacks", "a"), mistaken)
	for source, want := range map[string]string{
		stackSource + "//deep":     stackSource + "//deep/main.tfcomponent.hcl",
		"example.com/acme/net/aws": "example.com/acme/net/aws@1.2.3//main.tfcomponent.hcl",
		"./stacks/a":               "./stacks/a/main.tfcomponent.hcl",
	} {
		response, err := c.openAt(bundle, source)
		if err != nil {
			t.Fatal(err)
		}
		if response.GetStackConfigHandle() != 0 {
			t.Errorf("%s: a configuration with mistakes has a handle", source)
		}
		wanted := []*terraform1pb.Diagnostic{{
			Severity: terraform1pb.Diagnostic_ERROR,
			Summary:  "Source cannot be used here",
			Subject: &terraform1pb.SourceRange{
				SourceAddr: want,
				Start:      &terraform1pb.SourcePos{Byte: 27, Line: 2, Column: 12},
				End:        &terraform1pb.SourcePos{Byte: 38, Line: 2, Column: 23},
			},
		}}
		if diff := cmp.Diff(wanted, response.GetDiagnostics(), protocmp.Transform(),
			protocmp.IgnoreFields(&terraform1pb.Diagnostic{}, "detail")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

// TestMissingDirectory checks that a stack which is not where the bundle says is a diagnostic
// without a place.
func TestMissingDirectory(t *testing.T) {
	c := serve(t)
	bundle, _ := c.bundle(nil)
	response, err := c.openAt(bundle, stackSource+"//missing")
	if err != nil {
		t.Fatal(err)
	}
	if len(response.GetDiagnostics()) != 1 || response.GetDiagnostics()[0].GetSubject() != nil || response.GetStackConfigHandle() != 0 {
		t.Errorf("got %v", response)
	}
}

// TestWarningWithHandle checks that a warning comes with a handle.
func TestWarningWithHandle(t *testing.T) {
	c := serve(t)
	bundle, dir := c.bundle(map[string]string{"main.tfstack.hcl": "variable \"a\" {\n  type = string\n}\n"})
	response, err := c.openAt(bundle, stackSource)
	if err != nil {
		t.Fatal(err)
	}
	if response.GetStackConfigHandle() == 0 || len(response.GetDiagnostics()) != 1 ||
		response.GetDiagnostics()[0].GetSeverity() != terraform1pb.Diagnostic_WARNING {
		t.Errorf("got %v", response)
	}
	if _, err := os.Stat(filepath.Join(dir, "stack", ".cairn")); err == nil {
		t.Error("something was written next to the stack")
	}
}
