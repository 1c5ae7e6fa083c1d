// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// graphOf returns the graph of a module; files of other modules begin with a line "-- DIR".
func graphOf(t *testing.T, text string) *deps.Graph {
	t.Helper()
	root := t.TempDir()
	for i, part := range strings.Split(text, "-- ") {
		dir := root
		if i > 0 {
			name, rest, _ := strings.Cut(part, "\n")
			dir, part = filepath.Join(root, name), rest
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(part), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, diags := module.NewLoader(module.Options{Base: root}).LoadStrict(root)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return deps.New(tree.Root)
}

// situationOf reads changes, one a line: an action, an address, then any of cbd, deposed and the
// addresses of stored dependencies.
func situationOf(t *testing.T, config, changes string) situation {
	t.Helper()
	s := situation{graph: graphOf(t, config)}
	stored := map[*planned.Change][]string{}
	for line := range strings.Lines(changes) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		c := &planned.Change{Change: engine.Change{Action: engine.Action(words[0])}}
		var err error
		if c.Addr, err = stackaddrs.ParseResourceInstance(words[1]); err != nil {
			t.Fatal(err)
		}
		for _, word := range words[2:] {
			switch word {
			case "cbd":
				c.CreateBeforeDestroy = true
			case "deposed":
				c.Deposed = "00000000"
			default:
				stored[c] = append(stored[c], word)
			}
		}
		s.changes = append(s.changes, c)
	}
	s.storedBefore = func(c *planned.Change) []string { return stored[c] }
	return s
}

// title is the name of a step in tests.
func (s *step) title() string {
	name := ""
	if s.change != nil {
		name = strings.ReplaceAll(s.change.Addr.String(), "terraform_data.", "")
	}
	switch {
	case s.kind == joinStep:
		return "join"
	case s.kind == destroyStep && s.change.Deposed != "":
		return "destroy deposed " + name
	case s.kind == destroyStep:
		return "destroy " + name
	case s.kind == forgetStep:
		return "forget " + name
	case s.kind == readStep:
		return "read " + name
	default:
		return "make " + name
	}
}

// before returns the titles of all steps that must have been done before, by title.
func before(t *testing.T, steps []*step) map[string]map[string]bool {
	t.Helper()
	known := map[*step]map[string]bool{}
	visiting := map[*step]bool{}
	var visit func(s *step) map[string]bool
	visit = func(s *step) map[string]bool {
		if known[s] != nil {
			return known[s]
		}
		if visiting[s] {
			t.Fatalf("the steps wait for each other, among them %s", s.title())
		}
		visiting[s] = true
		all := map[string]bool{}
		for _, earlier := range s.after {
			all[earlier.on.title()] = true
			for title := range visit(earlier.on) {
				all[title] = true
			}
		}
		known[s] = all
		return all
	}
	titles := map[string]map[string]bool{}
	for _, s := range steps {
		titles[s.title()] = visit(s)
	}
	return titles
}

const (
	chain    = `resource "terraform_data" "a" {}` + "\n" + `resource "terraform_data" "b" { input = terraform_data.a.id }`
	chainCBD = `resource "terraform_data" "a" {}` + "\n" + `resource "terraform_data" "b" {` +
		"\ninput = terraform_data.a.id\nlifecycle {\ncreate_before_destroy = true\n}\n}"
	depA = " terraform_data.a\n"
)

func TestSchedule(t *testing.T) {
	for name, test := range map[string]struct {
		config, changes string
		orders          []string // titles in their order
		free            []string // pairs without an order
	}{
		"159 create chain and parallel": {
			chain + "\n" + `resource "terraform_data" "c" {}`,
			"create terraform_data.a\ncreate terraform_data.b\ncreate terraform_data.c\n",
			[]string{"make a, make b"},
			[]string{"make a, make c", "make b, make c"},
		},
		"160 destroy by stored dependencies": {
			"", "delete terraform_data.a\ndelete terraform_data.b" + depA + "delete terraform_data.c\n",
			[]string{"destroy b, destroy a"},
			[]string{"destroy a, destroy c"},
		},
		"161 replace destroy first": {
			chain, "delete/create terraform_data.a\ndelete/create terraform_data.b" + depA,
			[]string{"destroy b, destroy a, make a, make b"},
			nil,
		},
		"162 replace create first": {
			chainCBD, "create/delete terraform_data.a\ncreate/delete terraform_data.b" + depA,
			[]string{"make a, make b, destroy b, destroy a"},
			nil,
		},
		"163 user updated, replaced destroy first": {
			chain, "delete/create terraform_data.a\nupdate terraform_data.b" + depA,
			[]string{"destroy a, make a, make b"},
			nil,
		},
		"163 user updated, replaced create first": {
			chainCBD, "create/delete terraform_data.a\nupdate terraform_data.b" + depA,
			[]string{"make a, make b, destroy a"},
			nil,
		},
		"164 fewer instances, user updated": {
			`resource "terraform_data" "a" { count = 1 }` + "\n" + `resource "terraform_data" "b" { input = terraform_data.a }`,
			"no-op terraform_data.a[0]\ndelete terraform_data.a[1]\nupdate terraform_data.b" + depA,
			[]string{"make a[0], make b", "destroy a[1], make b"},
			[]string{"make a[0], destroy a[1]"},
		},
		"164 fewer instances, user new": {
			`resource "terraform_data" "a" { count = 1 }` + "\n" + `resource "terraform_data" "b" { input = terraform_data.a }`,
			"no-op terraform_data.a[0]\ndelete terraform_data.a[1]\ncreate terraform_data.b\n",
			[]string{"destroy a[1], make b"},
			nil,
		},
		"165 deposed": {
			chain, "update terraform_data.a\ndelete terraform_data.a deposed\nupdate terraform_data.b" + depA,
			[]string{"make a, make b, destroy deposed a"},
			nil,
		},
		"166 depends_on": {
			`resource "terraform_data" "a" {}` + "\n" + `resource "terraform_data" "b" { depends_on = [terraform_data.a] }`,
			"create terraform_data.a\ncreate terraform_data.b\n",
			[]string{"make a, make b"},
			nil,
		},
		"167 depends_on of a module": {
			`resource "terraform_data" "a" {}` + "\nmodule \"m\" {\nsource = \"./m\"\ndepends_on = [terraform_data.a]\n}\n-- m\n" +
				`resource "terraform_data" "b" {}`,
			"create terraform_data.a\ncreate module.m.terraform_data.b\n",
			[]string{"make a, make module.m.b"},
			nil,
		},
		"removed user is destroyed before its dependency is changed": {
			`resource "terraform_data" "a" {}`, "update terraform_data.a\ndelete terraform_data.b" + depA,
			[]string{"destroy b, make a"},
			nil,
		},
		"removed user with create before destroy": {
			`resource "terraform_data" "a" {}`, "update terraform_data.a\ndelete terraform_data.b cbd" + depA,
			[]string{"make a, destroy b"},
			nil,
		},
		"fewer instances, user replaced create first": { // which terraform 1.11.4 refuses as a cycle
			`resource "terraform_data" "a" { count = 1 }` + "\n" + `resource "terraform_data" "b" {` + "\ninput = terraform_data.a\nlifecycle " +
				"{\ncreate_before_destroy = true\n}\n}",
			"create/delete terraform_data.a[0]\ndelete terraform_data.a[1]\ncreate/delete terraform_data.b" + depA,
			[]string{"make a[0], make b, destroy b, destroy a[1]", "destroy b, destroy a[0]"},
			nil,
		},
		"removed user with create before destroy, replaced destroy first": { // which terraform 1.11.4 refuses as a cycle
			`resource "terraform_data" "a" {}`, "delete/create terraform_data.a\ndelete terraform_data.b cbd" + depA,
			[]string{"destroy b, destroy a, make a"},
			nil,
		},
		"removed users in a row, the last with create before destroy": {
			`resource "terraform_data" "a" {}`,
			"delete/create terraform_data.a\ndelete terraform_data.b" + depA + "delete terraform_data.c cbd terraform_data.b" + depA,
			[]string{"destroy c, destroy b, destroy a, make a"},
			nil,
		},
		"deposed user, replaced destroy first": {
			chain, "delete/create terraform_data.a\nupdate terraform_data.b" + depA + "delete terraform_data.b deposed" + depA,
			[]string{"destroy deposed b, destroy a, make a, make b"},
			nil,
		},
		"a cycle among others that have an order": {
			`resource "terraform_data" "a" {}` + "\n" + `resource "terraform_data" "c" {}`,
			"delete/create terraform_data.a\ndelete terraform_data.b cbd" + depA + "update terraform_data.c\ndelete terraform_data.d cbd " +
				"terraform_data.c\n",
			[]string{"destroy b, destroy a, make a", "make c, destroy d"},
			nil,
		},
		"stored for each other": {
			"", "delete terraform_data.a terraform_data.b\ndelete terraform_data.b" + depA + "delete terraform_data.c" + depA,
			[]string{"destroy c, destroy a"},
			[]string{"destroy a, destroy b"},
		},
		"no-op is no creator": {
			`resource "terraform_data" "a" {}`, "no-op terraform_data.a\ndelete terraform_data.b" + depA,
			nil,
			[]string{"make a, destroy b"},
		},
		"instances of one call are apart": {
			"", "delete module.m[0].terraform_data.a\ndelete module.m[1].terraform_data.b module.m.terraform_data.a\ndelete " +
				"module.m[0].terraform_data.b module.m.terraform_data.a\n",
			[]string{"destroy module.m[0].b, destroy module.m[0].a"},
			[]string{"destroy module.m[1].b, destroy module.m[0].a"},
		},
		"forgetting has no order": {
			`resource "terraform_data" "a" {}`, "update terraform_data.a\nforget terraform_data.b" + depA,
			nil,
			[]string{"make a, forget b"},
		},
		"many instances": {
			`resource "terraform_data" "a" { count = 9 }` + "\n" + `resource "terraform_data" "b" {` + "\ncount = 2\ninput = terraform_data.a\n}",
			strings.Repeat("create terraform_data.a[0]\n", 9) + "create terraform_data.b[0]\ncreate terraform_data.b[1]\n",
			[]string{"make a[0], make b[0]", "make a[0], make b[1]"},
			[]string{"make b[0], make b[1]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			earlier := before(t, schedule(situationOf(t, test.config, test.changes)))
			for _, order := range test.orders {
				titles := strings.Split(order, ", ")
				for i, later := range titles[1:] {
					if earlier[later] == nil || !earlier[later][titles[i]] {
						t.Errorf("%q does not wait for %q, but only for %v", later, titles[i], earlier[later])
					}
				}
			}
			for _, pair := range test.free {
				first, second, _ := strings.Cut(pair, ", ")
				if earlier[first] == nil || earlier[second] == nil || earlier[first][second] || earlier[second][first] {
					t.Errorf("%q and %q have an order, or are missing: %v", first, second, earlier)
				}
			}
		})
	}
}
