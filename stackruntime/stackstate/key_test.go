// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"errors"
	"testing"

	"github.com/cairnstacks/cairn/stackaddrs"
)

func TestRow253And255KeysRoundTrip(t *testing.T) {
	inEU := stackaddrs.RootStackInstance.Child("region", stackaddrs.StringKey("eu,west"))
	component := func(stack stackaddrs.StackInstance, name string, key stackaddrs.InstanceKey) stackaddrs.AbsComponentInstance {
		return stackaddrs.InstanceOf(stackaddrs.AbsComponent{Stack: stack, Item: stackaddrs.Component{Name: name}}, key)
	}
	vpc := component(stackaddrs.RootStackInstance, "vpc", stackaddrs.NoKey)
	thing := stackaddrs.ResourceInstance{Resource: stackaddrs.Resource{Type: "aws_thing", Name: "z"}}
	at := func(module stackaddrs.ModuleInstance, mode stackaddrs.ResourceMode, key stackaddrs.InstanceKey) stackaddrs.ResourceInstance {
		return stackaddrs.ResourceInstance{Module: module, Resource: stackaddrs.Resource{Mode: mode, Type: "aws_thing", Name: "z"}, Key: key}
	}
	root := stackaddrs.RootModuleInstance
	tests := map[string]Key{
		"CMPTcomponent.vpc": {Kind: ComponentKind, Component: vpc},
		`CMPTcomponent.vpc["a"]`: {Kind: ComponentKind, Component: component(stackaddrs.RootStackInstance, "vpc",
			stackaddrs.StringKey("a"))},
		`CMPTcomponent.vpc["a,\"b\",c"]`: {Kind: ComponentKind, Component: component(stackaddrs.RootStackInstance, "vpc",
			stackaddrs.StringKey(`a,"b",c`))},
		`CMPTstack.region["eu,west"].component.vpc[3]`: {
			Kind: ComponentKind, Component: component(inEU, "vpc", stackaddrs.IntKey(3)),
		},
		"RSRCcomponent.vpc,aws_thing.z,cur": {Kind: ResourceKind, Component: vpc, Resource: thing},
		"RSRCcomponent.vpc,aws_thing.z,0123abcd": {
			Kind: ResourceKind, Component: vpc, Resource: thing, Deposed: "0123abcd",
		},
		`RSRCstack.region["eu,west"].component.vpc["x"],module.m["a,b"].module.n[0].data.aws_thing.z["q\"],cur"],cur`: {
			Kind: ResourceKind, Component: component(inEU, "vpc", stackaddrs.StringKey("x")),
			Resource: at(root.Child("m", stackaddrs.StringKey("a,b")).Child("n", stackaddrs.IntKey(0)), stackaddrs.DataResource,
				stackaddrs.StringKey(`q"],cur`)),
		},
		`RSRCcomponent.vpc,aws_thing.z["$${a}\n\\"],cur`: {
			Kind: ResourceKind, Component: vpc,
			Resource: at(root, stackaddrs.ManagedResource, stackaddrs.StringKey("${a}\n\\")),
		},
		`RSRCstack.a.stack.b["x,y"].component.vpc,module.m.aws_thing.z["a\"b"],89abcdef`: {
			Kind: ResourceKind,
			Component: component(
				stackaddrs.RootStackInstance.Child("a", stackaddrs.NoKey).Child("b", stackaddrs.StringKey("x,y")), "vpc", stackaddrs.NoKey),
			Resource: at(root.Child("m", stackaddrs.NoKey), stackaddrs.ManagedResource, stackaddrs.StringKey(`a"b`)),
			Deposed:  "89abcdef",
		},
		"VRBLvar.name":    {Kind: InputKind, Name: "name"},
		"OTPToutput.name": {Kind: OutputKind, Name: "name"},
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			got, err := ParseKey(text)
			if err != nil || got != want {
				t.Fatalf("ParseKey(%q) = %+v, %v, want %+v", text, got, err, want)
			}
			if got.String() != text {
				t.Errorf("the key %q is printed as %q", text, got.String())
			}
		})
	}
}

func TestRowsKeyErrors(t *testing.T) {
	for name, texts := range map[string][]string{
		"249_too_short":  {"", "a", "aa", "aaa"},
		"250_no_letters": {"aaa!", "CMP1x", "ÄBCD"},
		"252_resource": {
			"RSRC", "RSRCcomponent.a", "RSRCcomponent.a,b.c", "RSRCcomponent.a,b.c,cur,extra", "RSRCcomponent.a,,cur",
			"RSRCcomponent.a,b.c,", "RSRCcomponent.a,b.c,0123abc", "RSRCcomponent.a,b.c,0123abcg", "RSRCcomponent.a,b.c,0123ABCD",
			"RSRCcomponent.a,b,cur", "RSRCcomponent.a,b.c.d,cur", "RSRCcomponent.a,module.b,cur", "RSRCcomponent.a,b.c[01],cur",
			`RSRCcomponent.a,b.c["\u0061"],cur`, "RSRCcomponent.a,b.c[*],cur", `RSRCcomponent.a,b.c["x,cur`, "RSRCcomponent.a,b.c[0]d,cur",
		},
		"254_component": {
			"CMPT", "CMPTcomponent.a,extra", "CMPTcomponent.a.", "CMPTcomponent[\"a\"]", "CMPTstack.a", "CMPTcomponent.a[*]",
			`CMPTcomponent.a[ "b" ]`, `CMPTcomponent.a["\u0061"]`,
		},
		"root values": {"VRBL", "VRBLname", "VRBLvar.", "VRBLvar.a.b", "VRBLstack.a.var.b", "OTPTvar.name", "OTPToutput.a,b"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, text := range texts {
				key, err := ParseKey(text)
				if err == nil {
					t.Errorf("ParseKey(%q) = %+v, want an error", text, key)
				}
				if unknown, ok := errors.AsType[*UnknownKindError](err); ok {
					t.Errorf("ParseKey(%q): got %v, want an error about the key itself", text, unknown)
				}
			}
		})
	}
}

func TestRow251UnknownKindsOfKeys(t *testing.T) {
	for text, want := range map[string]Handling{
		"aaaa": Discard, "aAAa": Discard, "aaaA": Preserve, "aBCDrest": Preserve, "AAAA": Fail, "AaaaX": Fail, "CmPt": Fail,
	} {
		t.Run(text, func(t *testing.T) {
			_, err := ParseKey(text)
			unknown, ok := errors.AsType[*UnknownKindError](err)
			if !ok || unknown.Handling != want || string(unknown.Kind) != text[:4] {
				t.Errorf("ParseKey(%q): got %#v, want an unknown kind with handling %d", text, err, want)
			}
		})
	}
}

func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{
		"CMPTcomponent.vpc", `CMPTstack.region["eu,west"].component.vpc["a,\"b\""]`, "aaaA",
		`RSRCcomponent.vpc,module.m["a,b"].data.aws_thing.z["q\"],cur"],0123abcd`,
		`RSRCcomponent.vpc,aws_thing.z[-1],cur`, "VRBLvar.name", "OTPToutput.name", `CMPTcomponent.a["$${x}%%{"]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := ParseKey(text)
		if err != nil {
			return
		}
		if key.String() != text {
			t.Errorf("the key %q is printed as %q", text, key.String())
		}
		if again, err := ParseKey(key.String()); err != nil || again != key {
			t.Errorf("ParseKey(%q) = %+v, %v, want %+v", key.String(), again, err, key)
		}
	})
}
