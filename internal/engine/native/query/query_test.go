// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package query_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/query"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// ask queries a component whose fake provider lists objects by their ids.
func ask(t *testing.T, archive string, listed func(provider.ListRequest) provider.ListResponse) (
	*nativetest.Component, *engine.QueryResult, string,
) {
	t.Helper()
	c := nativetest.New(t, archive)
	c.Fake.Schema().List = map[string]*schema.Schema{
		"fake_thing": {Block: &schema.Block{Attributes: []*schema.Attribute{{Name: "name", Type: cty.String, Optional: true}}}},
	}
	c.Fake.OnList = listed
	loader := module.NewLoader(module.Options{Base: c.Dir})
	tree, diags := loader.LoadStrict(c.Dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	root, diags := loader.Query(tree)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	result, diags := query.Query(t.Context(), &query.Request{
		QueryRequest: &engine.QueryRequest{Generate: true, Inputs: map[string]cty.Value{"v": cty.UnknownVal(cty.String)}},
		Tree:         root, Providers: c, Types: &resource.Types{}, Functions: nativetest.Functions(lang.Options{PureOnly: true}),
		RootPath: ".", WorkPath: c.Dir, Calls: make(chan struct{}, 10),
		Schema: func(stackaddrs.Provider) *schema.Provider { return c.Fake.Schema() },
	})
	var summaries []string
	for _, diag := range diags {
		summaries = append(summaries, diag.Summary)
	}
	slices.Sort(summaries)
	return c, result, strings.Join(summaries, ", ")
}

func identity(id string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id)})
}

// Blocks are made of whole objects, and one that the provider leaves out is imported. An object
// that several list blocks find, and a name that the module has, are not used again.
func TestGenerate(t *testing.T) {
	whole := nativetest.Schema().Managed["fake_thing"].Block.Empty().AsValueMap()
	whole["id"], whole["name"], whole["secret"] = cty.StringVal("one"), cty.StringVal("first"), cty.StringVal("s3cret")
	c, result, said := ask(t, `
-- main.tf --
resource "fake_thing" "all_1" {}
-- q.tfquery.hcl --
list "fake_thing" "all" {
  provider         = fake
  include_resource = true
}
list "fake_thing" "more" {
  provider = fake
}
`, func(req provider.ListRequest) provider.ListResponse {
		if !req.IncludeObject || req.Limit != 100 {
			t.Errorf("the provider is asked for %+v", req)
		}
		return provider.ListResponse{Objects: []provider.ListedObject{
			{Identity: identity("one"), DisplayName: "the\nfirst", Object: cty.ObjectVal(whole)},
			{Identity: identity("two"), Object: cty.NullVal(cty.ObjectVal(whole).Type())},
		}}
	})
	if said != "" {
		t.Fatal(said)
	}
	const want = `# list.fake_thing.all: the␊first
resource "fake_thing" "all_0" {
  provider = fake
  force    = null
  name     = "first"
  secret   = null # sensitive
  size     = null
  tags     = null
  token    = null
}

import {
  to       = fake_thing.all_0
  provider = fake
  identity = {
    id = "one"
  }
}

# list.fake_thing.all
resource "fake_thing" "all_2" {
  provider = fake
  force    = null
  name     = "two"
  secret   = null # sensitive
  size     = 1
  tags     = null
  token    = null
}

import {
  to       = fake_thing.all_2
  provider = fake
  identity = {
    id = "two"
  }
}
`
	if diff := cmp.Diff(want, result.Generated); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	var lists []string
	for _, found := range result.Objects {
		lists = append(lists, strings.TrimPrefix(found.List, "list.fake_thing."))
	}
	if diff := cmp.Diff([]string{"all", "all", "more", "more"}, lists); diff != "" {
		t.Errorf("list blocks of the objects (-want +got):\n%s", diff)
	}
	if object := result.Objects[0].Object; !marks.Contains(object.GetAttr("secret"), marks.Sensitive) {
		t.Errorf("the object is %#v, and nothing of it is sensitive", object)
	}
	if result.Objects[1].Object != cty.NilVal || result.Objects[2].Object != cty.NilVal {
		t.Error("there is an object that the provider has left out, or that the block does not include")
	}
	if calls := c.Fake.Calls(); !slices.Contains(calls, "import fake_thing two") || slices.Contains(calls, "import fake_thing one") {
		t.Errorf("calls: %q", calls)
	}
}

// A block that fails keeps only those from being asked that refer to it, and nothing is generated.
func TestFailures(t *testing.T) {
	_, result, said := ask(t, `
-- main.tf --
variable "v" {}
resource "fake_thing" "r" {}
-- q.tfquery.hcl --
list "fake_thing" "unknown" {
  provider = fake
  limit    = length(var.v)
}
list "fake_thing" "dependent" {
  provider = fake
  config {
    name = list.fake_thing.unknown.data[0].identity.id
  }
}
list "fake_thing" "broken" {
  provider = fake
  config {
    name = "broken"
  }
}
list "fake_thing" "fine" {
  provider = fake
}
`, func(req provider.ListRequest) provider.ListResponse {
		response := provider.ListResponse{Objects: []provider.ListedObject{{Identity: identity("one"), Object: cty.NullVal(cty.EmptyObject)}}}
		if name := req.Config.GetAttr("name"); !name.IsNull() {
			response.Diagnostics = provider.Errorf("Broken", "No.")
		}
		return response
	})
	if said != "Broken, Unknown list arguments" {
		t.Errorf("got %s", said)
	}
	if len(result.Objects) != 1 || result.Objects[0].List != "list.fake_thing.fine" || result.Generated != "" {
		t.Errorf("got %+v", result)
	}
}
