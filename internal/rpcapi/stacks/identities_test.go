// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/cairnstacks/cairn/internal/testenv"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

const identityStack = `
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}
provider "fake" "main" {}
component "a" {
  source    = "./m"
  for_each  = toset(["x"])
  providers = { fake = provider.fake.main }
}
`

// identified returns the elements of a state in which there are objects with an identity that is
// stored, by migrating one that has them.
func (c *client) identified(config, locks, cache int64, identity string) map[string]*anypb.Any {
	c.t.Helper()
	const object = `{"mode":"managed","type":"fake_identity","name":%q,"provider":"provider[\"registry.terraform.io/cairnstacks/fake\"]","instances":[
		{"schema_version":0,"attributes":{"id":%q,"value":null}%s},{"schema_version":0,"deposed":"0123abcd","attributes":{"id":"old","value":null}%[3]s}]}`
	opened, err := c.openRaw(`{"version":4,"terraform_version":"1.12.0","serial":1,"lineage":"x","outputs":{},"resources":[` +
		fmt.Sprintf(object, "with", "one", identity) + "," + fmt.Sprintf(object, "without", "two", "") + `]}`)
	if err != nil {
		c.t.Fatal(err)
	}
	got, err := c.migrate(&stackspb.MigrateTerraformState_Request{
		StateHandle: opened.GetStateHandle(), ConfigHandle: config, DependencyLocksHandle: locks, ProviderCacheHandle: cache,
		Mapping: mapping(map[string]string{
			"fake_identity.with":    `component.a["x"].module.nested[0].fake_identity.with`,
			"fake_identity.without": `component.a["x"]`,
		}, nil),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	noDiagnostics(c.t, got.diags)
	return got.state
}

func TestListResourceIdentities(t *testing.T) {
	testenv.Engine(t)
	c := serve(t)
	locks, cache := c.fakeProvider()
	const required = "terraform {\n  required_providers {\n    fake = { source = \"cairnstacks/fake\" }\n  }\n}\n"
	config := c.open(map[string]string{
		"main.tfcomponent.hcl": identityStack,
		"m/main.tf": required +
			"resource \"fake_identity\" \"without\" {}\nmodule \"nested\" {\n  source = \"./nested\"\n  count  = 1\n}\n",
		"m/nested/main.tf": required + "resource \"fake_identity\" \"with\" {}\n",
	})
	list := func(state map[string]*anypb.Any, locks int64) ([]*stackspb.ListResourceIdentities_Resource, error) {
		opened, err := c.openState(state)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.stacks.ListResourceIdentities(t.Context(), &stackspb.ListResourceIdentities_Request{
			StateHandle: opened, DependencyLocksHandle: locks, ProviderCacheHandle: cache,
		})
		return got.GetResource(), err
	}
	if got, err := list(nil, locks); err != nil || len(got) > 0 {
		t.Errorf("of an empty state: %v, %v", got, err)
	}
	good := c.identified(config, locks, cache, `,"identity":{"id":"one"},"identity_schema_version":0`)
	got, err := list(good, locks)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	addresses := []string{got[0].GetComponentAddr(), got[0].GetComponentInstanceAddr(), got[0].GetResourceInstanceAddr()}
	if diff := cmp.Diff([]string{"component.a", `component.a["x"]`, "module.nested[0].fake_identity.with"}, addresses); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	ty := cty.Object(map[string]cty.Type{"id": cty.String})
	if value, err := ctymsgpack.Unmarshal(got[0].GetResourceIdentity().GetMsgpack(), ty); err != nil ||
		value.GetAttr("id").AsString() != "one" {
		t.Errorf("the identity is %#v, %v", value, err)
	}

	_, err = list(good, c.locks())
	wantStatus(t, err, codes.InvalidArgument, "is not locked")
	_, err = list(c.identified(config, locks, cache, `,"identity":{"id":"one"},"identity_schema_version":7`), locks)
	wantStatus(t, err, codes.InvalidArgument, "version 7")
	_, err = list(c.identified(config, locks, cache, `,"identity":{"other":"one"},"identity_schema_version":0`), locks)
	wantStatus(t, err, codes.InvalidArgument, "not as the provider")
}

func TestRefusedIdentities(t *testing.T) {
	c := serve(t)
	state, err := c.openState(nil)
	if err != nil {
		t.Fatal(err)
	}
	locks, cache := c.locks(), c.cache(t.TempDir())
	for name, req := range map[string]*stackspb.ListResourceIdentities_Request{
		"no state":        {DependencyLocksHandle: locks, ProviderCacheHandle: cache},
		"no locks":        {StateHandle: state, ProviderCacheHandle: cache},
		"no cache":        {StateHandle: state, DependencyLocksHandle: locks},
		"of other kinds":  {StateHandle: locks, DependencyLocksHandle: state, ProviderCacheHandle: cache},
		"ordinary states": {StateHandle: cache, DependencyLocksHandle: locks, ProviderCacheHandle: cache},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.stacks.ListResourceIdentities(t.Context(), req)
			wantStatus(t, err, codes.InvalidArgument, "")
		})
	}
}
