// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/providers/provider"
)

const fakeModule = `-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
`

// TestGenerate generates blocks of the fake provider's types.
func TestGenerate(t *testing.T) {
	const derived = `resource "fake_thing" "a" {
  force  = null
  name   = "x"
  secret = null # sensitive
  size   = 1
  tags   = null
  token  = null
}
`
	for name, test := range map[string]struct {
		config string
		set    func(*nativetest.Component)
		want   string // the blocks, or a part of the error
	}{
		"by id":       {"import {\n  to = fake_thing.a\n  id = \"x\"\n}\n", nil, derived},
		"by identity": {"import {\n  to = fake_thing.a\n  identity = { id = \"x\" }\n}\n", nil, derived},
		"provider": {
			"import {\n  to = fake_thing.a\n  id = \"x\"\n  provider = fake.other\n}\n", nil,
			"resource \"fake_thing\" \"a\" {\n  provider = fake.other\n  force    = null\n  name     = \"x\"\n  secret   = null # sensitive\n" +
				"  size     = 1\n  tags     = null\n  token    = null\n}\n",
		},
		"sorted": {
			"import {\n  to = fake_thing.b\n  id = \"x\"\n}\nimport {\n  to = fake_thing.a\n  id = \"x\"\n}\n", nil,
			derived + "\n" + strings.Replace(derived, `"a"`, `"b"`, 1),
		},
		"id of another object": {
			"import {\n  to = fake_thing.a\n  id = data.fake_thing.d.name\n}\n" +
				"data \"fake_thing\" \"d\" {\n  name = \"x\"\n}\n", nil, derived,
		},
		"by the provider": {
			"import {\n  to = fake_thing.a\n  id = \"x\"\n}\n",
			func(c *nativetest.Component) {
				c.Fake.Schema().Capabilities.GenerateConfig = true
				c.Fake.OnGenerateConfig = func(_ string, object cty.Value) (cty.Value, provider.Diagnostics) {
					values := object.AsValueMap()
					values["name"], values["secret"] = cty.StringVal("generated"), cty.StringVal("hush-hush")
					return cty.ObjectVal(values), nil
				}
			},
			strings.Replace(derived, `"x"`, `"generated"`, 1),
		},
		"failing provider": {
			"import {\n  to = fake_thing.a\n  id = \"x\"\n}\n",
			func(c *nativetest.Component) { c.Fake.Schema().Capabilities.GenerateConfig = true },
			"No configuration: The provider generates none.",
		},
		"broken provider": {
			"import {\n  to = fake_thing.a\n  id = \"x\"\n}\n",
			func(c *nativetest.Component) {
				c.Fake.Schema().Capabilities.GenerateConfig = true
				c.Fake.OnGenerateConfig = func(string, cty.Value) (cty.Value, provider.Diagnostics) {
					return cty.UnknownVal(c.Fake.Schema().Managed["fake_thing"].Block.Type()), nil
				}
			},
			"Provider produced invalid configuration",
		},
		"no object":    {"import {\n  to = fake_thing.a\n  id = \"none\"\n}\n", nil, "has found no object for fake_thing.a"},
		"deferred":     {"import {\n  to = fake_thing.a\n  id = \"deferred\"\n}\n", nil, "its provider does not defer reading it any more"},
		"unknown type": {"import {\n  to = fake_missing.a\n  id = \"x\"\n}\n", nil, "Unknown resource type"},
		"unknown id": {
			"import {\n  to = fake_thing.a\n  id = fake_thing.b.id\n}\nresource \"fake_thing\" \"b\" {\n}\n", nil,
			"before its ID or identity is known",
		},
		"unknown provider": {
			"import {\n  to = fake_thing.a\n  id = \"x\"\n}\n", func(c *nativetest.Component) { c.UnknownProvider = true },
			"before the configuration of its provider is known",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := nativetest.New(t, fakeModule+test.config)
			obey(c.Fake)
			if test.set != nil {
				test.set(c)
			}
			blocks, diags := planning.Generate(t.Context(), c.Request())
			var got []string
			for _, diag := range diags {
				got = append(got, diag.Summary+": "+diag.Detail)
				if diag.Subject == nil {
					t.Errorf("%s has no place", diag.Summary)
				}
			}
			if len(diags) > 0 {
				if text := strings.Join(got, "\n"); !diags.HasErrors() || !strings.Contains(text, test.want) {
					t.Errorf("got %s, want %s", text, test.want)
				}
				return
			}
			for _, block := range blocks {
				got = append(got, block.Text)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("Generate (-want +got):\n%s", diff)
			}
			for _, call := range c.Fake.Calls() {
				if strings.HasPrefix(call, "plan") {
					t.Errorf("%s: it is to be planned with the block", call)
				}
			}
		})
	}
}
