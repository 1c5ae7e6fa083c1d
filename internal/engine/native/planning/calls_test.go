// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const fakeRequired = `
-- versions.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
  provider_meta "fake" {
    note = "from here"
  }
}
`

// TestCalls asks providers in the order that they know from terraform.
func TestCalls(t *testing.T) {
	const thing = "-- main.tf --\nresource \"fake_thing\" \"a\" {\n  name = \"a\"\n}\n"
	const stored = "-- prior --\nfake_thing.a {\"id\":\"1\",\"name\":\"a\",\"size\":1}\n"
	tests := map[string]struct {
		archive string
		change  func(*planning.Request)
		want    []string
	}{
		"create": {thing, nil, []string{"validate fake_thing a", "plan fake_thing a"}},
		"no-op":  {thing + stored, nil, []string{"upgrade fake_thing a", "read fake_thing a", "validate fake_thing a", "plan fake_thing a"}},
		"replace": {
			thing + stored,
			replaceA,
			[]string{"upgrade fake_thing a", "read fake_thing a", "validate fake_thing a", "plan fake_thing a", "plan fake_thing a"},
		},
		"unread": {
			thing + stored, func(req *planning.Request) { req.SkipRefresh = true },
			[]string{"upgrade fake_thing a", "validate fake_thing a", "plan fake_thing a"},
		},
		"orphan":       {"-- main.tf --\n" + stored, nil, []string{"upgrade fake_thing a", "read fake_thing a", "plan fake_thing a"}},
		"refresh-only": {thing + stored, inMode(engine.RefreshOnly), []string{"upgrade fake_thing a", "read fake_thing a"}},
		"destroy": {
			thing + stored, inMode(engine.Destroy),
			[]string{
				"upgrade fake_thing a", "read fake_thing a", "validate fake_thing a", "plan fake_thing a", "upgrade fake_thing a", "plan fake_thing a",
			},
		},
		"import": {
			thing + "import {\n  to = fake_thing.a\n  id = \"a\"\n}\n", nil,
			[]string{"import fake_thing a", "read fake_thing a", "validate fake_thing a", "plan fake_thing a"},
		},
		"data": {
			"-- main.tf --\ndata \"fake_thing\" \"a\" {\n  name = \"a\"\n}\n",
			nil,
			[]string{"validate fake_thing a", "readdata fake_thing a"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := nativetest.New(t, fakeRequired+test.archive)
			if plan := c.Plan(t, test.change); len(plan.Diags) > 0 {
				t.Fatal(plan.Diags)
			}
			if diff := cmp.Diff(test.want, c.Fake.Calls()); diff != "" {
				t.Errorf("Plan: calls (-want +got):\n%s", diff)
			}
		})
	}
}

func replaceA(req *planning.Request) { req.Replace = []string{"fake_thing.a"} }

func inMode(mode engine.Mode) func(*planning.Request) {
	return func(req *planning.Request) { req.Mode = mode }
}

// TestProviderMeta passes the provider_meta of a resource's module to its provider.
func TestProviderMeta(t *testing.T) {
	c := nativetest.New(t, fakeRequired+`
-- main.tf --
resource "fake_thing" "a" {
}
data "fake_thing" "a" {
}
-- prior --
fake_thing.a {"id":"1","size":1}
fake_thing.orphan {"id":"2","size":1}
`)
	var read, planned, data string
	isA := func(object cty.Value) bool { return object.GetAttr("id").RawEquals(cty.StringVal("1")) }
	c.Fake.OnRead = func(req provider.ReadRequest, response provider.ReadResponse) provider.ReadResponse {
		if isA(req.Current) {
			read = nativetest.ShowValue(req.Meta)
		}
		return response
	}
	c.Fake.OnPlan = func(req provider.PlanRequest, response provider.PlanResponse) provider.PlanResponse {
		if isA(req.Prior) {
			planned = nativetest.ShowValue(req.Meta)
		}
		return response
	}
	c.Fake.OnReadData = func(req provider.ReadDataRequest, response provider.ReadDataResponse) provider.ReadDataResponse {
		data = nativetest.ShowValue(req.Meta)
		return response
	}
	if plan := c.Plan(t, nil); len(plan.Diags) > 0 {
		t.Fatal(plan.Diags)
	}
	const want = `{note = "from here"}`
	for call, got := range map[string]string{"Read": read, "Plan": planned, "ReadData": data} {
		if got != want {
			t.Errorf("%s: provider_meta is %s, want %s", call, got, want)
		}
	}
}
