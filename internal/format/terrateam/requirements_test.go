// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The first check that matches is the one that counts, also if it asks for nothing.
func TestRequirements(t *testing.T) {
	for name, test := range map[string]struct {
		config string
		want   map[string][]string
	}{
		"none": {"{}", map[string][]string{"a": nil}},
		"checks": {`
apply_requirements:
  checks:
    - tag_query: dir:a
      approved: {enabled: false, count: 2}
      merge_conflicts: false
    - tag_query: 'dir:a or dir:b'
      status_checks: {ignore_matching: [x]}
      approved: {enabled: true}
`, map[string][]string{"a": nil, "b": {"approved", "status_checks"}, "c": nil}},
		"without a query": {"apply_requirements: {checks: [{approved: {count: 1}}]}", map[string][]string{"a": {"approved"}, "b": {"approved"}}},
		"a mapping": {`
apply_requirements:
  create_pending_apply_check: true
  create_completed_apply_check_on_noop: true
  checks:
    approved: {enabled: true, count: 2}
    merge_conflicts: {enabled: false}
    status_checks: {ignore_matching: [x]}
`, map[string][]string{"a": {"approved", "status_checks"}, "b": {"approved", "status_checks"}}},
		"an empty mapping": {"apply_requirements: {checks: {}}", map[string][]string{"a": nil}},
		"other keys": {`
definitions: {common: &c {approved: true}}
create_if_missing: true
dirs:
  a: {create_if_missing: true, workspaces: {default: {create_if_missing: false}}}
apply_requirements: {create_if_missing: true, checks: [*c]}
`, map[string][]string{"a": {"approved"}, "b": {"approved"}}},
		"older form": {`
apply_requirements:
  create_pending_apply_check: true
  merge_conflicts: {enabled: true}
  approved: {enabled: False}
`, map[string][]string{"a": {"merge_conflicts"}}},
		"alias": {
			"version: &off {enabled: false}\napply_requirements: {approved: *off, status_checks: true}",
			map[string][]string{"a": {"status_checks"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, diags := Read("config.yml", []byte(test.config))
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			dirspaces, diags := config.Dirspaces([]string{"a/main.tf", "b/main.tf", "c/main.tf"}, func(string) bool { return false })
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			l, diags := New(config, dirspaces)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			for i, d := range l.Dirspaces {
				want, known := test.want[d.Dir]
				if !known {
					continue
				}
				var got []string
				if q := l.Requirements(i); q != nil {
					got = q.Names
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("requirements of %s (-want +got):\n%s", d.Dir, diff)
				}
			}
		})
	}
}

func TestRequirementsMistakes(t *testing.T) {
	for _, config := range []string{
		"apply_requirements: []", "apply_requirements: {checks: 5}", "apply_requirements: {checks: [x]}",
		"apply_requirements: {checks: [{tag_query: 'a and', approved: true}]}",
	} {
		if _, diags := Read("config.yml", []byte(config)); !diags.HasErrors() {
			t.Errorf("no error for %s", config)
		}
	}
}
