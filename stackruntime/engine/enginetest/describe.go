// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginetest

import (
	"context"
	"path/filepath"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func describe(b *bench) {
	b.module("m", `
variable "required" { type = string }
variable "any" {}
variable "settings" {
  type = object({
    name = string
    size = optional(number, 3)
  })
  default = { name = "n" }
}
variable "strict" {
  type      = list(string)
  nullable  = false
  sensitive = true
  default   = []
}
variable "token" {
  type      = string
  ephemeral = true
  default   = null
}
output "open" { value = var.required }
output "closed" {
  value     = var.strict
  sensitive = true
}
`)
	ctx := context.Background()
	mod, diags := b.session().Module(ctx, b.dir("m"))
	b.noErrors("Module", diags)
	if len(mod.Variables) != 5 || len(mod.Outputs) != 2 {
		b.Fatalf("got %d variables and %d outputs, want 5 and 2", len(mod.Variables), len(mod.Outputs))
	}
	if mod.Dir != b.dir("m") {
		b.Errorf("Dir: got %q, want %q", mod.Dir, b.dir("m"))
	}
	if got := mod.Variables["required"]; !got.Required() || !got.Type.Equals(cty.String) || !got.Nullable {
		b.Errorf("variable required: got %+v", got)
	}
	if got := mod.Variables["any"]; got.Type != cty.DynamicPseudoType {
		b.Errorf("variable any: got type %#v", got.Type)
	}
	if got := mod.Variables["required"].Range.Filename; filepath.ToSlash(got) != "m/main.tf" {
		b.Errorf("range of a variable: got file %q, want it relative to the stack directory", got)
	}
	describeSettings(b, mod.Variables["settings"])
	strict := mod.Variables["strict"]
	if strict.Nullable || !strict.Sensitive || strict.Required() || !strict.Default.RawEquals(cty.ListValEmpty(cty.String)) {
		b.Errorf("variable strict: got %+v", strict)
	}
	// A default that is null makes a variable optional, too.
	if got := mod.Variables["token"]; !got.Ephemeral || got.Required() || !got.Default.RawEquals(cty.NullVal(cty.String)) {
		b.Errorf("variable token: got %+v", got)
	}
	if mod.Outputs["open"].Sensitive || !mod.Outputs["closed"].Sensitive {
		b.Errorf("outputs: got %+v, %+v", mod.Outputs["open"], mod.Outputs["closed"])
	}
	if len(mod.Slots) != 0 {
		b.Errorf("slots: got %v, want none", mod.Slots)
	}
}

func describeSettings(b *bench, settings *engine.Variable) {
	want := cty.ObjectVal(values{"name": cty.StringVal("n"), "size": cty.NumberIntVal(3)})
	if !settings.Default.RawEquals(want) {
		b.Errorf("default of variable settings: got %#v, want %#v", settings.Default, want)
	}
	if !settings.Type.IsObjectType() || !settings.Type.AttributeOptional("size") {
		b.Errorf("type of variable settings: got %#v", settings.Type)
	}
	got := settings.ApplyDefaults(cty.ObjectVal(values{"name": cty.StringVal("x")}))
	if size := got.GetAttr("size"); !size.RawEquals(cty.NumberIntVal(3)) {
		b.Errorf("ApplyDefaults: got %#v, want size 3", got)
	}
}

func describeMissing(b *bench) {
	b.module("m", ``)
	mod, diags := b.session().Module(context.Background(), b.dir("elsewhere"))
	b.wantErrors("Module", diags)
	if mod != nil {
		b.Errorf("Module: got %+v, want nil", mod)
	}
}

func validate(b *bench) {
	b.module("good", `
variable "v" { type = string }
resource "terraform_data" "a" { input = var.v }
`)
	b.module("bad", `
resource "terraform_data" "a" {
  input = var.missing
}
`)
	b.noErrors("ValidateModule", b.session().ValidateModule(context.Background(), b.dir("good")))

	diags := b.session().ValidateModule(context.Background(), b.dir("bad"))
	b.wantErrors("ValidateModule", diags)
	if at := diags[0].Subject; at == nil || filepath.ToSlash(at.Filename) != "bad/main.tf" || at.Start.Line != 3 {
		b.Errorf("ValidateModule: got an error at %v, want it in line 3 of bad/main.tf", at)
	}
}
