// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackaddrs"
)

var aws = stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "aws"}

// poolOf returns the pool for a component that is given a configuration of aws in the root stack,
// "" for none.
func poolOf(t *testing.T, pools settings.Pools, component, config string) (string, hcl.Diagnostics) {
	t.Helper()
	addr, err := stackaddrs.ParsePartialComponentInstance(component)
	if err != nil {
		t.Fatal(err)
	}
	req := settings.PoolRequest{Component: addr, Required: func(stack stackaddrs.Stack, name string) stackaddrs.Provider {
		if stack.IsRoot() && name == "amazon" {
			return aws
		}
		return stackaddrs.Provider{}
	}}
	if name, key, found := strings.Cut(config, "/"); config != "" {
		instance := stackaddrs.ProviderConfigInstance{Config: stackaddrs.ProviderConfig{Provider: aws, Name: name}}
		if found {
			instance.Key = stackaddrs.StringKey(key)
		}
		req.Providers = []stackaddrs.AbsProviderConfigInstance{{Item: instance}}
	}
	return pools.For(req)
}

func TestPools(t *testing.T) {
	got, diags := read(t, `
pool "gpu" {
  components = ["component.train", "component.db[\"eu\"]", "stack.x.component.y", "stack.z[\"a\"].component.y"]
  providers  = ["provider.amazon.eu", "provider.amazon.all[\"us\"]"]
}
pool "other" {
  components = ["component.db[\"us\"]", "component.both", "stack.z[\"b\"].component.y"]
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, test := range []struct{ component, config, want string }{
		{"component.train", "", "gpu"},
		{`component.train["a"]`, "", "gpu"},
		{"component.train[*]", "", "gpu"},
		{`component.db["eu"]`, "", "gpu"},
		{`component.db["us"]`, "", "other"},
		{`component.db["asia"]`, "", ""},
		{"stack.x.component.y", "", "gpu"},
		{`stack.x["k"].component.y["l"]`, "", "gpu"},
		{`stack.z["a"].component.y`, "", "gpu"},
		{`stack.z["b"].component.y`, "", "other"},
		{`stack.z["c"].component.y`, "", ""},
		{"component.y", "", ""},
		{"component.free", "eu", "gpu"},
		{"component.free", "eu/k", "gpu"},
		{"component.free", "all/us", "gpu"},
		{"component.free", "all/eu", ""},
		{"component.free", "main", ""},
	} {
		if pool, diags := poolOf(t, got.Pools, test.component, test.config); pool != test.want || len(diags) > 0 {
			t.Errorf("%s with %q: got the pool %q and %v, want %q", test.component, test.config, pool, diags, test.want)
		}
	}
	_, diags = poolOf(t, got.Pools, "component.both", "eu")
	if len(diags) != 1 || diags[0].Subject.Start.Line != 7 || !strings.Contains(diags[0].Detail, `the pool "gpu" as well, by cairn.hcl:4,`) {
		t.Errorf("in two pools by a provider: got %v", diags)
	}
	diags = got.Pools.Check(
		func(addr stackaddrs.ConfigComponent) bool { return addr.String() != "stack.x.component.y" },
		func(_ stackaddrs.Stack, ref stackaddrs.ProviderConfigRef) bool { return ref.Name != "all" },
	)
	if len(diags) != 2 || diags[0].Detail != "The stack has no stack.x.component.y." || diags[1].Subject.Start.Line != 4 {
		t.Errorf("Check: got %v", diags)
	}
}

func TestPoolMistakes(t *testing.T) {
	const a = "pool \"a\" { components = [\"component.x\"] }\n"
	for text, want := range map[string]string{
		`pool "a" {}`:                                                `Pool without components`,
		"pool \"a\" { components = [] }":                             `Unusable list; Give a list of texts, such as ["component.train"]`,
		"pool \"a\" { components = [\"x\"] }":                        `Invalid address; Give an address such as "component.train"`,
		"pool \"a\" { components = [\"component.x[*]\"] }":           `Invalid address`,
		"pool \"a\" { providers = [\"provider.aws\"] }":              `Invalid address; Give an address such as "provider.aws.eu"`,
		"pool \"a\" {\nslots = 1\ncomponents = [\"component.x\"]\n}": `Unsupported argument`,
		`pool "a b" { components = ["component.x"] }`:                `Unusable name of a pool`,
		a + `pool "a" { components = ["component.y"] }`:              `Setting given twice; There is another block for the pool "a", at cairn.hcl:1,1-9`,
		a + `pool "b" { components = ["component.x"] }`:              `Component in two pools; component.x is in the pool "a" as well, by cairn.hcl:1,`,
		a + `pool "b" { components = ["component.x[\"k\"]"] }`:       `Component in two pools; component.x["k"] is in the pool "a"`,
	} {
		_, diags := read(t, text)
		if len(diags) != 1 || diags[0].Subject == nil || diags[0].Subject.Filename != settings.File {
			t.Errorf("%s:\n%v, want one error with its place", text, diags)
			continue
		}
		if got := diags[0].Summary + "; " + diags[0].Detail; !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%s, want %s", text, got, want)
		}
	}
}
