// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/cairnstacks/cairn/internal/providers/schema/schematest"
	"github.com/cairnstacks/cairn/internal/rpcapi"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

func TestGetBuiltInProviders(t *testing.T) {
	got, err := connect(t, rpcapi.Options{}).GetBuiltInProviders(t.Context(), &dependenciespb.GetBuiltInProviders_Request{})
	if err != nil {
		t.Fatal(err)
	}
	only := got.GetAvailableProviders()
	if len(only) != 1 || only[0].GetSourceAddr() != "terraform.io/builtin/terraform" ||
		only[0].GetVersion() != "" || len(only[0].GetHashes()) > 0 {
		t.Errorf("got %v", got)
	}
}

type object = schematest.Object

func set[T comparable](o object, name string, value T) {
	var zero T
	if value != zero {
		o[name] = value
	}
}

func describe(o object, text *dependenciespb.Schema_DocString) {
	if text.GetDescription() != "" {
		o["description"] = text.GetDescription()
		o["description_kind"] = strings.ToLower(text.GetFormat().String())
	}
}

// blockAsTerraform returns a message as terraform writes schemas in JSON.
func blockAsTerraform(t *testing.T, block *dependenciespb.Schema_Block) object {
	written := object{}
	describe(written, block.GetDescription())
	set(written, "deprecated", block.GetDeprecated())
	attributes := attributesAsTerraform(t, block.GetAttributes())
	blocks := object{}
	for _, nested := range block.GetBlockTypes() {
		blocks[nested.GetTypeName()] = object{
			"nesting_mode": strings.ToLower(nested.GetNesting().String()),
			"block":        blockAsTerraform(t, nested.GetBlock()),
		}
	}
	for name, all := range map[string]object{"attributes": attributes, "block_types": blocks} {
		if len(all) > 0 {
			written[name] = all
		}
	}
	return written
}

func attributesAsTerraform(t *testing.T, attributes []*dependenciespb.Schema_Attribute) object {
	written := object{}
	for _, attr := range attributes {
		one := object{}
		describe(one, attr.GetDescription())
		set(one, "required", attr.GetRequired())
		set(one, "optional", attr.GetOptional())
		set(one, "computed", attr.GetComputed())
		set(one, "sensitive", attr.GetSensitive())
		set(one, "deprecated", attr.GetDeprecated())
		if nested := attr.GetNestedType(); nested != nil {
			one["nested_type"] = object{
				"attributes":   attributesAsTerraform(t, nested.GetAttributes()),
				"nesting_mode": strings.ToLower(nested.GetNesting().String()),
			}
		} else {
			var ty any
			if err := json.Unmarshal(attr.GetType(), &ty); err != nil {
				t.Fatal(err)
			}
			one["type"] = ty
		}
		written[attr.GetName()] = one
	}
	return written
}

// represented removes the attributes that messages do not have.
func represented(value any) {
	o, ok := value.(object)
	if !ok {
		return
	}
	for _, name := range []string{"min_items", "max_items", "write_only", "deprecation_message"} {
		if _, isObject := o[name].(object); !isObject {
			delete(o, name)
		}
	}
	if _, described := o["description"].(string); !described {
		if _, isText := o["description_kind"].(string); isText {
			delete(o, "description_kind")
		}
	}
	for _, inner := range o {
		represented(inner)
	}
}

// compareSchemas compares the schemas in a message with those that terraform has.
func compareSchemas(t *testing.T, want any, got map[string]*dependenciespb.Schema) {
	t.Helper()
	represented(want)
	for name, message := range got {
		block := blockAsTerraform(t, message.GetBlock())
		wanted, _ := want.(object)[name].(object)
		if diff := cmp.Diff(wanted["block"], any(block)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if all, _ := want.(object); len(all) != len(got) {
		t.Errorf("got %d schemas, want %d", len(got), len(all))
	}
}

func openCache(t *testing.T, client dependenciespb.DependenciesClient, dir string) int64 {
	t.Helper()
	opened, err := client.OpenProviderPluginCache(t.Context(), &dependenciespb.OpenProviderPluginCache_Request{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return opened.GetProviderCacheHandle()
}

// Schemas of real providers are those that terraform has.
func TestGetProviderSchema(t *testing.T) {
	want, mirror := schematest.Terraform(t)
	client := connect(t, rpcapi.Options{Environ: append(os.Environ(), "TF_DISABLE_PLUGIN_TLS=1")})
	cache := openCache(t, client, mirror)
	cached, err := client.GetCachedProviders(t.Context(), &dependenciespb.GetCachedProviders_Request{ProviderCacheHandle: cache})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, provider := range cached.GetAvailableProviders() {
		expected, ok := want[provider.GetSourceAddr()]
		if !ok {
			continue // the same program by an address of another registry
		}
		compared++
		got, err := client.GetProviderSchema(t.Context(), &dependenciespb.GetProviderSchema_Request{
			ProviderAddr: provider.GetSourceAddr(), ProviderVersion: provider.GetVersion(), ProviderCacheHandle: cache,
		})
		if err != nil {
			t.Fatal(err)
		}
		compareSchemas(t, object{"": expected["provider"]}, map[string]*dependenciespb.Schema{"": got.GetSchema().GetProviderConfig()})
		compareSchemas(t, expected["resource_schemas"], got.GetSchema().GetManagedResourceTypes())
		compareSchemas(t, expected["data_source_schemas"], got.GetSchema().GetDataResourceTypes())
	}
	if compared != 2 {
		t.Errorf("%d providers were compared, want 2", compared)
	}
}

// The built-in provider has documentation of its own.
func TestGetProviderSchemaBuiltIn(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	got, err := client.GetProviderSchema(t.Context(), &dependenciespb.GetProviderSchema_Request{
		ProviderAddr: "terraform.io/builtin/terraform",
	})
	if err != nil {
		t.Fatal(err)
	}
	data := got.GetSchema().GetDataResourceTypes()["terraform_remote_state"].GetBlock().GetAttributes()
	if len(data) != 5 || data[0].GetName() != "backend" || string(data[0].GetType()) != `"string"` ||
		data[0].GetDescription().GetDescription() == "" {
		t.Errorf("got %v", data)
	}
	if managed := got.GetSchema().GetManagedResourceTypes()["terraform_data"].GetBlock().GetAttributes(); len(managed) != 4 {
		t.Errorf("got %v", managed)
	}
	if got.GetSchema().GetProviderConfig().GetBlock() == nil {
		t.Error("the configuration of the provider has no schema")
	}
}

func TestGetProviderSchemaRefused(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	dir := newCache(t)
	cache := openCache(t, client, dir)
	opened, err := client.OpenProviderPluginCache(t.Context(), &dependenciespb.OpenProviderPluginCache_Request{
		CacheDir:         dir,
		OverridePlatform: "os_arch",
	})
	if err != nil {
		t.Fatal(err)
	}
	foreign := opened.GetProviderCacheHandle()
	for name, test := range map[string]struct {
		addr, version string
		cache         int64
		want          codes.Code
	}{
		"bad address":         {"a//b", "1.0.0", cache, codes.InvalidArgument},
		"no address":          {"", "", cache, codes.InvalidArgument},
		"bad version":         {"example.com/foo/bar", "new", cache, codes.InvalidArgument},
		"constraint":          {"example.com/foo/bar", "~> 1.0", cache, codes.InvalidArgument},
		"no version":          {"example.com/foo/bar", "", cache, codes.InvalidArgument},
		"version of built-in": {"terraform.io/builtin/terraform", "1.0.0", 0, codes.InvalidArgument},
		"no cache":            {"example.com/foo/bar", "1.2.3", 0, codes.InvalidArgument},
		"bad cache":           {"example.com/foo/bar", "1.2.3", 99, codes.InvalidArgument},
		"unknown built-in":    {"terraform.io/builtin/other", "", 0, codes.Internal},
		"not in the cache":    {"example.com/foo/bar", "1.2.3", cache, codes.Internal},
		"cannot be started":   {"example.com/foo/bar", "1.2.3", foreign, codes.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.GetProviderSchema(t.Context(), &dependenciespb.GetProviderSchema_Request{
				ProviderAddr: test.addr, ProviderVersion: test.version, ProviderCacheHandle: test.cache,
			})
			wantCode(t, err, test.want)
		})
	}
}
