// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

const moduleDocument = `{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 7,
  "lineage": "5f0d7a8e-0000-4d0c-9d54-5f3a0f1f5d7b",
  "outputs": {"id": {"value": "x", "type": "string"}},
  "resources": [
    {
      "mode": "managed", "type": "fake_thing", "name": "b", "provider": "provider[\"registry.terraform.io/acme/fake\"]",
      "instances": [
        {"index_key": 10, "schema_version": 0, "attributes": {"n": 1.50, "html": "<&>\u003c"}, "private": "e30="},
        {"index_key": 2, "schema_version": 0, "status": "tainted", "attributes": {}, "later_field": [1, 2]},
        {"index_key": 2, "deposed": "0123abcd", "schema_version": 0, "attributes": {}}
      ]
    },
    {
      "module": "module.m[\"a,b\"]", "mode": "data", "type": "fake_thing", "name": "a",
      "provider": "module.m.provider[\"registry.terraform.io/acme/fake\"]", "each": "map",
      "instances": [{"index_key": "k,\"1\"", "schema_version": 1, "attributes": {}, "dependencies": ["fake_thing.b"]}]
    },
    {"mode": "managed", "type": "fake_thing", "name": "alone", "provider": "provider[\"registry.terraform.io/acme/fake\"]", "instances": []}
  ],
  "check_results": [{"object_kind": "resource", "config_addr": "fake_thing.b", "status": "pass"}],
  "unknown_to_us": {"kept": true}
}`

// joinedDocument is moduleDocument as it comes back: in canonical order, without outputs.
const joinedDocument = `{"version":4,"terraform_version":"1.11.4","serial":7,"lineage":"5f0d7a8e-0000-4d0c-9d54-5f3a0f1f5d7b","outputs":{},"resources":[` +
	`{"mode":"managed","type":"fake_thing","name":"b","provider":"provider[\"registry.terraform.io/acme/fake\"]","instances":[` +
	`{"index_key":2,"schema_version":0,"status":"tainted","attributes":{},"later_field":[1,2]},` +
	`{"index_key":2,"deposed":"0123abcd","schema_version":0,"attributes":{}},` +
	`{"index_key":10,"schema_version":0,"attributes":{"n":1.50,"html":"<&>\u003c"},"private":"e30="}]},` +
	`{"module":"module.m[\"a,b\"]","mode":"data","type":"fake_thing","name":"a",` +
	`"provider":"module.m.provider[\"registry.terraform.io/acme/fake\"]","each":"map","instances":[` +
	`{"index_key":"k,\"1\"","schema_version":1,"attributes":{},"dependencies":["fake_thing.b"]}]}],` +
	`"check_results":[{"object_kind":"resource","config_addr":"fake_thing.b","status":"pass"}],"unknown_to_us":{"kept":true}}`

func componentAddr(t testing.TB, s string) stackaddrs.AbsComponentInstance {
	t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func exampleState(t testing.TB) *State {
	t.Helper()
	s := New()
	vpc := componentAddr(t, `stack.eu["a,b"].component.vpc["x"]`)
	app := componentAddr(t, `component.app`)
	s.Components[vpc] = &Component{
		Addr:       vpc,
		Dependents: []stackaddrs.AbsComponent{stackaddrs.ComponentOf(app)},
		Inputs: map[string]cty.Value{
			"list":    cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b").Mark(marks.Sensitive)}),
			"unknown": cty.UnknownVal(cty.String).RefineNotNull(),
			"nothing": cty.NullVal(cty.Map(cty.Bool)),
		},
		Outputs: map[string]cty.Value{"id": cty.ObjectVal(map[string]cty.Value{"a": cty.DynamicVal}).Mark(marks.Sensitive)},
		Module:  engine.State(joinedDocument),
	}
	s.Components[app] = &Component{
		Addr:         app,
		Dependencies: []stackaddrs.AbsComponent{stackaddrs.ComponentOf(vpc)},
		Inputs:       map[string]cty.Value{},
		Outputs:      map[string]cty.Value{},
	}
	s.Inputs["region"] = cty.StringVal("eu")
	s.Inputs["token"] = cty.NullVal(cty.String)
	s.Outputs["secret"] = cty.MapVal(map[string]cty.Value{"k": cty.NumberIntVal(1).Mark(marks.Sensitive)})
	s.Preserved = map[string][]byte{"somETHING": []byte("kept")}
	return s
}

var compareStates = cmp.Options{
	cmp.Comparer(func(a, b cty.Value) bool { return a.RawEquals(b) }),
	cmp.Comparer(func(a, b stackaddrs.AbsComponentInstance) bool { return a == b }),
	cmp.Comparer(func(a, b stackaddrs.AbsComponent) bool { return a == b }),
}

func records(t testing.TB, s *State) map[string][]byte {
	t.Helper()
	r, err := s.Records()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fromRecords(t testing.TB, r map[string][]byte) *State {
	t.Helper()
	s, err := FromRecords(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRow248RecordsRoundTrip(t *testing.T) {
	want := exampleState(t)
	stored := records(t, want)
	wantKeys := []string{
		"CMPTcomponent.app",
		`CMPTstack.eu["a,b"].component.vpc["x"]`,
		"OTPToutput.secret",
		`RSRCstack.eu["a,b"].component.vpc["x"],fake_thing.b[10],cur`,
		`RSRCstack.eu["a,b"].component.vpc["x"],fake_thing.b[2],0123abcd`,
		`RSRCstack.eu["a,b"].component.vpc["x"],fake_thing.b[2],cur`,
		`RSRCstack.eu["a,b"].component.vpc["x"],module.m["a,b"].data.fake_thing.a["k,\"1\""],cur`,
		"VRBLvar.region",
		"VRBLvar.token",
		"somETHING",
	}
	if diff := cmp.Diff(wantKeys, slices.Sorted(maps.Keys(stored))); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	got := fromRecords(t, stored)
	if diff := cmp.Diff(want, got, compareStates); diff != "" {
		t.Errorf("state after a round trip (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stored, records(t, got)); diff != "" {
		t.Errorf("records after a round trip (-want +got):\n%s", diff)
	}
}

func TestModuleDocumentIsNormalised(t *testing.T) {
	c := &Component{Addr: componentAddr(t, "component.a"), Module: engine.State(moduleDocument)}
	r, err := ComponentRecords(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	got := string(fromRecords(t, r).Components[c.Addr].Module)
	if diff := cmp.Diff(joinedDocument, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestLineageIsDerivedFromAddress(t *testing.T) {
	doc := engine.State(`{"version":4,"terraform_version":"1.11.4","resources":[]}`)
	lineage := func(address string) string {
		c := &Component{Addr: componentAddr(t, address), Module: doc}
		r, err := ComponentRecords(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		var joined struct{ Lineage string }
		if err := json.Unmarshal(fromRecords(t, r).Components[c.Addr].Module, &joined); err != nil {
			t.Fatal(err)
		}
		return joined.Lineage
	}
	if a, again := lineage("component.a"), lineage("component.a"); a != again || len(a) != 36 {
		t.Errorf("lineages of one component: %q and %q, want the same UUID", a, again)
	}
	if a, b := lineage("component.a"), lineage("component.b"); a == b {
		t.Errorf("two components have the lineage %q", a)
	}
}

func TestResourceImpliesComponent(t *testing.T) {
	s := exampleState(t)
	r := records(t, s)
	delete(r, `CMPTstack.eu["a,b"].component.vpc["x"]`)
	got := fromRecords(t, r).Components[componentAddr(t, `stack.eu["a,b"].component.vpc["x"]`)]
	if got == nil {
		t.Fatal("the component is missing")
	}
	objects, err := tfstate.ParseObjects(got.Module)
	if err != nil || len(objects) != 4 {
		t.Errorf("Objects: got %d and %v, want 4 objects", len(objects), err)
	}
}

func TestDiffWritesOnlyWhatChanged(t *testing.T) {
	before := exampleState(t)
	before.Discarded = []string{"junk"}
	vpc := componentAddr(t, `stack.eu["a,b"].component.vpc["x"]`)
	prefix := `RSRCstack.eu["a,b"].component.vpc["x"],`

	tests := []struct {
		name         string
		change       func(*State)
		set, deleted []string
	}{
		{"nothing", func(*State) {}, nil, []string{"junk"}},
		{
			"one resource changed, one gone",
			func(s *State) {
				c := *s.Components[vpc]
				c.Module = engine.State(strings.NewReplacer(
					`"n":1.50`, `"n":2`,
					`{"index_key":2,"deposed":"0123abcd","schema_version":0,"attributes":{}},`, ``,
				).Replace(joinedDocument))
				s.Components[vpc] = &c
			},
			[]string{prefix + "fake_thing.b[10],cur"},
			[]string{prefix + "fake_thing.b[2],0123abcd", "junk"},
		},
		{
			"outputs changed",
			func(s *State) {
				c := *s.Components[vpc]
				c.Outputs = nil
				s.Components[vpc] = &c
			},
			[]string{`CMPTstack.eu["a,b"].component.vpc["x"]`},
			[]string{"junk"},
		},
		{
			"component removed, values changed",
			func(s *State) {
				delete(s.Components, componentAddr(t, "component.app"))
				delete(s.Inputs, "region")
				s.Outputs["secret"] = cty.True
				s.Outputs["new"] = cty.True
				delete(s.Preserved, "somETHING")
			},
			[]string{"OTPToutput.new", "OTPToutput.secret"},
			[]string{"CMPTcomponent.app", "VRBLvar.region", "junk", "somETHING"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			after := before.With(test.change)
			after.Discarded = nil
			changes, err := Diff(before, after)
			if err != nil {
				t.Fatal(err)
			}
			var set, deleted []string
			stored := records(t, before)
			for _, key := range slices.Sorted(maps.Keys(changes)) {
				if changes[key] == nil {
					deleted = append(deleted, key)
					delete(stored, key)
				} else {
					set = append(set, key)
					stored[key] = changes[key]
				}
			}
			if diff := cmp.Diff(test.set, set); diff != "" {
				t.Errorf("keys set (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.deleted, deleted); diff != "" {
				t.Errorf("keys deleted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(records(t, after), stored); diff != "" {
				t.Errorf("records with the changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownKinds(t *testing.T) {
	r := map[string][]byte{"oldx": []byte("1"), "oldy": []byte("2"), "keeP": []byte("3"), "CMPTcomponent.gone": nil}
	s := fromRecords(t, r)
	if diff := cmp.Diff([]string{"oldx", "oldy"}, s.Discarded); diff != "" {
		t.Errorf("discarded (-want +got):\n%s", diff)
	}
	if len(s.Components) != 0 || string(s.Preserved["keeP"]) != "3" {
		t.Errorf("got components %v and preserved %v", s.Components, s.Preserved)
	}
	_, err := FromRecords(map[string][]byte{"NEWERkind": []byte("1")})
	if unknown, ok := errors.AsType[*UnknownKindError](err); !ok || unknown.Kind != "NEWE" {
		t.Errorf("record of a newer version: got %v, want an UnknownKindError", err)
	}
}

func TestDamagedRecordsNameTheirKey(t *testing.T) {
	good := records(t, exampleState(t))
	const object = `RSRCstack.eu["a,b"].component.vpc["x"],fake_thing.b[2],cur`
	tests := map[string]struct {
		key   string
		value string
	}{
		"not JSON":                  {object, "{"},
		"no instance":               {object, `{"resource":{"mode":"managed","type":"fake_thing","name":"b"}}`},
		"instance is not an object": {object, `{"resource":{"mode":"managed","type":"fake_thing","name":"b"},"instance":2}`},
		"another object":            {object, string(good[strings.Replace(object, "[2]", "[10]", 1)])},
		"instances in the header": {
			object,
			`{"resource":{"mode":"managed","type":"fake_thing","name":"b","instances":[]},"instance":{"index_key":2}}`,
		},
		"unknown mode":             {object, `{"resource":{"mode":"odd","type":"fake_thing","name":"b"},"instance":{"index_key":2}}`},
		"component: no protobuf":   {"CMPTcomponent.app", "\xff\xff"},
		"component: bad value":     {"CMPTcomponent.app", "\x0a\x08\x0a\x01a\x12\x03\x0a\x01\xc1"},
		"component: bad address":   {"CMPTcomponent.app", "\x1a\x03abc"},
		"component: bad rest":      {"CMPTcomponent.app", "\x2a\x01{"},
		"variable: no protobuf":    {"VRBLvar.region", "\xff"},
		"not an address":           {"CMPTnot.an.address", ""},
		"not a key":                {"x", ""},
		"an object of a data mode": {"RSRCcomponent.a,data.b.c,cur", `{"resource":{"mode":"managed","type":"b","name":"c"},"instance":{}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := maps.Clone(good)
			r[test.key] = []byte(test.value)
			s, err := FromRecords(r)
			bad, ok := errors.AsType[*RecordError](err)
			if !ok || bad.Key != test.key {
				t.Errorf("FromRecords = %v, %v, want an error that names %q", s, err, test.key)
			}
		})
	}
}

func TestEmptyRootValueMeansNull(t *testing.T) {
	s := fromRecords(t, map[string][]byte{"VRBLvar.a": {}})
	if got := s.Inputs["a"]; !got.RawEquals(cty.NullVal(cty.DynamicPseudoType)) {
		t.Errorf("got %#v, want a null", got)
	}
}

func TestUnstorableValues(t *testing.T) {
	a := componentAddr(t, "component.a")
	fleeting := cty.ListVal([]cty.Value{cty.StringVal("x").Mark(marks.Ephemeral)})
	tests := map[string]struct {
		state *State
		key   string
	}{
		"root input":  {&State{Inputs: map[string]cty.Value{"a": fleeting}}, "VRBLvar.a"},
		"root output": {&State{Outputs: map[string]cty.Value{"a": fleeting}}, "OTPToutput.a"},
		"component input": {&State{Components: map[stackaddrs.AbsComponentInstance]*Component{a: {
			Addr:   a,
			Inputs: map[string]cty.Value{"i": fleeting},
		}}}, "CMPTcomponent.a"},
		"component output": {&State{Components: map[stackaddrs.AbsComponentInstance]*Component{a: {
			Addr:    a,
			Outputs: map[string]cty.Value{"i": fleeting},
		}}}, "CMPTcomponent.a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.state.Records()
			bad, ok := errors.AsType[*RecordError](err)
			if !ok || bad.Key != test.key || !errors.Is(err, storedvalue.ErrEphemeral) {
				t.Errorf("Records: got error %v, want one about an ephemeral value in %q", err, test.key)
			}
		})
	}
	t.Run("foreign mark", func(t *testing.T) {
		s := &State{Inputs: map[string]cty.Value{"a": cty.True.Mark("foreign")}}
		if _, err := s.Records(); err == nil {
			t.Error("Records: got no error for a value with a foreign mark")
		}
	})
}

func TestModuleStateMustBeADocument(t *testing.T) {
	for name, doc := range map[string]string{
		"not JSON":        `{`,
		"no version":      `{}`,
		"other version":   `{"version":3}`,
		"resources":       `{"version":4,"resources":{}}`,
		"two of a kind":   `{"version":4,"resources":[{"mode":"managed","type":"a","name":"b","instances":[{},{}]}]}`,
		"index key":       `{"version":4,"resources":[{"mode":"managed","type":"a","name":"b","instances":[{"index_key":1.5}]}]}`,
		"module address":  `{"version":4,"resources":[{"module":"m","mode":"managed","type":"a","name":"b","instances":[{}]}]}`,
		"deposed key":     `{"version":4,"resources":[{"mode":"managed","type":"a","name":"b","instances":[{"deposed":"x,y"}]}]}`,
		"resource header": `{"version":4,"resources":[{"mode":"managed","type":"a.b","name":"b","instances":[{}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := &Component{Addr: componentAddr(t, "component.a"), Module: engine.State(doc)}
			if r, err := ComponentRecords(nil, c); err == nil {
				t.Errorf("ComponentRecords: got %v, want an error", r)
			}
		})
	}
}

func FuzzRecords(f *testing.F) {
	for key, value := range records(f, exampleState(f)) {
		f.Add(key, value)
	}
	f.Add("VRBLvar.a", []byte{})
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		s, err := FromRecords(map[string][]byte{key: value})
		if err != nil {
			if bad, ok := errors.AsType[*RecordError](err); !ok || bad.Key != key {
				t.Errorf("the error does not name the key %q: %v", key, err)
			}
			return
		}
		stored, err := s.Records()
		if err != nil {
			t.Fatalf("a state that was read cannot be stored: %v", err)
		}
		again, err := FromRecords(stored)
		if err != nil {
			t.Fatalf("what was stored cannot be read: %v", err)
		}
		changes, err := Diff(s, again)
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range changes {
			if value != nil || !slices.Contains(s.Discarded, key) {
				t.Errorf("a round trip changes %q", key)
			}
		}
	})
}

func largeState(b *testing.B, n int) *State {
	s := New()
	for i := range n {
		addr := componentAddr(b, fmt.Sprintf(`stack.region["r%d"].component.app["%d"]`, i%10, i))
		s.Components[addr] = &Component{
			Addr:         addr,
			Dependencies: []stackaddrs.AbsComponent{stackaddrs.ComponentOf(addr)},
			Inputs:       map[string]cty.Value{"name": cty.StringVal("x"), "size": cty.NumberIntVal(int64(i))},
			Outputs:      map[string]cty.Value{"id": cty.StringVal("y"), "tags": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("b")})},
			Module: engine.State(`{"version":4,"terraform_version":"1.11.4","serial":3,"lineage":"x","outputs":{},"resources":[` +
				`{"mode":"managed","type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"1f8f3f0e","input":{"value":"x","type":"string"},"output":{"value":"x","type":"string"},"triggers_replace":null},"sensitive_attributes":[]}]},` +
				`{"mode":"managed","type":"terraform_data","name":"b","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"1f8f3f0e","input":null,"output":null,"triggers_replace":null},"sensitive_attributes":[],"dependencies":["terraform_data.a"]}]}],"check_results":null}`),
		}
	}
	return s
}

func BenchmarkFromRecords(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := records(b, largeState(b, n))
			b.ReportAllocs()
			for b.Loop() {
				fromRecords(b, r)
			}
		})
	}
}

func BenchmarkComponentRecords(b *testing.B) {
	s := largeState(b, 1)
	c := s.SortedComponents()[0]
	after := *c
	after.Module = append(slices.Clone(c.Module), '\n')
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ComponentRecords(c, &after); err != nil {
			b.Fatal(err)
		}
	}
}
