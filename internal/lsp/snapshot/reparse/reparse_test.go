// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package reparse

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// source has every kind of expression, before and after blocks that are edited.
const source = `# é
top = 1
variable "region" {
  type    = string // ✓
  default = "eu" /* two
  lines */
}
  component "a" "b" {
  source = "./a"
  for_each = { for k, v in var.m : k => v... if k != "x" }
  inputs = {
    (local.key) = -var.n + 2 * (3 - 1), quoted = "é-${var.region}-%{ if var.yes }y%{ else }n%{ endif }"
    list = [for v in var.list : v.name], splat = var.list[*].names[*][0], full = var.o.*.p
    text = <<-EOT
      a } { ${upper("x", var.all...)} %{ for x in var.list ~}
      ${x}
      %{ endfor }
    EOT
    cond = !var.yes ? null : true, index = local.m["k"][var.i].q, call = provider::p::f(1.5e3)[0]
  }
  nested {
    deeper "l" {
      x = var.x
    }
  }
}
locals { one = "line" }

output "o" {
  value = component.a["x"].out
}
last = var.z`

func parse(t *testing.T, src string) (*hcl.File, hcl.Diagnostics) {
	t.Helper()
	return safehcl.ParseConfig([]byte(src), "a.hcl", hcl.InitialPos)
}

// Whatever is edited, the tree is the one of the whole text, or none.
func TestRandomEdits(t *testing.T) {
	seed := testenv.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // not for secrets
	pieces := []string{
		"x", " ", "\n", "\r\n", "é", "}", "{", "\"", "#", "/*", "*/", "${", "}\n}", "= 1\n", "a = 1\n", "b {}\n",
		"b {\n}\n", "<<E\n", "\nE\n", "[*]", "\ufeff", "\t", ", ", "//", "\\", "\x00",
		"component \"n\" {\n", "y = \"${var.a}\"\n", "[0]", ".z", "1", "...",
	}
	for _, text := range []string{source, strings.ReplaceAll(source, "\n", "\r\n"), source + "\n", "a {\n}", "a {}"} {
		file, diags := parse(t, text)
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		reused, sound := 0, 0
		for range 150 {
			start := rnd.IntN(len(text) + 1)
			end := min(len(text), start+max(0, rnd.IntN(8)-4))
			piece := pieces[rnd.IntN(len(pieces))]
			if rnd.IntN(4) == 0 {
				piece = ""
			}
			edited := text[:start] + piece + text[end:]
			got := File(file, "a.hcl", []byte(edited))
			want, diags := parse(t, edited)
			if len(diags) == 0 {
				sound++
			}
			if got == nil {
				continue
			}
			reused++
			if len(diags) > 0 {
				t.Fatalf("%q in place of %q at %d: the tree is reused in spite of %s", piece, text[start:end], start, diags)
			}
			if diff := cmp.Diff(want.Body, got.Body, exactly); diff != "" || string(got.Bytes) != edited {
				t.Fatalf("%q in place of %q at %d of\n%s\ntrees (-want +got):\n%s", piece, text[start:end], start, text, diff)
			}
			if len(edited) < 3*len(source) && rnd.IntN(3) == 0 { // and go on from there
				text, file = edited, got
			}
		}
		t.Logf("%d trees of %d sound texts were reused", reused, sound)
		if reused == 0 {
			t.Error("no tree was reused")
		}
	}
}

// Trees are the same to the last range.
var exactly = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.Comparer(func(a, b *hclsyntax.Operation) bool { return a == b }),
	cmp.Comparer(cty.Value.RawEquals),
	cmpopts.EquateEmpty(),
}
