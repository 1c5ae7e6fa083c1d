// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

const usingFake = `
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_resource" "a" {}
`

func TestRow076ProviderConfigurationFails(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
provider "fake" "main" {
  config {
    configure_error = "no such account"
  }
}
component "a" {
  source    = "./mod"
  providers = { fake = provider.fake.main }
}
component "other" { source = "./other" }
-- other/main.tf --
resource "terraform_data" "this" {}
`+usingFake)
	plan, diags := s.TryPlan(engine.Normal)
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "no such account") ||
		diags[0].Subject == nil || diags[0].Subject.Filename != "main.tfcomponent.hcl" {
		t.Errorf("diagnostics:\n%swant what the provider says, once, at its block", stacktest.Explain(diags))
	}
	if diff := cmp.Diff(`not applyable
incomplete
component.a: create, incomplete
component.other: create, applyable
  terraform_data.this: create
`, stacktest.PlanText(plan)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// lockedStack has a provider that it configures and one that it only passes through.
func lockedStack(t *testing.T, providerBlock string) *stacktest.Stack {
	t.Helper()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 2.0.0"
  }
}
`+providerBlock+`
component "c" { source = "./pass" }
`+passModule, withFakeProvider)
	s.Locks = map[stackaddrs.Provider]string{fakeProvider: "1.0.0"}
	return s
}

func TestRow077LockedVersionWhilePlanning(t *testing.T) {
	t.Parallel()
	planFails(t, lockedStack(t, `provider "fake" "main" {}`), "error main.tfcomponent.hcl:7: Locked provider version not acceptable\n")

	// Without a provider block there is but the requirement to point at.
	planFails(t, lockedStack(t, ""), "error main.tfcomponent.hcl:2: Locked provider version not acceptable\n")
}

// argumentSpec is the schema of a provider in memory.
var argumentSpec = memengine.Options{
	Providers: map[stackaddrs.Provider]engine.ProviderSchema{fakeProvider: {Config: engine.Block{Attributes: map[string]engine.Attribute{
		"region": {Type: cty.String},
		"token":  {Type: cty.String},
		"size":   {Type: cty.Number, Required: true},
	}}}},
}

func TestRow240ProviderArguments(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		provider string
		want     string // of the configuration that the component gets
		errors   string
	}{
		"valid": {
			provider: `config {
    region = "eu"
    size   = "3"
  }`,
			want: `{region = "eu", size = 3, token = null}`,
		},
		"with marks": {
			provider: `config {
    region = var.secret
    token  = var.token
    size   = 1
  }`,
			want: `{region = (sensitive "hush"), size = 1, token = (ephemeral "t")}`,
		},
		"no config block": {provider: "", errors: "error main.tfcomponent.hcl:18: Missing required argument\n"},
		"unknown argument": {
			provider: "config {\n    size = 1\n    colour = \"red\"\n  }",
			errors:   "error main.tfcomponent.hcl:21: Unsupported argument\n",
		},
		"missing argument": {provider: "config {}", errors: "error main.tfcomponent.hcl:19: Missing required argument\n"},
		"wrong type": {
			provider: "config {\n    size = [1]\n  }",
			errors:   "error main.tfcomponent.hcl:20: Incorrect attribute value type\n",
		},
		"invalid expression": {provider: "config {\n    size = var.none\n  }", errors: "error main.tfcomponent.hcl:20: Unknown variable\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "secret" {
  type      = string
  sensitive = true
}
variable "token" {
  type      = string
  ephemeral = true
}
component "c" {
  source    = "./mod"
  providers = { fake = provider.fake.main }
}
required_providers {
  fake = { source = "cairnstacks/fake", version = "1.0.0" }
}


provider "fake" "main" {
  `+test.provider+`
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
`, argumentSpec)
			s.Inputs["secret"] = cty.StringVal("hush")
			s.Ephemeral["token"] = cty.StringVal("t")
			recorded := recordSlots(s)
			if test.errors != "" {
				planFails(t, s, test.errors)
				return
			}
			s.Plan(engine.Normal)
			if got := stacktest.ValueText(recorded.mu.slots["component.c fake"].Config); got != test.want {
				t.Errorf("the component gets %s, want %s", got, test.want)
			}
		})
	}
}

func TestRow240SchemaOfProviderNotAvailable(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
provider "fake" "main" {
  config {
    size = 1
  }
}
component "c" { source = "./pass" }
`+passModule) // the engine has no such provider
	plan, diags := s.TryPlan(engine.Normal)
	if len(diags) != 1 || diags[0].Summary != "Provider not available" || diags[0].Subject == nil || plan.Applyable {
		t.Errorf("diagnostics:\n%swant one at the provider block", stacktest.Explain(diags))
	}
}

func TestRow240And241ProviderThatDoesNotStart(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
provider "fake" "main" {}
component "c" {
  source    = "./mod"
  providers = { fake = provider.fake.main }
}
`+usingFake, "CAIRN_FAKE_START_ERROR=the machine is out of order")
	plan, diags := s.TryPlan(engine.Normal)
	if !diags.HasErrors() || plan != nil && plan.Applyable {
		t.Fatalf("diagnostics:\n%swant that the provider did not start", stacktest.Explain(diags))
	}
	for _, diag := range diags {
		if !strings.Contains(diag.Detail, "cairnstacks/fake") {
			t.Errorf("%s: %s; want the provider named", diag.Summary, diag.Detail)
		}
	}
}

func TestRow241ConfiguredProviderServesComponent(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
provider "fake" "each" {
  for_each = toset(["eu", "us"])
  config {
    region = each.key
  }
}
component "c" {
  for_each  = toset(["eu", "us"])
  source    = "./regional"
  providers = { fake = provider.fake.each[each.key] }
}
-- regional/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_computed" "a" {}
output "region" { value = fake_computed.a.region }
`)
	s.Converge()
	sameState(t, s, `component.c["eu"]
  fake_computed.a
  out region = "eu"
component.c["us"]
  fake_computed.a
  out region = "us"
`)
}

// A provider that only objects in the state need may be one of an unknown set: it is deferred.
func TestQuirkB10UnknownProviderNeededByStateOnly(t *testing.T) {
	t.Parallel()
	config := func(source string) string {
		return "-- main.tfcomponent.hcl --\n" + fakeRequired + `
variable "names" { type = set(string) }
provider "fake" "each" { for_each = var.names }
component "c" {
  source    = "` + source + `"
  providers = { fake = provider.fake.each["a"] }
}
`
	}
	s := stacktest.Real(t, config("./mod")+usingFake)
	s.Inputs["names"] = list("a")
	s.Converge()
	s.Write(config("./instead") + "-- instead/main.tf --\nresource \"terraform_data\" \"instead\" {}\n")
	s.LeaveUnknown = true
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	samePlan(t, s, `incomplete
input names: update (unknown)
component.c: update, incomplete, deferred (provider_config_unknown)
  terraform_data.instead: deferred (deferred_prereq), create
`)
	s.Converge()
	s.Inputs["names"] = list("a")
	s.Converge()
	sameState(t, s, "input names = [\"a\"]\ncomponent.c\n  terraform_data.instead\n")
}
