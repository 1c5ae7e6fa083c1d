// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

var awkward = StringKey("a,b.c]\"\\ ${x} %{y} $ % \n\r\t\u0001\U000e0001 é")

func someStack() StackInstance {
	return RootStackInstance.Child("a", awkward).Child("b", NoKey)
}

func someComponent() AbsComponentInstance {
	return AbsComponentInstance{someStack(), ComponentInstance{Component{"x-1"}, StringKey("y")}}
}

func someModule() ModuleInstance {
	return RootModuleInstance.Child("m", awkward).Child("n", IntKey(0))
}

// roundTrip checks rule A3 for one address and its expected text.
func roundTrip[T interface {
	comparable
	fmt.Stringer
}](t *testing.T, addr T, want string, parse func(string) (T, error)) {
	t.Helper()
	text := addr.String()
	if want != "" && text != want {
		t.Errorf("%T: String() = %s, want %s", addr, text, want)
	}
	got, err := parse(text)
	if err != nil {
		t.Errorf("%T: %v", addr, err)
		return
	}
	if got != addr {
		t.Errorf("%T: parsing %s gave %s", addr, text, got)
	}
}

// Rule A3.
func TestRoundTrips(t *testing.T) {
	const quoted = `"a,b.c]\"\\ $${x} %%{y} $ % \n\r\t\u0001\U000e0001 é"`
	const stack = `stack.a[` + quoted + `].stack.b`
	const component = stack + `.component.x-1["y"]`
	const module = `module.m[` + quoted + `].module.n[0]`
	aws := Provider{"registry.terraform.io", "hashicorp", "aws"}
	root := AbsComponentInstance{Item: ComponentInstance{Component: Component{"x"}}}

	roundTrip(t, RootStackInstance, "<main>", ParseStackInstance)
	roundTrip(t, someStack(), stack, ParseStackInstance)
	roundTrip(t, someComponent(), component, ParseAbsComponentInstance)
	roundTrip(t, root, "component.x", ParseAbsComponentInstance)
	roundTrip(t, ComponentOf(someComponent()), stack+".component.x-1", ParseAbsComponent)
	roundTrip(t, AbsInputVariable{someStack(), InputVariable{"v"}}, stack+".var.v", ParseAbsInputVariable)
	roundTrip(t, AbsOutputValue{someStack(), OutputValue{"o"}}, stack+".output.o", ParseAbsOutputValue)
	roundTrip(t, AbsOutputValue{Item: OutputValue{"o"}}, "output.o", ParseAbsOutputValue)

	provider := ProviderConfigInstance{ProviderConfig{aws, "main"}, StringKey("eu")}
	const providerText = `provider["registry.terraform.io/hashicorp/aws"].main`
	roundTrip(t, aws, "registry.terraform.io/hashicorp/aws", ParseProvider)
	if got, want := (AbsProviderConfigInstance{someStack(), provider}).String(), stack+"."+providerText+`["eu"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	roundTrip(t, AbsProviderConfigRef{someStack(), ProviderConfigRef{"aws", "main"}, StringKey("eu")}, stack+`.provider.aws.main["eu"]`,
		ParseAbsProviderConfigRef)
	roundTrip(t, AbsProviderConfigRef{Ref: ProviderConfigRef{"aws", "main"}}, "provider.aws.main", ParseAbsProviderConfigRef)
	for _, text := range []string{"provider.aws", "provider", `provider["aws"].main`, "provider.aws[0].main", "provider.aws.main.x"} {
		if addr, err := ParseAbsProviderConfigRef(text); err == nil {
			t.Errorf("%s: parsed as %s", text, addr)
		}
	}

	resource := Resource{ManagedResource, "aws_thing", "z"}
	instance := ResourceInstance{someModule(), resource, IntKey(3)}
	roundTrip(t, someModule(), module, ParseModuleInstance)
	roundTrip(t, RootModuleInstance, "", ParseModuleInstance)
	roundTrip(t, instance, module+".aws_thing.z[3]", ParseResourceInstance)
	roundTrip(t, ActionInstance{someModule(), "aws_thing", "z", IntKey(3)}, module+".action.aws_thing.z[3]", ParsePartialActionInstance)
	roundTrip(t, ActionInstance{Type: "aws_thing", Name: "z", Key: WildcardKey}, "action.aws_thing.z[*]", ParsePartialActionInstance)
	roundTrip(t, AbsActionInstance{someComponent(), ActionInstance{someModule(), "aws_thing", "z", IntKey(3)}},
		component+"."+module+".action.aws_thing.z[3]", ParseAbsActionInstance)
	roundTrip(t, AbsResourceInstance{someComponent(), instance}, component+"."+module+".aws_thing.z[3]", ParseAbsResourceInstance)
	roundTrip(t, AbsResourceInstance{root, ResourceInstance{Resource: Resource{DataResource, "aws_thing", "z"}}},
		"component.x.data.aws_thing.z", ParseAbsResourceInstance)
	roundTrip(t, AbsResourceInstance{root, ResourceInstance{Resource: Resource{EphemeralResource, "aws_thing", "z"}, Key: awkward}},
		"component.x.ephemeral.aws_thing.z["+quoted+"]", ParseAbsResourceInstance)
}

// Addresses without a parser have a text all the same.
func TestTexts(t *testing.T) {
	for want, addr := range map[string]fmt.Stringer{
		"<main>":                        RootStack,
		"stack.a.stack.b":               someStack().Config(),
		"stack.a.stack.b.component.x-1": ConfigComponentOf(someComponent()),
		"stack.a.local.l":               AbsLocalValue{RootStackInstance.Child("a", NoKey), LocalValue{"l"}},
		"provider.aws.main":             ProviderConfigRef{"aws", "main"},
		`stack.a.provider["terraform.io/builtin/terraform"].p`: ConfigProviderConfig{RootStack.Child("a"), ProviderConfig{BuiltinProvider, "p"}},
	} {
		if got := addr.String(); got != want {
			t.Errorf("%T: String() = %s, want %s", addr, got, want)
		}
	}
}

// Rule A3 for the keys that state and plan files hold: rows 253 and 255 of
// docs/language.md.
func TestStateKeyAddresses(t *testing.T) {
	for _, text := range []string{
		`component.a`,
		`component.a["x,y"]`,
		`component.a["x\"y"]`,
		`stack.s.component.a["k"]`,
		`stack.s["p,q"].stack.t.component.a`,
	} {
		addr, err := ParseAbsComponentInstance(text)
		if err != nil || addr.String() != text {
			t.Errorf("ParseAbsComponentInstance(%s) = %s, %v", text, addr, err)
		}
	}
	for _, text := range []string{
		`testing_resource.r`,
		`testing_resource.r["a,b"]`,
		`module.m["\"q\""].testing_resource.r[0]`,
		`module.m.module.n[1].data.testing_data_source.r`,
	} {
		addr, err := ParseResourceInstance(text)
		if err != nil || addr.String() != text {
			t.Errorf("ParseResourceInstance(%s) = %s, %v", text, addr, err)
		}
	}
}

// Addresses that are not written as they are printed.
func TestSpellings(t *testing.T) {
	for text, want := range map[string]string{
		`a.b["\u0061"]`:        `a.b["a"]`,
		`a.b[007]`:             `a.b[7]`,
		`a . b [ "c" ]`:        `a.b["c"]`,
		`module.m["x"].ä.ö[0]`: `module.m["x"].ä.ö[0]`,
		`a.b["$"]`:             `a.b["$"]`,
		`a.b["é"]`:             `a.b["é"]`,
		`_a-.b_1`:              `_a-.b_1`,
		`action.a[0]`:          `action.a[0]`,
	} {
		addr, err := ParseResourceInstance(text)
		if err != nil || addr.String() != want {
			t.Errorf("ParseResourceInstance(%s) = %s, %v, want %s", text, addr, err, want)
		}
	}
	for _, text := range []string{
		"a.", ".a", "a..b", "a.b.c", "a.b[", "a.b[]", "a.b[x]", "a.b[-1]", `a.b["x]`, `a.b["x"`, "a[0].b", "a.b[0]c", "a.b[0][1]", "a.b[*]",
		"module.m", `a.b["${x}"]`, "a.0b", "a.-b", "a.b\x00", "a.b[9223372036854775808]",
	} {
		if addr, err := ParseResourceInstance(text); err == nil {
			t.Errorf("ParseResourceInstance(%q) = %s, want an error", text, addr)
		}
	}
}

func TestDeposedKeys(t *testing.T) {
	if key, err := ParseDeposedKey("0123abef"); key != "0123abef" || err != nil {
		t.Errorf("ParseDeposedKey = %q, %v", key, err)
	}
	for _, text := range []string{"", "0123abe", "0123abef0", "0123ABEF", "0123abeg", "0123 bef"} {
		if key, err := ParseDeposedKey(text); err == nil {
			t.Errorf("ParseDeposedKey(%q) = %q", text, key)
		}
	}
}

func TestPartialAddresses(t *testing.T) {
	wild := AbsComponentInstance{RootStackInstance.Child("a", WildcardKey), ComponentInstance{Component{"x"}, WildcardKey}}
	roundTrip(t, wild, "stack.a[*].component.x[*]", ParsePartialComponentInstance)
	roundTrip(t, someComponent(), "", ParsePartialComponentInstance)

	wildResource := ResourceInstance{RootModuleInstance.Child("m", WildcardKey), Resource{ManagedResource, "a", "b"}, WildcardKey}
	roundTrip(t, wildResource, "module.m[*].a.b[*]", ParsePartialResourceInstance)

	if !HasWildcard(wild) || HasWildcard(someComponent()) || !wild.Stack.HasWildcard() {
		t.Error("HasWildcard is wrong")
	}
	for _, text := range []string{"component.x[*]", "stack.a[*].component.x"} {
		if addr, err := ParseAbsComponentInstance(text); err == nil {
			t.Errorf("ParseAbsComponentInstance(%s) = %s", text, addr)
		}
	}
}

func TestPrefixes(t *testing.T) {
	for text, want := range map[string][2]string{
		`stack.a["k"].component.x[0].module.m.aws_thing.z`: {`stack.a["k"].component.x[0]`, "module.m.aws_thing.z"},
		`component.x["\u0061"] . aws_thing.z`:              {`component.x["a"]`, " aws_thing.z"},
		"component.x.aws_thing":                            {"component.x", "aws_thing"},
		"component.x":                                      {"component.x", ""},
	} {
		addr, rest, err := ParseAbsComponentInstancePrefix(text)
		if err != nil || addr.String() != want[0] || rest != want[1] {
			t.Errorf("ParseAbsComponentInstancePrefix(%s) = %s, %q, %v, want %q", text, addr, rest, err, want)
		}
	}
	for _, text := range []string{"", "stack.a", "component", "component.x[*].aws_thing.z", "component.x["} {
		if addr, _, err := ParseAbsComponentInstancePrefix(text); err == nil {
			t.Errorf("ParseAbsComponentInstancePrefix(%q) = %s", text, addr)
		}
	}
}

// The errors name the expected text: E-ADR-01 to 03.
func TestParseErrors(t *testing.T) {
	parse := map[string]func(string) error{
		"component instance": func(s string) error { _, err := ParseAbsComponentInstance(s); return err },
		"stack instance":     func(s string) error { _, err := ParseStackInstance(s); return err },
		"input variable":     func(s string) error { _, err := ParseAbsInputVariable(s); return err },
		"output value":       func(s string) error { _, err := ParseAbsOutputValue(s); return err },
		"provider":           func(s string) error { _, err := ParseProvider(s); return err },
		"resource instance":  func(s string) error { _, err := ParseAbsResourceInstance(s); return err },
		"module instance":    func(s string) error { _, err := ParseModuleInstance(s); return err },
	}
	for _, test := range []struct{ kind, text, want string }{
		{"component instance", "", "Must begin with a variable name"},
		{"component instance", "component", "a name must follow"},
		{"component instance", `component["x"]`, "a name must follow"},
		{"component instance", "module.x", `the keyword "component" was expected`},
		{"component instance", "stack.a", `the keyword "component" was expected`},
		{"component instance", "stack", "a name must follow"},
		{"component instance", "component.x[0][1]", "nothing may follow"},
		{"component instance", "component.x.y", "nothing may follow"},
		{"component instance", "component.x[1.5]", "a string or a whole number"},
		{"component instance", "component.x[true]", "literal number or a literal string"},
		{"component instance", "stack.a[1.5].component.x", "a string or a whole number"},
		{"component instance", "component.x[99999999999999999999]", "a string or a whole number"},
		{"stack instance", "component.x", `the keyword "stack" was expected`},
		{"stack instance", "stack.a.component.x", "nothing may follow"},
		{"stack instance", "stack.a[*]", "Splat expressions"},
		{"input variable", "var.x.y", "nothing may follow"},
		{"input variable", `var.x["k"]`, "nothing may follow"},
		{"input variable", "output.x", `the keyword "var" was expected`},
		{"output value", "var.x", `the keyword "output" was expected`},
		{"provider", "hashicorp/aws", "a host, a namespace and a type"},
		{"provider", "a//b", "a host, a namespace and a type"},
		{"resource instance", "component.x", "a type and a name"},
		{"resource instance", "component.x.aws_thing", "a type and a name"},
		{"resource instance", "component.x.data.aws_thing", "a type and a name"},
		{"resource instance", "component.x.module.m", "a type and a name"},
		{"resource instance", "component.x.action.a.b", "the address of an action"},
		{"resource instance", "component.x.aws_thing.z[0].id", "nothing may follow"},
		{"module instance", "aws_thing.z", `the keyword "module" was expected`},
	} {
		err := parse[test.kind](test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %q: got %v, want an error with %q", test.kind, test.text, err, test.want)
		}
	}
}

func TestRow017Contains(t *testing.T) {
	root := RootStackInstance
	child := root.Child("a", IntKey(1))
	grandchild := child.Child("b", NoKey)
	for _, test := range []struct {
		outer, inner StackInstance
		want         bool
	}{
		{root, root, true},
		{root, child, true},
		{root, grandchild, true},
		{child, root, false},
		{child, child, true},
		{child, grandchild, true},
		{grandchild, child, false},
		{child, root.Child("a", IntKey(2)), false},
		{child, root.Child("a", NoKey), false},
		{root.Child("a", NoKey), grandchild, false},
		{child, root.Child("b", IntKey(1)), false},
	} {
		if got := test.outer.Contains(test.inner); got != test.want {
			t.Errorf("%s contains %s: %v, want %v", test.outer, test.inner, got, test.want)
		}
	}
	if !child.Config().Contains(grandchild.Config()) || grandchild.Config().Contains(child.Config()) {
		t.Error("Contains of configuration addresses is wrong")
	}
}

// Rules A1 and A2.
func TestEquality(t *testing.T) {
	if (Stack{}) != RootStack || (StackInstance{}) != RootStackInstance || (InstanceKey{}) != NoKey {
		t.Error("a zero value is not what rule A2 says")
	}
	byAddr := map[AbsComponentInstance]int{someComponent(): 1}
	if byAddr[someComponent()] != 1 {
		t.Error("an equal address is another map key")
	}
	if _, _, ok := RootStack.Parent(); ok {
		t.Error("the root stack has a parent")
	}
	caller, call, ok := someStack().Parent()
	if !ok || call.String() != "stack.b" || caller != RootStackInstance.Child("a", awkward) {
		t.Errorf("the parent of %s is %s", someStack(), caller)
	}
	if got := someStack().Config(); got != RootStack.Child("a").Child("b") || got.Depth() != 2 || someStack().Depth() != 2 {
		t.Errorf("the configuration address of %s is %s", someStack(), got)
	}
	// Strings are normalized as those of expressions are.
	if StringKey("e\u0301") != StringKey("\u00e9") {
		t.Error("two spellings of one text are different keys")
	}
}

// Rule A4.
func TestOrder(t *testing.T) {
	var want []AbsComponentInstance
	for _, text := range []string{
		"component.a",
		"component.b",
		"component.b[0]",
		"component.b[2]",
		"component.b[10]",
		`component.b["0"]`,
		`component.b["a"]`,
		"component.b[*]",
		"stack.a.component.a",
		"stack.a.component.c",
		"stack.a.stack.a.component.a",
		`stack.a["k"].component.a`,
		"stack.a[*].component.a",
		"stack.b.component.a",
	} {
		addr, err := ParsePartialComponentInstance(text)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, addr)
	}
	got := slices.Clone(want)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	slices.SortFunc(got, AbsComponentInstance.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("sorted: %v", got)
	}
	for i := range want {
		for j := range want {
			a, b := want[i].Compare(want[j]), want[j].Compare(want[i])
			if a != -b || (a == 0) != (i == j) {
				t.Errorf("comparing %s and %s: %d and %d", want[i], want[j], a, b)
			}
		}
	}
}

func TestResourceOrder(t *testing.T) {
	at := func(text string, deposed DeposedKey) AbsResourceInstanceObject {
		addr, err := ParseAbsResourceInstance(text)
		if err != nil {
			t.Fatal(err)
		}
		return AbsResourceInstanceObject{addr.Component, ResourceInstanceObject{addr.Item, deposed}}
	}
	inOrder(t,
		at("component.a.a_thing.z", ""),
		at("component.a.a_thing.z", "00000001"),
		at("component.a.a_thing.z", "00000002"),
		at("component.a.a_thing.z[0]", ""),
		at("component.a.b_thing.a", ""),
		at("component.a.data.a_thing.a", ""),
		at("component.a.ephemeral.a_thing.a", ""),
		at("component.a.module.m.a_thing.a", ""),
		at("component.a.module.m[0].a_thing.a", ""),
		at("component.b.a_thing.a", ""),
	)
	if got := at("component.a.a_thing.z", "0a1b2c3d").String(); got != "component.a.a_thing.z (deposed object 0a1b2c3d)" {
		t.Errorf("the address of a deposed object is %s", got)
	}
}

func TestKeyFromValue(t *testing.T) {
	for _, test := range []struct {
		value cty.Value
		want  InstanceKey
		ok    bool
	}{
		{cty.StringVal("k"), StringKey("k"), true},
		{cty.StringVal(""), StringKey(""), true},
		{cty.NumberIntVal(3), IntKey(3), true},
		{cty.Zero, IntKey(0), true},
		{cty.NumberIntVal(-1), NoKey, false},
		{cty.NumberFloatVal(1.5), NoKey, false},
		{cty.PositiveInfinity, NoKey, false},
		{cty.MustParseNumberVal("1e30"), NoKey, false},
		{cty.NullVal(cty.String), NoKey, false},
		{cty.NullVal(cty.DynamicPseudoType), NoKey, false},
		{cty.True, NoKey, false},
		{cty.EmptyObjectVal, NoKey, false},
		{cty.UnknownVal(cty.Bool), NoKey, false},
		{cty.UnknownVal(cty.String), WildcardKey, true},
		{cty.UnknownVal(cty.Number), WildcardKey, true},
		{cty.DynamicVal, WildcardKey, true},
	} {
		got, ok := KeyFromValue(test.value)
		if got != test.want || ok != test.ok {
			t.Errorf("KeyFromValue(%#v) = %#v, %v", test.value, got, ok)
		}
	}
	for _, key := range []InstanceKey{StringKey("k"), IntKey(7), WildcardKey} {
		if got, ok := KeyFromValue(key.Value()); got != key || !ok {
			t.Errorf("KeyFromValue(%#v) = %#v, %v", key.Value(), got, ok)
		}
	}
	if got := NoKey.Value(); !got.RawEquals(cty.NullVal(cty.String)) {
		t.Errorf("the value of no key is %#v", got)
	}
}

// inOrder checks rule A4 for addresses that are listed in order.
func inOrder[T interface {
	comparable
	fmt.Stringer
	Compare(T) int
}](t *testing.T, want ...T) {
	t.Helper()
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, T.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("sorted: %v, want %v", got, want)
	}
}

func TestOrderOfKinds(t *testing.T) {
	a, b := Provider{"a", "b", "c"}, Provider{"a", "c", "a"}
	main, other := ProviderConfig{a, "main"}, ProviderConfig{a, "other"}
	inOrder(t, a, b, Provider{"b", "a", "a"})
	inOrder(t, main, other, ProviderConfig{b, "main"})
	inOrder(t, ProviderConfigInstance{main, NoKey}, ProviderConfigInstance{main, StringKey("k")}, ProviderConfigInstance{other, NoKey})
	inOrder(t, InputVariable{"a"}, InputVariable{"b"})
	inOrder(t, LocalValue{"a"}, LocalValue{"b"})
	inOrder(t, OutputValue{"a"}, OutputValue{"b"})
	inOrder(t, StackCall{"a"}, StackCall{"b"})
	inOrder(t, StackCallInstance{StackCall{"a"}, IntKey(0)}, StackCallInstance{StackCall{"b"}, NoKey})
	inOrder(t, RootStack, RootStack.Child("a"), RootStack.Child("a").Child("b"), RootStack.Child("b"))
	module := RootModuleInstance.Child("b", NoKey)
	inOrder(t, RootModuleInstance, RootModuleInstance.Child("a", NoKey).Child("z", NoKey).Child("z", NoKey), module,
		module.Child("a", IntKey(0)),
		module.Child("a", IntKey(0)).Child("z", NoKey), module.Child("a", IntKey(1)), module.Child("b", NoKey),
		RootModuleInstance.Child("b", IntKey(0)))
	inOrder(t, ConfigComponent{Item: Component{"z"}}, ConfigComponent{RootStack.Child("a"), Component{"a"}})
}

func TestParts(t *testing.T) {
	component := AbsComponent{someStack(), Component{"x"}}
	instance := InstanceOf(component, StringKey("y"))
	if got := ComponentOf(instance); got != component {
		t.Errorf("ComponentOf(%s) = %s", instance, got)
	}
	if text, ok := instance.Item.Key.AsString(); text != "y" || !ok {
		t.Errorf("AsString() = %q, %v", text, ok)
	}
	if text, ok := IntKey(1).AsString(); ok {
		t.Errorf("AsString() of a number = %q", text)
	}
	if !BuiltinProvider.IsBuiltin() || (Provider{"terraform.io", "other", "terraform"}).IsBuiltin() {
		t.Error("IsBuiltin is wrong")
	}
	for mode, want := range map[ResourceMode]string{ManagedResource: "managed", DataResource: "data", EphemeralResource: "ephemeral"} {
		if got := mode.String(); got != want {
			t.Errorf("mode %d is %s, want %s", mode, got, want)
		}
	}
}
