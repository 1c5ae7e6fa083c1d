// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func (c *client) components(config int64) *stackspb.FindStackConfigurationComponents_StackConfig {
	c.t.Helper()
	response, err := c.stacks.FindStackConfigurationComponents(c.t.Context(),
		&stackspb.FindStackConfigurationComponents_Request{StackConfigHandle: config})
	if err != nil {
		c.t.Fatal(err)
	}
	return response.GetConfig()
}

func TestComponentsOfEmptyStacks(t *testing.T) {
	c := serve(t)
	for name, files := range map[string]map[string]string{"no files": nil, "an empty file": {"main.tfcomponent.hcl": ""}} {
		got := c.components(c.open(files))
		if diff := cmp.Diff(&stackspb.FindStackConfigurationComponents_StackConfig{}, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

var manyComponents = map[string]string{
	"main.tfcomponent.hcl": `
required_providers {}
variable "required" { type = string }
variable "null" {
  type    = string
  default = null
}
variable "optional" {
  type      = list(string)
  default   = []
  sensitive = true
}
variable "ephemeral" {
  type      = string
  ephemeral = true
}
component "single" {
  source = "./m"
}
component "many" {
  source   = "./m"
  for_each = toset(var.optional)
}
component "registered" {
  source  = "example.com/acme/net/aws"
  version = "~> 1.0"
}
stack "one" {
  source = "./inner"
}
stack "several" {
  source   = "./inner"
  for_each = toset(["a"])
}
output "plain" {
  type  = string
  value = "x"
}
output "secret" {
  type      = string
  value     = "x"
  sensitive = true
}
output "passing" {
  type      = string
  value     = var.ephemeral
  ephemeral = true
}
`,
	"removed.tfcomponent.hcl": `
removed {
  from   = component.many["old"]
  source = "./m"
}
removed {
  for_each = toset(["older"])
  from     = component.many[each.key]
  source   = "./m"
  lifecycle {
    destroy = false
  }
}
removed {
  from   = stack.one.component.gone
  source = "./m"
}
removed {
  from   = stack.former
  source = "./inner/deep"
}
`,
	"inner/main.tfcomponent.hcl": `
component "same" {
  source = "../m"
}
stack "deeper" {
  source = "./deep"
}
removed {
  from   = component.before
  source = "./deep/m"
}
`,
	"inner/deep/main.tfcomponent.hcl": `
variable "x" {
  type    = number
  default = 1
}
component "last" {
  source = "./m"
}
`,
	"m/main.tf":            "",
	"net/main.tf":          "",
	"inner/deep/m/main.tf": "",
}

type (
	stackConfig = stackspb.FindStackConfigurationComponents_StackConfig
	component   = stackspb.FindStackConfigurationComponents_Component
	embedded    = stackspb.FindStackConfigurationComponents_EmbeddedStack
	removed     = stackspb.FindStackConfigurationComponents_Removed
	block       = stackspb.FindStackConfigurationComponents_Removed_Block
	variable    = stackspb.FindStackConfigurationComponents_InputVariable
	outputValue = stackspb.FindStackConfigurationComponents_OutputValue
)

const forEach = stackspb.FindStackConfigurationComponents_FOR_EACH

// innerTree is the stack in the directory inner, embedded by a name.
func innerTree(name string) *stackConfig {
	return &stackConfig{
		Components: map[string]*component{"same": {SourceAddr: stackSource + "//m", ComponentAddr: "stack." + name + ".component.same"}},
		EmbeddedStacks: map[string]*embedded{"deeper": {SourceAddr: stackSource + "//inner/deep", Config: &stackConfig{
			InputVariables: map[string]*variable{"x": {Optional: true}},
			Components: map[string]*component{
				"last": {SourceAddr: stackSource + "//inner/deep/m", ComponentAddr: "stack." + name + ".stack.deeper.component.last"},
			},
		}}},
		Removed: map[string]*removed{"component.before": {
			SourceAddr: stackSource + "//inner/deep/m", ComponentAddr: "stack." + name + ".component.before", Destroy: true,
			Blocks: []*block{{SourceAddr: stackSource + "//inner/deep/m", ComponentAddr: "stack." + name + ".component.before", Destroy: true}},
		}},
	}
}

func TestComponents(t *testing.T) {
	want := &stackConfig{
		Components: map[string]*component{
			"single":     {SourceAddr: stackSource + "//m", ComponentAddr: "component.single"},
			"many":       {SourceAddr: stackSource + "//m", ComponentAddr: "component.many", Instances: forEach},
			"registered": {SourceAddr: "example.com/acme/net/aws@1.2.3", ComponentAddr: "component.registered"},
		},
		EmbeddedStacks: map[string]*embedded{
			"one":     {SourceAddr: stackSource + "//inner", Config: innerTree("one")},
			"several": {SourceAddr: stackSource + "//inner", Instances: forEach, Config: innerTree("several")},
		},
		InputVariables: map[string]*variable{
			"required": {}, "null": {}, "optional": {Optional: true, Sensitive: true}, "ephemeral": {Ephemeral: true},
		},
		OutputValues: map[string]*outputValue{"plain": {}, "secret": {Sensitive: true}, "passing": {Ephemeral: true}},
		Removed: map[string]*removed{
			"component.many": {
				SourceAddr: stackSource + "//m", ComponentAddr: "component.many", Destroy: true,
				Blocks: []*block{
					{SourceAddr: stackSource + "//m", ComponentAddr: "component.many", Destroy: true},
					{SourceAddr: stackSource + "//m", ComponentAddr: "component.many", Instances: forEach},
				},
			},
			"stack.one.component.gone": {
				SourceAddr: stackSource + "//m", ComponentAddr: "stack.one.component.gone", Destroy: true,
				Blocks: []*block{{SourceAddr: stackSource + "//m", ComponentAddr: "stack.one.component.gone", Destroy: true}},
			},
		},
	}
	c := serve(t)
	if diff := cmp.Diff(want, c.components(c.open(manyComponents)), protocmp.Transform()); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
}
