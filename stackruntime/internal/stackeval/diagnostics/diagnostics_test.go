// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostics

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
)

func summaries(diags hcl.Diagnostics) string {
	var all []string
	for _, diag := range diags {
		all = append(all, diag.Summary)
	}
	return strings.Join(all, " ")
}

func at(summary, file string, start, end int) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary,
		Subject: &hcl.Range{Filename: file, Start: hcl.Pos{Byte: start}, End: hcl.Pos{Byte: end}},
	}
}

func about(component, summary string) *hcl.Diagnostic {
	addr, err := stackaddrs.ParseAbsComponentInstance(component)
	if err != nil {
		panic(err)
	}
	return About(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary}}, addr)[0]
}

func TestSort(t *testing.T) {
	for name, test := range map[string]struct {
		diags hcl.Diagnostics
		want  string
	}{
		"by place": {
			hcl.Diagnostics{at("d", "b", 1, 2), at("c", "a", 3, 5), at("b", "a", 3, 4), at("a", "a", 1, 9)},
			"a b c d",
		},
		"no place comes last": {hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "z"}, at("y", "a", 1, 2)}, "y z"},
		"errors before warnings": {
			hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: "a"}, {Severity: hcl.DiagError, Summary: "b"}},
			"b a",
		},
		"repeated":                       {hcl.Diagnostics{at("a", "a", 1, 2), at("b", "a", 1, 2), at("a", "a", 1, 2)}, "a b"},
		"of one component twice":         {hcl.Diagnostics{about("component.a", "a"), about("component.a", "a")}, "a"},
		"the same of several components": {hcl.Diagnostics{about("component.b", "a"), about("component.a", "a")}, "a a"},
	} {
		if got := summaries(identity.Sort(test.diags)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Each promise of a cycle reports it. One report remains, with the places of those that have one.
func TestExplainCycles(t *testing.T) {
	var a, b, self promising.Once[int]
	var sink Sink
	ask := func(ctx context.Context, once *promising.Once[int], name string, f func(ctx context.Context) (int, error)) (int, error) {
		_, err := once.Do(ctx, name, f)
		sink.Add(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Cycle", Extra: err}})
		return 0, nil
	}
	_, err := promising.MainTask(t.Context(), func(ctx context.Context) (int, error) {
		_, err := ask(ctx, &a, "component.a inputs", func(ctx context.Context) (int, error) {
			return ask(ctx, &b, "local.b", func(ctx context.Context) (int, error) {
				return ask(ctx, &a, "", nil)
			})
		})
		if err != nil {
			return 0, err
		}
		return ask(ctx, &self, "local.self", func(ctx context.Context) (int, error) { return ask(ctx, &self, "", nil) })
	})
	if err != nil {
		t.Fatal(err)
	}
	sink.Add(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Other"}})
	places := map[string]hcl.Range{"component.a": {Filename: "main.tfcomponent.hcl", Start: hcl.Pos{Line: 7}}}
	var got []string
	for _, diag := range ExplainCycles(sink.All(), func() map[string]hcl.Range { return places }) {
		if place := diag.Subject; IsCycle(diag) && strings.Contains(diag.Detail, "component.a") != (place != nil && place.Start.Line == 7) {
			t.Errorf("%s: at %v", diag.Detail, place)
		}
		got = append(got, strings.Split(diag.Summary+diag.Detail, "\nBreak")[0])
	}
	slices.Sort(got)
	const none = "None of these can be computed before the others:"
	want := []string{
		"Item depends on itself" + none + "\n  - local.self",
		"Items depend on each other in a circle" + none + "\n  - component.a inputs, at main.tfcomponent.hcl:7\n  - local.b",
		"Other",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

func TestEnumerate(t *testing.T) {
	for n, want := range map[int]string{
		1: "component.a",
		2: "component.a and component.b",
		5: "component.a, component.b, component.c, component.d and component.e",
		7: "component.a, component.b, component.c, component.d, component.e and 2 more",
	} {
		var addrs []stackaddrs.Component
		for i := range n {
			addrs = append(addrs, stackaddrs.Component{Name: string(rune('a' + i))})
		}
		if got := Enumerate(addrs); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestPlaceInBody(t *testing.T) {
	file, diags := hclsyntax.ParseConfig([]byte(`region = "eu"
retry {
  count = 1
}
retry {
  count = 2
}
tag "a" {
  value = 3
}
`), "p.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	attribute := func(name string) hcldec.Spec { return &hcldec.AttrSpec{Name: name, Type: cty.DynamicPseudoType} }
	spec := hcldec.ObjectSpec{
		"region": attribute("region"),
		"retry":  &hcldec.BlockListSpec{TypeName: "retry", Nested: hcldec.ObjectSpec{"count": attribute("count")}},
		"tag":    &hcldec.BlockMapSpec{TypeName: "tag", LabelNames: []string{"name"}, Nested: hcldec.ObjectSpec{"value": attribute("value")}},
	}
	for name, test := range map[string]struct {
		path cty.Path
		line int // 0 for none
	}{
		"attribute":               {cty.GetAttrPath("region"), 1},
		"attribute of a block":    {cty.GetAttrPath("retry").IndexInt(1).GetAttr("count"), 6},
		"block":                   {cty.GetAttrPath("retry").IndexInt(0), 2},
		"not written in a block":  {cty.GetAttrPath("retry").IndexInt(0).GetAttr("other"), 2},
		"attribute of a labelled": {cty.GetAttrPath("tag").IndexString("a").GetAttr("value"), 9},
		"no such block":           {cty.GetAttrPath("tag").IndexString("b").GetAttr("value"), 0},
		"not written":             {cty.GetAttrPath("other"), 0},
		"the whole":               {nil, 0},
	} {
		place, ok := PlaceInBody(file.Body, spec, test.path)
		if ok != (test.line > 0) || place.Start.Line != test.line {
			t.Errorf("%s: line %d, %t, want %d", name, place.Start.Line, ok, test.line)
		}
	}
}
