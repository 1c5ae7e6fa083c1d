// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tagquery

import "testing"

// A mistyped text is near a tag that exists. All else, and subjects that other filters leave out,
// were meant as they are.
func TestDidYouMean(t *testing.T) {
	there := []Subject{
		subject("net/core", "kind:stack", "deployment:prod", "deployment:staging", "stack_name:network", "network", "team-a"),
		subject("apps/web", "kind:stack", "deployment:dev", "stack_name:web", "edge"),
		subject("apps/api", "kind:terraform", "workspace:eu-west", "stack_name:api"),
	}
	for _, test := range []struct{ name, query, tags, want string }{
		{"value", "deployment:prd", "", `"deployment:prod"`},
		{"value in another case", "deployment:PROD", "", `"deployment:prod"`},
		{"longer value", "deployment:stagign", "", `"deployment:staging"`},
		{"stack name", "stack_name:nettwork", "", `"stack_name:network"`},
		{"key", "deploymnt:prod", "", `"deployment:prod"`},
		{"key and value", "deploymnt:prd", "", `"deployment:prod"`},
		{"key without that value", "deploymnt:test", "", ""},
		{"tag", "netwrk", "", `"network"`},
		{"without the key", "prod", "", `"deployment:prod"`},
		{"nothing for a key", ":prod", "", `"deployment:prod"`},
		{"another sign after the key", "deployment=prod", "", `"deployment:prod"`},
		{"directory", "dir:apps/wbe", "", `"dir:apps/web"`},
		{"element", "wbe in dir", "", `"dir~web"`},
		{"elements", "dir~aps/web", "", `"dir~apps/web"`},
		{"one of two", "deployment:prd and edge", "", `"deployment:prod"`},
		{"alternatives", "deployment:prd or stack_name:wbe or deployment:prd", "", `"deployment:prod" and "stack_name:web"`},
		{"tags", "", "netwrk", `"network"`},
		{"tags, of which one is there", "", "edge:tem-a", `"team-a"`},
		{"tags and a query", "deployment:prd", "edgee", `"deployment:prod" and "edge"`},

		{"all there, together nowhere", "deployment:prod and edge", "", ""},
		{"there, but left out by tags", "deployment:prod", "edge", ""},
		{"something matches", "deployment:prd or edge", "", ""},
		{"everything", "", "", ""},
		{"what is left over by tags", "", "network,edgee", ""},
		{"negation", "not deployment:prd and deployment:prod and edge", "", ""},
		{"negations alone", "not network and not edge and not stack_name:api", "", ""},
		{"negation around all", "not (deployment:prd or kind:stack or kind:terraform)", "", ""},
		{"nothing near", "deployment:production", "", ""},
		{"short value of its own", "deployment:qa", "", ""},
		{"value as long as others", "deployment:web", "", ""},
		{"a letter", "deployment:x", "", ""},
		{"no value", "deployment:", "", ""},
		{"kind of which there is none", "kind:task", "", ""},
		{"pattern", "deployment:pro*", "", ""},
		{"pattern of a directory", "dir:apps/*", "", ""},
		{"element that is there", "apps in dir and deployment:prod", "", ""},
		{"longer than any path", "dir~a/b/c/d/e", "", ""},
		{"relative directory", "relative_dir:wbe", "", ""},
		{"empty tag", `""`, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			query, err := Parse(test.query)
			if err != nil {
				t.Fatal(err)
			}
			var tags []Terms
			if test.tags != "" {
				terms, err := ParseTerms(test.tags)
				if err != nil {
					t.Fatal(err)
				}
				tags = append(tags, terms)
			}
			var asked Asked
			asked.Look(query, tags, there)
			want := test.want
			if want != "" {
				want = " Did you mean " + want + "?"
			}
			if got := asked.DidYouMean(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A user that takes down nothing suggests nothing.
func TestNothingTakenDown(t *testing.T) {
	query, err := Parse("deployment:prd")
	if err != nil {
		t.Fatal(err)
	}
	var asked *Asked
	asked.Look(query, nil, []Subject{subject("a", "deployment:prod")})
	if got := asked.DidYouMean() + new(Asked).DidYouMean(); got != "" {
		t.Errorf("got %q", got)
	}
}
