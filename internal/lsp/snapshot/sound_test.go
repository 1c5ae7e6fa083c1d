// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// edited is a stack in which everything refers to everything, in two files, with an embedded stack.
const edited = `
-- a.tfcomponent.hcl --
required_providers {
  random = {
    source  = "hashicorp/random"
    version = ">= 3.0.0"
  }
}
provider "random" "this" {
}
variable "names" {
  type = set(string)
}
variable "size" {
  type    = number
  default = 1
}
locals {
  prefix = "a-${var.size}"
  text = "profile"
  keys   = { for n in var.names : n => local.prefix }
}
component "net" {
  source = "./net"
  inputs = {
    name = local.prefix
  }
}
component "many" {
  for_each = var.names
  source   = "./net"
  inputs = {
    name = each.key
    size = component.net.id
  }
}
component "keyed" {
  for_each = { x = 1, y = 2 }
  source = "./net"
  inputs = {
    name = component.many["x"].id
    size = stack.child.id
  }
  depends_on = [component.net]
}
-- b.tfcomponent.hcl --
component "app" {
  source = "./app"
  inputs = {
    first  = component.keyed["x"].id
    second = "${component.net.id}-${local.text}"
  }
  providers = {
    random = provider.random.this
  }
}
component "read" {
  source = "./net"
  inputs = {
    name = file("net/name.txt")
  }
}
stack "child" {
  source = "./child"
  inputs = {
    name = component.net.id
  }
}
output "id" {
  type  = string
  value = component.app.id
}
-- child/c.tfcomponent.hcl --
variable "name" {
  type = string
}
component "inner" {
  source = "../net"
  inputs = {
    name = var.name
  }
}
component "other" {
  source = "../net"
  inputs = {
    name = component.inner.id
  }
}
output "id" {
  type  = string
  value = component.other.id
}
-- net/name.txt --
name
-- net/main.tf --
variable "name" {
  type = string
}
variable "size" {
  default = null
}
output "id" {
  value = var.name
}
-- app/main.tf --
terraform {
  required_providers {
    random = {
      source = "hashicorp/random"
    }
  }
}
variable "first" {
  type = string
}
variable "second" {
  type = string
}
output "id" {
  value = var.first
}
`

var wordPattern = regexp.MustCompile(`[a-z_]+`)

// edit changes a text as a typing user may.
func edit(rnd *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	n := rnd.IntN(len(lines))
	switch rnd.IntN(10) {
	case 0: // a line less
		return strings.Join(slices.Delete(lines, n, n+1), "")
	case 1: // a line twice
		return strings.Join(slices.Insert(lines, n, lines[n]), "")
	case 2: // another character
		at := rnd.IntN(len(text) + 1)
		return text[:at] + string("x {}\n\".#$"[rnd.IntN(9)]) + text[at:]
	case 3: // another line
		more := []string{
			"\n", "# comment\n",
			"component \"new\" {\n  source = \"./net\"\n  inputs = { name = component.app.id }\n}\n", "name = stack.child.id\n",
			"size = component.many\n", "locals { text = file(\"net/name.txt\") }\n",
			"variable \"more\" {\n  type = any\n}\n", "size = component.keyed[\"z\"].id\n",
		}
		return strings.Join(slices.Insert(lines, n, more[rnd.IntN(len(more))]), "")
	default: // one word in place of another
		words := wordPattern.FindAllStringIndex(text, -1)
		if len(words) == 0 {
			return text
		}
		from, to := words[rnd.IntN(len(words))], words[rnd.IntN(len(words))]
		return text[:from[0]] + text[to[0]:to[1]] + text[from[1]:]
	}
}

// meantPattern matches a suggestion of package hcl, which is another each time if several names are
// as near.
var meantPattern = regexp.MustCompile(` Did you mean "[a-z0-9]*"\?`)

// texts are diagnostics with all that an editor shows of them, sorted.
func texts(diags hcl.Diagnostics) []string {
	var all []string
	for _, diag := range diags {
		all = append(
			all, fmt.Sprintf("%v %d %s: %s", diag.Subject, diag.Severity, diag.Summary, meantPattern.ReplaceAllString(diag.Detail, "")),
		)
	}
	slices.Sort(all)
	return all
}

// Whatever is edited, validating the changed part finds the same as validating everything.
func TestRandomEdits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(testenv.Seed(t), 0)) //nolint:gosec // not for secrets
	dir := write(t, edited)
	good := map[string]string{}
	for _, name := range []string{"a.tfcomponent.hcl", "b.tfcomponent.hcl", "child/c.tfcomponent.hcl"} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		good[path] = string(text)
	}
	w := NewWorkspace(Options{})
	w.AddFolder(dir)
	check(t, w.Stack(dir))

	now, paths := map[string]string{}, []string{}
	for path, text := range good {
		now[path], paths = text, append(paths, path)
	}
	slices.Sort(paths)
	reused, steps := 0, 150
	for step := range steps {
		path := paths[rnd.IntN(len(paths))]
		before := now[path]
		if rnd.IntN(3) == 0 {
			now[path] = good[path]
		} else {
			now[path] = edit(rnd, now[path])
		}
		w.Edit(path, []byte(now[path]))
		snap := w.Stack(dir)
		reused += len(snap.sound.known(snap.dependencies()))
		got := texts(snap.Validate(t.Context()))

		fresh := NewWorkspace(Options{})
		fresh.AddFolder(dir)
		for path, text := range now {
			fresh.Edit(path, []byte(text))
		}
		if diff := cmp.Diff(texts(fresh.Stack(dir).Validate(t.Context())), got); diff != "" {
			t.Fatalf(
				"step %d, %s was\n%s\nand is\n%s\ndiagnostics (-of everything +of what has changed):\n%s", step, path,
				before, now[path], diff,
			)
		}
	}
	if reused == 0 {
		t.Errorf("only %d components were not looked at again", reused)
	}
	t.Logf("%d components were not looked at again", reused)
}
