// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schematest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

type object = schematest.Object

// asTerraform returns schemas as terraform writes them in JSON. Descriptions of the built-in
// provider are our own, and left out.
type asTerraform struct{ withoutText bool }

func (a asTerraform) provider(p *schema.Provider) object {
	written := object{"provider": a.schema(p.Config)}
	for key, schemas := range map[string]map[string]*schema.Schema{
		"resource_schemas": p.Managed, "data_source_schemas": p.Data, "ephemeral_resource_schemas": p.Ephemeral,
	} {
		if len(schemas) == 0 {
			continue
		}
		all := object{}
		for name, one := range schemas {
			all[name] = a.schema(one)
		}
		written[key] = all
	}
	return written
}

func (a asTerraform) schema(s *schema.Schema) object {
	written := object{"version": float64(s.Version)}
	if block := a.block(s.Block); len(block) > 0 {
		written["block"] = block
	}
	return written
}

func set(o object, name string, value bool) {
	if value {
		o[name] = true
	}
}

func (a asTerraform) describe(o object, text schema.Text) {
	if a.withoutText {
		return
	}
	o["description_kind"] = "plain"
	if text.Markdown {
		o["description_kind"] = "markdown"
	}
	if text.Text != "" {
		o["description"] = text.Text
	}
}

func (a asTerraform) block(b *schema.Block) object {
	written := object{}
	a.describe(written, b.Description)
	set(written, "deprecated", b.Deprecated)
	if len(b.Attributes) > 0 {
		written["attributes"] = a.attributes(b.Attributes)
	}
	if len(b.Blocks) > 0 {
		blocks := object{}
		for _, nested := range b.Blocks {
			one := object{"nesting_mode": string(nested.Nesting), "block": a.block(nested.Block)}
			for name, n := range map[string]int64{"min_items": nested.MinItems, "max_items": nested.MaxItems} {
				if n != 0 {
					one[name] = float64(n)
				}
			}
			blocks[nested.Name] = one
		}
		written["block_types"] = blocks
	}
	return written
}

func (a asTerraform) attributes(attributes []*schema.Attribute) object {
	written := object{}
	for _, attr := range attributes {
		one := object{}
		a.describe(one, attr.Description)
		for name, value := range map[string]bool{
			"required": attr.Required, "optional": attr.Optional, "computed": attr.Computed, "sensitive": attr.Sensitive,
			"deprecated": attr.Deprecated, "write_only": attr.WriteOnly,
		} {
			set(one, name, value)
		}
		if attr.Nested != nil {
			one["nested_type"] = object{"attributes": a.attributes(attr.Nested.Attributes), "nesting_mode": string(attr.Nested.Nesting)}
		} else {
			encoded, err := ctyjson.MarshalType(attr.Type)
			if err != nil {
				panic(err)
			}
			var ty any
			if err := json.Unmarshal(encoded, &ty); err != nil {
				panic(err)
			}
			one["type"] = ty
		}
		written[attr.Name] = one
	}
	return written
}

// known removes the parts of the output of terraform that are not compared: functions, whose
// signatures have tests of their own, and those that only later versions of it have.
func known(o object) object {
	for _, name := range []string{"functions", "resource_identity_schemas", "list_resource_schemas", "action_schemas"} {
		delete(o, name)
	}
	return o
}

// withoutText removes descriptions.
func withoutText(value any) {
	o, ok := value.(object)
	if !ok {
		return
	}
	for name, inner := range o {
		if _, isText := inner.(string); isText && (name == "description" || name == "description_kind") {
			delete(o, name)
			continue
		}
		withoutText(inner)
	}
}

// Schemas of providers of both protocols are those that terraform has, attribute by attribute.
func TestReadSchema(t *testing.T) {
	want, mirror := schematest.Terraform(t)
	for _, source := range []string{"cairnstacks/fake", "hashicorp/time"} {
		t.Run(source, func(t *testing.T) {
			got, err := instances.ReadSchema(t.Context(), programIn(t, mirror, source), os.Environ())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(known(want["registry.terraform.io/"+source]), asTerraform{}.provider(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("built in", func(t *testing.T) {
		want := known(want["terraform.io/builtin/terraform"])
		withoutText(want)
		got := builtin.Schema()
		got.Managed["terraform_data"].Block.Blocks = nil // store, which that version does not have
		if diff := cmp.Diff(want, asTerraform{withoutText: true}.provider(got)); diff != "" {
			t.Error(diff)
		}
	})
}

// Identities have versions and types.
func TestReadSchemaIdentities(t *testing.T) {
	got, err := instances.ReadSchema(t.Context(), programIn(t, testenv.FakeProviderMirror(t), "cairnstacks/fake"), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	identity := got.Identities["fake_identity"]
	if identity == nil || len(got.Identities) != 1 {
		t.Fatalf("got %v", got.Identities)
	}
	if !identity.Type().IsObjectType() || len(identity.Attributes) == 0 ||
		identity.Type().AttributeTypes()[identity.Attributes[0].Name] == cty.NilType {
		t.Errorf("got %v", identity)
	}
}

// program returns that of the tests, which is a provider with the environment of odd.
func program(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func odd(behaviour string) []string { return append(os.Environ(), behaviourVariable+"="+behaviour) }

// The parts of a schema that differ in protocol 5 by their numbers are decoded, too.
func (p *oddProvider) schema() *tfprotov5.GetProviderSchemaResponse {
	block := &tfprotov5.SchemaBlock{
		DeprecationMessage: "Use another provider.",
		Attributes: []*tfprotov5.SchemaAttribute{
			{Name: "secret", Type: tftypes.String, Optional: true, WriteOnly: true},
			{Name: "old", Type: tftypes.List{ElementType: tftypes.Number}, Optional: true, Deprecated: true, DeprecationMessage: "Use secret."},
		},
	}
	response := &tfprotov5.GetProviderSchemaResponse{
		Provider:        &tfprotov5.Schema{Version: 3, Block: block},
		ResourceSchemas: map[string]*tfprotov5.Schema{"odd": {Block: block}},
		ActionSchemas:   map[string]*tfprotov5.ActionSchema{"odd_act": {Schema: &tfprotov5.Schema{Block: block}}},
		Functions:       p.functions(),

		ServerCapabilities: &tfprotov5.ServerCapabilities{PlanDestroy: true, MoveResourceState: true},
		Diagnostics:        []*tfprotov5.Diagnostic{{Severity: tfprotov5.DiagnosticSeverityWarning, Summary: "Rain"}},
	}
	switch p.behaviour {
	case "no schema":
		response.Provider = nil
	case "failing schema":
		response.Diagnostics[0] = &tfprotov5.Diagnostic{
			Severity: tfprotov5.DiagnosticSeverityError,
			Summary:  "Storm",
			Detail:   "Come back tomorrow.",
		}
	case "panic in schema":
		panic("at the disco")
	}
	return response
}

func (p *oddProvider) GetResourceIdentitySchemas(
	context.Context, *tfprotov5.GetResourceIdentitySchemasRequest,
) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov5.GetResourceIdentitySchemasResponse{IdentitySchemas: map[string]*tfprotov5.ResourceIdentitySchema{
		"odd": {Version: 7, IdentityAttributes: []*tfprotov5.ResourceIdentitySchemaAttribute{
			{Name: "region", Type: tftypes.String, OptionalForImport: true},
			{Name: "id", Type: tftypes.Number, RequiredForImport: true, Description: "Its number."},
		}},
	}}, nil
}

func TestReadSchemaVersion5(t *testing.T) {
	got, err := instances.ReadSchema(t.Context(), program(t), odd("kind"))
	if err != nil {
		t.Fatal(err)
	}
	block := &schema.Block{
		Deprecation: "Use another provider.",
		Attributes: []*schema.Attribute{
			{Name: "old", Type: cty.List(cty.Number), Optional: true, Deprecated: true, Deprecation: "Use secret."},
			{Name: "secret", Type: cty.String, Optional: true, WriteOnly: true},
		},
	}
	want := &schema.Provider{
		Config:  &schema.Schema{Version: 3, Block: block},
		Managed: map[string]*schema.Schema{"odd": {Block: block}},
		Actions: map[string]*schema.Schema{"odd_act": {Block: block}},
		Data:    map[string]*schema.Schema{}, Ephemeral: map[string]*schema.Schema{}, List: map[string]*schema.Schema{},
		Identities: map[string]*schema.Identity{"odd": {Version: 7, Attributes: []*schema.IdentityAttribute{
			{Name: "id", Type: cty.Number, RequiredForImport: true, Description: "Its number."},
			{Name: "region", Type: cty.String, OptionalForImport: true},
		}}},
		Functions:    map[string]*engine.Function{},
		Capabilities: schema.Capabilities{PlanDestroy: true, MoveState: true},
	}
	for _, name := range []string{"panic", "hang", "exit", "fail", "wrong", "nothing", "error", "pid"} {
		want.Functions[name] = &engine.Function{Variadic: &engine.FunctionParameter{Name: "text", Type: cty.String}, Return: cty.Number}
	}
	want.Functions["pid"].Deprecated = "Ask the system."
	types := cmp.Comparer(func(a, b cty.Type) bool { return a == b || a != cty.NilType && b != cty.NilType && a.Equals(b) })
	if diff := cmp.Diff(want, got, types, cmpopts.IgnoreUnexported(schema.Block{}, schema.Object{})); diff != "" {
		t.Error(diff)
	}
}

func TestReadSchemaFailures(t *testing.T) {
	for behaviour, want := range map[string]string{
		"no schema":       "is missing",
		"failing schema":  "Storm. Come back tomorrow.",
		"panic in schema": "has crashed",
		"panic at start":  "has crashed",
		"no plugin":       "could not be started",
	} {
		t.Run(behaviour, func(t *testing.T) {
			if _, err := instances.ReadSchema(t.Context(), program(t), odd(behaviour)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := instances.ReadSchema(ctx, program(t), odd("silent at start")); err == nil || ctx.Err() == nil {
			t.Errorf("got %v", err)
		}
	})
}
