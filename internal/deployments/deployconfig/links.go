// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Taken is a reference to a published output of another stack.
type Taken struct {
	Input  *UpstreamInput
	Output string
	Range  hcl.Range
}

// String returns the reference as it is usually written.
func (t Taken) String() string { return "upstream_input." + t.Input.Name + "." + t.Output }

// Taken returns the references of the inputs of a deployment to outputs of other stacks, also by
// way of local values, each output once, in the order in which they are written.
func (c *Config) Taken(deployment *Deployment) []Taken {
	var found []Taken
	seen := map[string]bool{} // references, and local values by "local.NAME"
	var follow func(expr hcl.Expression)
	follow = func(expr hcl.Expression) {
		for _, traversal := range expr.Variables() {
			names := stepNames(traversal[1:])
			switch root := traversal.RootName(); {
			case root == "local" && len(names) > 0:
				if local := c.Locals[names[0]]; local != nil && !seen["local."+names[0]] {
					seen["local."+names[0]] = true
					follow(local.Value)
				}
			case root == "upstream_input" && len(names) > 1 && c.Upstreams[names[0]] != nil:
				taken := Taken{Input: c.Upstreams[names[0]], Output: names[1], Range: rangeOf(traversal, 3)}
				if !seen[taken.String()] {
					seen[taken.String()] = true
					found = append(found, taken)
				}
			}
		}
	}
	follow(deployment.Inputs)
	return found
}

// Publishers returns the deployments of which a published output is made, sorted. Nil if there is
// no such output, or if it is made of none.
func (c *Config) Publishers(output string) []string {
	declared := c.Published[output]
	if declared == nil {
		return nil
	}
	var found []string
	for _, traversal := range declared.Value.Variables() {
		if names := stepNames(traversal[1:]); traversal.RootName() == "deployment" && len(names) > 0 {
			found = append(found, names[0])
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
