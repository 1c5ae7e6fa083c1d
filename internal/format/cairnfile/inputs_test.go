// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// compared lists the differences between two files: texts of causes, and stacks that are gone.
func compared(t *testing.T, before, after string) []string {
	t.Helper()
	inputs := resolve(t, after).compare(resolve(t, before))
	var lines []string
	for _, cause := range inputs.changed {
		lines = append(lines, cause.Text)
	}
	slices.Sort(lines)
	for _, gone := range inputs.gone {
		line := "gone: " + gone.leaf.Name
		if gone.renamedTo != nil {
			line += " is " + gone.renamedTo.Name
		}
		lines = append(lines, line)
	}
	return lines
}

func TestOrderX06Inputs(t *testing.T) {
	const before = `
stack "a" {
  deployment  = "one"
  variables   = { size = "1", secret = "s3cr3t" }
  var_files   = ["x.tfvars"]
  environment = { MODE = "quick" }
}
stack "b" { after = ["a"] }
stack "c" { workspace = "blue" }
group "all" {
  members   = ["a", "b"]
  variables = { region = "north" }
}
task "t" { command = "true" }
`
	tests := map[string]struct {
		after string
		want  []string
	}{
		"same": {after: before},
		"order and descriptions only": {after: `
stack "b" { description = "later" }
stack "c" { workspace = "blue" }
stack "a" {
  deployment  = "one"
  variables   = { size = 1, secret = "s3cr3t" }
  var_files   = ["x.tfvars"]
  environment = { MODE = "quick" }
  after       = ["b"]
  auto_apply  = true
}
group "every" {
  members   = ["a", "b"]
  variables = { region = "north" }
}
`},
		"own inputs": {
			after: `
stack "a" {
  path        = "elsewhere"
  deployment  = "two"
  variables   = { size = "2", secret = "other" }
  environment = { MODE = "slow", LEVEL = "9" }
}
stack "b" {}
stack "c" { workspace = "green" }
group "all" {
  members   = ["a", "b"]
  variables = { region = "north" }
}
`,
			want: []string{
				"path, deployment, var_files, variable secret, variable size, environment LEVEL, environment MODE of a changed in cairn.workspace.hcl",
				"workspace of c changed in cairn.workspace.hcl",
			},
		},
		"inputs of a group": {
			after: `
stack "a" {
  deployment  = "one"
  variables   = { size = "1", secret = "s3cr3t", region = "north" }
  var_files   = ["x.tfvars"]
  environment = { MODE = "quick" }
}
stack "b" {}
stack "c" { workspace = "blue" }
group "all" {
  members   = ["a", "b"]
  variables = { region = "south" }
}
`,
			want: []string{"variable region of b changed in cairn.workspace.hcl"},
		},
		"new, renamed and gone": {
			after: `
stack "colour" {
  path      = "c"
  workspace = "blue"
}
stack "red" {
  path      = "c"
  workspace = "red"
}
stack "b" { variables = { region = "north" } }
`,
			want: []string{"red is new in cairn.workspace.hcl", "gone: a", "gone: c is colour"},
		},
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tests[name].want, compared(t, before, tests[name].after)); diff != "" {
				t.Errorf("wrong differences (-want +got):\n%s", diff)
			}
		})
	}
}
