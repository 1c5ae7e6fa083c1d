// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schematest"
)

// Errors of providers are about the same lines as in terraform, but for two cases that terraform
// locates less closely: blocks as such, and attributes of objects in expressions.
func TestRangeAgreesWithTerraform(t *testing.T) {
	const text = `text = "x"
list = [
  { a = "x", n = 1 },
  { a = "y", n = 2 },
]
blist {
  a = 1
}
blist {
  inside {
    b = 2
  }
}
bset {
  a = 3
}
bsingle {
  a = 4
}
bmap "k" {
  a = 5
}
`
	root := func(name string) *tftypes.AttributePath { return tftypes.NewAttributePath().WithAttributeName(name) }
	tests := []struct {
		theirs *tftypes.AttributePath
		ours   cty.Path
	}{
		{root("text"), cty.GetAttrPath("text")},
		{root("list"), cty.GetAttrPath("list")},
		{root("list").WithElementKeyInt(1), cty.GetAttrPath("list").IndexInt(1)},
		{root("number"), cty.GetAttrPath("number")},
		{root("blist").WithElementKeyInt(0).WithAttributeName("a"), cty.GetAttrPath("blist").IndexInt(0).GetAttr("a")},
		{root("blist").WithElementKeyInt(0).WithAttributeName("b"), cty.GetAttrPath("blist").IndexInt(0).GetAttr("b")},
		{
			root("blist").WithElementKeyInt(1).WithAttributeName("inside").WithElementKeyInt(0).WithAttributeName("b"),
			cty.GetAttrPath("blist").IndexInt(1).GetAttr("inside").IndexInt(0).GetAttr("b"),
		},
		{root("bsingle").WithAttributeName("a"), cty.GetAttrPath("bsingle").GetAttr("a")},
		{root("bmap").WithElementKeyString("k").WithAttributeName("a"), cty.GetAttrPath("bmap").IndexString("k").GetAttr("a")},
		{root("bgroup").WithAttributeName("a"), cty.GetAttrPath("bgroup").GetAttr("a")},
	}
	echo := &schematest.Echo{Resources: map[string]*schema.Block{}}
	config := strings.Builder{}
	config.WriteString(schematest.Requirement)
	for i := range tests {
		name := fmt.Sprintf("echo_%d", i)
		echo.Resources[name] = modern()
		fmt.Fprintf(&config, "resource %q \"it\" {\n%s}\n", name, text)
	}
	echo.Diagnose = func(name string) []*tfprotov6.Diagnostic {
		var number int
		_, _ = fmt.Sscanf(name, "echo_%d", &number)
		return []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError, Summary: name, Attribute: tests[number].theirs}}
	}
	w := echo.Start(t, map[string]string{"main.tf": config.String()})
	diags, _ := w.Terraform(t, "plan", "-json")
	theirs, bodies := map[string]schematest.Diagnostic{}, resources(t, config.String())
	for _, diag := range diags {
		theirs[diag.Summary] = diag
	}
	for i, test := range tests {
		name := fmt.Sprintf("echo_%d", i)
		want, got := theirs[name].Range, body.NewDecoder(modern()).Range(bodies[name], test.ours)
		if got.Start.Line != want.Start.Line {
			t.Errorf("Range(%s) is %d:%d, in terraform %d:%d", test.theirs, got.Start.Line, got.Start.Column, want.Start.Line, want.Start.Column)
		}
	}
}
