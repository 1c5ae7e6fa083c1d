// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"fmt"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/internal/engine/binary/valueschema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// serverSchema is the schema of a resource type as many providers have them: attributes of each
// type, a secret, tags and blocks.
func serverSchema() *tfjson.Schema {
	attributes := map[string]*tfjson.SchemaAttribute{
		"password": {AttributeType: cty.String, Optional: true, Sensitive: true},
		"enabled":  {AttributeType: cty.Bool, Optional: true},
		"size":     {AttributeType: cty.Number, Optional: true},
		"price":    {AttributeType: cty.Number, Optional: true},
		"zones":    {AttributeType: cty.List(cty.String), Optional: true},
		"groups":   {AttributeType: cty.Set(cty.String), Optional: true},
		"tags":     {AttributeType: cty.Map(cty.String), Optional: true},
	}
	for _, name := range []string{"id", "name", "region", "image", "network", "address", "owner", "kind", "description", "etag"} {
		attributes[name] = &tfjson.SchemaAttribute{AttributeType: cty.String, Optional: true, Computed: true}
	}
	disk := &tfjson.SchemaBlock{Attributes: map[string]*tfjson.SchemaAttribute{
		"name": {AttributeType: cty.String, Required: true},
		"size": {AttributeType: cty.Number, Optional: true},
		"key":  {AttributeType: cty.String, Optional: true, Sensitive: true},
	}}
	return &tfjson.Schema{Block: &tfjson.SchemaBlock{
		Attributes:   attributes,
		NestedBlocks: map[string]*tfjson.SchemaBlockType{"disk": {NestingMode: tfjson.SchemaNestingModeList, Block: disk}},
	}}
}

func serverValue(id cty.Value, owner string) cty.Value {
	text := cty.StringVal
	disk := func(name string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"name": text(name), "size": cty.NumberIntVal(100), "key": cty.NullVal(cty.String)})
	}
	return cty.ObjectVal(map[string]cty.Value{
		"id": id, "name": text("server"), "region": text("eu-central-1"), "image": text("image-0123456789"), "network": text("net-0"),
		"address": text("10.0.0.1"), "owner": text(owner), "kind": text("large"), "description": cty.NullVal(cty.String), "etag": id,
		"password": text("secret"), "enabled": cty.True, "size": cty.NumberIntVal(4), "price": cty.MustParseNumberVal("0.1"),
		"zones": cty.ListVal([]cty.Value{text("a"), text("b")}), "groups": cty.SetVal([]cty.Value{text("x"), text("y"), text("z")}),
		"tags": cty.MapVal(map[string]cty.Value{"env": text("prod"), "team": text("infra"), "cost": text("17")}),
		"disk": cty.ListVal([]cty.Value{disk("root"), disk("data")}),
	})
}

// servers returns the content of a plan file in which each server is created, updated, replaced or
// stays as it is.
func servers(b *testing.B, count int) []byte {
	b.Helper()
	packed := func(v cty.Value) []byte {
		data, err := msgpack.Marshal(v, v.Type())
		if err != nil {
			b.Fatal(err)
		}
		return message(1, data)
	}
	before := packed(serverValue(cty.StringVal("i-1"), "alice"))
	secret := message(1, message(1, "password"))
	changes := [][]byte{
		message(1, 0, 2, before, 3, secret, 4, secret),
		message(1, 1, 2, packed(serverValue(cty.UnknownVal(cty.String), "bob")), 4, secret),
		message(1, 3, 2, before, 2, packed(serverValue(cty.StringVal("i-1"), "bob")), 3, secret, 4, secret),
		message(1, 6, 2, before, 2, packed(serverValue(cty.UnknownVal(cty.String), "bob")), 3, secret),
	}
	msg := message(1, 3, 21, "2026-01-02T03:04:05Z")
	for i := range count {
		msg = append(msg, message(3, message(13, fmt.Sprintf("fake_server.s[%d]", i),
			8, `provider["registry.terraform.io/acme/fake"]`, 9, changes[i%len(changes)]))...)
	}
	state := []byte(`{"version":4}`)
	return zipOf(b, map[string][]byte{"tfplan": msg, "tfstate": state, "tfstate-prev": state})
}

func BenchmarkRead(b *testing.B) {
	schema := valueschema.New(serverSchema())
	read := func(b *testing.B, data []byte, opts Options) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Read(data, opts); err != nil {
				b.Fatal(err)
			}
		}
	}
	data := servers(b, 1000)
	b.Run("schema", func(b *testing.B) {
		read(b, data, Options{Schema: func(stackaddrs.Provider, stackaddrs.ResourceMode, string) *valueschema.Schema { return schema }})
	})
	b.Run("no schema", func(b *testing.B) { read(b, data, Options{}) })

	members := membersOf(b, committedFile("create"))
	original := members["tfplan"]
	for range 200 { // values that carry their types
		members["tfplan"] = append(members["tfplan"], original...)
	}
	data = zipOf(b, members)
	b.Run("typed values", func(b *testing.B) { read(b, data, Options{}) })
}
