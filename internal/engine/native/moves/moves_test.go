// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package moves_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/moves"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// moveTest is a configuration, and the fate of the objects of a state. Resources are written as
// their addresses, and are of the type terraform_data: "a" stands for terraform_data.a.
type moveTest struct {
	files   string // after the root's file, "-- NAME --" and that of the module in the directory NAME
	state   string // addresses of objects
	want    string // the same after the moves, with "<-" and the address before where that is another one
	blocked string // the blocked moves, as FROM->TO
	err     string // summary of the error
	judge   string // terraform's name for that error
}

var moveTests = map[string]moveTest{
	// 149
	"one resource":                             {files: `moved a b; resource b`, state: "a", want: "b<-a"},
	"all instances":                            {files: `moved a b; resource b count=2`, state: "a[0] a[1]", want: "b[0]<-a[0] b[1]<-a[1]"},
	"implied to many":                          {files: `resource a count=2`, state: "a", want: "a[0]<-a"},
	"implied to one":                           {files: `resource a`, state: "a[0] a[1]", want: "a<-a[0] a[1]"},
	"implied, both there":                      {files: `resource a count=2`, state: "a a[0]", want: "a a[0]", blocked: "a->a[0]"},
	"implied, both there, one wanted":          {files: `resource a`, state: "a a[0]", want: "a a[0]", blocked: "a[0]->a"},
	"not implied for for_each":                 {files: `resource a for_each=x`, state: "a", want: "a"},
	"not implied from for_each":                {files: `resource a`, state: `a["x"]`, want: `a["x"]`},
	"not implied without a block":              {files: `resource b`, state: "a[0]", want: "a[0]"},
	"not implied if named":                     {files: `moved a a[1]; resource a count=2`, state: "a", want: "a[1]<-a"},
	"not implied if another instance is named": {files: `moved a[5] b; resource a count=2; resource b`, state: "a", want: "a"},
	"count to for_each": {
		files: `moved a[0] a["x"]; resource a for_each=x`,
		state: "a[0] a[1]",
		want:  `a["x"]<-a[0] a[1]`,
	},
	"key to key":                    {files: `moved a["y"] a["x"]; resource a for_each=x`, state: `a["y"]`, want: `a["x"]<-a["y"]`},
	"to the instance without a key": {files: `moved a["y"] b; resource b`, state: `a["y"] a["z"]`, want: `a["z"] b<-a["y"]`},
	"implied after an explicit one": {files: `moved a b; resource b count=1`, state: "a", want: "b<-a"},
	"implied in two modules": {
		files: "module m m count=2\n-- m --\nresource a count=1", state: "module.m[0].a module.m[1].a",
		want: "module.m[0].a[0]<-module.m[0].a module.m[1].a[0]<-module.m[1].a",
	},
	"data source": {files: `moved data.a data.b; data b`, state: "data.a", want: "data.b<-data.a"},

	// 150
	"module": {files: "moved module.old module.m; module m m\n-- m --\nresource a", state: "module.old.a", want: "module.m.a<-module.old.a"},
	"module with all that is in it": {
		files: "moved module.old module.m; module m m\n-- m --\nmodule n n\n-- n --\nresource a", state: "module.old.module.n.a module.old.gone",
		want: "module.m.gone<-module.old.gone module.m.module.n.a<-module.old.module.n.a",
	},
	"instances of a module": {
		files: "moved module.old module.m; module m m count=2\n-- m --\nresource a", state: "module.old[0].a module.old[1].a",
		want: "module.m[0].a<-module.old[0].a module.m[1].a<-module.old[1].a",
	},
	"one instance of a module": {
		files: "moved module.m module.m[1]; module m m count=2\n-- m --\nresource a", state: "module.m.a", want: "module.m[1].a<-module.m.a",
	},
	"module, not implied": {files: "module m m count=1\n-- m --\nresource a", state: "module.m.a", want: "module.m.a"},
	"out of a module":     {files: "moved module.m.a a; resource a; module m m\n-- m --\n", state: "module.m.a", want: "a<-module.m.a"},
	"out of one instance of a module": {
		files: "moved module.m[1].a a; resource a; module m m count=2\n-- m --\n",
		state: "module.m[0].a module.m[1].a",
		want:  "a<-module.m[1].a module.m[0].a",
	},
	"calls on the way are without keys": {
		files: "moved module.m.a a; resource a; module m m count=2\n-- m --\n", state: "module.m[0].a", want: "module.m[0].a",
	},
	"into a module": {files: "moved a module.m.a; module m m\n-- m --\nresource a", state: "a", want: "module.m.a<-a"},
	"in a module": {
		files: "module m m count=2\n-- m --\nmoved a b; resource b", state: "module.m[0].a module.m[1].a a",
		want: "a module.m[0].b<-module.m[0].a module.m[1].b<-module.m[1].a",
	},
	"module, then in it": {
		files: "moved module.old module.m; module m m\n-- m --\nmoved a b; resource b", state: "module.old.a", want: "module.m.b<-module.old.a",
	},
	"out of what moves": {
		files: "moved module.old.a b; moved module.old module.m; resource b; module m m\n-- m --\nresource c", state: "module.old.a module.old.c",
		want: "b<-module.old.a module.m.c<-module.old.c",
	},
	"out of what moves, the other way round": {
		files: "moved module.old module.m; moved module.old.a b; resource b; module m m\n-- m --\nresource c", state: "module.old.a module.old.c",
		want: "b<-module.old.a module.m.c<-module.old.c",
	},
	"into what moves": {
		files: "moved b module.old.a; moved module.old module.m; module m m\n-- m --\nresource a", state: "b", want: "module.m.a<-b",
	},
	"module into a module": {
		files: "moved module.n module.m.module.n; module m m\n-- m --\nmodule n n\n-- n --\nresource a",
		state: "module.n.a",
		want:  "module.m.module.n.a<-module.n.a",
	},
	"implied in a module that moved": {
		files: "moved module.old module.m; module m m\n-- m --\nresource a count=1", state: "module.old.a", want: "module.m.a<-module.old.a",
	},

	"another key, then in it": {
		files: "moved module.m module.m[0]; module m m count=1\n-- m --\nmoved a b; resource b", state: "module.m.a",
		want: "module.m[0].b<-module.m.a",
	},
	"another key, and implied in it": {
		files: "moved module.m module.m[0]; module m m count=1\n-- m --\nresource a count=1", state: "module.m.a",
		want: "module.m[0].a[0]<-module.m.a",
	},
	"from key to key, then in it": {
		files: "moved module.m[\"x\"] module.m[\"y\"]; module m m count=2\n-- m --\nmoved a b; resource b",
		state: `module.m["x"].a`, want: `module.m["y"].b<-module.m["x"].a`,
	},
	"no key any more, then in it": {
		files: "moved module.m[0] module.m; module m m\n-- m --\nmoved a b; resource b", state: "module.m[0].a",
		want: "module.m.b<-module.m[0].a",
	},
	"other keys of two modules, then in them": {
		files: "moved module.m module.m[0]; module m m count=1\n-- m --\nmoved module.n module.n[0]; module n n count=1\n-- n --\nmoved " +
			"a b; resource b",
		state: "module.m.module.n.a", want: "module.m[0].module.n[0].b<-module.m.module.n.a",
	},
	"another key, in it, and out of it": {
		files: "moved module.m module.m[0]; moved module.m[0].b c; module m m count=1; resource c\n-- m --\nmoved a b",
		state: "module.m.a", want: "c<-module.m.a",
	},
	"one instance besides all of a module": {
		files: "moved module.m module.o; moved module.m[0] module.n; module n m; module o m count=2\n-- m --\nmoved a b; resource b",
		state: "module.m[0].a module.m[1].a", want: "module.n.b<-module.m[0].a module.o[1].b<-module.m[1].a",
	},

	// 151
	"chain":                        {files: `moved a b; moved b c; resource c`, state: "a", want: "c<-a"},
	"chain, entered in the middle": {files: `moved b c; moved a b; resource c`, state: "b", want: "c<-b"},
	"chain, both ends":             {files: `moved a b; moved b c; resource c`, state: "a b", want: "a c<-b", blocked: "a->b"},
	"cycle": {
		files: `moved a b; moved b a; resource c`,
		state: "a",
		err:   "Cycle of moves",
		judge: "Cyclic dependency in move statements",
	},
	"cycle of modules": {
		files: "moved module.m module.n; moved module.n.a module.m.a\n",
		state: "a",
		err:   "Cycle of moves",
		judge: "Cyclic dependency in move statements",
	},
	"to two places": {
		files: `moved a b; moved a c; resource b; resource c`,
		state: "a",
		err:   "Contradictory moves",
		judge: "Ambiguous move statements",
	},
	"from two places": {files: `moved a c; moved b c; resource c`, state: "a", err: "Contradictory moves", judge: "Ambiguous move statements"},
	"cycle of a module's move and its caller's": {
		files: "moved module.m module.m[0]; moved module.m.b c; module m m count=1; resource c\n-- m --\nmoved a b", state: "module.m.a",
		err: "Cycle of moves", judge: "Cyclic dependency in move statements",
	},
	"by caller and module to two places": {
		files: "moved module.m.a x; resource x; module m m\n-- m --\nmoved a c; resource c", state: "module.m.a",
		err: "Contradictory moves", judge: "Ambiguous move statements",
	},
	"by caller and module to one place": {
		files: "moved module.m.a module.m.c; module m m\n-- m --\nmoved b c; resource c", state: "module.m.a",
		err: "Contradictory moves", judge: "Ambiguous move statements",
	},
	"by caller and module in one instance": {
		files: "moved module.m[0].a module.m[0].b; module m m count=1\n-- m --\nmoved a c; resource b; resource c", state: "module.m[0].a",
		err: "Contradictory moves", judge: "Ambiguous move statements",
	},
	"by caller and module, not in an instance that there is": {
		files: "moved module.m[1].a module.m[1].c; module m m count=1\n-- m --\nmoved b c; resource c",
		state: "module.m[0].a", want: "module.m[0].a",
	},
	"by caller and module to the same place": {
		files: "moved module.m.a module.m.b; module m m\n-- m --\nmoved a b; resource b", state: "module.m.a",
		want: "module.m.b<-module.m.a",
	},
	"modules to one place": {
		files: "moved module.m module.o[0]; moved module.n module.o[0]; module o m count=1\n-- m --\nresource a",
		state: "module.m.a module.n.a",
		err:   "Contradictory moves", judge: "Ambiguous move statements",
	},
	"one or all to one place": {files: `moved a c; moved b[0] c; resource c`, state: "b[0]", want: "c<-b[0]"},
	"twice the same":          {files: `moved a b; moved a b; resource b`, state: "a", want: "b<-a"},
	"to itself": {
		files: `moved a a; resource a`,
		state: "a",
		err:   "Move to the same address",
		judge: "Redundant move statement",
	},
	"one instance besides all": {
		files: `moved a[0] b; moved a c; resource b; resource c count=2`,
		state: "a[0] a[1]",
		want:  "b<-a[0] c[1]<-a[1]",
	},

	// 152
	"blocked":                     {files: `moved a b; resource b`, state: "a b", want: "a b", blocked: "a->b"},
	"blocked by another instance": {files: `moved a b; resource b count=2`, state: "a[0] b[1]", want: "a[0] b[1]", blocked: "a->b"},
	"one instance blocked": {
		files:   `moved a[0] a[1]; resource a count=2`,
		state:   "a[0] a[1]",
		blocked: "a[0]->a[1]",
		err:     "Moved object still declared",
		judge:   "Moved object still exists",
	},
	"blocked module": {
		files:   "moved module.old module.m; module m m\n-- m --\nresource a",
		state:   "module.old.a module.m.b",
		want:    "module.m.b module.old.a",
		blocked: "module.old->module.m",
	},
	"instance of a module blocked": {
		files: "moved module.old module.m; module m m count=2\n-- m --\nresource a", state: "module.old[0].a module.old[1].a module.m[1].a",
		want: "module.m[0].a<-module.old[0].a module.m[1].a module.old[1].a", blocked: "module.old[1]->module.m[1]",
	},

	// 153
	"still declared": {
		files: `moved a b; resource a; resource b`,
		state: "a",
		err:   "Moved object still declared",
		judge: "Moved object still exists",
	},
	"instance still declared": {
		files: `moved a[0] b; resource a count=1; resource b`,
		state: "a[0]",
		err:   "Moved object still declared",
		judge: "Moved object still exists",
	},
	"instance not declared": {files: `moved a[5] b; resource a count=1; resource b`, state: "a[5]", want: "b<-a[5]"},
	"module still declared": {
		files: "moved module.m module.n; module m m\n-- m --\nresource a",
		state: "module.m.a",
		err:   "Moved object still declared",
		judge: "Moved object still exists",
	},
	"still declared in a module": {
		files: "moved module.m.a b; resource b; module m m\n-- m --\nresource a",
		state: "module.m.a",
		err:   "Moved object still declared",
		judge: "Moved object still exists",
	},

	// 155, 158
	"nowhere":           {files: `moved a b`, state: "a", want: "b<-a"},
	"moved and removed": {files: `moved a b; removed b false`, state: "a", want: "b<-a"},
}

func TestMoves(t *testing.T) {
	for name, test := range moveTests {
		t.Run(name, func(t *testing.T) {
			got, blocked, diags := apply(t, test)
			if summary := summaryOf(diags); summary != test.err {
				t.Fatalf("the error is %q, want %q: %v", summary, test.err, diags)
			}
			if got := strings.Join(got, " "); test.err == "" && got != test.want {
				t.Errorf("after the moves there are\ngot  %s\nwant %s", got, test.want)
			}
			if got := strings.Join(blocked, " "); got != test.blocked {
				t.Errorf("blocked are %q, want %q", got, test.blocked)
			}
		})
	}
}

// apply moves the objects of a test, and returns all that there are then.
func apply(t *testing.T, test moveTest) (objects, blocked []string, diags hcl.Diagnostics) {
	root := load(t, test.files)
	prior, err := state.Read(stateOf(t, test.state))
	if err != nil {
		t.Fatal(err)
	}
	statements, diags := moves.Find(root.Node, prior)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	result, err := statements.Apply(prior)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range result.State.Resources() {
		for _, i := range r.Instances {
			addr := r.Addr.Instance(i.Key)
			objects = append(objects, arrow(addr.String(), result.Previous[addr]))
		}
	}
	for _, b := range result.Blocked {
		blocked = append(blocked, short(b.From+"->"+b.To))
	}
	if warned := len(result.Diagnostics()) > 0; warned != (len(blocked) > 0) {
		t.Errorf("there is a warning: %t", warned)
	}
	slices.Sort(objects)
	return objects, blocked, statements.CheckDeclared(root)
}

// arrow writes an object as tests do.
func arrow(addr string, previous stackaddrs.ResourceInstance) string {
	if previous != (stackaddrs.ResourceInstance{}) {
		addr += "<-" + previous.String()
	}
	return short(addr)
}

func short(text string) string { return strings.ReplaceAll(text, resourceType+".", "") }

func summaryOf(diags hcl.Diagnostics) string {
	for _, diag := range diags {
		if diag.Severity == hcl.DiagError {
			return diag.Summary
		}
	}
	return ""
}

// stateOf returns a state with objects at addresses.
func stateOf(t *testing.T, addresses string) []byte {
	var entries []tfstate.Entry
	for _, text := range strings.Fields(addresses) {
		entry, err := tfstate.Object{
			Addr: resourceAddr(t, text), Provider: `provider["terraform.io/builtin/terraform"]`,
			Attributes: []byte(`{"id":"1","input":null,"output":null,"triggers_replace":null}`),
		}.Entry()
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	doc, err := tfstate.New(nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	return doc.WithIdentity("00000000-0000-0000-0000-000000000001", 1).Bytes()
}

func TestDeposedObjectsMove(t *testing.T) {
	const text = `{"version":4,"resources":[{"mode":"managed","type":"terraform_data","name":"a",` +
		`"provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"attributes":{},"private":"cA=="},{"deposed":"00000000","attributes":{}}]}]}`
	prior, err := state.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	statements, diags := moves.Find(load(t, "moved a b; resource b").Node, prior)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	result, err := statements.Apply(prior)
	if err != nil {
		t.Fatal(err)
	}
	b := resourceAddr(t, "b")
	current, deposed := result.State.Object(b, ""), result.State.Object(b, "00000000")
	if current == nil || deposed == nil {
		t.Fatalf("current: %v, deposed: %v", current, deposed)
	}
	if private, err := current.Private(); string(private) != "p" || err != nil {
		t.Errorf("the private data is %q, %v", private, err)
	}
	if diff := cmp.Diff([]stackaddrs.ResourceInstance{b}, slices.Collect(maps.Keys(result.Previous)),
		cmp.Comparer(func(a, b stackaddrs.ResourceInstance) bool { return a == b })); diff != "" {
		t.Errorf("previous addresses (-want +got):\n%s", diff)
	}
}

func TestCrossPackage(t *testing.T) {
	for files, want := range map[string]string{
		"moved a module.m.a; module m https://example.com/m.zip\n-- https://example.com/m.zip --\n" +
			"resource a": "Move across packages",
		"moved module.m.a a; module m https://example.com/m.zip\n-- https://example.com/m.zip --\n" +
			"resource a": "Move across packages",
		"moved module.old module.m; module m https://example.com/m.zip\n-- https://example.com/m.zip --\nresource a":                     "",
		"moved module.old module.l.module.m; module l l\n-- l --\nmodule m https://example.com/m.zip\n-- https://example.com/m.zip --\n": "",
		"moved module.old.a module.l.module.m.a; module l l\n-- l --\nmodule m https://example.com/m.zip\n" +
			"-- https://example.com/m.zip --\n": "Move across packages",
		"moved a data.a":     "Mixed kinds of moved resources",
		"moved a module.m":   "Mixed kinds of moved objects",
		"moved module.m.a a": "",
	} {
		prior, err := state.Read(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, diags := moves.Find(load(t, files).Node, prior); summaryOf(diags) != want {
			t.Errorf("%s: the error is %q, want %q", files, summaryOf(diags), want)
		}
	}
}

// removalTests are for which removed block covers an object, and its settings.
var removalTests = map[string]struct {
	files, addr string
	want        string // FROM and whether the object is destroyed, or ""
	err         string
}{
	// 157
	"resource":                {files: "removed a true", addr: "a", want: "a true"},
	"instance":                {files: "removed a false", addr: "a[3]", want: "a false"},
	"another resource":        {files: "removed a false", addr: "b"},
	"resource elsewhere":      {files: "removed a false", addr: "module.m.a"},
	"resource of a module":    {files: "removed module.m.a false", addr: `module.m["x"].a[0]`, want: "module.m.a false"},
	"module":                  {files: "removed module.m false", addr: `module.m[0].module.n.a`, want: "module.m false"},
	"another module":          {files: "removed module.m false", addr: `module.n.module.m.a`},
	"declared in a module":    {files: "module m m count=2\n-- m --\nremoved a false", addr: `module.m[1].a`, want: "a false"},
	"the narrower one, first": {files: "removed module.m.a true; removed module.m true", addr: "module.m.a", want: "module.m.a true"},
	"one that forgets, first": {files: "removed module.m false; removed module.m.a true", addr: "module.m.a", want: "module.m false"},
	"the narrower one, last": {
		files: "removed module.m true; removed module.m.module.n true",
		addr:  "module.m.module.n.a",
		want:  "module.m.module.n true",
	},
	"one that forgets, last": {
		files: "removed module.m true; removed module.m.module.n false",
		addr:  "module.m.module.n.a",
		want:  "module.m.module.n false",
	},
	"still declared":        {files: "removed a true; resource a", addr: "a", err: "Removed object still declared"},
	"module still declared": {files: "removed module.m true; module m m\n-- m --\n", addr: "a", err: "Removed object still declared"},
	"still declared in a module": {
		files: "removed module.m.a true; module m m\n-- m --\nresource a",
		addr:  "a",
		err:   "Removed object still declared",
	},
	"gone from a module": {files: "removed module.m.a true; module m m\n-- m --\n", addr: "module.m.a", want: "module.m.a true"},
}

func TestRemovals(t *testing.T) {
	for name, test := range removalTests {
		removals, diags := moves.FindRemovals(load(t, test.files).Node)
		if summaryOf(diags) != test.err {
			t.Errorf("%s: the error is %q, want %q", name, summaryOf(diags), test.err)
		}
		if test.err != "" {
			continue
		}
		got := ""
		if block, _ := removals.Covering(resourceAddr(t, test.addr)); block != nil {
			got = short(fmt.Sprint(endString(block.From), " ", block.Destroy))
		}
		if got != test.want {
			t.Errorf("%s: covered by %q, want %q", name, got, test.want)
		}
	}
}
