// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func TestDeclaredResources(t *testing.T) {
	tree := mustLoad(t, map[string]string{
		"m/main.tf": `
terraform {
  required_providers {
    amazon = {
      source                = "example.com/hashicorp/aws"
      configuration_aliases = [amazon.west]
    }
  }
}
resource "amazon_x" "default" {}
resource "amazon_x" "west" { provider = amazon.west }
resource "amazon_x" "changed" { provider = amazon.west }
resource "terraform_data" "x" {}
data "other_thing" "d" {}
check "c" {
  data "other_thing" "nested" {}
}
module "passed" {
  source    = "./child"
  providers = { aws.main = amazon.west }
}
module "inherited" { source = "./inheriting" }
module "missing" { source = "./child" }
`,
		"m/main_override.tf": `
resource "amazon_x" "changed" { provider = amazon }
resource "amazon_x" "west" {}
`,
		"m/child/main.tf": `
terraform {
  required_providers {
    aws = {
      source                = "example.com/hashicorp/aws"
      configuration_aliases = [aws.main]
    }
  }
}
resource "aws_x" "x" { provider = aws.main }
module "deeper" {
  source    = "./deeper"
  providers = { aws = aws.main }
}
`,
		"m/child/deeper/main.tf": `resource "aws_x" "x" {}`,
		"m/inheriting/main.tf": `
terraform {
  required_providers {
    aws = { source = "example.com/hashicorp/aws" }
  }
}
resource "aws_x" "x" {}
`,
	})
	amazon := stackaddrs.Provider{Hostname: "example.com", Namespace: "hashicorp", Type: "aws"}
	other := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "other"}
	slot := func(provider stackaddrs.Provider, name, alias string) *Declared {
		return &Declared{Provider: provider, Slot: engine.ProviderSlot{LocalName: name, Alias: alias}, HasSlot: true}
	}
	for addr, want := range map[string]*Declared{
		"amazon_x.default":               slot(amazon, "amazon", ""),
		"amazon_x.west":                  slot(amazon, "amazon", "west"),
		"amazon_x.changed":               slot(amazon, "amazon", ""),
		"terraform_data.x":               {Provider: stackaddrs.BuiltinProvider},
		"data.other_thing.d":             slot(other, "other", ""),
		"data.other_thing.nested":        slot(other, "other", ""),
		"other_thing.d":                  nil,
		"data.amazon_x.default":          nil,
		"amazon_x.missing":               nil,
		"passed:aws_x.x":                 slot(amazon, "amazon", "west"),
		"passed.deeper:aws_x.x":          slot(amazon, "amazon", "west"),
		"inherited:aws_x.x":              slot(amazon, "amazon", ""),
		"missing:aws_x.x":                {Provider: amazon, Slot: engine.ProviderSlot{LocalName: "aws", Alias: "main"}},
		"passed:aws_x.y":                 nil,
		"nowhere:aws_x.x":                nil,
		"passed.nowhere:aws_x.x":         nil,
		"passed.deeper.nowhere:aws_x.xy": nil,
	} {
		path, name, nested := strings.Cut(addr, ":")
		var calls []string
		if nested {
			calls = strings.Split(path, ".")
		} else {
			name = addr
		}
		parsed, err := stackaddrs.ParseResourceInstance(name)
		if err != nil {
			t.Fatal(err)
		}
		declared, ok := tree.Resource(calls, parsed.Resource)
		var got *Declared
		if ok {
			got = &declared
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", addr, diff)
		}
	}
}
