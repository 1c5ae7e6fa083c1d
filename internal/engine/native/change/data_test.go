// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schematest"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// decode returns the object of a body that schematest has written.
func decode(t *testing.T, block *schema.Block, text string) cty.Value {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(text), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	value, diags := body.NewDecoder(block).Decode(t.Context(), file.Body, &hcl.EvalContext{Variables: map[string]cty.Value{
		"terraform_data": cty.ObjectVal(map[string]cty.Value{"unknown": cty.ObjectVal(map[string]cty.Value{"output": cty.DynamicVal})}),
	}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return value
}

// The planned objects that terraform expects of data sources that cannot be read yet: each is the
// value of an argument of a resource. None has blocks of varying types, for which terraform 1.11
// panics.
func TestPlannedUnknownAgreesWithTerraform(t *testing.T) {
	random := schematest.NewRandom(testenv.Seed(t))
	echo := &schematest.Echo{Resources: map[string]*schema.Block{}, Data: map[string]*schema.Block{}}
	config, texts := strings.Builder{}, map[string]string{}
	config.WriteString(schematest.Requirement + schematest.UnknownResource)
	for i := range 100 {
		name := fmt.Sprintf("echo_%d", i)
		block := random.Block(2)
		text := schematest.Syntax(block, random.Object(block, schematest.Config)) + "z = " + schematest.Unknown + "\n"
		block.Attributes = append(block.Attributes, optional("z", cty.String))
		echo.Data[name], texts[name] = block, text
		echo.Resources[name] = &schema.Block{Attributes: []*schema.Attribute{optional("value", cty.DynamicPseudoType)}}
		fmt.Fprintf(&config, "data %q \"it\" {\n%s}\nresource %q \"it\" {\nvalue = data.%s.it\n}\n", name, text, name, name)
	}
	w := echo.Start(t, map[string]string{"main.tf": config.String()})
	diags, _ := w.Terraform(t, "plan", "-json")
	for _, diag := range diags {
		t.Errorf("terraform reports: %s: %s", diag.Summary, diag.Detail)
	}
	calls := w.Calls("plan")
	if len(calls) != len(texts) {
		t.Errorf("terraform has planned %d of %d resources", len(calls), len(texts))
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		config := decode(t, echo.Data[name], texts[name])
		// Terraform has optional attributes in the types of some empty lists; converting drops them.
		want, err := convert.Convert(calls[name].Config.GetAttr("value"), echo.Data[name].Type())
		if err != nil {
			t.Error(err)
			continue
		}
		if got := change.PlannedUnknown(echo.Data[name], config); !got.RawEquals(want) {
			t.Errorf("PlannedUnknown for %s\n%s", name, schematest.Differences(got, want))
		}
	}
}
