// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/schemacache"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

var (
	fakeProvider = stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "fake"}
	fakeSlot     = engine.ProviderSlot{LocalName: "fake"}
)

const fakeRequired = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
`

// newFakeBench is newBench with the fake provider installed.
func newFakeBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	t.Setenv("CAIRN_FAKE_STORE", t.TempDir())
	b := newBenchAt(t, t.TempDir(), files)
	b.prepare()
	return b
}

func (b *bench) prepare() {
	b.t.Helper()
	_, diags := b.engine.Prepare(context.Background(), &engine.PrepareRequest{Modules: []string{filepath.Join(b.stack, "mod")}})
	b.noErrors("Prepare", diags)
}

// config returns a configuration of the fake provider with some arguments set.
func (b *bench) config(set map[string]cty.Value) engine.ProviderConfig {
	b.t.Helper()
	schema, diags := b.engine.ProviderSchema(context.Background(), fakeProvider)
	b.noErrors("ProviderSchema", diags)
	spec := schema.Config.Spec()
	values := map[string]cty.Value{}
	for name, ty := range hcldec.ImpliedType(spec).AttributeTypes() {
		values[name] = cty.NullVal(ty)
		switch spec[name].(type) {
		case *hcldec.BlockListSpec:
			values[name] = cty.ListValEmpty(ty.ElementType())
		case *hcldec.BlockSetSpec:
			values[name] = cty.SetValEmpty(ty.ElementType())
		}
	}
	for name, value := range set {
		values[name] = value
	}
	return engine.ProviderConfig{Provider: fakeProvider, Config: cty.ObjectVal(values)}
}

func TestPrepareStartsNoProcess(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": fakeRequired})
	locks, err := b.engine.Locks(t.Context())
	if err != nil || locks[fakeProvider] == "" {
		t.Fatalf("Locks() = %v, %v, want a version of %s", locks, err, fakeProvider)
	}
	// A binary that is not there can't be started, and is not needed.
	b.reopen()
	b.engine.binary.Path = filepath.Join(t.TempDir(), "gone")
	b.prepare()
	_, diags := b.engine.Prepare(context.Background(), &engine.PrepareRequest{Modules: []string{filepath.Join(b.stack, "mod")}, Upgrade: true})
	b.noErrors("Prepare with Upgrade", diags)

	// Installed packages may be gone.
	b.reopen()
	if err := os.RemoveAll(filepath.Join(b.stack, ".cairn", "init", ".terraform")); err != nil {
		t.Fatal(err)
	}
	b.prepare()
	if installed, err := b.engine.installer.Packages(); err != nil || len(installed) != 1 {
		t.Errorf("installed again: %v, %v", installed, err)
	}
}

func TestProviderNotFound(t *testing.T) {
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	b := newBenchAt(t, t.TempDir(), map[string]string{"mod/main.tf": `
terraform {
  required_providers {
    nowhere = { source = "cairnstacks/nowhere" }
  }
}
resource "nowhere_thing" "a" {}
`})
	dir := filepath.Join(b.stack, "mod")
	_, diags := b.engine.Prepare(context.Background(), &engine.PrepareRequest{Modules: []string{dir}})
	if !diags.HasErrors() || !strings.Contains(diags[0].Detail, "cairnstacks/nowhere") ||
		!strings.Contains(diags[0].Detail, "required_providers") {
		t.Errorf("Prepare: got %v, want an error with the provider and a remedy", diags)
	}
	_, diags = b.tryPlan(context.Background(), &engine.PlanRequest{Component: component, ModuleDir: dir})
	if !diags.HasErrors() || diags[0].Summary != "Provider not installed" {
		t.Errorf("Plan: got %v, want that the provider is not installed", diags)
	}
}

func TestProviderSchema(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": fakeRequired})
	for range 2 { // asked for, then from the file
		schema, diags := b.engine.ProviderSchema(context.Background(), fakeProvider)
		b.noErrors("ProviderSchema", diags)
		spec := schema.Config.Spec()
		ty := hcldec.ImpliedType(spec)
		want := map[string]cty.Type{"region": cty.String, "number": cty.Number, "list": cty.List(cty.String), "map": cty.Map(cty.String)}
		for name, wantType := range want {
			if !ty.HasAttribute(name) || !ty.AttributeType(name).Equals(wantType) {
				t.Errorf("%s: got %#v, want %#v", name, ty, wantType)
			}
		}
		block := spec["list_block"]
		if _, ok := block.(*hcldec.BlockListSpec); !ok {
			t.Errorf("list_block: got %T, want a list of blocks", block)
		}
		b.reopen()
		b.engine.binary.Path = filepath.Join(t.TempDir(), "gone")
	}
	if schema, diags := b.engine.ProviderSchema(context.Background(), stackaddrs.BuiltinProvider); diags.HasErrors() ||
		len(schema.Config.Attributes)+len(schema.Config.Blocks) != 0 {
		t.Errorf("built-in provider: got %v, %v, want no settings", schema, diags)
	}
}

const regionModule = fakeRequired + `
resource "fake_computed" "a" { value = "v" }
output "region" { value = fake_computed.a.region }
`

// Trap 1c and 5: a provider configuration that is unknown while planning is known while the same
// plan is applied.
func TestUnknownProviderConfiguration(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newFakeBench(t, map[string]string{"mod/main.tf": regionModule})
	req := b.request(nil)
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(map[string]cty.Value{
		"region": cty.UnknownVal(cty.String),
		"token":  cty.UnknownVal(cty.String).Mark(marks.Ephemeral).Mark(marks.Sensitive),
	})}
	plan := b.plan(req)
	if !plan.Complete {
		t.Fatal("the plan is not complete")
	}
	apply := applyRequest(req, plan.Plan, nil)
	apply.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(map[string]cty.Value{
		"region": cty.StringVal("eu-${1}"),
		"token":  cty.StringVal("hush").Mark(marks.Ephemeral).Mark(marks.Sensitive),
	})}
	result := b.apply(apply)
	if got := result.Outputs["region"]; !got.RawEquals(cty.StringVal("eu-${1}")) {
		t.Errorf("region: got %#v", got)
	}
	if bytes.Contains(result.State, []byte("hush")) {
		t.Error("the state has the token")
	}
	noTraces(t, result.State)
}

// Trap 5: every kind of argument and block reaches the provider; nothing of it is in the plan.
func TestProviderConfigurationReachesProvider(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": fakeRequired + `
resource "fake_resource" "a" {}
`})
	calls := filepath.Join(t.TempDir(), "calls")
	t.Setenv("CAIRN_FAKE_CALLS", calls)
	b.reopen()
	schema, diags := b.engine.ProviderSchema(context.Background(), fakeProvider)
	b.noErrors("ProviderSchema", diags)
	spec := schema.Config.Spec()
	ty := hcldec.ImpliedType(spec)
	block := func(ty cty.Type, name string) cty.Value {
		values := map[string]cty.Value{}
		for attr, attrType := range ty.AttributeTypes() {
			switch {
			case attr == "name":
				values[attr] = cty.StringVal(name)
			case attr == "value":
				values[attr] = cty.StringVal("in-" + name).Mark(marks.Sensitive)
			case attrType.IsListType():
				values[attr] = cty.ListValEmpty(attrType.ElementType())
			default:
				values[attr] = cty.NullVal(attrType)
			}
		}
		return cty.ObjectVal(values)
	}
	req := b.request(nil)
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(map[string]cty.Value{
		"region": cty.StringVal("secret-%{region}"),
		"number": cty.MustParseNumberVal("12345678901234567890"),
		"bool":   cty.False,
		"list":   cty.ListVal([]cty.Value{cty.StringVal("secret-l1"), cty.StringVal("l2").Mark(marks.Sensitive)}),
		"map":    cty.MapVal(map[string]cty.Value{"secret-k": cty.StringVal("${v}")}),
		"list_block": cty.ListVal([]cty.Value{
			block(ty.AttributeType("list_block").ElementType(), "one"), block(ty.AttributeType("list_block").ElementType(), "two"),
		}),
		"single_block": block(ty.AttributeType("single_block"), "single"),
	})}
	plan := b.plan(req)
	stored, err := decodePlan(plan.Plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range unzipped(t, stored.file) {
		if bytes.Contains(member, []byte("secret-")) {
			t.Error("the plan has the provider's configuration")
		}
	}
	b.apply(applyRequest(req, plan.Plan, nil))
	recorded, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"secret-%{region}", "12345678901234567890", "secret-l1", "l2", "secret-k", "${v}", "in-one", "in-two",
		"in-single",
	} {
		if !bytes.Contains(recorded, []byte(want)) {
			t.Errorf("the provider did not get %q", want)
		}
	}
}

// Trap 2: with a configuration that is not known, data sources can't be read, and existing objects
// neither.
func TestReadingThroughUnknownProviderConfiguration(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newFakeBench(t, map[string]string{"mod/main.tf": regionModule})
	req := b.request(nil)
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(map[string]cty.Value{"region": cty.StringVal("eu")})}
	req.PriorState = b.apply(applyRequest(req, b.plan(req).Plan, nil)).State

	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{
		fakeSlot: b.config(map[string]cty.Value{"region": cty.UnknownVal(cty.String)}),
	}
	if plan := b.plan(req); !plan.Complete {
		t.Error("plan with existing objects is not complete")
	}

	b.write("mod/data.tf", "data \"fake_data\" \"d\" {\n  id = \"x\"\n}\n")
	b.reopen()
	plan := b.plan(req)
	if plan.Complete || plan.Applyable || plan.Plan != nil || plan.Outputs["region"].IsKnown() {
		t.Errorf("plan with a data source: got %+v, want it deferred as a whole", plan)
	}
}

// Trap 5: aliases, child modules and inherited configurations.
func TestProviderSlots(t *testing.T) {
	b := newFakeBench(t, map[string]string{
		"mod/main.tf": `
terraform {
  required_providers {
    mine = {
      source                = "cairnstacks/fake"
      configuration_aliases = [mine.east]
    }
  }
}
resource "fake_computed" "west" { provider = mine }
module "child" {
  source    = "../child"
  providers = { fake.other = mine.east }
}
output "regions" { value = [fake_computed.west.region, module.child.other, module.child.inherited] }
`,
		"child/main.tf": `
terraform {
  required_providers {
    fake = {
      source                = "cairnstacks/fake"
      configuration_aliases = [fake.other]
    }
  }
}
resource "fake_computed" "other" { provider = fake.other }
resource "fake_computed" "inherited" {}
output "other" { value = fake_computed.other.region }
output "inherited" { value = fake_computed.inherited.region }
`,
	})
	req := b.request(nil)
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{
		{LocalName: "mine"}:                b.config(map[string]cty.Value{"region": cty.StringVal("west")}),
		{LocalName: "mine", Alias: "east"}: b.config(map[string]cty.Value{"region": cty.StringVal("east")}),
	}
	mod, diags := b.engine.Module(context.Background(), req.ModuleDir)
	b.noErrors("Module", diags)
	for slot := range req.Providers {
		if mod.Slots[slot] == nil || mod.Slots[slot].Provider != fakeProvider {
			t.Errorf("slot %s: got %v", slot, mod.Slots[slot])
		}
	}
	result := b.apply(applyRequest(req, b.plan(req).Plan, nil))
	want := cty.TupleVal([]cty.Value{cty.StringVal("west"), cty.StringVal("east"), cty.StringVal("west")})
	if got := result.Outputs["regions"]; !got.RawEquals(want) {
		t.Errorf("regions: got %#v, want %#v", got, want)
	}
}

// A provider that only a child module declares gets its configuration by address.
func TestProviderOfChildModuleOnly(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newFakeBench(t, map[string]string{
		"mod/main.tf":    "module \"child\" {\n  source = \"./child\"\n}\noutput \"region\" {\n  value = module.child.region\n}\n",
		"mod/child/a.tf": regionModule,
	})
	req := b.request(nil)
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(map[string]cty.Value{"region": cty.StringVal("eu")})}
	result := b.apply(applyRequest(req, b.plan(req).Plan, nil))
	if got := result.Outputs["region"]; !got.RawEquals(cty.StringVal("eu")) {
		t.Errorf("region: got %#v", got)
	}
}

func TestProviderCrash(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": fakeRequired + `
resource "fake_resource" "first" { value = "done" }
resource "fake_failing" "second" {
  panic_on   = "create"
  depends_on = [fake_resource.first]
}
`})
	req := b.request(nil)
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(nil)}
	plan := b.plan(req)
	result, diags := b.tryApply(context.Background(), applyRequest(req, plan.Plan, nil))
	if !diags.HasErrors() {
		t.Fatal("Apply reported no error")
	}
	if result == nil || !bytes.Contains(result.State, []byte(`"name": "first"`)) {
		t.Fatalf("Apply: the state lacks what was done before the crash: %v", result)
	}
	if !slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool { return strings.Contains(diag.Detail, "create fake_failing.second") }) {
		t.Errorf("Apply: got %v, want that the object is named", diags)
	}
	b.acknowledgeLast()
	said := b.recover()
	if !said.Saved || !said.Seen || !slices.Equal(said.Doubts, []string{"fake_failing.second"}) {
		t.Errorf("Recover: saved %t, seen %t, in doubt %q", said.Saved, said.Seen, said.Doubts)
	}
	if err := said.forget(); err != nil {
		t.Error(err)
	}
	b.noRuns()
}

// Trap 4: attributes that only the provider's schema calls sensitive are marked in the planned
// changes.
func TestSensitiveBySchema(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newFakeBench(t, map[string]string{"mod/main.tf": fakeRequired + `
resource "fake_everything" "a" {
  secret = "hush"
  number = 0.1
}
`})
	req := b.request(nil)
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(nil)}
	for range 2 { // asked for, then from the files
		plan := b.plan(req)
		after := plan.Changes[0].After
		if secret := after.GetAttr("secret"); !marks.Has(secret, marks.Sensitive) {
			t.Errorf("secret: got %#v, want it sensitive", secret)
		}
		if number := after.GetAttr("number"); !number.RawEquals(cty.MustParseNumberVal("0.1")) {
			t.Errorf("number: got %#v", number)
		}
		b.reopen()
	}
}

// Trap 7: changes from outside are drift, in a normal plan and in one that only refreshes.
func TestDrift(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newFakeBench(t, map[string]string{"mod/main.tf": fakeRequired + `
resource "fake_resource" "a" {
  id    = "a"
  value = "as configured"
}
output "value" { value = fake_resource.a.value }
`})
	req := b.request(nil)
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(nil)}
	req.PriorState = b.apply(applyRequest(req, b.plan(req).Plan, nil)).State

	store := os.Getenv("CAIRN_FAKE_STORE")
	files, err := filepath.Glob(filepath.Join(store, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("objects: %v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, bytes.ReplaceAll(data, []byte("as configured"), []byte("changed")), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	plan := b.plan(req)
	if got := actions(plan)["fake_resource.a"]; got != "update " || len(plan.Drift) != 1 {
		t.Errorf("normal plan: got %q and %d changes outside, want update and 1", got, len(plan.Drift))
	}
	skip := *req
	skip.SkipRefresh = true
	if plan := b.plan(&skip); actions(plan)["fake_resource.a"] != "no-op " || len(plan.Drift) != 0 {
		t.Errorf("plan without refresh: got %v, %v", actions(plan), plan.Drift)
	}
	req.Mode = engine.RefreshOnly
	plan = b.plan(req)
	if len(plan.Drift) != 1 || !bytes.Contains(plan.RefreshedState, []byte(`"changed"`)) || !plan.Applyable {
		t.Errorf("refresh-only plan: got %+v", plan)
	}
	result := b.apply(applyRequest(req, plan.Plan, nil))
	if got := result.Outputs["value"]; !got.RawEquals(cty.StringVal("changed")) {
		t.Errorf("value: got %#v, want what was found", got)
	}
}

// Trap 7: objects are destroyed with inputs and provider configurations that were unknown while
// planning, and with a slot that only the state has a use for.
func TestDestroyWithUnknowns(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newFakeBench(t, map[string]string{"mod/main.tf": regionModule + "variable \"v\" {}\n"})
	req := b.request(map[string]cty.Value{"v": cty.StringVal("x")})
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(map[string]cty.Value{"region": cty.StringVal("eu")})}
	req.PriorState = b.apply(applyRequest(req, b.plan(req).Plan, req.Inputs)).State

	destroy := *req
	destroy.Mode = engine.Destroy
	destroy.Inputs = map[string]cty.Value{"v": cty.DynamicVal}
	destroy.Providers = map[engine.ProviderSlot]engine.ProviderConfig{
		fakeSlot: b.config(map[string]cty.Value{"region": cty.UnknownVal(cty.String)}),
	}
	plan := b.plan(&destroy)
	if got := actions(plan)["fake_computed.a"]; got != "delete " {
		t.Errorf("destroy plan: got %v, want fake_computed.a deleted", actions(plan))
	}
	apply := applyRequest(&destroy, plan.Plan, destroy.Inputs)
	apply.Providers = req.Providers
	if result := b.apply(apply); bytes.Contains(result.State, []byte("fake_computed")) {
		t.Errorf("state after destroying: %s", result.State)
	}

	b.write("mod/main.tf", "variable \"v\" {}\n")
	b.reopen()
	req.SkipRefresh = true // the object is gone by now
	if got := actions(b.plan(req))["fake_computed.a"]; got != "delete " {
		t.Errorf("plan without the resource: got %q, want delete", got)
	}
}

// The user's environment: a plugin cache is used, relative paths hold, and another data directory
// changes nothing.
func TestPrepareInUsersEnvironment(t *testing.T) {
	config := testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t))
	here := t.TempDir()
	t.Chdir(here)
	relative, err := filepath.Rel(here, config)
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(here, "cache")
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TF_CLI_CONFIG_FILE", relative)
	t.Setenv("TF_PLUGIN_CACHE_DIR", "cache")
	t.Setenv("TF_DATA_DIR", filepath.Join(here, "elsewhere"))
	t.Setenv("TF_VAR_v", "from the environment")
	t.Setenv("TF_CLI_ARGS", "-no-such-option")
	t.Setenv("TF_WORKSPACE", "other")
	t.Setenv("CAIRN_FAKE_STORE", t.TempDir())
	b := newBenchAt(t, t.TempDir(), map[string]string{"mod/main.tf": fakeRequired + `
variable "v" { default = "default" }
resource "fake_resource" "a" { value = var.v }
output "value" { value = fake_resource.a.value }
`})
	b.prepare()
	if cached, err := filepath.Glob(filepath.Join(cache, "*")); err != nil || len(cached) == 0 {
		t.Errorf("the plugin cache was not used: %v, %v", cached, err)
	}
	req := b.request(nil)
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(nil)}
	result := b.apply(applyRequest(req, b.plan(req).Plan, nil))
	if got := result.Outputs["value"]; !got.RawEquals(cty.StringVal("default")) {
		t.Errorf("value: got %#v, want the default", got)
	}
	if exists(filepath.Join(here, "elsewhere")) {
		t.Error("the user's data directory was used")
	}
}

// A lock file may have more than is required, also where only a built-in provider is assigned.
func TestSuperfluousLockEntries(t *testing.T) {
	builtin := stackaddrs.Provider{Hostname: "terraform.io", Namespace: "builtin", Type: "terraform"}
	b := newBench(t, map[string]string{"mod/main.tf": `resource "terraform_data" "a" {}`})
	gone := "provider \"registry.terraform.io/cairnstacks/gone\" {\n  version = \"1.0.0\"\n}\n"
	if err := os.WriteFile(filepath.Join(b.stack, workcopy.LockFile), []byte(gone), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(b.stack, "mod")
	request := b.request(nil)
	request.Providers = map[engine.ProviderSlot]engine.ProviderConfig{{LocalName: "terraform"}: {
		Provider: builtin,
		Config:   cty.EmptyObjectVal,
	}}
	b.plan(request)
	prepared, diags := b.engine.Prepare(context.Background(), &engine.PrepareRequest{Modules: []string{dir}})
	b.noErrors("Prepare", diags)
	want := []engine.LockChange{{
		Provider: stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "gone"},
		Before:   "1.0.0",
	}}
	if changes := prepared.Locked; !slices.Equal(changes, want) {
		t.Errorf("Prepare: changes of the lock file are %v, want %v", changes, want)
	}
	if locks, err := b.engine.Locks(t.Context()); err != nil || len(locks) != 0 {
		t.Errorf("Locks() = %v, %v, want none", locks, err)
	}
	b.plan(request)
}

// Schemas are kept for all stacks: those that one of them asked for, another one finds, and damaged
// ones are asked for again.
func TestSchemasAreSharedBetweenStacks(t *testing.T) {
	shared := t.TempDir()
	open := func() *bench {
		t.Helper()
		b := newFakeBench(t, map[string]string{"mod/main.tf": fakeRequired})
		b.engine.schemaCache = schemacache.In(shared)
		return b
	}
	spec := func(b *bench) hcl.Diagnostics {
		t.Helper()
		schema, diags := b.engine.ProviderSchema(context.Background(), fakeProvider)
		if !diags.HasErrors() && len(schema.Config.Attributes) == 0 {
			t.Error("the schema is empty")
		}
		return diags
	}
	first := open()
	first.noErrors("ProviderSchema", spec(first))
	files, err := filepath.Glob(filepath.Join(shared, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files of schemas: %v, %v, want one", files, err)
	}

	second := open()
	second.engine.binary.Path = filepath.Join(t.TempDir(), "gone") // cannot be started
	second.noErrors("ProviderSchema with the schemas of another stack", spec(second))
	if schemas, err := second.engine.schemas(context.Background()); err != nil {
		t.Error(err)
	} else if schema, err := schemas.ofType(fakeSource(second.engine), stackaddrs.ManagedResource, "fake_resource"); err != nil ||
		schema == nil {
		t.Errorf("schema of fake_resource: %v, %v", schema, err)
	}

	content, err := os.ReadFile(files[0])
	if err == nil {
		content[len(content)-1] ^= 1
		err = os.WriteFile(files[0], content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	third := open()
	third.noErrors("ProviderSchema with a damaged file", spec(third))
	fourth := open()
	fourth.engine.binary.Path = filepath.Join(t.TempDir(), "gone")
	fourth.noErrors("ProviderSchema after that", spec(fourth))
}

// fakeSource returns the address of the fake provider as the engine writes it.
func fakeSource(e *Session) string {
	if e.info.Name == toolchain.Tofu {
		return toolchain.TofuRegistry + "/cairnstacks/fake"
	}
	return fakeProvider.String()
}

// Schemas that one operation has asked a provider for are known later without any process, as long
// as the package stays as it is.
func TestKeptSchemas(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": fakeRequired})
	shared := t.TempDir()
	b.engine.schemaCache = schemacache.In(shared)
	keptAll := func() *Kept {
		t.Helper()
		return KeptSchemas(t.Context(), KeptOptions{StackDir: b.engine.stackDir, WorkDir: b.engine.workDir, SchemaDir: shared})[fakeProvider]
	}
	kept := func() *engine.ProviderSchema {
		if known := keptAll(); known != nil {
			return known.Schema
		}
		return nil
	}
	if got := kept(); got != nil {
		t.Errorf("before the provider was asked: %+v", got)
	}
	want, diags := b.engine.ProviderSchema(t.Context(), fakeProvider)
	b.noErrors("ProviderSchema", diags)
	got := kept()
	if got == nil || len(got.Config.Attributes) == 0 || len(got.Config.Attributes) != len(want.Config.Attributes) {
		t.Errorf("KeptSchemas: %+v, want %+v", got, want)
	}
	functions, err := b.engine.Functions(t.Context(), fakeProvider)
	if err != nil || functions["echo"] == nil {
		t.Fatalf("functions: %v, %v", functions, err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(functions)), slices.Sorted(maps.Keys(keptAll().Functions))); diff != "" {
		t.Errorf("functions (-asked +kept):\n%s", diff)
	}
	for name, function := range keptAll().Functions {
		if asked := functions[name]; len(function.Parameters) != len(asked.Parameters) || !function.Return.Equals(asked.Return) ||
			function.Summary != asked.Summary {
			t.Errorf("%s: %+v, want %+v", name, function, asked)
		}
	}
	installed, err := b.engine.installer.Packages()
	if err != nil || len(installed) == 0 {
		t.Fatalf("installed: %v, %v", installed, err)
	}
	other := filepath.Join(t.TempDir(), "package")
	if err := os.CopyFS(other, os.DirFS(installed[0].Dir)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(installed[0].Dir), os.Symlink(other, installed[0].Dir)); err != nil {
		t.Fatal(err)
	}
	if got := kept(); got != nil {
		t.Errorf("with another package: %+v", got)
	}
}
