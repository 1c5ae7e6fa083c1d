// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// instances parses addresses.
func instances(t *testing.T, addresses ...string) []stackaddrs.AbsComponentInstance {
	t.Helper()
	var all []stackaddrs.AbsComponentInstance
	for _, address := range addresses {
		instance, err := stackaddrs.ParseAbsComponentInstance(address)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, instance)
	}
	return all
}

func TestLeftOvers(t *testing.T) {
	const unknown = "removed {\n  from      = component.old\n  source    = \"./SOURCE-IT-HAD\"\n  providers = {}\n}\n"
	for name, test := range map[string]struct {
		text, saved string
		state       []string
		want        []string
	}{
		"in the state": {state: []string{"component.net", "component.old"}, want: []string{unknown}},
		"instances in the state": {
			state: []string{`component.old["a"]`, `component.old["b"]`}, want: []string{unknown},
		},
		"instances of what is declared": {
			state: []string{`component.many["a"]`, `component.many["z"]`},
			want:  []string{"removed {\n  from   = component.many[\"z\"]\n  source = \"../modules/net\"\n}\n"},
		},
		"instances of what may be declared": {
			text: "component \"old\" {\n  for_each = var.settings.labels\n  source = \"./old\"\n}\n", state: []string{`component.old["z"]`},
		},
		"instance of what has none": {
			state: []string{`component.net["z"]`, "component.net"},
			want:  []string{"removed {\n  from   = component.net[\"z\"]\n  source = \"../modules/net\"\n}\n"},
		},
		"in an embedded stack": {state: []string{"stack.child.component.inner", "stack.child.component.old"}},
		"stack": {
			state: []string{"stack.gone.component.a", "stack.gone.component.b"},
			want:  []string{"removed {\n  from   = stack.gone\n  source = \"./SOURCE-IT-HAD\"\n  inputs = {}\n}\n"},
		},
		"instances of a stack": {
			state: []string{`stack.gone["b"].component.a`, `stack.gone["a"].component.a`},
			want: []string{
				"removed {\n  for_each = toset([\"a\", \"b\"])\n  from     = stack.gone[each.key]\n  source   = \"./SOURCE-IT-HAD\"\n" +
					"  inputs   = {}\n}\n",
			},
		},
		"key of a stack": {
			text: "stack \"region\" {\n  for_each = toset([\"a\"])\n  source = \"../child\"\n" +
				"  inputs = { size = 1, name = \"x-${each.key}\" }\n}\n",
			state: []string{`stack.region["a"].component.inner`, `stack.region["b"].component.inner`},
			want: []string{
				"removed {\n  from   = stack.region[\"b\"]\n  source = \"../child\"\n  inputs = { size = 1, name = \"x-${\"b\"}\" }\n}\n",
			},
		},
		"key of a stack with values": {
			text:  "stack \"region\" {\n  for_each = { a = 1 }\n  source = \"../child\"\n  inputs = { size = each.value }\n}\n",
			state: []string{`stack.region["b"].component.inner`},
			want: []string{
				"removed {\n  for_each = { \"b\" = \"VALUE_IT_HAD\" }\n  from     = stack.region[each.key]\n  source   = \"../child\"\n" +
					"  inputs   = { size = each.value }\n}\n",
			},
		},
		"key of a stack, on the disk": {
			text:  "stack \"region\" {\n  for_each = toset([\"a\"])\n  source = \"../child\"\n  inputs = { size = 1 }\n}\n",
			saved: "stack \"region\" {\n  for_each = toset([\"a\", \"b\"])\n  source = \"../child\"\n  inputs = { size = 1 }\n}\n",
			want:  []string{"removed {\n  from   = stack.region[\"b\"]\n  source = \"../child\"\n  inputs = { size = 1 }\n}\n"},
		},
		"stack, on the disk": {
			saved: "stack \"region\" {\n  for_each = var.settings.labels\n  source = \"../child\"\n  inputs = { size = 1, name = each.key }\n}\n",
			state: []string{`stack.region["b"].component.inner`},
			want: []string{
				"removed {\n  for_each = var.settings.labels\n  from     = stack.region[each.key]\n  source   = \"../child\"\n" +
					"  inputs   = { size = 1, name = each.key }\n}\n",
			},
		},
		"stack that is removed": {
			text:  "removed {\n  from = stack.gone[\"a\"]\n  source = \"../child\"\n}\nremoved {\n  from = stack.old\n  source = \"../child\"\n}\n",
			state: []string{`stack.gone["a"].component.a`, `stack.gone["b"].component.a`, `stack.old["a"].component.b`},
			want:  []string{"removed {\n  from   = stack.gone[\"b\"]\n  source = \"./SOURCE-IT-HAD\"\n  inputs = {}\n}\n"},
		},
		"removed": {text: "removed {\n  from = component.old\n  source = \"./old\"\n}\n", state: []string{"component.old"}},
		"moved":   {text: "moved {\n  from = component.old\n  to = component.net\n}\n", state: []string{"component.old"}},
		"moved to": {
			text:  "moved {\n  from = component.older\n  to = component.old\n}\n",
			state: []string{"component.old"},
			want:  []string{unknown},
		},
		"removed by keys that are not known": {
			text: "removed {\n  for_each = toset([\"a\"])\n  from = component.old[each.key]\n}\n", state: []string{`component.old["b"]`},
		},
		"removed by other keys": {
			text: "removed {\n  from = component.old[\"a\"]\n}\n", state: []string{`component.old["a"]`, `component.old["b"]`},
			want: []string{strings.Replace(unknown, "component.old", `component.old["b"]`, 1)},
		},
		"on the disk": {
			saved: "component \"old\" {\n  source    = \"../modules/db\"\n  providers = { aws = provider.aws.main }\n}\ncomponent \"net\" {\n" +
				"  source = \"x\"\n}\n",
			want: []string{
				"removed {\n  from      = component.old\n  source    = \"../modules/db\"\n  providers = { aws = provider.aws.main }\n}\n",
			},
		},
		"of a registry": {
			saved: "component \"old\" {\n  source  = \"a/b/c\"\n  version = \"~> 1.0\"\n  inputs  = {}\n}\n", state: []string{"component.old"},
			want: []string{"removed {\n  from    = component.old\n  source  = \"a/b/c\"\n  version = \"~> 1.0\"\n}\n"},
		},
		"with configurations of several lines": {
			saved: "component \"old\" {\nsource = \"./old\"\nproviders = {\naws = provider.aws.main\naws.other = provider.aws.main\n}\n}\n",
			want: []string{
				"removed {\n  from   = component.old\n  source = \"./old\"\n  providers = {\n    aws       = provider.aws.main\n" +
					"    aws.other = provider.aws.main\n  }\n}\n",
			},
		},
		"with a configuration for each instance": {
			saved: "component \"old\" {\n  for_each = var.regions\n  source = \"./old\"\n  providers = { aws = provider.aws.main[each.key] }\n}\n",
			want: []string{
				"removed {\n  for_each  = var.regions\n  from      = component.old[each.key]\n  source    = \"./old\"\n" +
					"  providers = { aws = provider.aws.main[each.key] }\n}\n",
			},
		},
		"in a file with errors": {
			text:  "component \"ol",
			saved: "component \"old\" {\n  source = \"./old\"\n}\n",
			want:  []string{"removed {\n  from   = component.old\n  source = \"./old\"\n}\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeArchive(t, world+"-- "+mainFile+" --\n"+test.text)
			path := filepath.Join(dir, mainFile)
			view := viewOf(t, filepath.Join(dir, "stack"))
			view.Instances = func() []stackaddrs.AbsComponentInstance { return instances(t, test.state...) }
			view.Saved = func() []language.File {
				return []language.File{{Path: path, Name: "main.tfcomponent.hcl", Src: []byte(test.saved)}}
			}
			var got []string
			for _, action := range language.New(view).Actions(path, hcl.Range{}) {
				if strings.HasPrefix(action.Title, "Add a removed block") {
					got = append(got, strings.TrimLeft(action.Edits[0].Text, "\n"))
					unsaid := !strings.Contains(action.Title, "to be filled in")
					if unknown := strings.Contains(strings.ReplaceAll(action.Edits[0].Text, "-", "_"), "IT_HAD"); unknown == unsaid {
						t.Errorf("the title is %q", action.Title)
					}
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
		})
	}
}

// Leftovers of an embedded stack are removed in its own files, by the state of the stack that
// embeds it.
func TestLeftOversOfEmbeddedStack(t *testing.T) {
	dir := writeArchive(t, world+"-- "+mainFile+" --\n")
	view := viewOf(t, filepath.Join(dir, "stack"))
	view.Instances = func() []stackaddrs.AbsComponentInstance {
		return instances(t, "stack.child.component.inner", "stack.child.component.old", "stack.child.stack.deep.component.x", "component.old")
	}
	var got []string
	for _, action := range language.New(view).LeftOvers(filepath.Join(dir, childFile)) {
		got = append(got, action.Title)
	}
	want := []string{
		"Add a removed block for component.old, with the source to be filled in",
		"Add a removed block for stack.deep, with the source to be filled in",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}
