// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schematest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// all returns an object of the example in which everything has a value.
func all() values {
	return values{
		"id": text("i"), "name": text("n"), "size": number(3), "cfg": cfg(text("a"), text("b")),
		"rule": rules(rule(number(1), text("r1"))), "disk": disks(disk(10, text("d1"), text("x"))),
	}
}

// with returns the same parts but for some.
func with(parts, others values) values {
	changed := values{}
	for _, from := range []values{parts, others} {
		for name, value := range from {
			changed[name] = value
		}
	}
	return changed
}

func TestCheckPlanned(t *testing.T) {
	block := example()
	config := values{"name": text("n"), "cfg": cfg(text("a"), null), "rule": rules(rule(number(1), null)), "disk": disks(disk(10, null, null))}
	other := with(all(), values{"name": text("before")})
	diskType := block.Nested("disk").ValueType()
	tests := map[string]struct {
		change values // in the plan
		config values // besides that of all
		want   []string
	}{
		"all computed": {},
		"prior value":  {change: values{"name": text("before")}},
		"another value": {
			change: values{"name": text("else")},
			want:   []string{".name: planned to have another value than in the configuration and than before"},
		},
		"unknown": {
			change: values{"name": unknown},
			want:   []string{".name: planned to have another value than in the configuration and than before"},
		},
		"computed unknown": {change: values{"id": unknown, "size": cty.UnknownVal(cty.Number)}},
		"computed and configured": {
			change: values{"size": number(5)},
			config: values{"size": number(4)},
			want:   []string{".size: planned to have another value than in the configuration and than before"},
		},
		"inside of nested": {
			change: values{"cfg": cfg(text("z"), unknown)},
			want:   []string{".cfg.a: planned to have another value than in the configuration and than before"},
		},
		"nested null": {
			change: values{"cfg": cty.NullVal(block.Attribute("cfg").ValueType())},
			want:   []string{".cfg: planned to be null, but it has a value in the configuration"},
		},
		"nested unknown": {
			change: values{"cfg": cty.UnknownVal(block.Attribute("cfg").ValueType())},
			want:   []string{".cfg: planned to be unknown, but it has a value in the configuration"},
		},
		"nested is left to it": {
			change: values{"cfg": cfg(text("z"), unknown)},
			config: values{"cfg": cty.NullVal(block.Attribute("cfg").ValueType())},
		},
		"fewer blocks": {
			change: values{"disk": cty.ListValEmpty(diskType.ElementType())},
			want:   []string{".disk: planned to have 0 blocks, but there are 1 in the configuration"},
		},
		"null blocks": {
			change: values{"disk": cty.NullVal(diskType)},
			want:   []string{".disk: planned to be null, but blocks of this kind are never null"},
		},
		"unknown blocks": {
			change: values{"disk": cty.UnknownVal(diskType)},
			want:   []string{".disk: planned to be unknown, but in the configuration the blocks are known"},
		},
		"unknown blocks are kept": {change: values{"disk": cty.UnknownVal(diskType)}, config: values{"disk": cty.UnknownVal(diskType)}},
		"unknown blocks are known": {
			config: values{"disk": cty.UnknownVal(diskType)},
			want:   []string{".disk: planned to be known, but in the configuration the blocks are unknown"},
		},
		"inside of blocks": {
			change: values{"disk": disks(disk(11, unknown, unknown))},
			want:   []string{".disk[0].gb: planned to have another value than in the configuration and than before"},
		},
		"other elements of a set": {change: values{"rule": rules(rule(number(7), text("r")), rule(number(8), text("r")))}},
		"unknown element of a set": {
			change: values{"rule": cty.SetVal([]cty.Value{cty.UnknownVal(block.Nested("rule").Block.Type())})},
			want:   []string{".rule: a block is planned to be unknown as a whole"},
		},
		"refinements do not matter": {change: values{"name": unknown}, config: values{"name": unknown.RefineNotNull()}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			planned := object(block, with(all(), test.change))
			errs := change.CheckPlanned(block, object(block, other), object(block, with(config, test.config)), planned)
			if diff := cmp.Diff(test.want, texts(errs)); diff != "" {
				t.Errorf("CheckPlanned of %#v: %s", planned, diff)
			}
		})
	}
}

// texts describes errors with their paths.
func texts(errs []error) []string {
	var all []string
	for _, err := range errs {
		all = append(all, describe(err.(cty.PathError).Path)+": "+err.Error())
	}
	return all
}

func describe(path cty.Path) string {
	var text strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			text.WriteString("." + step.Name)
		case cty.IndexStep:
			if step.Key.Type() == cty.Number {
				text.WriteString("[" + step.Key.AsBigFloat().String() + "]")
			} else {
				text.WriteString("[" + step.Key.AsString() + "]")
			}
		}
	}
	return text.String()
}

// chosen is a schema with blocks that the provider chooses where the configuration has none.
func chosen() *schema.Block {
	inside := func() *schema.Block {
		return &schema.Block{Computed: true, Attributes: []*schema.Attribute{both("port", cty.Number)}}
	}
	return &schema.Block{
		Attributes: []*schema.Attribute{required("name", cty.String)},
		Blocks: []*schema.NestedBlock{
			{Name: "list", Nesting: schema.List, Block: inside()},
			{Name: "map", Nesting: schema.Map, Block: inside()},
			{Name: "set", Nesting: schema.Set, Block: inside()},
			{Name: "single", Nesting: schema.Single, Block: inside()},
		},
	}
}

func TestComputedBlocks(t *testing.T) {
	block := chosen()
	port := func(n int64) cty.Value { return cty.ObjectVal(map[string]cty.Value{"port": number(n)}) }
	listOf := func(elements ...cty.Value) cty.Value { return cty.ListVal(elements) }
	kept := values{
		"list": listOf(port(1), port(2)), "map": cty.MapVal(map[string]cty.Value{"a": port(3)}), "set": cty.SetVal([]cty.Value{port(4)}),
		"single": port(5),
	}
	bare := object(block, values{"name": text("n")})
	for name := range kept {
		if !bare.GetAttr(name).IsNull() {
			t.Errorf("without blocks, %s is %#v", name, bare.GetAttr(name))
		}
	}
	prior := object(block, with(kept, values{"name": text("n")}))
	if got := change.ProposedNew(block, prior, bare); !got.RawEquals(prior) {
		t.Errorf("proposed for no blocks: %#v", got)
	}
	written := object(block, values{"name": text("n"), "list": listOf(port(9))})
	if got := change.ProposedNew(block, prior, written); !got.GetAttr("list").RawEquals(written.GetAttr("list")) {
		t.Errorf("proposed for a block: %#v", got)
	}
	if got := change.IgnoreChanges(block, prior, written, nil, true); !got.GetAttr("list").IsNull() {
		t.Errorf("with all changes ignored, the configuration has %#v", got)
	}

	none := cty.NullVal(block.Nested("list").ValueType())
	for name, test := range map[string]struct {
		config, planned cty.Value
		want            []string
	}{
		"prior":   {bare, prior, nil},
		"others":  {bare, object(block, with(kept, values{"name": text("n"), "list": listOf(port(7))})), nil},
		"unknown": {bare, object(block, with(kept, values{"name": text("n"), "list": cty.UnknownVal(none.Type())})), nil},
		"null": {
			bare, object(block, with(kept, values{"name": text("n"), "list": none})),
			[]string{".list: planned to be null, but blocks of this kind are never null"},
		},
		"more than written": {written, prior, []string{".list: planned to have 2 blocks, but there are 1 in the configuration"}},
	} {
		if diff := cmp.Diff(test.want, texts(change.CheckPlanned(block, prior, test.config, test.planned))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, want := range map[string][]string{"list": {".list: is null, but blocks of this kind are never null"}, "single": nil} {
		planned := object(block, with(kept, values{"name": text("n"), name: cty.UnknownVal(block.Nested(name).ValueType())}))
		made := object(block, with(kept, values{"name": text("n"), name: cty.NullVal(block.Nested(name).ValueType())}))
		if diff := cmp.Diff(want, texts(change.CheckResult(block, planned, made))); diff != "" {
			t.Errorf("null made of an unknown %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCheckPlannedWhole(t *testing.T) {
	block := example()
	absent, there := cty.NullVal(block.Type()), object(block, all())
	for _, test := range []struct {
		config, planned cty.Value
		want            []string
	}{
		{absent, absent, nil},
		{there, absent, []string{": planned to be absent, but it is in the configuration"}},
		{absent, there, []string{": planned to exist, but it is not in the configuration"}},
		{there, cty.UnknownVal(block.Type()), []string{": planned to be unknown as a whole"}},
	} {
		if diff := cmp.Diff(test.want, texts(change.CheckPlanned(block, absent, test.config, test.planned))); diff != "" {
			t.Errorf("CheckPlanned of %#v for %#v: %s", test.planned, test.config, diff)
		}
	}
}

func TestCheckResult(t *testing.T) {
	block := example()
	planned := with(all(), values{
		"id":   unknown,
		"size": cty.UnknownVal(cty.Number),
		"rule": rules(rule(number(1), unknown), rule(number(2), unknown)),
	})
	tests := map[string]struct {
		planned, actual values
		want            []string
	}{
		"as planned": {actual: values{"rule": rules(rule(number(1), text("r")), rule(number(2), text("r")))}},
		"other value": {
			actual: values{"name": text("o"), "rule": planned["rule"]},
			want:   []string{".name: has another value than planned"},
		},
		"null": {actual: values{"name": null, "rule": planned["rule"]}, want: []string{".name: had a value, but is null"}},
		"value for null": {
			planned: values{"name": null},
			actual:  values{"rule": planned["rule"]},
			want:    []string{".name: was null, but has a value"},
		},
		"unknown": {
			actual: values{"name": unknown, "rule": planned["rule"]},
			want:   []string{".name: was known, but is unknown"},
		},
		"still unknown": {actual: planned},
		"refinement": {
			planned: values{"id": unknown.RefineNotNull()},
			actual:  values{"id": null, "rule": planned["rule"]},
			want:    []string{".id: contradicts the facts that were known when it was planned"},
		},
		"prefix": {
			planned: values{"id": unknown.Refine().StringPrefix("ab").NewValue()},
			actual:  values{"id": text("xy"), "rule": planned["rule"]},
			want:    []string{".id: contradicts the facts that were known when it was planned"},
		},
		"more elements": {
			actual: values{"rule": rules(rule(number(1), null), rule(number(2), null), rule(number(3), null))},
			want:   []string{".rule: had 2 blocks, but has 3"},
		},
		"other elements": {
			actual: values{"rule": rules(rule(number(1), null), rule(number(3), null))},
			want:   []string{".rule: has none of its blocks for one that was planned", ".rule: has one of its blocks that was not planned"},
		},
		"coalesced elements": {
			planned: values{"rule": rules(rule(cty.UnknownVal(cty.Number), null), rule(number(1), null))},
			actual:  values{"rule": rules(rule(number(1), null))},
		},
		"inside of blocks": {actual: values{"disk": disks(disk(1, null, null)), "rule": planned["rule"]}, want: []string{
			".disk[0].did: had a value, but is null",
			".disk[0].fmt: had a value, but is null",
			".disk[0].gb: has another value than planned",
		}},
		"fewer blocks": {
			actual: values{"disk": cty.ListValEmpty(block.Nested("disk").Block.Type()), "rule": planned["rule"]},
			want:   []string{".disk: had 1 blocks, but has 0"},
		},
		"unknown blocks become so": {planned: values{"disk": cty.UnknownVal(block.Nested("disk").ValueType())}, actual: planned},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			actual := object(block, with(all(), test.actual))
			errs := change.CheckResult(block, object(block, with(planned, test.planned)), actual)
			if diff := cmp.Diff(test.want, texts(errs)); diff != "" {
				t.Errorf("CheckResult of %#v: %s", actual, diff)
			}
		})
	}
}

func TestCheckResultShowsNoValues(t *testing.T) {
	block := example()
	errs := change.CheckResult(block, object(block, with(all(), values{"name": text("secret one")})),
		object(block, with(all(), values{"name": text("secret two")})))
	if len(errs) != 1 || strings.Contains(errs[0].Error(), "secret") {
		t.Errorf("CheckResult shows %v", errs)
	}
}

func TestReplacePaths(t *testing.T) {
	write := &schema.Attribute{Name: "write", Type: cty.String, Optional: true, WriteOnly: true}
	block := &schema.Block{
		Attributes: []*schema.Attribute{optional("list", cty.List(cty.String)), optional("name", cty.String), computed("new", cty.String), write},
		Blocks:     []*schema.NestedBlock{{Name: "inner", Nesting: schema.List, Block: &schema.Block{Attributes: []*schema.Attribute{write}}}},
	}
	inner := cty.ListVal([]cty.Value{cty.ObjectVal(values{"write": null})})
	prior := object(block, values{"name": text("n"), "list": cty.ListVal([]cty.Value{text("a"), text("b")}), "new": text("x"), "inner": inner})
	planned := object(block, values{"name": text("n"), "list": cty.ListVal([]cty.Value{text("a")}), "new": unknown, "inner": inner})
	name, list := cty.GetAttrPath("name"), cty.GetAttrPath("list")
	tests := map[string]struct {
		prior cty.Value
		path  cty.Path
		keep  bool
		err   string
	}{
		"unchanged":         {path: name},
		"unknown":           {path: cty.GetAttrPath("new"), keep: true},
		"changed":           {path: list, keep: true},
		"unchanged element": {path: list.IndexInt(0)},
		"removed element":   {path: list.IndexInt(1), keep: true},
		"nowhere":           {path: list.IndexInt(5), err: ".list[5]: must be replaced if this part of the object changes, but there is none"},
		"write-only":        {path: cty.GetAttrPath("write"), keep: true},
		"write-only inside": {path: cty.GetAttrPath("inner").IndexInt(0).GetAttr("write"), keep: true},
		"create":            {prior: cty.NullVal(block.Type()), path: list},
		"create, nowhere":   {prior: cty.NullVal(block.Type()), path: list.IndexInt(5)},
	}
	for title, test := range tests {
		t.Run(title, func(t *testing.T) {
			before := prior
			if test.prior != cty.NilVal {
				before = test.prior
			}
			got, errs := change.ReplacePaths(block, before, planned, []cty.Path{test.path})
			if kept := len(got) == 1 && got[0].Equals(test.path); kept != test.keep || strings.Join(texts(errs), "\n") != test.err {
				t.Errorf("ReplacePaths(%s) = %v, %v, want it kept: %v, error %q", describe(test.path), got, texts(errs), test.keep, test.err)
			}
		})
	}
}

func TestConform(t *testing.T) {
	dynamic := &schema.Block{Attributes: []*schema.Attribute{optional("any", cty.DynamicPseudoType)}}
	block := &schema.Block{
		Attributes: []*schema.Attribute{optional("name", cty.String)},
		Blocks: []*schema.NestedBlock{
			{Name: "keyed", Nesting: schema.Map, Block: dynamic},
			{Name: "list", Nesting: schema.List, Block: dynamic},
		},
	}
	element := cty.ObjectVal(values{"any": number(1)})
	tests := map[string]struct {
		value cty.Value
		want  int
	}{
		"empty":           {block.Empty(), 0},
		"null":            {cty.NullVal(block.Type()), 0},
		"no object":       {text("x"), 1},
		"wrong attribute": {object(block, values{"name": number(1)}), 1},
		"missing":         {cty.ObjectVal(values{"name": null}), 2},
		"tuple":           {object(block, values{"list": cty.TupleVal([]cty.Value{element})}), 0},
		"unknown":         {object(block, values{"list": cty.DynamicVal}), 0},
		"no list":         {object(block, values{"list": text("x")}), 1},
		"list for map":    {object(block, values{"keyed": cty.TupleVal([]cty.Value{element})}), 1},
		"no objects":      {object(block, values{"list": cty.TupleVal([]cty.Value{element, text("x")})}), 1},
		"wrong objects":   {object(block, values{"keyed": cty.ObjectVal(values{"k": cty.EmptyObjectVal})}), 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if errs := change.Conform(block, test.value); len(errs) != test.want {
				t.Errorf("Conform(%#v) = %v, want %d errors", test.value, errs, test.want)
			}
		})
	}
}

func TestNormalizeLegacy(t *testing.T) {
	inner := &schema.Block{Attributes: []*schema.Attribute{optional("a", cty.String)}}
	block := &schema.Block{Blocks: []*schema.NestedBlock{
		{Name: "group", Nesting: schema.Group, Block: inner},
		{Name: "list", Nesting: schema.List, Block: inner},
		{Name: "set", Nesting: schema.Set, Block: inner},
		{Name: "single", Nesting: schema.Single, Block: inner},
	}}
	missing, unknowns := values{}, values{}
	for _, nested := range block.Blocks {
		missing[nested.Name], unknowns[nested.Name] = cty.NullVal(nested.ValueType()), cty.UnknownVal(nested.ValueType())
	}
	stub := cty.ObjectVal(values{"a": unknown})
	stubs := values{"group": stub, "list": cty.ListVal([]cty.Value{stub}), "set": cty.SetVal([]cty.Value{stub}), "single": stub}
	for name, test := range map[string][2]cty.Value{
		"missing": {cty.ObjectVal(missing), block.Empty()},
		"unknown": {cty.ObjectVal(unknowns), cty.ObjectVal(stubs)},
		"same":    {cty.ObjectVal(stubs), cty.ObjectVal(stubs)},
		"null":    {cty.NullVal(block.Type()), cty.NullVal(block.Type())},
	} {
		if got := change.NormalizeLegacy(block, test[0]); !got.RawEquals(test[1]) {
			t.Errorf("NormalizeLegacy of what is %s\n%s", name, schematest.Differences(got, test[1]))
		}
	}
}

func TestStripUnknownAttributes(t *testing.T) {
	inner := cty.Object(map[string]cty.Type{"a": cty.String})
	ty := cty.Object(map[string]cty.Type{
		"text":   cty.String,
		"number": cty.Number,
		"list":   cty.List(inner),
		"map":    cty.Map(inner),
		"tuple":  cty.Tuple([]cty.Type{inner}),
		"any":    cty.DynamicPseudoType,
		"object": inner,
	})
	for stored, want := range map[string]string{
		`{"text": "x",  "number": 12345678901234567890.5}`:     `{"text": "x",  "number": 12345678901234567890.5}`,
		`{"text":"<x>","old":1,"number":12345678901234567890}`: `{"number":12345678901234567890,"text":"<x>"}`,
		`{"list":[{"a":"x","old":1},null,{}]}`:                 `{"list":[{"a":"x"},null,{}]}`,
		`{"map":{"old":{"a":"x","old":1}}}`:                    `{"map":{"old":{"a":"x"}}}`,
		`{"object":{"old":{}},"list":null}`:                    `{"list":null,"object":{}}`,
		`{"tuple":[{"old":1}],"any":{"old":1}}`:                `{"tuple":[{"old":1}],"any":{"old":1}}`,
		`{"list":"wrong","old":1}`:                             `{"list":"wrong"}`,
		`not JSON`:                                             `not JSON`,
	} {
		if got := string(change.StripUnknownAttributes([]byte(stored), ty)); got != want {
			t.Errorf("StripUnknownAttributes(%s) = %s, want %s", stored, got, want)
		}
	}
}

func TestWriteOnly(t *testing.T) {
	write := &schema.Attribute{Name: "write", Type: cty.String, Optional: true, WriteOnly: true}
	block := &schema.Block{
		Attributes: []*schema.Attribute{optional("name", cty.String), write},
		Blocks:     []*schema.NestedBlock{{Name: "inner", Nesting: schema.List, Block: &schema.Block{Attributes: []*schema.Attribute{write}}}},
	}
	inner := func(value cty.Value) cty.Value {
		return cty.ListVal([]cty.Value{cty.ObjectVal(values{"write": value})})
	}
	config := object(block, values{"name": text("n"), "write": text("w"), "inner": inner(text("x"))})
	stored := object(block, values{"name": text("n"), "inner": inner(null)})
	want := []string{".write: has a value, but the attribute is write-only", ".inner[0].write: has a value, but the attribute is write-only"}
	if diff := cmp.Diff(want, texts(change.CheckWriteOnly(block, config))); diff != "" {
		t.Errorf("CheckWriteOnly(%#v): %s", config, diff)
	}
	if errs := change.CheckWriteOnly(block, stored); len(errs) > 0 {
		t.Errorf("CheckWriteOnly(%#v) = %v", stored, errs)
	}
	if got := change.NullWriteOnly(block, config); !got.RawEquals(stored) {
		t.Errorf("NullWriteOnly(%#v) = %#v, want %#v", config, got, stored)
	}
	if errs := change.CheckPlanned(block, cty.NullVal(block.Type()), config, stored); len(errs) > 0 {
		t.Errorf("CheckPlanned does not want write-only attributes to be null: %v", errs)
	}
	marked := cty.NewValueMarks(marks.Ephemeral)
	all := []cty.PathValueMarks{
		{Path: cty.GetAttrPath("name"), Marks: marked},
		{Path: cty.GetAttrPath("inner").IndexInt(0).GetAttr("write"), Marks: marked},
	}
	if got := change.WithoutWriteOnlyMarks(block, config, all); len(got) != 1 || !got[0].Path.Equals(all[0].Path) {
		t.Errorf("WithoutWriteOnlyMarks(%v) = %v", all, got)
	}
	all = append(all, cty.PathValueMarks{Path: cty.GetAttrPath("write").GetAttr("part"), Marks: marked})
	if got := change.KeptMarks(block, config, all); len(got) != 2 || !got[0].Path.Equals(all[0].Path) || !got[1].Path.Equals(all[1].Path) {
		t.Errorf("KeptMarks(%v) = %v", all, got)
	}
}

// Marks are ignored together with the values that they are on.
func TestIgnoreChangesOfMarks(t *testing.T) {
	block := example()
	prior, config := object(block, values{"name": text("n").Mark(marks.Sensitive)}), object(block, values{"name": text("n")})
	name := []cty.Path{cty.GetAttrPath("name")}
	if got := change.IgnoreChanges(block, prior, config, name, false); !got.RawEquals(prior) {
		t.Errorf("IgnoreChanges(%#v, %#v) = %#v", prior, config, got)
	}
	if got := change.IgnoreChanges(block, config, prior, name, false); !got.RawEquals(config) {
		t.Errorf("IgnoreChanges(%#v, %#v) = %#v", config, prior, got)
	}
	if got := change.IgnoreChanges(block, cty.NullVal(block.Type()), config, name, true); !got.RawEquals(config) {
		t.Errorf("IgnoreChanges of what is new = %#v", got)
	}
	disks := object(block, values{"disk": disks(disk(1, text("d"), text("f").Mark(marks.Sensitive))).Mark(marks.Sensitive)})
	want := object(block, values{"disk": ignoredDisks(null)})
	if got := change.IgnoreChanges(block, disks, config, nil, true); !got.RawEquals(want) {
		t.Errorf("IgnoreChanges(%#v) of all = %#v, want %#v", disks, got, want)
	}
}

func ignoredDisks(did cty.Value) cty.Value {
	return disks(disk(1, did, text("f").Mark(marks.Sensitive))).Mark(marks.Sensitive)
}

// Whatever the schema: proposing the prior object changes nothing, and a plan equal to the proposal
// is valid.
func TestProposedNewProperties(t *testing.T) {
	random := schematest.NewRandom(testenv.Seed(t))
	for i := range 500 {
		random.Dynamic = i%3 == 0
		block := random.Block(2)
		config := random.Object(block, schematest.Config)
		prior := schematest.Settle(block, random.Object(block, schematest.Known))
		proposed := change.ProposedNew(block, prior, config)
		if errs := change.Conform(block, proposed); len(errs) > 0 {
			t.Errorf("ProposedNew is of another type: %v", texts(errs))
		}
		if errs := change.CheckPlanned(block, prior, config, proposed); len(errs) > 0 {
			t.Errorf("a plan of what is proposed is refused: %v", texts(errs))
		}
		if errs := change.CheckPlanned(block, cty.NullVal(block.Type()), config, change.PlannedUnknown(block, config)); len(errs) > 0 {
			t.Errorf("a plan of what a data source could be is refused: %v", texts(errs))
		}
		if again := change.ProposedNew(block, proposed, config); !again.RawEquals(proposed) && proposed.IsWhollyKnown() {
			t.Errorf("what was proposed is proposed differently\n%s", schematest.Differences(again, proposed))
		}
		if errs := change.CheckResult(block, proposed, known(random.Uint64(), block, proposed)); len(errs) > 0 && proposed.IsWhollyKnown() {
			t.Errorf("a result as it was planned is refused: %v", texts(errs))
		}
	}
}
