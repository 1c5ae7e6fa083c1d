// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// FuzzParse checks rule A3: the text of an accepted address is accepted again, with the same
// result.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "<main>", "stack.a", `stack.a["k"].stack.b[0]`, "stack.a[*]",
		"component.x", `component.x["y"]`, "component.x[*]", `stack.a["$${b}"].component.x["\u00e9\n"]`,
		`component.x["y"].module.m.aws_thing.z[0]`, "component.x.data.aws_thing.z (deposed object 0a1b2c3d)",
		"component.x.module.m", "component.x.action.a.b", "module.m[0].aws_thing.z", "module.m",
		"var.name", "stack.a.output.name", "local.name", "provider.aws.main",
		"registry.terraform.io/hashicorp/aws",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		again(t, text, ParseStackInstance)
		again(t, text, ParseAbsComponentInstance)
		again(t, text, ParsePartialComponentInstance)
		again(t, text, ParseAbsComponent)
		again(t, text, ParseAbsInputVariable)
		again(t, text, ParseAbsOutputValue)
		again(t, text, ParseProvider)
		again(t, text, ParseModuleInstance)
		again(t, text, ParseResourceInstance)
		again(t, text, ParsePartialResourceInstance)
		again(t, text, ParsePartialActionInstance)
		again(t, text, ParseAbsResourceInstance)
	})
}

// FuzzSteps checks that a text split without hcl has the steps that hcl finds, and is printed as it
// was written.
func FuzzSteps(f *testing.F) {
	for _, seed := range []string{
		"a", "a.b", `a.b["c.d]"].e[0][12]`, "a[*]", "_a-.b_1", `a["$${"]`, "a[007]", "a[999999999999999999]", "a[1e3]", "null.true", "for.in",
		`a["b" ]`, "a.b ", "a.*", "a.0", `a["/*"]`, "a//b", "a#b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps, ok := scanSteps(text, true)
		if !ok {
			return
		}
		traversal, diags := hclsyntax.ParseTraversalPartial([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatalf("%q was split into %v, but hcl says: %s", text, steps, diags)
		}
		if want := traversalSteps(traversal); !slices.Equal(steps, want) {
			t.Errorf("%q was split into %v, want %v", text, steps, want)
		}
		var printed strings.Builder
		for i, step := range steps {
			if i > 0 && step.kind == nameStep {
				printed.WriteByte('.')
			}
			printed.WriteString(step.name + step.key.String())
		}
		if printed.String() != text {
			t.Errorf("%q was printed as %q", text, &printed)
		}
	})
}

func again[T interface {
	comparable
	fmt.Stringer
}](t *testing.T, text string, parse func(string) (T, error)) {
	t.Helper()
	addr, err := parse(text)
	if err != nil {
		return
	}
	second, err := parse(addr.String())
	if err != nil {
		t.Errorf("%T: %q was printed as %q: %v", addr, text, addr, err)
	} else if second != addr {
		t.Errorf("%T: %q was printed as %q and parsed as %q", addr, text, addr, second)
	}
}

// FuzzStringKey checks that any text can be a key.
func FuzzStringKey(f *testing.F) {
	for _, seed := range []string{
		"", "k", "a,b", `"`, `\`, "${", "$${", "%{x}", "$$$", "\n\r\t\x00\x7f", "e\u0301", "\u2028\ufeff",
		"\U0001f600", "\xff", "]", "\u0301",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		addr := AbsComponentInstance{Item: ComponentInstance{Component{"x"}, StringKey(text)}}
		got, err := ParseAbsComponentInstance(addr.String())
		if err != nil || got != addr {
			t.Errorf("the key %q was printed as %s and parsed as %s, %v", text, addr, got, err)
		}
		if fromValue, ok := KeyFromValue(addr.Item.Key.Value()); !ok || fromValue != addr.Item.Key {
			t.Errorf("the key %q became %v as a value", text, fromValue)
		}
	})
}

// FuzzParseReference checks that there is a target or an error, and that their
// places are in the traversal.
func FuzzParseReference(f *testing.F) {
	for _, seed := range []string{"var.x", "each.value.y", "provider.aws.main", "self", "terraform", `component["x"]`, "a.b.c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		traversal, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			return
		}
		ref, rest, diags := ParseReference(traversal)
		if diags.HasErrors() {
			if !diags[0].Subject.CanSliceBytes([]byte(text)) {
				t.Errorf("%q: the error is at %v", text, diags[0].Subject)
			}
			return
		}
		if ref.Target == nil || !ref.Range.CanSliceBytes([]byte(text)) || len(rest) >= len(traversal) {
			t.Errorf("%q: got %v at %v and %d more steps", text, ref.Target, ref.Range, len(rest))
		}
	})
}
