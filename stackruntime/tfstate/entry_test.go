// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProviderName(t *testing.T) {
	for address, want := range map[string]string{
		`provider["terraform.io/builtin/terraform"]`:                 "terraform.io/builtin/terraform",
		`module.m.provider["registry.terraform.io/a/b"].west`:        "registry.terraform.io/a/b",
		`provider["registry.terraform.io/hashicorp/random"].by["x"]`: "registry.terraform.io/hashicorp/random",
		`provider.aws`: "provider.aws",
	} {
		if got := (Object{Provider: address}).ProviderName(); got != want {
			t.Errorf("the name of %s is %q, want %q", address, got, want)
		}
	}
}

const identified = `{"version":4,"resources":[{"mode":"managed","type":"a_b","name":"x","provider":"provider[\"example.com/a/a\"]","instances":[
  {"attributes":{"id":"1"},"identity":{"id":"1"},"identity_schema_version":2,"private":"cA==","dependencies":["a_b.y"],"provider":"provider[\"example.com/a/a\"].by"}]}]}`

func TestIdentities(t *testing.T) {
	objects, err := ParseObjects([]byte(identified))
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 1 || string(objects[0].Identity) != `{"id":"1"}` || objects[0].IdentityVersion != 2 {
		t.Fatalf("got %+v", objects)
	}
	entry, err := objects[0].Entry()
	if err != nil {
		t.Fatal(err)
	}
	again, err := entry.Object()
	if diff := cmp.Diff(objects[0].Identity, again.Identity); diff != "" || again.IdentityVersion != 2 || err != nil {
		t.Errorf("after encoding: %v, %s", err, diff)
	}
	if _, err := (Object{Attributes: []byte("{}"), Identity: []byte("{")}).Entry(); err == nil {
		t.Error("an identity that is no JSON was encoded")
	}
}

// TestChangedEntry checks that what is not changed stays as it was, whatever it is.
func TestChangedEntry(t *testing.T) {
	d, err := Parse([]byte(identified))
	if err != nil {
		t.Fatal(err)
	}
	changed := d.Entries()[0].WithProvider(ProviderConfig{Provider: "example.com/b/b", Alias: "west"}).WithDependencies([]string{"a_b.z"})
	const want = `{"resource":{"mode":"managed","type":"a_b","name":"x","provider":"provider[\"example.com/b/b\"].west"},` +
		`"instance":{"attributes":{"id":"1"},"dependencies":["a_b.z"],"identity":{"id":"1"},"identity_schema_version":2,"private":"cA=="}}`
	if got := string(changed.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	object, err := changed.WithDependencies(nil).Object()
	if config, ok := ParseProviderConfig(object.Provider); err != nil || !ok || config.Alias != "west" || len(object.Dependencies) != 0 {
		t.Errorf("got %+v, %v", object, err)
	}
}
