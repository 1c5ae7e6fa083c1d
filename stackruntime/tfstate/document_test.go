// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

const example = `{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 7,
  "lineage": "5f0d7a8e-0000-4d0c-9d54-5f3a0f1f5d7b",
  "outputs": {"id": {"value": "x", "type": "string"}, "secret": {"value": [1], "type": ["list", "number"], "sensitive": true}},
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
      "provider": "module.m.provider[\"registry.terraform.io/acme/fake\"].west", "each": "map",
      "instances": [{"index_key": "k,\"1\"", "schema_version": 1, "attributes": {}, "dependencies": ["fake_thing.b", "fake_thing.c"]}]
    },
    {"mode": "managed", "type": "fake_thing", "name": "alone", "provider": "provider[\"registry.terraform.io/acme/fake\"]", "instances": []}
  ],
  "check_results": [{"object_kind": "resource", "config_addr": "fake_thing.b", "status": "pass"}],
  "unknown_to_us": {"kept": true}
}`

// printed is the example in the form of rule D2.
const printed = `{"version":4,"terraform_version":"1.11.4","serial":7,"lineage":"5f0d7a8e-0000-4d0c-9d54-5f3a0f1f5d7b",` +
	`"outputs":{"id":{"value":"x","type":"string"},"secret":{"value":[1],"type":["list","number"],"sensitive":true}},"resources":[` +
	`{"mode":"managed","type":"fake_thing","name":"b","provider":"provider[\"registry.terraform.io/acme/fake\"]","instances":[` +
	`{"index_key":2,"schema_version":0,"status":"tainted","attributes":{},"later_field":[1,2]},` +
	`{"index_key":2,"deposed":"0123abcd","schema_version":0,"attributes":{}},` +
	`{"index_key":10,"schema_version":0,"attributes":{"n":1.50,"html":"<&>\u003c"},"private":"e30="}]},` +
	`{"module":"module.m[\"a,b\"]","mode":"data","type":"fake_thing","name":"a",` +
	`"provider":"module.m.provider[\"registry.terraform.io/acme/fake\"].west","each":"map","instances":[` +
	`{"index_key":"k,\"1\"","schema_version":1,"attributes":{},"dependencies":["fake_thing.b","fake_thing.c"]}]}],` +
	`"check_results":[{"object_kind":"resource","config_addr":"fake_thing.b","status":"pass"}],"unknown_to_us":{"kept":true}}`

func parse(t testing.TB, text string) *Document {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Rules D1 and D2.
func TestPrinting(t *testing.T) {
	d := parse(t, example)
	if got := string(d.Bytes()); got != example {
		t.Errorf("a document that was not changed is printed as\n%s", got)
	}
	entries := slices.Clone(d.Entries())
	slices.Reverse(entries)
	if diff := cmp.Diff(printed, string(must(d.WithEntries(entries)).Bytes())); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if got := string(d.Bytes()); got != example {
		t.Errorf("a change of another document has changed it to\n%s", got)
	}
	rest := strings.Replace(string(d.Rest()), `"resources"`, `"x"`, 1)
	if want := printed[:strings.Index(printed, `"outputs"`)] + printed[strings.Index(printed, `"check_results"`):]; rest != want {
		t.Errorf("Rest() = %s, want %s", rest, want)
	}
	joined := must(New(d.Rest(), entries))
	if want := string(must(must(d.WithOutputs(nil)).WithEntries(entries)).Bytes()); string(joined.Bytes()) != want {
		t.Errorf("New = %s, want %s", joined.Bytes(), want)
	}
}

// Rule D4.
func TestEmptyDocuments(t *testing.T) {
	for name, d := range map[string]*Document{"zero": {}, "parsed": parse(t, " \n"), "new": must(New(nil, nil))} {
		if !d.IsEmpty() || strings.TrimSpace(string(d.Bytes())) != "" || d.Rest() != nil || d.HasObjects() {
			t.Errorf("%s: not empty: %s", name, d.Bytes())
		}
		if got := d.Identity(); got != (Identity{Absent: true}) {
			t.Errorf("%s: the identity is %+v", name, got)
		}
		if got := string(d.WithIdentity("l", 2).Bytes()); got != `{"version":4,"serial":2,"lineage":"l","resources":[]}` {
			t.Errorf("%s: with an identity: %s", name, got)
		}
		if outputs, err := d.Outputs(); len(outputs) > 0 || err != nil {
			t.Errorf("%s: Outputs() = %v, %v", name, outputs, err)
		}
	}
}

func TestNewCompletes(t *testing.T) {
	want := `{"version":4,"terraform_version":"1.0","serial":1,"outputs":{},"resources":[]}`
	if got := string(must(New(json.RawMessage(` {"terraform_version": "1.0"} `), nil)).Bytes()); got != want {
		t.Errorf("New = %s", got)
	}
	for _, rest := range []string{"{", "[]", `{"lineage":1}`} {
		if d, err := New(json.RawMessage(rest), nil); err == nil {
			t.Errorf("New(%s) = %s, want an error", rest, d.Bytes())
		}
	}
}

func TestObjects(t *testing.T) {
	objects, err := ParseObjects([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, fmt.Sprintf("%s %s %t %s %v %s", o.Addr, o.Deposed, o.Tainted, o.Attributes, o.Dependencies, o.ProviderName()))
	}
	want := []string{
		"fake_thing.b[2]  true {} [] registry.terraform.io/acme/fake",
		"fake_thing.b[2] 0123abcd false {} [] registry.terraform.io/acme/fake",
		`fake_thing.b[10]  false {"n":1.50,"html":"<&>\u003c"} [] registry.terraform.io/acme/fake`,
		`module.m["a,b"].data.fake_thing.a["k,\"1\""]  false {} [fake_thing.b fake_thing.c] registry.terraform.io/acme/fake`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	for doc, want := range map[string]bool{
		example: true, "": false, `{"version":4,"resources":[]}`: false, `{"version":4,"resources":null}`: false,
		`{"version":4,"resources":[{"mode":"data","type":"a","name":"b","instances":[]}]}`: false,
	} {
		if got := parse(t, doc).HasObjects(); got != want {
			t.Errorf("HasObjects(%.40s…) = %t, want %t", doc, got, want)
		}
	}
}

func TestResourcesAndProviders(t *testing.T) {
	d := parse(t, example)
	if got := fmt.Sprint(d.Resources()); got != `[fake_thing.b module.m["a,b"].data.fake_thing.a]` {
		t.Errorf("Resources() = %s", got)
	}
	configs, err := d.ProviderConfigs()
	want := []ProviderConfig{{"registry.terraform.io/acme/fake", ""}, {"registry.terraform.io/acme/fake", "west"}}
	if err != nil || !slices.Equal(configs, want) {
		t.Errorf("ProviderConfigs() = %v, %v, want %v", configs, err, want)
	}
	if configs, err := parse(t,
		`{"version":4,"resources":[{"mode":"data","type":"a","name":"b","provider":"x","instances":[{}]}]}`).ProviderConfigs(); err == nil {
		t.Errorf("ProviderConfigs() = %v, want an error", configs)
	}
}

func TestIdentity(t *testing.T) {
	d := parse(t, example)
	identity := d.Identity()
	if identity.Lineage != d.Lineage() || identity.Serial != 7 || identity.Absent || len(identity.Resources) != 64 {
		t.Errorf("Identity() = %+v", identity)
	}
	if again := parse(t, printed).Identity(); again != identity {
		t.Errorf("another spelling has the identity %+v, want %+v", again, identity)
	}
	if same := d.WithIdentity(identity.Lineage, 7); same != d {
		t.Error("the same identity makes another document")
	}
	next := d.WithIdentity("other", 8).Identity()
	if next.Lineage != "other" || next.Serial != 8 || next.Resources != identity.Resources {
		t.Errorf("with another identity: %+v", next)
	}
	for _, entry := range d.Entries() {
		fewer := must(d.WithEntries(slices.DeleteFunc(slices.Clone(d.Entries()), entry.Equal)))
		if fewer.Identity().Resources == identity.Resources {
			t.Errorf("without %s the identity is the same", entry.Addr)
		}
	}
	if got := must(d.WithEntries(nil)).Identity().Resources; got != "" {
		t.Errorf("without resources: %q", got)
	}
}

func TestOutputs(t *testing.T) {
	d := parse(t, example)
	want := map[string]Output{
		"id": {Value: cty.StringVal("x")}, "secret": {Value: cty.ListVal([]cty.Value{cty.NumberIntVal(1)}), Sensitive: true},
	}
	got, err := d.Outputs()
	equal := cmp.Comparer(func(a, b cty.Value) bool { return a.RawEquals(b) })
	if diff := cmp.Diff(want, got, equal); diff != "" || err != nil {
		t.Errorf("Outputs (-want +got):\n%s%v", diff, err)
	}
	if again := must(must(d.WithOutputs(nil)).WithOutputs(want)); !strings.Contains(string(again.Bytes()),
		printed[strings.Index(printed, `"outputs"`):strings.Index(printed, `"resources"`)]) {
		t.Errorf("with outputs: %s", again.Bytes())
	}
	for _, outputs := range []string{`[]`, `{"a":{"value":1,"type":"odd"}}`, `{"a":{"value":{},"type":"bool"}}`} {
		if got, err := parse(t, `{"version":4,"outputs":`+outputs+`}`).Outputs(); err == nil {
			t.Errorf("outputs %s: got %v, want an error", outputs, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	entry := func(text string) string {
		return `{"version":4,"resources":[{"mode":"managed","type":"a","name":"b","instances":[` + text + `]}]}`
	}
	for name, text := range map[string]string{
		"not JSON":        `{`,
		"not an object":   `[4]`,
		"trailing":        `{"version":4} x`,
		"lineage":         `{"version":4,"lineage":1}`,
		"serial":          `{"version":4,"serial":-1}`,
		"resources":       `{"version":4,"resources":{}}`,
		"resource":        `{"version":4,"resources":[null]}`,
		"instances":       `{"version":4,"resources":[{"mode":"managed","type":"a","name":"b","instances":{}}]}`,
		"instance":        entry(`1`),
		"index key":       entry(`{"index_key":1.5}`),
		"deposed key":     entry(`{"deposed":"x,y"}`),
		"mode":            `{"version":4,"resources":[{"mode":"odd","type":"a","name":"b","instances":[{}]}]}`,
		"module address":  `{"version":4,"resources":[{"module":"m","mode":"managed","type":"a","name":"b","instances":[{}]}]}`,
		"module spelling": `{"version":4,"resources":[{"module":"module.m[ 0 ]","mode":"managed","type":"a","name":"b","instances":[{}]}]}`,
		"type":            `{"version":4,"resources":[{"mode":"managed","type":"a.b","name":"b","instances":[{}]}]}`,
		"name":            `{"version":4,"resources":[{"mode":"managed","type":"a","name":"b[0]","instances":[{}]}]}`,
	} {
		if d, err := Parse([]byte(text)); err == nil || errors.As(err, new(*VersionError)) {
			t.Errorf("%s: Parse = %v, %v, want another error", name, d, err)
		}
	}
	for text, want := range map[string]string{`{}`: "", `{"version":3}`: "3", `{"version":"4"}`: `"4"`} {
		_, err := Parse([]byte(text))
		if version, ok := errors.AsType[*VersionError](err); !ok || version.Version != want {
			t.Errorf("Parse(%s): %v, want an error about the version", text, err)
		}
	}
	if _, err := parse(t, entry("{},{}")).WithEntries(parse(t, entry("{},{}")).Entries()); err == nil {
		t.Error("an object occurs twice: no error")
	}
	for _, text := range []string{`{"attributes":{},"schema_version":"x"}`, `{"dependencies":{}}`, `{"status":1}`} {
		if objects, err := parse(t, entry(text)).Objects(); err == nil {
			t.Errorf("%s: got %v, want an error", text, objects)
		}
	}
}

// FuzzParse checks rules D1 and D2: nothing of a parsed document is dropped, and its printed form
// is stable.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		example, printed, "", " ", `{"version":4}`, `{"version":4,"resources":[],"x":[{},[],"",-1.5e3,true,null,{"\u0061":"\\\""}]}`,
		`{"version":4,"version":4,"serial":1,"serial":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil || d.IsEmpty() {
			return
		}
		if string(d.Bytes()) != string(text) {
			t.Fatalf("not printed as it was: %s", d.Bytes())
		}
		changed, err := d.WithEntries(d.Entries())
		if err != nil {
			return // an object occurs twice
		}
		var before, after map[string]any
		if err := errors.Join(json.Unmarshal(text, &before), json.Unmarshal(changed.Bytes(), &after)); err != nil {
			t.Fatalf("%v\n%s", err, changed.Bytes())
		}
		delete(before, "resources")
		delete(after, "resources")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("members were dropped (-before +after):\n%s", diff)
		}
		again, err := Parse(changed.Bytes())
		if err != nil {
			t.Fatalf("what was printed cannot be parsed: %v\n%s", err, changed.Bytes())
		}
		if len(again.Entries()) != len(d.Entries()) || again.Identity().Resources != d.Identity().Resources {
			t.Errorf("%d objects became %d", len(d.Entries()), len(again.Entries()))
		}
		if twice, err := again.WithEntries(again.Entries()); err != nil || string(twice.Bytes()) != string(changed.Bytes()) {
			t.Errorf("printing is not stable: %v\n%s\n%s", err, changed.Bytes(), twice.Bytes())
		}
	})
}

func largeDocument(n int) []byte {
	d := must(New(nil, nil)).WithIdentity("l", 1)
	var r EntryReader
	var entries []Entry
	for i := range n {
		entries = append(entries, must(r.Read(fmt.Appendf(nil,
			`{"resource":{"mode":"managed","type":"aws_thing","name":"n%d","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]"},`+
				`"instance":{"index_key":%d,"schema_version":1,"attributes":{"id":"i-%d","tags":{"Name":"x","Owner":"y"},"list":[1,2,3]},`+
				`"sensitive_attributes":[],"dependencies":["aws_thing.a"]}}`,
			i/10, i%10, i))))
	}
	return must(d.WithEntries(entries)).Bytes()
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{3, 1000} {
		text := largeDocument(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestEntryEdits(t *testing.T) {
	d := parse(t, example)
	moved := d.Entries()[3].WithAddr(must(stackaddrs.ParseResourceInstance("data.fake_thing.z[0]")))
	const want = `{"resource":{"mode":"data","type":"fake_thing","name":"z",` +
		`"provider":"module.m.provider[\"registry.terraform.io/acme/fake\"].west","each":"map"},` +
		`"instance":{"attributes":{},"dependencies":["fake_thing.b","fake_thing.c"],"index_key":0,"schema_version":1}}`
	if got := string(moved.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	inModule := moved.WithAddr(must(stackaddrs.ParseResourceInstance("module.n.data.fake_thing.z")))
	if got := string(inModule.AppendJSON(nil)); !strings.Contains(got, `"module":"module.n","mode"`) || strings.Contains(got, "index_key") {
		t.Errorf("in a module: %s", got)
	}
	fewer := must(moved.WithoutDependencies(func(address string) bool { return address == "fake_thing.b" }))
	if got := must(fewer.Object()).Dependencies; !slices.Equal(got, []string{"fake_thing.c"}) {
		t.Errorf("dependencies: %v", got)
	}
	none := must(fewer.WithoutDependencies(func(string) bool { return true }))
	if got := string(none.AppendJSON(nil)); strings.Contains(got, "dependencies") {
		t.Errorf("without dependencies: %s", got)
	}
	if same := must(none.WithoutDependencies(func(string) bool { return true })); !same.Equal(none) || none.Equal(fewer) {
		t.Error("Equal is wrong")
	}
}

func TestEntryReader(t *testing.T) {
	var r EntryReader
	for _, e := range parse(t, example).Entries() {
		if got, err := r.Read(e.AppendJSON(nil)); err != nil || !got.Equal(e) || got.Addr != e.Addr || got.Deposed != e.Deposed {
			t.Errorf("%s became %s, %v", e.Addr, got.Addr, err)
		}
	}
	for _, text := range []string{
		``, `[]`, `{}`, `{"resource":{"mode":"managed","type":"a","name":"b"}}`, `{"resource":[],"instance":{}}`,
		`{"resource":{"mode":"managed","type":"a","name":"b","instances":[]},"instance":{}}`,
		`{"resource":{"mode":"managed","type":1},"instance":{}}`,
	} {
		if e, err := r.Read([]byte(text)); err == nil {
			t.Errorf("Read(%s) = %s, want an error", text, e.Addr)
		}
	}
}
