// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package claims_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/claims"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
)

func instance(t *testing.T, text string) stackaddrs.AbsComponentInstance {
	t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// keys parses keys: "-" is not a key and "*" the wildcard.
func keys(texts string) []stackaddrs.InstanceKey {
	var all []stackaddrs.InstanceKey
	for text := range strings.FieldsSeq(texts) {
		all = append(all, key(text))
	}
	return all
}

func key(text string) stackaddrs.InstanceKey {
	switch text {
	case "-":
		return stackaddrs.NoKey
	case "*":
		return stackaddrs.WildcardKey
	}
	return stackaddrs.StringKey(text)
}

func TestFindExisting(t *testing.T) {
	wildcard := instance(t, "component.a")
	wildcard.Item.Key = stackaddrs.WildcardKey
	found := claims.FindExisting(slices.Values([]stackaddrs.AbsComponentInstance{
		instance(t, "component.a"), instance(t, `component.b["x"]`), instance(t, `component.b["y"]`),
		instance(t, `stack.s["k"].stack.inner.component.a`), instance(t, `stack.s["l"].component.a`), wildcard,
	}))
	root := stackaddrs.RootStackInstance
	for name, test := range map[string]struct {
		got  []stackaddrs.InstanceKey
		want string
	}{
		"component":          {found.ComponentKeys(stackaddrs.ComponentOf(instance(t, "component.a"))), "-"},
		"keyed component":    {found.ComponentKeys(stackaddrs.ComponentOf(instance(t, "component.b"))), "x y"},
		"none":               {found.ComponentKeys(stackaddrs.ComponentOf(instance(t, "component.c"))), ""},
		"stacks by contents": {found.StackKeys(claims.StackCall{Caller: root, Name: "s"}), "k l"},
		"inner stack":        {found.StackKeys(claims.StackCall{Caller: root.Child("s", key("k")), Name: "inner"}), "-"},
		"no inner stack":     {found.StackKeys(claims.StackCall{Caller: root.Child("s", key("l")), Name: "inner"}), ""},
	} {
		if want := keys(test.want); !slices.Equal(test.got, want) {
			t.Errorf("%s: %v, want %v", name, test.got, want)
		}
	}
}

// The assignment of instances to blocks: docs/language.md, section 4.4. A removal is written
// KEY=BLOCK.
func TestAssign(t *testing.T) {
	for name, test := range map[string]struct {
		existing, declared string
		mayDeclare         bool
		named, unknown     string
		want, conflicts    string
	}{
		"named":                             {existing: "a b", named: "a=r", want: "a:r"},
		"named, but not there":              {existing: "a", named: "b=r"},
		"declared comes first":              {existing: "a", declared: "a", named: "a=r", conflicts: "a:r declared"},
		"declared, and not there yet":       {declared: "a", named: "a=r", conflicts: "a:r declared"},
		"named twice":                       {existing: "a", named: "a=r a=s", want: "a:r", conflicts: "a:s with r"},
		"named twice, but not there":        {named: "a=r a=s"},
		"may declare, but is named":         {existing: "a b", mayDeclare: true, named: "a=r", unknown: "*=o", want: "a:r"},
		"may name what nobody else can":     {existing: "a b c", declared: "b", named: "a=r", unknown: "*=o", want: "a:r c:o?"},
		"first of those that may name":      {existing: "a", unknown: "b=n *=o *=p", want: "a:o?"},
		"key in a stack that is not known":  {existing: "a b", unknown: "b=n", want: "b:n?"},
		"declared is not for those who may": {existing: "a", declared: "a", unknown: "*=o"},
	} {
		t.Run(name, func(t *testing.T) {
			declared := keys(test.declared)
			removals := func(texts string) (all []claims.Removal[string]) {
				for text := range strings.FieldsSeq(texts) {
					k, by, _ := strings.Cut(text, "=")
					all = append(all, claims.Removal[string]{Key: key(k), By: by})
				}
				return all
			}
			claimed, conflicts := claims.Assign(claims.Contest[string]{
				Existing: keys(test.existing), Declares: func(k stackaddrs.InstanceKey) bool { return slices.Contains(declared, k) },
				MayDeclare: test.mayDeclare, Named: removals(test.named), Unknown: removals(test.unknown),
			})
			var got []string
			for k, claim := range claimed {
				text := strings.Trim(k.String(), `[]"`) + ":" + claim.By
				if claim.StandIn {
					text += "?"
				}
				got = append(got, text)
			}
			slices.Sort(got)
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("claims %q, want %q", got, test.want)
			}
			var wrong []string
			for _, c := range conflicts {
				text := fmt.Sprintf("%s:%s with %s", strings.Trim(c.Key.String(), `[]"`), c.By, c.With)
				if c.Declared {
					text = strings.Replace(text, "with ", "declared", 1)
				}
				wrong = append(wrong, text)
			}
			if got := strings.Join(wrong, " "); got != test.conflicts {
				t.Errorf("conflicts %q, want %q", got, test.conflicts)
			}
		})
	}
}

func TestTargetCovers(t *testing.T) {
	root := stackaddrs.RootStackInstance
	for name, test := range map[string]struct {
		target claims.Target
		covers string
	}{
		"component":       {claims.Target{Stack: root, Component: "a"}, "component.a"},
		"one instance":    {claims.Target{Stack: root, Component: "b", Key: key("x")}, `component.b["x"]`},
		"any instance":    {claims.Target{Stack: root, Component: "b", Key: key("*")}, `component.b["x"] component.b["y"]`},
		"whole component": {claims.Target{Stack: root, Component: "b", Whole: true}, `component.b["x"] component.b["y"]`},
		"whole stack": {
			claims.Target{Stack: root, Call: "s", Whole: true},
			`stack.s["k"].component.a stack.s["k"].stack.t.component.a stack.s["l"].component.a`,
		},
		"stack": {
			claims.Target{Stack: root, Call: "s", Key: key("k")},
			`stack.s["k"].component.a stack.s["k"].stack.t.component.a`,
		},
		"any stack": {
			claims.Target{Stack: root, Call: "s", Key: key("*")},
			`stack.s["k"].component.a stack.s["k"].stack.t.component.a stack.s["l"].component.a`,
		},
		"component in a stack": {claims.Target{Stack: root.Child("s", key("l")), Component: "a"}, `stack.s["l"].component.a`},
		"component in any": {
			claims.Target{Stack: root.Child("s", key("*")), Component: "a"},
			`stack.s["k"].component.a stack.s["l"].component.a`,
		},
		"stack within a stack":  {claims.Target{Stack: root.Child("s", key("k")), Call: "t"}, `stack.s["k"].stack.t.component.a`},
		"none of another stack": {claims.Target{Stack: root.Child("other", key("*")), Component: "a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, text := range []string{
				"component.a", `component.b["x"]`, `component.b["y"]`, `stack.s["k"].component.a`, `stack.s["k"].stack.t.component.a`,
				`stack.s["l"].component.a`,
			} {
				if test.target.Covers(instance(t, text)) {
					got = append(got, text)
				}
			}
			if got := strings.Join(got, " "); got != test.covers {
				t.Errorf("covers %q, want %q", got, test.covers)
			}
		})
	}
}

// The new address is filled in where there is only one that it can be.
func TestSuggest(t *testing.T) {
	single := claims.BlockOf(foreach.Expansion[int]{Kind: foreach.Single}, nil)
	taken := claims.BlockOf(foreach.Expansion[int]{Kind: foreach.Single}, keys("-"))
	keyed := claims.BlockOf(foreach.Expansion[int]{
		Kind:      foreach.Keyed,
		Instances: map[stackaddrs.InstanceKey]int{key("x"): 1, key("y"): 2},
	}, keys("x"))
	for name, test := range map[string]struct {
		key    string
		blocks map[string]claims.Block
		want   string
	}{
		"no block":           {"-", nil, "component.old to component.NEW_NAME"},
		"the only new block": {"-", map[string]claims.Block{"new": single, "used": taken}, "component.old to component.new"},
		"a choice":           {"-", map[string]claims.Block{"new": single, "newer": single}, "component.old to component.NEW_NAME"},
		"lost its key":       {"k", map[string]claims.Block{"new": single}, `component.old["k"] to component.new`},
		"the only new key":   {"k", map[string]claims.Block{"old": keyed}, `component.old["k"] to component.old["y"]`},
		"got a key":          {"-", map[string]claims.Block{"old": keyed}, `component.old to component.old["y"]`},
	} {
		t.Run(name, func(t *testing.T) {
			move := claims.Move{Stack: stackaddrs.RootStackInstance, Kind: stackaddrs.MoveableComponent, Name: "old", Key: key(test.key)}
			from, to, _ := strings.Cut(test.want, " to ")
			want := fmt.Sprintf("  moved {\n    from = %s\n    to   = %s\n  }", from, to)
			if got := move.Suggest(maps.Clone(test.blocks)); !strings.Contains(got, want) {
				t.Errorf("Suggest: %s\nwant %s", got, want)
			}
		})
	}
}
