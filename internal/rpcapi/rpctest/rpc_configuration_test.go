// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func TestRPCConfiguration(t *testing.T) {
	t.Run("C-01 open and close", testOpenConfiguration)
	t.Run("C-02 sources", testConfigurationSources)
	t.Run("C-03 addresses", testConfigurationAddresses)
	t.Run("C-04 errors", testConfigurationErrors)
	t.Run("C-05 validate", testValidate)
	t.Run("C-06 validate without a provider", testValidateUnlocked)
	t.Run("C-07 providers that are not consistent", testInconsistentProviders)
	t.Run("C-08 components of an empty stack", func(t *testing.T) {
		s := openStack(t, emptyStack)
		got := s.find()
		if diff := gocmp.Diff(&stackspb.FindStackConfigurationComponents_StackConfig{}, got, protocmp.Transform()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("C-09 components of a stack", testFindComponents)
}

const emptyStack = "-- stack/main.tfcomponent.hcl --\n"

// stack is an open configuration, with the handles that belong to it.
type stack struct {
	*client
	dir          string
	bundle       int64
	config       int64
	locks, cache int64
}

// openStack starts a server in a directory with files, and opens the stack in the directory stack
// among them.
func openStack(t testing.TB, files string, env ...string) *stack {
	t.Helper()
	s := &stack{dir: writeFiles(t, files)}
	s.client = open(t, options{dir: s.dir, env: env})
	s.bundle = s.openBundle("")
	response := must[*stackspb.OpenStackConfiguration_Response](t)(s.openConfiguration(s.bundle, &terraform1.SourceAddress{Source: "./stack"}))
	if response.GetStackConfigHandle() == 0 {
		t.Fatalf("the stack was not opened: %v", response.GetDiagnostics())
	}
	s.config = response.GetStackConfigHandle()
	return s
}

// openFakeStack is openStack with the provider of package testprovider.
func openFakeStack(t testing.TB, files string, env ...string) *stack {
	t.Helper()
	s := openStack(t, files, env...)
	s.locks, s.cache = s.withFake()
	return s
}

// writeFiles writes the files of an archive to a new directory.
func writeFiles(t testing.TB, files string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range txtar.Parse([]byte(files)).Files {
		writeFile(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	return dir
}

func (c *client) openConfiguration(bundle int64, address *terraform1.SourceAddress) (*stackspb.OpenStackConfiguration_Response, error) {
	return c.stacks.OpenStackConfiguration(c.t.Context(), &stackspb.OpenStackConfiguration_Request{
		SourceBundleHandle: bundle,
		SourceAddress:      address,
	})
}

func (c *client) closeConfiguration(handle int64) error {
	_, err := c.stacks.CloseStackConfiguration(c.t.Context(), &stackspb.CloseStackConfiguration_Request{StackConfigHandle: handle})
	return err
}

func (s *stack) find() *stackspb.FindStackConfigurationComponents_StackConfig {
	s.t.Helper()
	response := must[*stackspb.FindStackConfigurationComponents_Response](s.t)(s.stacks.FindStackConfigurationComponents(s.t.Context(),
		&stackspb.FindStackConfigurationComponents_Request{StackConfigHandle: s.config}))
	if response.GetConfig() == nil {
		s.t.Fatal("the response has no configuration")
	}
	return response.GetConfig()
}

func (s *stack) validate() ([]*terraform1.Diagnostic, error) {
	response, err := s.stacks.ValidateStackConfiguration(s.t.Context(), &stackspb.ValidateStackConfiguration_Request{
		StackConfigHandle: s.config, DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache,
	})
	return response.GetDiagnostics(), err
}

// A bundle cannot be closed while a configuration of it is open, and can be then.
func testOpenConfiguration(t *testing.T) {
	s := openStack(t, emptyStack)
	wantCode(t, s.closeBundle(s.bundle), codes.InvalidArgument)
	s.find()
	second := must[*stackspb.OpenStackConfiguration_Response](t)(s.openConfiguration(s.bundle, &terraform1.SourceAddress{Source: "./stack"}))
	wantCode(t, s.closeConfiguration(s.config), codes.OK)
	wantCode(t, s.closeConfiguration(s.config), codes.InvalidArgument)
	wantCode(t, s.closeBundle(s.bundle), codes.InvalidArgument)
	wantCode(t, s.closeConfiguration(second.GetStackConfigHandle()), codes.OK)
	wantCode(t, s.closeBundle(s.bundle), codes.OK)
}

const declaresVariable = "variable \"VARIABLE\" {\n  type = string\n}\n"

func testConfigurationSources(t *testing.T) {
	bundle := writePackages(t)
	writeFile(t, filepath.Join(bundle, "foo", "stack", "main.tfcomponent.hcl"), strings.ReplaceAll(declaresVariable, "VARIABLE", "new"))
	writeFile(t, filepath.Join(bundle, "old", "stack", "main.tfcomponent.hcl"), strings.ReplaceAll(declaresVariable, "VARIABLE", "old"))
	dir := writeFiles(t, "-- here/main.tfcomponent.hcl --\n"+strings.ReplaceAll(declaresVariable, "VARIABLE", "here"))
	c := open(t, options{dir: dir})
	handle := c.openBundle(bundle)
	for want, address := range map[string]*terraform1.SourceAddress{
		"here": {Source: "./here"},
		"new":  {Source: "git::https://example.com/foo.git//stack"},
		"old":  {Source: "example.com/acme/net/cloud//stack", Versions: "2.0.0"},
	} {
		response := must[*stackspb.OpenStackConfiguration_Response](t)(c.openConfiguration(handle, address))
		s := &stack{client: c, config: response.GetStackConfigHandle()}
		if variables := s.find().GetInputVariables(); variables[want] == nil {
			t.Errorf("%v: variables %v, want %s", address, variables, want)
		}
	}
	response := must[*stackspb.OpenStackConfiguration_Response](t)(
		c.openConfiguration(handle, &terraform1.SourceAddress{Source: "example.com/acme/net/cloud//stack", Versions: "~> 1.0"}))
	s := &stack{client: c, config: response.GetStackConfigHandle()}
	if variables := s.find().GetInputVariables(); variables["new"] == nil {
		t.Errorf("~> 1.0 has variables %v, want those of the newest version 1", variables)
	}
}

func testConfigurationAddresses(t *testing.T) {
	s := openStack(t, emptyStack)
	for name, address := range map[string]*terraform1.SourceAddress{
		"absent": nil, "empty": {}, "bare word": {Source: "stack"}, "versions of a local source": {Source: "./stack", Versions: "1.0.0"},
		"package that is not there": {Source: "git::https://example.com/other.git"},
	} {
		response, err := s.openConfiguration(s.bundle, address)
		if err == nil {
			t.Errorf("%s: no error, but %v", name, response)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
	_, err := s.openConfiguration(s.bundle+100, &terraform1.SourceAddress{Source: "./stack"})
	wantCode(t, err, codes.InvalidArgument)
	_, err = s.openConfiguration(s.config, &terraform1.SourceAddress{Source: "./stack"})
	wantCode(t, err, codes.InvalidArgument)
}

// An error is about a file by its source address.
func testConfigurationErrors(t *testing.T) {
	s := openStack(t,
		emptyStack+"-- bad/main.tfcomponent.hcl --\nvariable \"a\" {\n  type = string\n}\n\nvariable \"a\" {\n  type = string\n}\n")
	for source, about := range map[string]string{"./bad": "./bad/main.tfcomponent.hcl", "./none": ""} {
		response := must[*stackspb.OpenStackConfiguration_Response](t)(s.openConfiguration(s.bundle, &terraform1.SourceAddress{Source: source}))
		if response.GetStackConfigHandle() != 0 || !hasError(response.GetDiagnostics()) {
			t.Fatalf("%s: %v, want an error and handle 0", source, response)
		}
		subject := response.GetDiagnostics()[0].GetSubject()
		if about != "" && (subject.GetSourceAddr() != about || subject.GetStart().GetLine() != 5 || subject.GetStart().GetColumn() != 1) {
			t.Errorf("%s: %v, want an error about %s, line 5", source, response, about)
		}
	}
	wantCode(t, s.closeConfiguration(s.config), codes.OK)
	wantCode(t, s.closeBundle(s.bundle), codes.OK) // a configuration that was not opened does not hold it
}

const moduleWithData = `
-- stack/module/main.tf --
variable "name" {
  type    = string
  default = "n"
}

resource "terraform_data" "main" {
  input = var.name
}

output "id" {
  value = terraform_data.main.id
}

output "name" {
  value = terraform_data.main.output
}
`

func testValidate(t *testing.T) {
	valid := openStack(t, "-- stack/main.tfcomponent.hcl --\ncomponent \"a\" {\n  source = \"./module\"\n}\n"+moduleWithData)
	if diags, err := valid.validate(); err != nil || len(diags) > 0 {
		t.Errorf("valid: %v, error %v", diags, err)
	}
	invalid := openStack(t, `-- stack/main.tfcomponent.hcl --
component "a" {
  source = "./module"
  inputs = { name = var.missing }
}
`+moduleWithData)
	diags, err := invalid.validate()
	if err != nil || !hasError(diags) {
		t.Fatalf("invalid: %v, error %v", diags, err)
	}
	if subject := diags[0].GetSubject(); subject.GetSourceAddr() != "./stack/main.tfcomponent.hcl" || subject.GetStart().GetLine() != 3 {
		t.Errorf("invalid: %v, want an error about line 3", diags)
	}
}

const fakeStack = `-- stack/main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}

provider "fake" "main" {}

component "a" {
  source    = "./module"
  providers = { fake = provider.fake.main }
}
-- stack/module/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

resource "fake_resource" "main" {
  value = "v"
}
`

func testValidateUnlocked(t *testing.T) {
	s := openStack(t, fakeStack)
	if diags, err := s.validate(); err != nil || !hasError(diags) {
		t.Errorf("without locks: %v, error %v, want an error", diags, err)
	}
	s.locks, s.cache = s.withFake()
	if diags, err := s.validate(); err != nil || len(diags) > 0 {
		t.Errorf("with locks: %v, error %v", diags, err)
	}
}

func testInconsistentProviders(t *testing.T) {
	s := openStack(t, fakeStack)
	locks, cache := s.withFake()
	lock := s.locked(locks)[0]
	with := func(change func(*terraform1.ProviderPackage)) int64 {
		changed := &terraform1.ProviderPackage{SourceAddr: lock.GetSourceAddr(), Version: lock.GetVersion(), Hashes: lock.GetHashes()}
		change(changed)
		return must[int64](t)(s.createLocks(changed))
	}
	empty := must[*dependenciespb.OpenProviderPluginCache_Response](t)(s.dependencies.OpenProviderPluginCache(t.Context(),
		&dependenciespb.OpenProviderPluginCache_Request{CacheDir: t.TempDir()})).GetProviderCacheHandle()
	for name, test := range map[string]struct{ config, locks, cache int64 }{
		"configuration":   {s.config + 100, locks, cache},
		"locks":           {s.config, cache, cache},
		"cache":           {s.config, locks, locks},
		"no cache":        {s.config, locks, 0},
		"empty cache":     {s.config, locks, empty},
		"another version": {s.config, with(func(p *terraform1.ProviderPackage) { p.Version = "2.0.0" }), cache},
		"another hash": {s.config, with(func(p *terraform1.ProviderPackage) {
			p.Hashes = []string{"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}
		}), cache},
	} {
		tried := &stack{client: s.client, config: test.config, locks: test.locks, cache: test.cache}
		diags, err := tried.validate()
		if err == nil {
			t.Errorf("%s: no error, diagnostics %v", name, diags)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
}

func testFindComponents(t *testing.T) {
	s := openStack(t, `-- stack/main.tfcomponent.hcl --
variable "required" {
  type = string
}

variable "optional" {
  type    = string
  default = "x"
}

variable "null" {
  type    = string
  default = null
}

variable "secret" {
  type      = string
  sensitive = true
}

variable "passing" {
  type      = string
  ephemeral = true
}

component "single" {
  source = "./module"
}

component "each" {
  source   = "./module"
  for_each = toset(["a"])
}

stack "child" {
  source = "./child"
  inputs = { names = toset(["x"]) }
}

stack "children" {
  source   = "./child"
  for_each = toset(["a", "b"])
  inputs   = { names = toset([]) }
}

removed {
  from   = component.old
  source = "./module"
}

removed {
  from   = component.forgotten
  source = "./module"
  lifecycle {
    destroy = false
  }
}

output "plain" {
  type  = string
  value = component.single.id
}

output "secret" {
  type      = string
  sensitive = true
  value     = var.secret
}

output "passing" {
  type      = string
  ephemeral = true
  value     = var.passing
}
-- stack/child/main.tfcomponent.hcl --
variable "names" {
  type = set(string)
}

component "inner" {
  source   = "../module"
  for_each = var.names
}

stack "grandchild" {
  source = "./empty"
}
-- stack/child/empty/main.tfcomponent.hcl --
`+moduleWithData)
	type (
		config    = stackspb.FindStackConfigurationComponents_StackConfig
		component = stackspb.FindStackConfigurationComponents_Component
		embedded  = stackspb.FindStackConfigurationComponents_EmbeddedStack
		removed   = stackspb.FindStackConfigurationComponents_Removed
		block     = stackspb.FindStackConfigurationComponents_Removed_Block
		variable  = stackspb.FindStackConfigurationComponents_InputVariable
		output    = stackspb.FindStackConfigurationComponents_OutputValue
	)
	const single, each = stackspb.FindStackConfigurationComponents_SINGLE, stackspb.FindStackConfigurationComponents_FOR_EACH
	child := func(name string) *config {
		return &config{
			InputVariables: map[string]*variable{"names": {}},
			Components: map[string]*component{
				"inner": {SourceAddr: "./stack/module", Instances: each, ComponentAddr: "stack." + name + ".component.inner"},
			},
			EmbeddedStacks: map[string]*embedded{"grandchild": {SourceAddr: "./stack/child/empty", Instances: single, Config: &config{}}},
		}
	}
	gone := func(name string, destroy bool) *removed {
		return &removed{
			//nolint:staticcheck // deprecated, and still sent
			SourceAddr: "./stack/module", Instances: single, ComponentAddr: name, Destroy: destroy,
			Blocks: []*block{{SourceAddr: "./stack/module", Instances: single, ComponentAddr: name, Destroy: destroy}},
		}
	}
	want := &config{
		Components: map[string]*component{
			"single": {SourceAddr: "./stack/module", Instances: single, ComponentAddr: "component.single"},
			"each":   {SourceAddr: "./stack/module", Instances: each, ComponentAddr: "component.each"},
		},
		EmbeddedStacks: map[string]*embedded{
			"child":    {SourceAddr: "./stack/child", Instances: single, Config: child("child")},
			"children": {SourceAddr: "./stack/child", Instances: each, Config: child("children")},
		},
		InputVariables: map[string]*variable{
			"required": {}, "optional": {Optional: true}, "null": {}, "secret": {Sensitive: true}, "passing": {Ephemeral: true},
		},
		OutputValues: map[string]*output{"plain": {}, "secret": {Sensitive: true}, "passing": {Ephemeral: true}},
		Removed: map[string]*removed{
			"component.old": gone("component.old", true), "component.forgotten": gone("component.forgotten", false),
		},
	}
	if diff := gocmp.Diff(want, s.find(), protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err := s.stacks.FindStackConfigurationComponents(t.Context(),
		&stackspb.FindStackConfigurationComponents_Request{StackConfigHandle: s.bundle})
	wantCode(t, err, codes.InvalidArgument)
}
