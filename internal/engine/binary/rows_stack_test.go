// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func (s *stack) validate() hcl.Diagnostics {
	s.t.Helper()
	return stackruntime.Validate(s.t.Context(), s.opts)
}

// wantAt fails unless a diagnostic is at FILE:LINE.
func wantAt(t *testing.T, at hcl.Range, file string, line int) {
	t.Helper()
	if at.Filename != file || at.Start.Line != line {
		t.Errorf("reported at %v, want line %d of %s", at, line, file)
	}
}

// Section 2.7: blocks that modules of components must not have, and errors in them.
func TestRowsInvalidModules(t *testing.T) {
	for name, test := range map[string]struct {
		files string
		want  string // in summary and detail
		file  string
		line  int
	}{
		"029_constant_variable": {
			"\n-- mod/main.tf --\nvariable \"v\" {\n  default = 1\n  const   = true\n}\n",
			"Constant variables cannot be used here", "mod/main.tf", 3,
		},
		"031_invalid_argument": {
			"\n-- mod/main.tf --\nresource \"terraform_data\" \"a\" {\n  inptu = 1\n}\n",
			"inptu", "mod/main.tf", 2,
		},
		"048_provider_block_in_the_root_module": {
			"\n-- mod/main.tf --\n" + fakeModule + "provider \"fake\" {}\n",
			"Remove this block, declare the provider in the stack", "mod/main.tf", 7,
		},
		"048_provider_block_in_a_nested_module": {
			"\n-- mod/main.tf --\nmodule \"m\" {\n  source = \"./m\"\n}\n-- mod/m/main.tf --\n" + fakeModule +
				"provider \"fake\" {\n  region = \"x\"\n}\n",
			"is not compatible with stacks", "mod/m/main.tf", 7,
		},
		"049_error_in_a_nested_module": {
			"\n-- mod/main.tf --\nmodule \"m\" {\n  source = \"./m\"\n}\n-- mod/m/main.tf --\noutput \"o\" {\n  value = local.nothing\n}\n",
			"nothing", "mod/m/main.tf", 2,
		},
		"074_workspace": {
			"\n-- mod/main.tf --\noutput \"o\" {\n  value = terraform.workspace\n}\n",
			"Workspace name not available", "mod/main.tf", 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFeature(t, "", test.files)
			wantAt(t, wantDiagnostic(t, f.validate(), hcl.DiagError, test.want), test.file, test.line)
			_, diags := f.tryPlan(engine.Normal)
			wantAt(t, wantDiagnostic(t, diags, hcl.DiagError, test.want), test.file, test.line)
		})
	}
}

const legacyStack = `
-- main.tfcomponent.hcl --
required_providers {
  PROVIDER = {
    source  = "SOURCE"
    version = ">= 0.1"
  }
}
provider "PROVIDER" "main" {}
component "c" {
  source    = "./mod"
  providers = { PROVIDER = provider.PROVIDER.main }
}
`

// Modules without required_providers take providers of the namespace hashicorp, by their local
// name.
func TestRowsLegacyModules(t *testing.T) {
	t.Run("044_provider_of_hashicorp", func(t *testing.T) {
		testenv.CLIConfig(t, testenv.TimeProviderMirror(t))
		f := &feature{stack: newStack(t, strings.NewReplacer("PROVIDER", "time", "SOURCE", "hashicorp/time").Replace(legacyStack)+`
-- mod/main.tf --
resource "time_static" "a" {
  rfc3339 = "2030-01-02T03:04:05Z"
}
output "year" { value = time_static.a.year }
`)}
		noDiagnostics(t, "Validate", f.validate())
		f.run()
		f.wantOutputs(map[string]cty.Value{"year": cty.NumberIntVal(2030)})
		f.settled()
	})
	t.Run("045_provider_of_another_namespace", func(t *testing.T) {
		testenv.CLIConfig(t, testenv.TimeProviderMirror(t))
		s := newStack(t, strings.NewReplacer("PROVIDER", "time", "SOURCE", "cairnstacks/fake").Replace(legacyStack)+`
-- mod/main.tf --
resource "time_static" "a" {}
`)
		diags := s.validate()
		wantDiagnostic(t, diags, hcl.DiagError, "Wrong provider for slot")
		wantAt(t, wantDiagnostic(t, diags, hcl.DiagError, "required_providers"), "main.tfcomponent.hcl", 10)
	})
}

func TestRowsLockedVersions(t *testing.T) {
	locked := func(f *feature, version string) hcl.Diagnostics {
		fake := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "fake"}
		f.opts.Locks = map[stackaddrs.Provider]string{fake: version}
		return f.validate()
	}
	t.Run("046_with_provider_block", func(t *testing.T) {
		f := newFeature(t, "", "\n-- mod/main.tf --\n"+fakeModule)
		noDiagnostics(t, "Validate", locked(f, "1.7.0"))
		diags := locked(f, "0.9.0")
		at := wantDiagnostic(t, diags, hcl.DiagError, "0.9.0")
		wantAt(t, at, "main.tfcomponent.hcl", 11)
		if len(diags) != 1 {
			t.Errorf("got %d diagnostics, want one:\n%s", len(diags), explain(diags))
		}
	})
	t.Run("047_without_provider_block", func(t *testing.T) {
		f := newFeature(t, "", `
-- mod/main.tf --
`+fakeModule+`
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "~> 1.0"
  }
}
variable "fake" {
  type = providerconfig(fake)
}
component "c" {
  source    = "./mod"
  providers = { fake = var.fake }
}
`)
		// The place is not in the reference, which has none to give; it is the entry that the constraint
		// is in.
		diags := locked(f, "0.9.0")
		wantAt(t, wantDiagnostic(t, diags, hcl.DiagError, "0.9.0"), "main.tfcomponent.hcl", 2)
		if len(diags) != 1 {
			t.Errorf("got %d diagnostics, want one:\n%s", len(diags), explain(diags))
		}
	})
}

func TestRow055BuiltInResource(t *testing.T) {
	f := newFeature(t, `value = "v"`, `
-- mod/main.tf --
variable "value" { type = string }
resource "terraform_data" "a" { input = var.value }
output "o" {
  value = { input = terraform_data.a.input, output = terraform_data.a.output }
}
`)
	plan := f.plan(engine.Normal)
	c := planned(t, plan)
	if c.Action != stackplan.Create || !c.Complete || !c.Applyable {
		t.Errorf("action %s, complete %v, applyable %v, want a create that is both", c.Action, c.Complete, c.Applyable)
	}
	o := c.Outputs["o"]
	if got := o.GetAttr("input"); !got.RawEquals(cty.StringVal("v")) {
		t.Errorf("input = %#v, want it known", got)
	}
	if got := o.GetAttr("output"); got.IsKnown() {
		t.Errorf("output = %#v, want it unknown", got)
	}
	f.run()
	f.settled()
}

// The state holds an object of a provider that the module has no use for any more.
func TestRowsProviderOnlyInState(t *testing.T) {
	const before = "\n-- mod/main.tf --\n" + fakeModule + "resource \"fake_resource\" \"a\" {\n  id = \"a\"\n}\n"
	const after = "\n-- mod/main.tf --\nresource \"terraform_data\" \"b\" {}\n"
	t.Run("063_assigned", func(t *testing.T) {
		f := newFeature(t, "", before)
		f.run()
		f.write(after)
		plan := f.plan(engine.Normal)
		if got := change(t, plan, "fake_resource.a").Action; got != engine.ActionDelete {
			t.Errorf("actions %v, want delete", got)
		}
		f.apply(plan)
		f.wantObjects("terraform_data.b")
		if ids, err := f.store.List(); err != nil || len(ids) > 0 {
			t.Errorf("stored objects: %v, %v, want none", ids, err)
		}
		f.settled()
	})
	t.Run("064_not_assigned", func(t *testing.T) {
		f := newFeature(t, "", before)
		f.run()
		f.write(after + "-- main.tfcomponent.hcl --\ncomponent \"c\" {\n  source = \"./mod\"\n}\n")
		_, diags := f.tryPlan(engine.Normal)
		wantAt(t, wantDiagnostic(t, diags, hcl.DiagError, "Provider needed by existing resources not assigned"), "main.tfcomponent.hcl", 1)
	})
}

func TestRow073Paths(t *testing.T) {
	f := newFeature(t, "", `
-- mod/main.tf --
module "m" { source = "./m" }
output "paths" { value = [path.module, path.root, module.m.module, module.m.root] }
output "cwd" { value = path.cwd }
-- mod/m/main.tf --
output "module" { value = path.module }
output "root" { value = path.root }
`)
	f.run()
	outputs := f.component().Outputs
	for _, v := range outputs["paths"].AsValueSlice() {
		if filepath.IsAbs(v.AsString()) {
			t.Errorf("%s is absolute", v.AsString())
		}
	}
	if cwd := outputs["cwd"].AsString(); !filepath.IsAbs(cwd) {
		t.Errorf("path.cwd is %s, want it absolute", cwd)
	}
	f.settled()
}

// Identities are planned as far as they are known, by engines that have them.
func TestRow075ResourceIdentity(t *testing.T) {
	f := newFeature(t, "", `
-- mod/main.tf --
`+fakeModule+`
resource "fake_identity" "a" {
  id = "a"
}
resource "fake_identity" "later" {}
`)
	plan := f.plan(engine.Normal)
	wantIdentities(t, plan, "fake_identity.a", cty.NilVal, cty.StringVal("a"))
	wantIdentities(t, plan, "fake_identity.later", cty.NilVal, cty.NilVal)
	f.apply(plan)

	plan = f.plan(engine.Normal)
	for _, address := range []string{"fake_identity.a", "fake_identity.later"} {
		id := change(t, plan, address).Before.GetAttr("id")
		wantIdentities(t, plan, address, id, id)
	}
	f.wantObjects("fake_identity.a", "fake_identity.later")
	f.settled()
	f.destroyed()
}

// wantIdentities compares the identities of a resource before and after its change, by their only
// attribute.
func wantIdentities(t *testing.T, plan *stackplan.Plan, address string, before, after cty.Value) {
	t.Helper()
	known, err := version.NewVersion(plan.Engine.Version)
	if err != nil {
		t.Fatal(err)
	}
	binary := plan.Engine.Name == toolchain.Terraform || plan.Engine.Name == toolchain.Tofu
	identity := func(id cty.Value) cty.Value {
		if id == cty.NilVal || binary && known.Core().LessThan(version.Must(version.NewVersion("1.12.0"))) { // of terraform and of tofu
			return cty.NilVal
		}
		return cty.ObjectVal(map[string]cty.Value{"id": id})
	}
	rc := change(t, plan, address)
	if want := identity(before); !rc.BeforeIdentity.RawEquals(want) {
		t.Errorf("%s: identity before = %#v, want %#v", address, rc.BeforeIdentity, want)
	}
	if want := identity(after); !rc.AfterIdentity.RawEquals(want) {
		t.Errorf("%s: identity after = %#v, want %#v", address, rc.AfterIdentity, want)
	}
}

const dataModule = `
-- mod/main.tf --
` + fakeModule + `
resource "fake_resource" "a" {
  id    = "a"
  value = "v"
}
data "fake_data" "a" {
  id = fake_resource.a.id
}
`

const withoutDataModule = `
-- mod/main.tf --
` + fakeModule + `
resource "fake_resource" "a" {
  id    = "a"
  value = "v"
}
`

func TestRow133DataSourceRemoved(t *testing.T) {
	f := newFeature(t, "", dataModule)
	f.run()
	f.wantObjects("data.fake_data.a", "fake_resource.a")
	f.write(withoutDataModule)
	plan := f.plan(engine.Normal)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{})
	f.apply(plan)
	f.wantObjects("fake_resource.a")
	f.settled()
}

func TestRow152DataSourceRemovedWhileRefreshing(t *testing.T) {
	f := newFeature(t, "", dataModule)
	f.run()
	f.write(withoutDataModule)
	plan := f.plan(engine.RefreshOnly)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{})
	f.apply(plan)
	f.wantObjects("fake_resource.a")
}

// A refresh that finds nothing gone or changed is none.
func TestRefreshOnlyWithoutFindings(t *testing.T) {
	f := newFeature(t, "", dataModule)
	f.run()
	before := string(f.component().Module)
	f.apply(f.plan(engine.RefreshOnly))
	if after := string(f.component().Module); stateWithoutSerial(t, after) != stateWithoutSerial(t, before) {
		t.Errorf("the state has changed from\n%s\nto\n%s", before, after)
	}
}

func stateWithoutSerial(t *testing.T, state string) string {
	t.Helper()
	objects, err := tfstate.ParseObjects(engine.State(state))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, object := range objects {
		b.WriteString(object.Addr.String() + string(object.Attributes) + "\n")
	}
	return b.String()
}

// A data source whose arguments are not known before apply is read then.
func TestDataSourceReadDuringApply(t *testing.T) {
	f := newFeature(t, `id = trimprefix(component.up.later, "later-")`, `
-- mod/main.tf --
`+fakeModule+`
variable "id" { type = string }
data "fake_data" "a" {
  id = var.id
}
resource "fake_resource" "copy" {
  id    = "copy"
  value = data.fake_data.a.id
}
data "fake_data" "copy" {
  id         = "copy"
  depends_on = [fake_resource.copy]
}
output "copied" { value = data.fake_data.copy.value }
`)
	f.put("name")
	plan := f.plan(engine.Normal)
	wantText(t, f.text(plan), "data.fake_data.a will be read during apply", "data.fake_data.copy will be read during apply")
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Add: 2})
	f.apply(plan)
	f.wantOutputs(map[string]cty.Value{"copied": cty.StringVal("name")})
	f.wantObjects("data.fake_data.a", "data.fake_data.copy", "fake_resource.copy")
	f.settled()
	f.destroyed()
	if _, err := os.Stat(filepath.Join(f.store.Dir, "name.json")); err != nil {
		t.Errorf("what was only read is gone: %v", err)
	}
}
