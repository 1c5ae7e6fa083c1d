// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package state_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

const prior = `{
  "version": 4, "terraform_version": "1.11.4", "serial": 7, "lineage": "l", "outputs": {"old": {"value": 1, "type": "number"}},
  "resources": [
    {"mode": "managed", "type": "a_b", "name": "x", "provider": "provider[\"example.com/a/a\"].west", "instances": [
      {"index_key": "b", "schema_version": 0, "attributes": {"n": 1.50}, "later": [1]},
      {"index_key": 10, "schema_version": 0, "attributes": {}, "private": "cA=="},
      {"index_key": 2, "schema_version": 0, "status": "tainted", "attributes": {}},
      {"index_key": 2, "deposed": "ffffffff", "schema_version": 0, "attributes": {}},
      {"index_key": 2, "deposed": "00000000", "schema_version": 0, "attributes": {}}
    ]},
    {"module": "module.m[\"a\"].module.n", "mode": "data", "type": "a_b", "name": "x", "provider": "provider[\"example.com/a/a\"]", "instances": [
      {"schema_version": 0, "attributes": {}}
    ]}
  ],
  "check_results": null
}`

func read(t *testing.T, text string) *state.State {
	t.Helper()
	s, err := state.Read(engine.State(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func addr(t *testing.T, text string) stackaddrs.ResourceInstance {
	t.Helper()
	a, err := stackaddrs.ParseResourceInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// list returns the addresses of all objects in their order.
func list(resources []*state.Resource) string {
	var names []string
	for _, r := range resources {
		for _, i := range r.Instances {
			for _, o := range i.Objects() {
				names = append(names, strings.TrimSpace(fmt.Sprint(o.Entry.Addr, " ", o.Entry.Deposed)))
			}
		}
	}
	return strings.Join(names, "\n")
}

func TestRead(t *testing.T) {
	s := read(t, prior)
	const want = `a_b.x[2]
a_b.x[2] 00000000
a_b.x[2] ffffffff
a_b.x[10]
a_b.x["b"]
module.m["a"].module.n.data.a_b.x`
	if diff := cmp.Diff(want, list(s.Resources())); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if got := fmt.Sprint(s.Modules()); got != `[ module.m["a"] module.m["a"].module.n]` {
		t.Errorf("Modules() = %s", got)
	}
	for module, want := range map[string]bool{
		"": true, `module.m["a"]`: true, `module.m["a"].module.n`: true, "module.m": false,
		`module.m["b"]`: false,
	} {
		parsed, err := stackaddrs.ParseModuleInstance(module)
		if got := s.HasModule(parsed); got != want || err != nil {
			t.Errorf("HasModule(%q) = %t, want %t (%v)", module, got, want, err)
		}
	}
	o := s.Object(addr(t, "a_b.x[2]"), "")
	if status, err := o.Status(); status != state.Tainted || err != nil {
		t.Errorf("the status of a_b.x[2] is %v, %v", status, err)
	}
	if config, err := o.Provider(); config != (tfstate.ProviderConfig{Provider: "example.com/a/a", Alias: "west"}) || err != nil {
		t.Errorf("its provider configuration is %v, %v", config, err)
	}
	if private, err := s.Object(addr(t, "a_b.x[10]"), "").Private(); string(private) != "p" || err != nil {
		t.Errorf("the private data of a_b.x[10] is %q, %v", private, err)
	}
	if got := s.Resource(stackaddrs.RootModuleInstance, addr(t, "a_b.y").Resource); got != nil || got.Instance(stackaddrs.NoKey) != nil {
		t.Errorf("there is a resource a_b.y: %v", got)
	}
	if read(t, "").IsEmpty() != true || s.IsEmpty() {
		t.Error("IsEmpty is wrong")
	}
}

func TestReadRefuses(t *testing.T) {
	resource := func(instances string) string {
		return `{"version":4,"resources":[{"mode":"managed","type":"a_b","name":"x","provider":"p","instances":[` + instances + `]}]}`
	}
	for name, text := range map[string]string{
		"no state":        "[]",
		"a current twice": resource(`{"attributes":{}},{"attributes":{}}`),
		"a deposed twice": resource(`{"deposed":"00000000"},{"deposed":"00000000"}`),
		"by two providers": strings.Replace(resource(`{"attributes":{}}`), `]}]}`,
			`]},{"mode":"managed","type":"a_b","name":"x","provider":"q","instances":[{}]}]}`, 1),
		"a bad deposed key": resource(`{"deposed":"x"}`),
	} {
		if s, err := state.Read(engine.State(text)); err == nil {
			t.Errorf("%s: Read = %s, want an error", name, list(s.Resources()))
		}
	}
}

func entry(t *testing.T, content state.Content) tfstate.Entry {
	t.Helper()
	if content.Type == cty.NilType {
		content.Type = content.Value.Type()
	}
	e, err := state.Encode(&content)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestWorking(t *testing.T) {
	s := read(t, prior)
	w := s.Working()
	object := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("1")})
	provider := tfstate.ProviderConfig{Provider: "example.com/a/a", Alias: "west"}
	w.Set(entry(t, state.Content{Addr: addr(t, "a_b.x[10]"), Provider: provider, Value: object}))
	w.Set(entry(t, state.Content{Addr: addr(t, "module.k.a_b.new"), Provider: provider, Value: object}))
	w.Remove(addr(t, `a_b.x["b"]`), "")
	w.Remove(addr(t, `a_b.x[2]`), "ffffffff")
	w.Remove(addr(t, `module.m["a"].module.n.data.a_b.x`), "")
	w.Remove(addr(t, `a_b.absent`), "")
	const want = "a_b.x[2]\na_b.x[2] 00000000\na_b.x[10]\nmodule.k.a_b.new"
	if diff := cmp.Diff(want, list(w.Resources())); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if got := fmt.Sprint(w.Modules()); got != "[ module.k]" {
		t.Errorf("Modules() = %s", got)
	}
	if w.HasModule(stackaddrs.RootModuleInstance.Child("m", stackaddrs.StringKey("a"))) {
		t.Error("a module without objects is there")
	}
	doc, err := w.Document(state.Finish{
		Outputs: map[string]tfstate.Output{"new": {Value: cty.True}},
		Checks:  []engine.CheckResult{{Kind: engine.CheckOutput, Address: "output.new", Status: engine.CheckPass}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const printed = `{"version":4,"terraform_version":"1.11.4","serial":7,"lineage":"l","outputs":{"new":{"value":true,"type":"bool"}},"resources":[` +
		`{"mode":"managed","type":"a_b","name":"x","provider":"provider[\"example.com/a/a\"].west","instances":[` +
		`{"index_key":2,"schema_version":0,"status":"tainted","attributes":{}},{"index_key":2,"deposed":"00000000","schema_version":0,"attributes":{}},` +
		`{"attributes":{"id":"1"},"index_key":10,"schema_version":0,"sensitive_attributes":[]}]},` +
		`{"module":"module.k","mode":"managed","type":"a_b","name":"new","provider":"provider[\"example.com/a/a\"].west","instances":[` +
		`{"attributes":{"id":"1"},"schema_version":0,"sensitive_attributes":[]}]}],` +
		`"check_results":[{"object_kind":"output","config_addr":"output.new","status":"pass","objects":null}]}`
	if diff := cmp.Diff(printed, string(doc.Bytes())); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	again, err := w.State()
	if diff := cmp.Diff(want, list(again.Resources())); diff != "" || err != nil {
		t.Errorf("as a state: %v (-want +got):\n%s", err, diff)
	}
	if got := string(s.Document().Bytes()); got != prior {
		t.Errorf("the state itself has changed to %s", got)
	}
}

func TestNothingFromNothing(t *testing.T) {
	w := read(t, "").Working()
	doc, err := w.Document(state.Finish{})
	if err != nil || !doc.IsEmpty() {
		t.Errorf("Document = %s, %v", doc.Bytes(), err)
	}
	if s, err := w.State(); err != nil || !s.Document().IsEmpty() {
		t.Errorf("State = %v, %v", s, err)
	}
}

func TestDepose(t *testing.T) {
	w := read(t, prior).Working()
	x := addr(t, "a_b.x[2]")
	deposed := w.Depose(x)
	if deposed == nil || w.Object(x, "") != nil || w.Object(x, deposed.Entry.Deposed) != deposed {
		t.Fatalf("Depose = %v; then there are\n%s", deposed, list(w.Resources()))
	}
	if got := w.Depose(x); got != nil {
		t.Errorf("without a current object, Depose = %v", got.Entry.Addr)
	}
	if restored := w.Restore(x, deposed.Entry.Deposed); restored == nil || w.Object(x, "") != restored ||
		w.Object(x, deposed.Entry.Deposed) != nil {
		t.Errorf("Restore = %v; then there are\n%s", restored, list(w.Resources()))
	}
	if got := w.Restore(x, "00000000"); got != nil {
		t.Errorf("beside a current object, Restore = %v", got.Entry.Addr)
	}
	if status, err := w.Object(x, "").Status(); status != state.Tainted || err != nil {
		t.Errorf("the status is now %v, %v", status, err)
	}
}

// TestConcurrentWrites is for the race detector, and for that nothing is lost.
func TestConcurrentWrites(t *testing.T) {
	w := read(t, prior).Working()
	var group sync.WaitGroup
	for n := range 20 {
		group.Go(func() {
			a := addr(t, "a_b.many")
			a.Key = stackaddrs.IntKey(int64(n))
			w.Set(entry(t, state.Content{Addr: a, Value: cty.EmptyObjectVal}))
			w.Resources()
		})
	}
	group.Wait()
	if got := len(w.Resource(stackaddrs.RootModuleInstance, addr(t, "a_b.many").Resource).Instances); got != 20 {
		t.Errorf("there are %d instances, want 20", got)
	}
}

func TestEncode(t *testing.T) {
	exact, _, err := big.ParseFloat("123456789012345678901234567890.125", 10, 512, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	e := entry(t, state.Content{
		Addr: addr(t, "a_b.x"), Deposed: "0123abcd", Provider: tfstate.ProviderConfig{Provider: "example.com/a/a"}, SchemaVersion: 2,
		Value: cty.ObjectVal(map[string]cty.Value{
			"any":    cty.ListVal([]cty.Value{cty.StringVal("<")}),
			"number": cty.NumberVal(exact),
			"secret": cty.StringVal("s").Mark(marks.Sensitive),
			"set":    cty.SetVal([]cty.Value{cty.StringVal("b"), cty.StringVal("a").Mark(marks.Sensitive)}),
		}),
		Type: cty.Object(map[string]cty.Type{
			"any": cty.DynamicPseudoType, "number": cty.Number, "secret": cty.String,
			"set": cty.Set(cty.String),
		}),
		Private:      []byte("p"),
		Identity:     cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("1")}),
		IdentityType: cty.Object(map[string]cty.Type{"id": cty.String}), IdentityVersion: 3,
		Dependencies: []string{"a_b.y"}, CreateBeforeDestroy: true, Tainted: true,
	})
	const want = `{"resource":{"mode":"managed","type":"a_b","name":"x","provider":"provider[\"example.com/a/a\"]"},"instance":{` +
		`"attributes":{"any":{"value":["\u003c"],"type":["list","string"]},"number":123456789012345678901234567890.125,"secret":"s","set":["a","b"]},` +
		`"create_before_destroy":true,"dependencies":["a_b.y"],"deposed":"0123abcd","identity":{"id":"1"},"identity_schema_version":3,"private":"cA==",` +
		`"schema_version":2,"sensitive_attributes":[[{"type":"get_attr","value":"secret"}],[{"type":"get_attr","value":"set"}]],"status":"tainted"}}`
	if diff := cmp.Diff(want, string(e.AppendJSON(nil))); diff != "" {
		t.Errorf("Encode (-want +got):\n%s", diff)
	}
}

func TestEncodeRefuses(t *testing.T) {
	ty := cty.Object(map[string]cty.Type{"a": cty.String})
	of := func(v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": v}) }
	for name, value := range map[string]cty.Value{
		"nothing":        cty.NilVal,
		"null":           cty.NullVal(ty),
		"unknown":        of(cty.UnknownVal(cty.String)),
		"ephemeral":      of(cty.StringVal("s").Mark(marks.Ephemeral)),
		"another type":   of(cty.ListValEmpty(cty.String)),
		"a strange mark": of(cty.StringVal("s").Mark("strange")),
	} {
		if e, err := state.Encode(&state.Content{Addr: addr(t, "a_b.x"), Value: value, Type: ty}); err == nil {
			t.Errorf("%s: Encode = %s, want an error", name, e.AppendJSON(nil))
		}
	}
}

// FuzzRead checks that whatever is read is found where it is listed, in order, and that of each
// object there is its content or an error.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		prior, "", `{"version":4}`,
		`{"version":4,"resources":[{"mode":"managed","type":"a","name":"b","provider":"x","instances":[{"deposed":"1","private":"?"},{"status":"odd"}]}]}`,
		`{"version":4,"resources":[{"module":"module.a[0]","mode":"data","type":"a","name":"b","provider":"provider[\"e.com/a/b\"]","instances":[{"index_key":1.5},{"index_key":-1}]}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := state.Read(engine.State(text))
		if err != nil {
			return
		}
		resources := s.Resources()
		if !slices.IsSortedFunc(resources, func(a, b *state.Resource) int { return a.Addr.Compare(b.Addr) }) ||
			s.IsEmpty() != (len(resources) == 0) {
			t.Errorf("the resources are %v", resources)
		}
		for _, r := range resources {
			if !s.HasModule(r.Addr.Module) || !slices.Contains(s.Modules(), r.Addr.Module) {
				t.Errorf("the module of %v is missing", r.Addr)
			}
			for _, i := range r.Instances {
				for _, o := range i.Objects() {
					if s.Object(o.Entry.Addr, o.Entry.Deposed) != o {
						t.Errorf("%s is not found", o.Entry.Addr)
					}
					_, contentErr := o.Content()
					_, statusErr := o.Status()
					_, privateErr := o.Private()
					_, providerErr := o.Provider()
					if contentErr != nil && (statusErr == nil || privateErr == nil || providerErr == nil) {
						t.Errorf("%s has no content (%v), and is told about", o.Entry.Addr, contentErr)
					}
				}
			}
		}
	})
}
