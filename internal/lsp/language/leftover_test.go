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
	const unknown = "removed {\n  from   = component.old\n  source = \"./SOURCE-OF-THE-MODULE\"\n}\n"
	for name, test := range map[string]struct {
		text, saved string
		state       []string
		want        []string
	}{
		"in the state": {state: []string{"component.net", "component.old"}, want: []string{unknown}},
		"instances in the state": {
			state: []string{`component.old["a"]`, `component.old["b"]`}, want: []string{unknown},
		},
		"instances of what is declared": {state: []string{`component.many["z"]`}},
		"in an embedded stack":          {state: []string{"stack.child.component.inner", "stack.child.component.old", "stack.gone.component.old"}},
		"removed":                       {text: "removed {\n  from = component.old\n  source = \"./old\"\n}\n", state: []string{"component.old"}},
		"moved":                         {text: "moved {\n  from = component.old\n  to = component.net\n}\n", state: []string{"component.old"}},
		"moved to":                      {text: "moved {\n  from = component.older\n  to = component.old\n}\n", state: []string{"component.old"}, want: []string{unknown}},
		"removed by keys that are not known": {
			text: "removed {\n  for_each = toset([\"a\"])\n  from = component.old[each.key]\n}\n", state: []string{`component.old["b"]`},
		},
		"removed by other keys": {
			text: "removed {\n  from = component.old[\"a\"]\n}\n", state: []string{`component.old["a"]`, `component.old["b"]`},
			want: []string{strings.Replace(unknown, "component.old", `component.old["b"]`, 1)},
		},
		"on the disk": {
			saved: "component \"old\" {\n  source    = \"../modules/db\"\n  providers = { aws = provider.aws.main }\n}\ncomponent \"net\" {\n  source = \"x\"\n}\n",
			want:  []string{"removed {\n  from      = component.old\n  source    = \"../modules/db\"\n  providers = { aws = provider.aws.main }\n}\n"},
		},
		"of a registry": {
			saved: "component \"old\" {\n  source  = \"a/b/c\"\n  version = \"~> 1.0\"\n  inputs  = {}\n}\n", state: []string{"component.old"},
			want: []string{"removed {\n  from    = component.old\n  source  = \"a/b/c\"\n  version = \"~> 1.0\"\n}\n"},
		},
		"with configurations of several lines": {
			saved: "component \"old\" {\nsource = \"./old\"\nproviders = {\naws = provider.aws.main\naws.other = provider.aws.main\n}\n}\n",
			want: []string{
				"removed {\n  from   = component.old\n  source = \"./old\"\n  providers = {\n    aws       = provider.aws.main\n    aws.other = provider.aws.main\n  }\n}\n",
			},
		},
		"with a configuration for each instance": {
			saved: "component \"old\" {\n  for_each = var.regions\n  source = \"./old\"\n  providers = { aws = provider.aws.main[each.key] }\n}\n",
			want: []string{
				"removed {\n  from      = component.old[each.key]\n  for_each  = var.regions\n  source    = \"./old\"\n  providers = { aws = provider.aws.main[each.key] }\n}\n",
			},
		},
		"in a file with errors": {text: "component \"ol", saved: "component \"old\" {\n  source = \"./old\"\n}\n", want: []string{"removed {\n  from   = component.old\n  source = \"./old\"\n}\n"}},
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
					if unknown := strings.Contains(action.Edits[0].Text, "SOURCE-OF"); unknown == unsaid {
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
