// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func TestRPCMigration(t *testing.T) {
	t.Run("T-01 states of terraform", testOpenTerraformState)
	t.Run("T-02 resource of the root module", testMigrateRoot)
	t.Run("T-03 resource to a nested module", testMigrateNested)
	t.Run("T-04 module to a component", testMigrateModule)
	t.Run("T-05 what cannot be migrated", testMigrateErrors)
	t.Run("T-06 requests", testMigrateRequests)
	t.Run("T-07 plan of what was migrated", testPlanMigrated)
	t.Run("T-08 client of a library", testMigrationClient)
}

// terraformState is a state of terraform with one object of the fake provider, at an address in a
// module or none.
func terraformState(module string) string {
	if module != "" {
		module = `"module": "` + module + `",`
	}
	return `{"version": 4, "terraform_version": "1.11.0", "serial": 1, "lineage": "7b5ff1b3-4e0b-4f42-8b4c-3a6f5d1b2c3d", "outputs": {}, "resources": [{
		` + module +
		` "mode": "managed", "type": "fake_resource", "name": "old", "provider": "provider[\"registry.terraform.io/cairnstacks/fake\"]",
		"instances": [{"schema_version": 0, "attributes": {"id": "the-id", "value": "v"}, "sensitive_attributes": []}]
	}], "check_results": null}`
}

func (c *client) openTerraformState(request *stackspb.OpenTerraformState_Request) (*stackspb.OpenTerraformState_Response, error) {
	return c.stacks.OpenTerraformState(c.t.Context(), request)
}

func (c *client) openRaw(raw string) (*stackspb.OpenTerraformState_Response, error) {
	return c.openTerraformState(&stackspb.OpenTerraformState_Request{State: &stackspb.OpenTerraformState_Request_Raw{Raw: []byte(raw)}})
}

func (c *client) openDirectory(dir string) (*stackspb.OpenTerraformState_Response, error) {
	return c.openTerraformState(&stackspb.OpenTerraformState_Request{State: &stackspb.OpenTerraformState_Request_ConfigPath{ConfigPath: dir}})
}

const migratedStack = `-- stack/main.tfcomponent.hcl --
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

component "b" {
  source    = "./module"
  providers = { fake = provider.fake.main }
  depends_on = [component.a]
}
-- stack/module/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

resource "fake_resource" "old" {
  value = "v"
}

resource "fake_resource" "new" {
  value = "v"
}

module "inner" {
  source = "./inner"
}
-- stack/module/inner/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

resource "fake_resource" "deep" {
  value = "v"
}
`

func testOpenTerraformState(t *testing.T) {
	c := open(t, options{dir: t.TempDir()})
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "terraform.tfstate"), terraformState(""))
	for name, call := range map[string]func() (*stackspb.OpenTerraformState_Response, error){
		"raw":       func() (*stackspb.OpenTerraformState_Response, error) { return c.openRaw(terraformState("")) },
		"directory": func() (*stackspb.OpenTerraformState_Response, error) { return c.openDirectory(dir) },
	} {
		response := must[*stackspb.OpenTerraformState_Response](t)(call())
		if response.GetStateHandle() == 0 || len(response.GetDiagnostics()) > 0 {
			t.Errorf("%s: %v", name, response)
		}
		closed := func() error {
			_, err := c.stacks.CloseTerraformState(t.Context(), &stackspb.CloseTerraformState_Request{StateHandle: response.GetStateHandle()})
			return err
		}
		wantCode(t, closed(), codes.OK)
		wantCode(t, closed(), codes.InvalidArgument)
	}
	_, err := c.openTerraformState(&stackspb.OpenTerraformState_Request{})
	wantCode(t, err, codes.InvalidArgument)
	_, err = c.openRaw("no state")
	wantCode(t, err, codes.InvalidArgument)
	large := strings.Replace(terraformState(""), `"value": "v"`, `"value": "`+strings.Repeat("v", 4<<20-4096)+`"`, 1)
	must[*stackspb.OpenTerraformState_Response](t)(c.openRaw(large))
}

type mapping = stackspb.MigrateTerraformState_Request_Mapping

func (s *stack) migrate(request *stackspb.MigrateTerraformState_Request) ([]*stackspb.MigrateTerraformState_Event, error) {
	stream, err := s.stacks.MigrateTerraformState(s.t.Context(), request)
	if err != nil {
		return nil, err
	}
	return receiveAll(stream.Recv)
}

// migrateRaw migrates a state by a mapping.
func (s *stack) migrateRaw(raw string, simple *mapping) []*stackspb.MigrateTerraformState_Event {
	s.t.Helper()
	return must[[]*stackspb.MigrateTerraformState_Event](s.t)(s.migrate(&stackspb.MigrateTerraformState_Request{
		StateHandle:  must[*stackspb.OpenTerraformState_Response](s.t)(s.openRaw(raw)).GetStateHandle(),
		ConfigHandle: s.config, DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache,
		Mapping: &stackspb.MigrateTerraformState_Request_Simple{Simple: simple},
	}))
}

// wantMigrated fails the test unless the events are one of a resource and one of its component.
func wantMigrated(t *testing.T, events []*stackspb.MigrateTerraformState_Event, component, resource string) {
	t.Helper()
	if len(events) != 2 || len(diagnostics(events)) > 0 {
		t.Fatalf("got %v, want a resource and a component", events)
	}
	for i, prefix := range []string{"RSRC" + component + ",", "CMPT" + component} {
		change := events[i].GetAppliedChange()
		if raw := change.GetRaw(); len(raw) != 1 || !strings.HasPrefix(raw[0].GetKey(), prefix) {
			t.Errorf("raw of event %d: %v, want key %s…", i, raw, prefix)
		}
	}
	described := events[0].GetAppliedChange().GetDescriptions()[0].GetResourceInstance()
	if described.GetAddr().GetComponentInstanceAddr() != component || described.GetAddr().GetResourceInstanceAddr() != resource ||
		described.GetProviderAddr() != "registry.terraform.io/cairnstacks/fake" || described.GetResourceType() != "fake_resource" {
		t.Errorf("resource %v", described)
	}
	if instance := events[1].GetAppliedChange().GetDescriptions()[0].GetComponentInstance(); instance.GetComponentInstanceAddr() != component {
		t.Errorf("component %v", instance)
	}
}

func testMigrateRoot(t *testing.T) {
	s := openFakeStack(t, migratedStack)
	for target, resource := range map[string]string{
		"component.a": "fake_resource.old", "component.a.fake_resource.new": "fake_resource.new",
	} {
		events := s.migrateRaw(terraformState(""), &mapping{ResourceAddressMap: map[string]string{
			"fake_resource.old":  target,
			"fake_resource.none": "component.b",
		}})
		wantMigrated(t, events, "component.a", resource)
	}
}

func testMigrateNested(t *testing.T) {
	s := openFakeStack(t, migratedStack)
	events := s.migrateRaw(terraformState(""), &mapping{
		ResourceAddressMap: map[string]string{"fake_resource.old": "component.a.module.inner.fake_resource.deep"},
	})
	wantMigrated(t, events, "component.a", "module.inner.fake_resource.deep")
}

func testMigrateModule(t *testing.T) {
	s := openFakeStack(t, migratedStack)
	for _, target := range []string{"b", "component.b"} {
		events := s.migrateRaw(terraformState("module.net"), &mapping{ModuleAddressMap: map[string]string{"net": target}})
		wantMigrated(t, events, "component.b", "fake_resource.old")
	}
}

func testMigrateErrors(t *testing.T) {
	s := openFakeStack(t, migratedStack)
	for name, simple := range map[string]*mapping{
		"not covered":     {},
		"no component":    {ResourceAddressMap: map[string]string{"fake_resource.old": "component.none"}},
		"no resource":     {ResourceAddressMap: map[string]string{"fake_resource.old": "component.a.fake_resource.none"}},
		"not a component": {ResourceAddressMap: map[string]string{"fake_resource.old": "stack.x.component.a"}},
	} {
		events := s.migrateRaw(terraformState(""), simple)
		if !hasError(diagnostics(events)) {
			t.Errorf("%s: %v, want an error", name, events)
		}
	}
}

func testMigrateRequests(t *testing.T) {
	s := openFakeStack(t, migratedStack)
	state := must[*stackspb.OpenTerraformState_Response](t)(s.openRaw(terraformState(""))).GetStateHandle()
	type request = stackspb.MigrateTerraformState_Request
	for name, change := range map[string]func(*request){
		"state":         func(r *request) { r.StateHandle = s.config },
		"configuration": func(r *request) { r.ConfigHandle = 0 },
		"locks":         func(r *request) { r.DependencyLocksHandle = 0 },
		"cache":         func(r *request) { r.ProviderCacheHandle = 0 },
		"no mapping":    func(r *request) { r.Mapping = nil },
	} {
		req := &request{
			StateHandle: state, ConfigHandle: s.config, DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache,
			Mapping: &stackspb.MigrateTerraformState_Request_Simple{Simple: &mapping{}},
		}
		change(req)
		events, err := s.migrate(req)
		if err == nil {
			t.Errorf("%s: no error, but %v", name, events)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
}

// A plan with a migrated state changes none of the migrated objects.
func testPlanMigrated(t *testing.T) {
	s := openFakeStack(t, migratedStack)
	state := rawState{}
	for _, event := range s.migrateRaw(terraformState(""),
		&mapping{ResourceAddressMap: map[string]string{"fake_resource.old": "component.a"}}) {
		state.merge(event.GetAppliedChange())
	}
	events := s.planned(state, stackspb.PlanMode_NORMAL)
	if ok, _ := applyable(events); !ok {
		t.Fatalf("not applyable: %v", diagnostics(events))
	}
	for _, r := range descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned) {
		addr := r.GetAddr()
		if migrated := addr.GetComponentInstanceAddr() == "component.a" && addr.GetResourceInstanceAddr() == "fake_resource.old"; migrated !=
			!slices.Contains(r.GetActions(), stackspb.ChangeType_CREATE) {
			t.Errorf("%v", r)
		}
	}
}
