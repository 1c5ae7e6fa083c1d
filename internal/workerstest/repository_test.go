// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package workerstest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
)

const stackFile = `
required_providers {
  fake = { source = "cairnstacks/fake", version = "~> 1.0" }
}

variable "generation" { type = string }
variable "after" { type = string }

provider "fake" "main" {}

component "main" {
  source    = "./main"
  inputs    = { generation = var.generation, after = var.after }
  providers = { fake = provider.fake.main }
}

output "id" {
  type  = string
  value = component.main.id
}
`

// moduleFile is the module of stack NAME. Each generation creates, replaces, updates and deletes
// something. The value of each object begins with its address.
const moduleFile = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

variable "generation" { type = string }
variable "after" { type = string }

resource "fake_slow" "NAME" {
  for_each     = toset(["kept", var.generation])
  value        = "fake_slow.NAME[\"${each.key}\"] ${var.after}"
  create_delay = "DELAYms"
  update_delay = "50ms"
  delete_delay = "50ms"
}

resource "fake_computed" "NAME" {
  value      = "fake_computed.NAME"
  replace_on = var.generation
  depends_on = [fake_slow.NAME]
}

output "id" { value = fake_computed.NAME.id }
`

// stackHead begins the file of one stack of many components.
const stackHead = `
required_providers {
  fake = { source = "cairnstacks/fake", version = "~> 1.0" }
}

provider "fake" "main" {}
`

const componentFile = `
component %q {
  source    = "./%[1]s"
  inputs    = { generation = %q, after = %s }
  providers = { fake = provider.fake.main }
}
`

// repository is a repository of parts that have values from each other: stacks, or components of
// one stack, which may be the only unit of runs.
type repository struct {
	dir      string
	oneStack bool
	inRuns   bool // the one stack
	parts    []string
	needs    [][]int // the parts from which each has values
}

// newRepository makes a repository of so many parts, each with values from up to two before it.
func newRepository(t testing.TB, dir string, oneStack bool, number int, choose func(n int) int) *repository {
	t.Helper()
	r := &repository{dir: dir, oneStack: oneStack}
	if out, err := testenv.Command(t, testenv.Git(t), "init", "--quiet", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	for i := range number {
		name := fmt.Sprintf("s%02d", i)
		var needs []int
		for range min(i, choose(3)) {
			if other := choose(i); !slices.Contains(needs, other) {
				needs = append(needs, other)
			}
		}
		r.parts, r.needs = append(r.parts, name), append(r.needs, needs)
		module := filepath.Join(dir, "live", name, "main")
		if oneStack {
			module = filepath.Join(r.states()[0], name)
		} else {
			writeFile(t, filepath.Join(dir, "live", name, "main.tfcomponent.hcl"), stackFile)
		}
		delay := fmt.Sprint(50 + choose(250))
		writeFile(t, filepath.Join(module, "main.tf"), strings.NewReplacer("NAME", name, "DELAY", delay).Replace(moduleFile))
	}
	return r
}

// states returns the directories of stacks.
func (r *repository) states() []string {
	if r.oneStack {
		return []string{filepath.Join(r.dir, "live", "all")}
	}
	var dirs []string
	for _, name := range r.parts {
		dirs = append(dirs, filepath.Join(r.dir, "live", name))
	}
	return dirs
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// write has the next run bring another generation.
func (r *repository) write(t testing.TB, generation string) {
	t.Helper()
	if r.oneStack {
		r.writeStack(t, generation)
		writeFile(t, filepath.Join(r.dir, "cairn.workspace.hcl"), "stack \"all\" {\n  path = \"live/all\"\n}\n")
		return
	}
	var text strings.Builder
	for i, name := range r.parts {
		after := r.after(i, "${stack.%s.output.id}")
		tags := ""
		if i%2 == 1 {
			tags = "  tags = [\"" + otherPool + "\"]\n"
		}
		fmt.Fprintf(&text, "stack %q {\n  path = \"live/%[1]s\"\n%s  variables = { generation = %q }\n  inputs = { after = %s }\n}\n",
			name, tags, generation, after)
	}
	writeFile(t, filepath.Join(r.dir, "cairn.workspace.hcl"), text.String())
}

// writeStack writes one stack. Each pool has a third of its components, and the process that works
// on the stack the others.
func (r *repository) writeStack(t testing.TB, generation string) {
	t.Helper()
	text := stackHead
	inPool := map[string][]string{}
	for i, name := range r.parts {
		text += fmt.Sprintf(componentFile, name, generation, r.after(i, "${component.%s.id}"))
		if pool := []string{defaultPool, otherPool, ""}[i%3]; pool != "" {
			inPool[pool] = append(inPool[pool], fmt.Sprintf("%q", "component."+name))
		}
	}
	settings := ""
	for pool, members := range inPool {
		settings += fmt.Sprintf("pool %q {\n  components = [%s]\n}\n", pool, strings.Join(members, ", "))
	}
	writeFile(t, filepath.Join(r.states()[0], "main.tfcomponent.hcl"), text)
	writeFile(t, filepath.Join(r.states()[0], "cairn.hcl"), settings)
}

// after is the value that a part has from others, by the reference to one of them.
func (r *repository) after(part int, reference string) string {
	values := []string{"start"}
	for _, other := range r.needs[part] {
		values = append(values, fmt.Sprintf(reference, r.parts[other]))
	}
	return `"` + strings.Join(values, " ") + `"`
}

// wanted returns the addresses of the objects that a generation has, sorted.
func (r *repository) wanted(generation string) []string {
	var addrs []string
	for _, name := range r.parts {
		addrs = append(addrs, "fake_computed."+name)
		for _, key := range []string{"kept", generation} {
			addrs = append(addrs, fmt.Sprintf("fake_slow.%s[%q]", name, key))
		}
	}
	slices.Sort(addrs)
	return addrs
}

// objects returns the objects that really exist: addresses by id.
func objects(t testing.TB, store testprovider.Store) map[string]string {
	t.Helper()
	ids, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]string{}
	for _, id := range ids {
		object, err := store.Get(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var value string
		if err := json.Unmarshal(object.Values["value"], &value); err != nil {
			t.Fatal(err)
		}
		objects[id], _, _ = strings.Cut(value, " ")
	}
	return objects
}
