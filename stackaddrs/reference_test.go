// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func traversalOf(t *testing.T, text string) hcl.Traversal {
	t.Helper()
	traversal, diags := hclsyntax.ParseTraversalAbs([]byte(text), "test", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return traversal
}

func TestParseReference(t *testing.T) {
	for _, test := range []struct {
		text   string
		target Referenceable
		source string // the steps that make up the target
		rest   int
	}{
		{"var.x", InputVariable{"x"}, "var.x", 0},
		{"var.x.y[0]", InputVariable{"x"}, "var.x", 2},
		{"local.x", LocalValue{"x"}, "local.x", 0},
		{`local.x["k"]`, LocalValue{"x"}, "local.x", 1},
		{"component.x", Component{"x"}, "component.x", 0},
		{`component.x["k"].out`, Component{"x"}, "component.x", 2},
		{"stack.x", StackCall{"x"}, "stack.x", 0},
		{"stack.x.out", StackCall{"x"}, "stack.x", 1},
		{"provider.aws.main", ProviderConfigRef{"aws", "main"}, "provider.aws.main", 0},
		{`provider.aws.main["k"]`, ProviderConfigRef{"aws", "main"}, "provider.aws.main", 1},
		{"each.key", EachKey, "each.key", 0},
		{"each.value", EachValue, "each.value", 0},
		{"each.value.x", EachValue, "each.value", 1},
		{"count.index", CountIndex, "count.index", 0},
		{"self", Self, "self", 0},
		{"self.id", Self, "self", 1},
		{"terraform.applying", TerraformApplying, "terraform.applying", 0},
	} {
		ref, rest, diags := ParseReference(traversalOf(t, test.text))
		if diags.HasErrors() {
			t.Errorf("%s: %v", test.text, diags)
			continue
		}
		if ref.Target != test.target || len(rest) != test.rest {
			t.Errorf("%s: got %s and %d more steps, want %s and %d", test.text, ref.Target, len(rest), test.target, test.rest)
		}
		if got := string(ref.Range.SliceBytes([]byte(test.text))); got != test.source {
			t.Errorf("%s: the target is at %q, want %q", test.text, got, test.source)
		}
		if got := ref.Target.String(); got != test.source {
			t.Errorf("%s: the target is printed as %s", test.text, got)
		}
	}
}

// E-REF-01 to 03.
func TestParseReferenceErrors(t *testing.T) {
	for _, test := range []struct{ text, summary, source string }{
		{"path.module", "Unknown symbol", "path"},
		{"module.x", "Unknown symbol", "module"},
		{"data.a.b", "Unknown symbol", "data"},
		{"aws_thing.x", "Unknown symbol", "aws_thing"},
		{"each.index", "Unknown symbol", ".index"},
		{"count.key", "Unknown symbol", ".key"},
		{"terraform.workspace", "Unknown symbol", ".workspace"},
		{"var", "Incomplete reference", "var"},
		{`var["x"]`, "Incomplete reference", `["x"]`},
		{"local", "Incomplete reference", "local"},
		{"component[0]", "Incomplete reference", "[0]"},
		{"stack", "Incomplete reference", "stack"},
		{"provider", "Incomplete reference", "provider"},
		{"provider.aws", "Incomplete reference", "provider.aws"},
		{`provider.aws["x"]`, "Incomplete reference", `["x"]`},
		{`provider["x"].main`, "Incomplete reference", `["x"]`},
		{"each", "Incomplete reference", "each"},
		{`each["key"]`, "Incomplete reference", `["key"]`},
		{"terraform", "Incomplete reference", "terraform"},
	} {
		ref, _, diags := ParseReference(traversalOf(t, test.text))
		if len(diags) != 1 {
			t.Errorf("%s: got %v and %v", test.text, ref, diags)
			continue
		}
		if got := diags[0].Summary; got != test.summary {
			t.Errorf("%s: got %q, want %q", test.text, got, test.summary)
		}
		if got := string(diags[0].Subject.SliceBytes([]byte(test.text))); got != test.source {
			t.Errorf("%s: the error is at %q, want %q", test.text, got, test.source)
		}
	}
}
