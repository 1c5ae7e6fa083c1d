// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// migrated has the messages of a migration.
type migrated struct {
	keys  []string // of the elements, in their order
	state map[string]*anypb.Any
	diags []*terraform1pb.Diagnostic
	sent  []*stackspb.AppliedChange_ChangeDescription
}

func (c *client) migrate(req *stackspb.MigrateTerraformState_Request) (*migrated, error) {
	stream, err := c.stacks.MigrateTerraformState(c.t.Context(), req)
	if err != nil {
		return nil, err
	}
	m := &migrated{state: map[string]*anypb.Any{}}
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return m, err
		}
		if event.GetDiagnostic() != nil {
			m.diags = append(m.diags, event.GetDiagnostic())
		}
		for _, raw := range event.GetAppliedChange().GetRaw() {
			m.keys = append(m.keys, raw.GetKey())
			m.state[raw.GetKey()] = raw.GetValue()
		}
		m.sent = append(m.sent, event.GetAppliedChange().GetDescriptions()...)
	}
}

func mapping(resources, modules map[string]string) *stackspb.MigrateTerraformState_Request_Simple {
	return &stackspb.MigrateTerraformState_Request_Simple{
		Simple: &stackspb.MigrateTerraformState_Request_Mapping{ResourceAddressMap: resources, ModuleAddressMap: modules},
	}
}

// appliedDirectory makes a working directory of the real engine in which files have been applied.
func appliedDirectory(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	writeFiles(t, dir, files)
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	program := testenv.Engine(t)
	for _, args := range [][]string{{"init"}, {"apply", "-auto-approve"}} {
		cmd := testenv.Command(t, program, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

// ordinaryModule and migratedStack have the same objects.
var (
	ordinaryModule = map[string]string{
		"main.tf": `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "terraform_data" "first" { input = "hello" }
resource "terraform_data" "several" {
  count = 2
  input = { text = terraform_data.first.output, index = count.index }
}
resource "fake_resource" "thing" { value = terraform_data.first.output }
data "fake_data" "d" { id = fake_resource.thing.id }
module "net" {
  source   = "./net"
  for_each = toset(["a", "b"])
  name     = each.key
}
`,
		"net/main.tf": netModule,
		"net/sub/main.tf": `
variable "name" { type = string }
resource "terraform_data" "sub" { input = "sub ${var.name}" }
`,
	}
	netModule = `
variable "name" { type = string }
resource "terraform_data" "net" { input = "net ${var.name}" }
module "sub" {
  source = "./sub"
  name   = var.name
}
output "name" { value = terraform_data.net.output }
`
	migratedStack = map[string]string{
		"main.tfcomponent.hcl": `
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}
provider "fake" "main" {}
component "base" {
  source    = "./base"
  providers = { fake = provider.fake.main }
}
component "net" {
  source   = "./net"
  for_each = toset(["a", "b"])
  inputs   = { name = each.key }
}
component "more" {
  source = "./more"
  inputs = { text = component.base.text }
}
output "names" {
  type  = map(string)
  value = { for key, net in component.net : key => net.name }
}
`,
		"base/main.tf": `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "terraform_data" "first" { input = "hello" }
resource "fake_resource" "thing" { value = terraform_data.first.output }
data "fake_data" "d" { id = fake_resource.thing.id }
output "text" { value = terraform_data.first.output }
`,
		"more/main.tf": `
variable "text" { type = string }
module "nested" {
  source = "./nested"
  text   = var.text
}
`,
		"more/nested/main.tf": `
variable "text" { type = string }
resource "terraform_data" "renamed" {
  for_each = { zero = 0, one = 1 }
  input    = { text = var.text, index = each.value }
}
`,
		"net/main.tf":     netModule,
		"net/sub/main.tf": ordinaryModule["net/sub/main.tf"],
	}
)

// TestMigrate takes objects made by the real engine to a stack, whose first plan changes nothing
// then.
func TestMigrate(t *testing.T) {
	testenv.Engine(t)
	t.Setenv("CAIRN_FAKE_STORE", t.TempDir())
	dir := appliedDirectory(t, ordinaryModule)
	c := serve(t)
	locks, cache := c.fakeProvider()
	opened := c.openDirectory(dir)
	noDiagnostics(t, opened.GetDiagnostics())
	config := c.open(migratedStack)

	got, err := c.migrate(&stackspb.MigrateTerraformState_Request{
		StateHandle: opened.GetStateHandle(), ConfigHandle: config, DependencyLocksHandle: locks, ProviderCacheHandle: cache,
		Mapping: mapping(map[string]string{
			"terraform_data.first":      "component.base",
			"fake_resource.thing":       "component.base",
			"data.fake_data.d":          "component.base",
			"terraform_data.several[0]": `component.more.module.nested.terraform_data.renamed["zero"]`,
			"terraform_data.several[1]": `component.more.module.nested.terraform_data.renamed["one"]`,
			"terraform_data.nowhere":    "component.nowhere",
		}, map[string]string{"net": "net"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	noDiagnostics(t, got.diags)
	want := []string{
		"RSRCcomponent.base,data.fake_data.d,cur",
		"RSRCcomponent.base,fake_resource.thing,cur",
		"RSRCcomponent.base,terraform_data.first,cur",
		`RSRCcomponent.more,module.nested.terraform_data.renamed["one"],cur`,
		`RSRCcomponent.more,module.nested.terraform_data.renamed["zero"],cur`,
		`RSRCcomponent.net["a"],module.sub.terraform_data.sub,cur`,
		`RSRCcomponent.net["a"],terraform_data.net,cur`,
		`RSRCcomponent.net["b"],module.sub.terraform_data.sub,cur`,
		`RSRCcomponent.net["b"],terraform_data.net,cur`,
		"CMPTcomponent.base", "CMPTcomponent.more", `CMPTcomponent.net["a"]`, `CMPTcomponent.net["b"]`,
	}
	if diff := cmp.Diff(want, got.keys); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
	checkMigratedDescriptions(t, got)

	state, err := c.openState(got.state)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := c.plan(&stackspb.PlanStackChanges_Request{
		PlanMode:              stackspb.PlanMode_NORMAL,
		StackConfigHandle:     config,
		PreviousStateHandle:   state,
		DependencyLocksHandle: locks,
		ProviderCacheHandle:   cache,
	})
	if err != nil {
		t.Fatal(err)
	}
	noDiagnostics(t, plan.diags)
	if len(plan.resources) == 0 || !plan.applyable {
		t.Error("the plan has no resources, or cannot be applied")
	}
	for addr, planned := range plan.resources {
		for _, action := range planned.GetActions() {
			if action != stackspb.ChangeType_NOOP && action != stackspb.ChangeType_READ {
				t.Errorf("the plan would change %s: %v", addr, planned.GetActions())
			}
		}
	}
}

// checkMigratedDescriptions checks the descriptions of an object and of a component, of which
// nothing is known.
func checkMigratedDescriptions(t *testing.T, got *migrated) {
	t.Helper()
	var objects, components int
	for _, described := range got.sent {
		if object := described.GetResourceInstance(); object != nil {
			objects++
			host, _, _ := strings.Cut(object.GetProviderAddr(), "/cairnstacks/") // that of the binary which wrote the state
			if !slices.Contains(toolcache.Hosts(), host) && object.GetProviderAddr() != "terraform.io/builtin/terraform" {
				t.Errorf("%s is of the provider %s", object.GetAddr(), object.GetProviderAddr())
			}
			if len(object.GetNewValue().GetMsgpack()) == 0 {
				t.Errorf("%s has no value", object.GetAddr())
			}
		}
		if component := described.GetComponentInstance(); component != nil {
			components++
			if component.GetComponentInstanceAddr() == "component.base" && component.GetOutputValues()["text"] == nil {
				t.Error("component.base has no output")
			}
		}
	}
	if objects != 9 || components != 4 {
		t.Errorf("%d objects and %d components were described", objects, components)
	}
}

// TestMigrationFaults checks that faults of objects are diagnostics, and that the rest is migrated.
func TestMigrationFaults(t *testing.T) {
	dir := appliedDirectory(t, map[string]string{"main.tf": `
resource "terraform_data" "x" {}
resource "terraform_data" "y" {}
module "m" { source = "./m" }
`, "m/main.tf": `resource "terraform_data" "z" {}`})
	c := serve(t)
	config := c.open(oneComponent)
	got, err := c.migrate(&stackspb.MigrateTerraformState_Request{
		StateHandle:           c.openDirectory(dir).GetStateHandle(),
		ConfigHandle:          config,
		DependencyLocksHandle: c.locks(),
		ProviderCacheHandle:   c.cache(t.TempDir()),
		Mapping:               mapping(map[string]string{"terraform_data.x": "component.a", "terraform_data.y": "component.a"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	wantDiagnostics(t, got.diags,
		&terraform1pb.Diagnostic{
			Severity: terraform1pb.Diagnostic_ERROR,
			Summary:  "Resource not declared",
			Subject:  at(stackSource+"//main.tfcomponent.hcl", 7, 12, 87, 5),
		},
		&terraform1pb.Diagnostic{Severity: terraform1pb.Diagnostic_ERROR, Summary: "Module not mapped"},
	)
	if diff := cmp.Diff([]string{"RSRCcomponent.a,terraform_data.x,cur", "CMPTcomponent.a"}, got.keys); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
}

func TestRefusedMigrations(t *testing.T) {
	c := serve(t)
	opened, err := c.openRaw(emptyState)
	if err != nil {
		t.Fatal(err)
	}
	state, config, locks, cache := opened.GetStateHandle(), c.open(oneComponent), c.locks(), c.cache(t.TempDir())
	for name, req := range map[string]*stackspb.MigrateTerraformState_Request{
		"empty":            {},
		"no state":         {ConfigHandle: config, DependencyLocksHandle: locks, ProviderCacheHandle: cache, Mapping: mapping(nil, nil)},
		"no configuration": {StateHandle: state, DependencyLocksHandle: locks, ProviderCacheHandle: cache, Mapping: mapping(nil, nil)},
		"no locks":         {StateHandle: state, ConfigHandle: config, ProviderCacheHandle: cache, Mapping: mapping(nil, nil)},
		"no cache":         {StateHandle: state, ConfigHandle: config, DependencyLocksHandle: locks, Mapping: mapping(nil, nil)},
		"no mapping":       {StateHandle: state, ConfigHandle: config, DependencyLocksHandle: locks, ProviderCacheHandle: cache},
		"of other kinds": {
			StateHandle:           config,
			ConfigHandle:          state,
			DependencyLocksHandle: cache,
			ProviderCacheHandle:   locks,
			Mapping:               mapping(nil, nil),
		},
		"no mapping, no cache": {StateHandle: state, ConfigHandle: config, DependencyLocksHandle: locks},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.migrate(req)
			wantStatus(t, err, codes.InvalidArgument, "")
		})
	}
	got, err := c.migrate(&stackspb.MigrateTerraformState_Request{
		StateHandle: state, ConfigHandle: config, DependencyLocksHandle: locks, ProviderCacheHandle: cache, Mapping: mapping(nil, nil),
	})
	if err != nil || len(got.keys)+len(got.diags) > 0 {
		t.Errorf("of an empty state: %v, %v", got, err)
	}
}
