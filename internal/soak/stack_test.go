// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const stackFile = `
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "~> 1.0"
  }
}

variable "generation" {
  type = string
}

provider "fake" "main" {}

component "first" {
  source    = "./first"
  inputs    = { generation = var.generation, after = "" }
  providers = { fake = provider.fake.main }
}

component "second" {
  source    = "./second"
  inputs    = { generation = var.generation, after = component.first.id }
  providers = { fake = provider.fake.main }
}
`

// moduleFile is the module of component NAME. Each generation creates, replaces, updates and
// deletes something. The value of each object begins with its address.
const moduleFile = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

variable "generation" {
  type = string
}

variable "after" {
  type = string
}

resource "fake_slow" "NAME" {
  for_each     = toset(["kept", var.generation])
  value        = "fake_slow.NAME[\"${each.key}\"] ${var.after}"
  create_delay = "60ms"
  delete_delay = "30ms"
}

resource "fake_computed" "NAME" {
  value      = "fake_computed.NAME"
  replace_on = var.generation
  depends_on = [fake_slow.NAME]
}

resource "fake_resource" "NAME" {
  value = "fake_resource.NAME ${var.generation}"
}

output "id" {
  value = fake_computed.NAME.id
}
`

func writeStack(t *testing.T, dir string) {
	t.Helper()
	files := map[string]string{"main.tfcomponent.hcl": stackFile}
	for _, name := range []string{"first", "second"} {
		files[name+"/main.tf"] = strings.ReplaceAll(moduleFile, "NAME", name)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// wanted returns the addresses of the objects that a generation has, sorted.
func wanted(generation string) []string {
	var addrs []string
	for _, name := range []string{"first", "second"} {
		addrs = append(addrs, "fake_computed."+name, "fake_resource."+name)
		for _, key := range []string{"kept", generation} {
			addrs = append(addrs, fmt.Sprintf("fake_slow.%s[%q]", name, key))
		}
	}
	slices.Sort(addrs)
	return addrs
}
