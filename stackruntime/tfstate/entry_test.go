// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
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

// TestChangedEntry checks that unchanged members stay as they were, whatever they are.
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

// TestObjectRoundTrips checks that an object is read as it was written, with all that it can have.
func TestObjectRoundTrips(t *testing.T) {
	addr := must(stackaddrs.ParseResourceInstance(`module.m["a"].a_b.x[3]`))
	for name, object := range map[string]Object{
		"least": {Addr: addr, Attributes: []byte(`{}`), SensitiveAttributes: []byte(`[]`)},
		"most": {
			Addr: addr, Deposed: "0123abcd", Provider: `provider["example.com/a/a"].west`, SchemaVersion: 3, Tainted: true,
			Attributes: []byte(`{"n":123456789012345678901234567890.5}`), SensitiveAttributes: []byte(`[[{"type":"get_attr","value":"n"}]]`),
			Private: "cA==", Dependencies: []string{"a_b.y"}, CreateBeforeDestroy: true, Identity: []byte(`{"id":"1"}`), IdentityVersion: 2,
		},
		"flat": {Addr: addr, FlatAttributes: []byte(`{"list.#":"0"}`), SensitiveAttributes: []byte(`[]`)},
	} {
		entry, err := object.Entry()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		document := must(New(nil, []Entry{entry}))
		got, err := ParseObjects(document.Bytes())
		if diff := cmp.Diff([]Object{object}, got, cmp.Comparer(func(a, b stackaddrs.ResourceInstance) bool { return a == b })); diff != "" ||
			err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestStatusOfEntry(t *testing.T) {
	e := parse(t, identified).Entries()[0]
	deposed := must(e.WithDeposed("0123abcd").WithTainted(true).Object())
	if deposed.Deposed != "0123abcd" || !deposed.Tainted || deposed.Private != "cA==" {
		t.Errorf("got %+v", deposed)
	}
	again := e.WithDeposed("0123abcd").WithTainted(true).WithDeposed("").WithTainted(false)
	if string(again.instance) != string(setMembers(e.instance, nil)) || again.Deposed != "" {
		t.Errorf("and back: %s", again.AppendJSON(nil))
	}
}

func TestEncodePaths(t *testing.T) {
	set := cty.IndexStep{Key: cty.ObjectVal(map[string]cty.Value{"a": cty.True})}
	paths := []cty.Path{
		cty.GetAttrPath("list").IndexInt(2).GetAttr("a"), cty.GetAttrPath("map").IndexString("<k>"),
		{},
		append(cty.GetAttrPath("set"), set), append(cty.GetAttrPath("set"), set, cty.GetAttrStep{Name: "a"}),
	}
	const want = `[[{"type":"get_attr","value":"list"},{"type":"index","value":{"value":2,"type":"number"}},` +
		`{"type":"get_attr","value":"a"}],` +
		`[{"type":"get_attr","value":"map"},{"type":"index","value":{"value":"\u003ck\u003e","type":"string"}}],[],` +
		`[{"type":"get_attr","value":"set"}]]`
	encoded, err := EncodePaths(paths)
	if string(encoded) != want || err != nil {
		t.Fatalf("EncodePaths = %s, %v, want %s", encoded, err, want)
	}
	decoded, err := Object{SensitiveAttributes: encoded}.SensitivePaths()
	if err != nil || len(decoded) != 4 || !decoded[0].Equals(paths[0]) || !decoded[1].Equals(paths[1]) {
		t.Errorf("SensitivePaths = %#v, %v", decoded, err)
	}
	if got := string(must(EncodePaths(nil))); got != "[]" {
		t.Errorf("no paths are %s", got)
	}
	if got, err := EncodePaths([]cty.Path{cty.IndexPath(cty.UnknownVal(cty.String))}); err == nil {
		t.Errorf("an unknown key is encoded as %s", got)
	}
}
