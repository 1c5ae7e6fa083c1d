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
	seen := map[Reference]bool{}
	c.follow(deployment.Inputs, InInputs, func(ref Reference) {
		taken := Taken{Input: c.Upstreams[ref.Name], Output: ref.Attr, Range: ref.Range}
		ref.Range = hcl.Range{}
		if ref.Root == "upstream_input" && !seen[ref] {
			seen[ref] = true
			found = append(found, taken)
		}
	})
	return found
}

// follow calls a function for each reference of an expression to something else than local values,
// and for those of the local values that it is made of, in the order in which they are written.
func (c *Config) follow(expr hcl.Expression, in Place, visit func(Reference)) {
	seen := map[string]bool{} // local values
	var follow func(hcl.Expression)
	follow = func(expr hcl.Expression) {
		for _, traversal := range expr.Variables() {
			ref, _, ok := c.resolve(traversal, in) //nolint:errcheck // reported when the files were read
			switch {
			case !ok:
			case ref.Root != "local":
				visit(ref)
			case !seen[ref.Name]:
				seen[ref.Name] = true
				follow(c.Locals[ref.Name].Value)
			}
		}
	}
	follow(expr)
}

// Publishers returns the deployments of which a published output is made, sorted. Nil if there is
// no such output, or if it is made of none.
func (c *Config) Publishers(output string) []string {
	declared := c.Published[output]
	if declared == nil {
		return nil
	}
	var found []string
	c.follow(declared.Value, InPublished, func(ref Reference) { found = append(found, ref.Name) })
	slices.Sort(found)
	return slices.Compact(found)
}
