// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package format

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

const (
	workspace = "stack \"app\" {\n  path  = \"app\"\n  after = [\"net\"]\n}\nstack \"net\" {\n  path = \"net\"\n}\n"
	gates     = "stacks:\n  names:\n    net:\n      tag_query: dir:net\n    app:\n      tag_query: dir:app\n" +
		"      rules:\n        apply_after: [net]\n"
	main = "terraform {}\n"
	net  = "stack {\n  tags = [\"base\"]\n}\n"
	app  = "stack {\n  after = [\"/net\"]\n}\n"
)

// request asks for the stacks of a new directory with these files, name and content by turns.
func request(t *testing.T, files ...string) fleet.Request {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(root, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return fleet.Request{Place: fleet.Place{Root: root, Below: "/"}}
}

// Each format is used where it is meant to be, says its own rule, and orders the same units in the
// same way.
func TestOpen(t *testing.T) {
	modules := []string{"app/main.tf", main, "net/main.tf", main}
	dirs := []string{"app/stack.tm.hcl", app, "net/stack.tm.hcl", net}
	file, config := []string{File, workspace}, []string{GateFile, gates}
	for name, test := range map[string]struct {
		files []string
		what  string
		rule  order.Rule
	}{
		"workspace file":               {slices.Concat(modules, file), "stack or task", order.ByWeight},
		"workspace file, and the rest": {slices.Concat(modules, file, dirs, config), "stack or task", order.ByWeight},
		"directories":                  {slices.Concat(modules, dirs), "stack", order.ByQueue},
		"directories, and gates":       {slices.Concat(modules, dirs, config), "stack", order.ByQueue},
		"gates":                        {slices.Concat(modules, config), "directory", order.ByQueue},
	} {
		t.Run(name, func(t *testing.T) {
			src, err := Open(t.Context(), request(t, test.files...))
			if err != nil {
				t.Fatal(err)
			}
			if src.What != test.what || src.Order.Rule != test.rule || src.Empty {
				t.Errorf("%q with rule %v, empty %t; want %q with rule %v", src.What, src.Order.Rule, src.Empty, test.what, test.rule)
			}
			paths := func(units []*fleet.Unit) (list []string) {
				for _, unit := range units {
					list = append(list, unit.Path)
				}
				return list
			}
			if got, want := paths(src.Order.Sequence()), []string{"/net", "/app"}; !slices.Equal(got, want) {
				t.Errorf("sequence %v, want %v", got, want)
			}
			if got, want := paths(src.Listed()), []string{"/app", "/net"}; !slices.Equal(got, want) {
				t.Errorf("listed %v, want %v", got, want)
			}
		})
	}
}

// Stacks can be listed although they cannot be put in order.
func TestOpenWithCycle(t *testing.T) {
	src, err := Open(t.Context(), request(t, "a/s.tm", "stack {\n  after = [\"/b\"]\n}\n", "b/s.tm", "stack {\n  after = [\"/a\"]\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if src.Order != nil || !src.OrderDiags.HasErrors() || len(src.Listed()) != 2 {
		t.Errorf("order %v, %v, %d units; want none, errors, and two units", src.Order, src.OrderDiags, len(src.Listed()))
	}
}

func TestOpenSelects(t *testing.T) {
	r := request(t, "app/stack.tm.hcl", app, "net/stack.tm.hcl", net)
	terms, err := tagquery.ParseTerms("base")
	if err != nil {
		t.Fatal(err)
	}
	r.Tags = []tagquery.Terms{terms}
	src, err := Open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := src.Listed(); len(src.Units) != 2 || len(got) != 1 || got[0].Path != "/net" {
		t.Errorf("of %d units %d are selected, want the one in net of two", len(src.Units), len(got))
	}
}

func TestOpenNothing(t *testing.T) {
	r := request(t, "app/main.tf", main)
	if src, err := Open(t.Context(), r); err != nil || !src.Empty {
		t.Errorf("source %+v, %v; want an empty one", src, err)
	}
	if _, err := OpenWork(t.Context(), r, rollout.ApplyAll); !errors.Is(err, ErrNoStacks) {
		t.Errorf("work: %v, want %v", err, ErrNoStacks)
	}
}
