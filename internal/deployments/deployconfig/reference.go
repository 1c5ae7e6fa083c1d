// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/nearest"
)

// Place is the place of an expression, which decides the names that it may refer to (rule D4).
type Place struct {
	what  string // as in "an approval rule"
	roots []string
}

var (
	sources = []string{"identity_token", "local", "store", "upstream_input"}

	InInputs    = Place{"the inputs of a deployment", sources}
	InLocals    = Place{"a local value", sources}
	InChecks    = Place{"an approval rule", []string{"context", "deployment", "local"}}
	InPublished = Place{"a published output", []string{"deployment", "local"}}
	inConstant  = Place{"an argument that decides which blocks there are", []string{"local"}}
)

// Roots returns the names with which references in an expression may begin: of an argument of a
// block, whose types are as in [BodySchema].
func Roots(argument string, types ...string) []string {
	switch strings.Join(types, ".") + " " + argument {
	case "deployment inputs":
		return InInputs.roots
	case "deployment deployment_group":
		return []string{"deployment_group"}
	case "deployment_group auto_approve_checks":
		return []string{"deployment_auto_approve"}
	case "deployment_auto_approve.check condition", "deployment_auto_approve.check reason", "orchestrate.check condition",
		"orchestrate.check reason":
		return InChecks.roots
	case "publish_output value":
		return InPublished.roots
	case "publish_output type":
		return nil
	}
	if len(types) == 1 && types[0] == "locals" {
		return InLocals.roots
	}
	return inConstant.roots
}

// kinds are the forms of references, by the name with which they begin.
var kinds = map[string]string{
	"context":        "context.plan",
	"deployment":     "deployment.NAME",
	"identity_token": "identity_token.NAME.jwt",
	"local":          "local.NAME",
	"store":          "store.varset.NAME.KEY or store.varset.NAME.stable.KEY",
	"upstream_input": "upstream_input.NAME.OUTPUT",
}

// ofStack are the names with which references in component files begin.
var ofStack = []string{
	"component", "each", "output", "provider", "removed", "self", "stack", "terraform", "var", "count", "path",
	"module", "data",
}

// Reference is one that leads somewhere.
type Reference struct {
	Root string   // the name that it begins with
	Name string   // of the declaration
	Key  StoreKey // likewise, for stores
	Attr string   // the attribute that is read: a key of a store, an output; "" for others

	Stable bool      // of stores: whether the value is kept
	Range  hcl.Range // of the steps up to Attr
}

// path returns the names behind which an expression finds the value.
func (r Reference) path() []string {
	path := []string{r.Root}
	switch r.Root {
	case "context":
		return path
	case "store":
		path = append(path, r.Key.Type, r.Key.Name)
	default:
		path = append(path, r.Name)
	}
	if r.Stable {
		path = append(path, "stable")
	}
	if r.Attr != "" {
		path = append(path, r.Attr)
	}
	return path
}

// resolve finds the target of a traversal. ok is false if it has none; if it is not known whether
// the traversal is right, there is no diagnostic.
func (c *Config) resolve(traversal hcl.Traversal, in Place) (ref Reference, diag *hcl.Diagnostic, ok bool) {
	root := traversal.RootName()
	switch {
	case slices.Contains(in.roots, root):
	case kinds[root] != "":
		return ref, problem(traversal[0].SourceRange(), "Reference not allowed here", "In %s one can refer to %s, besides calling functions.",
			in.what, allowed(in)), false
	case slices.Contains(ofStack, root):
		return ref, problem(traversal[0].SourceRange(), "Unknown reference",
			"Deployment files cannot refer to the declarations of component files. Values go into the stack by inputs, and its outputs can be "+
				"published. Here one can refer to %s.", allowed(in)), false
	default:
		return ref, problem(traversal[0].SourceRange(), "Unknown reference", "Nothing is called %q here. One can refer to %s.%s",
			root, allowed(in), nearest.DidYouMean(root, in.roots)), false
	}
	if root == "context" {
		return Reference{Root: root, Range: traversal[0].SourceRange()}, nil, true
	}
	names := stepNames(traversal[1:])
	ref = Reference{Root: root, Range: rangeOf(traversal, 2)}
	if root == "store" {
		return c.resolveStore(traversal, names)
	}
	if len(names) == 0 {
		return ref, problem(traversal.SourceRange(), "Unknown reference", "The reference names no declaration. Write %s.", kinds[root]), false
	}
	ref.Name = names[0]
	if diag, ok := c.checkDeclared(ref, traversal); !ok {
		return ref, diag, false
	}
	switch {
	case root == "identity_token":
		return ref.withAttribute(traversal, names, "A token has one attribute: write %s.", "jwt")
	case root == "upstream_input":
		return ref.withAttribute(traversal, names, "Name one of the outputs that the other stack publishes: %s.", "OUTPUT")
	case root == "deployment" && in.what == InPublished.what:
		return ref.withAttribute(traversal, names, "Name one of the outputs of the stack: %s.", "OUTPUT")
	}
	return ref, nil, true
}

// withAttribute completes a reference by the attribute that is read.
func (r Reference) withAttribute(traversal hcl.Traversal, names []string, remedy, attr string) (Reference, *hcl.Diagnostic, bool) {
	if len(names) < 2 || attr == "jwt" && names[1] != attr {
		return r, problem(traversal.SourceRange(), "Unknown reference", remedy, fmt.Sprintf("%s.%s.%s", r.Root, r.Name, attr)), false
	}
	r.Attr, r.Range = names[1], rangeOf(traversal, 3)
	return r, nil, true
}

// checkDeclared reports a reference to a name that no block declares.
func (c *Config) checkDeclared(ref Reference, traversal hcl.Traversal) (*hcl.Diagnostic, bool) {
	declared := c.names(ref.Root)
	if slices.Contains(declared, ref.Name) {
		return nil, true
	}
	if c.rejects(ref.Root + "." + ref.Name) {
		return nil, false
	}
	return problem(rangeOf(traversal, 2), "Unknown reference", "No block declares %s.%s.%s", ref.Root, ref.Name,
		nearest.DidYouMeanBelow(ref.Root+".", ref.Name, declared)), false
}

// names are those of the declarations that references with a root can have.
func (c *Config) names(root string) []string {
	switch root {
	case "local":
		return slices.Sorted(maps.Keys(c.Locals))
	case "identity_token":
		return slices.Sorted(maps.Keys(c.Tokens))
	case "upstream_input":
		return slices.Sorted(maps.Keys(c.Upstreams))
	case "deployment":
		return slices.Sorted(maps.Keys(c.Deployments))
	}
	return nil
}

func (c *Config) resolveStore(traversal hcl.Traversal, names []string) (ref Reference, diag *hcl.Diagnostic, ok bool) {
	ref = Reference{Root: "store", Range: traversal.SourceRange()}
	const remedy = "A store as a whole is not a value. Read one of its variables: %s.KEY, or %[1]s.stable.KEY for a value that is kept."
	if len(names) < 2 {
		return ref, problem(ref.Range, "Unusable store reference", remedy, "store.varset.NAME"), false
	}
	ref.Key = StoreKey{names[0], names[1]}
	ref.Name = names[1]
	if c.Stores[ref.Key] == nil {
		if c.rejects(ref.Key.String()) {
			return ref, nil, false
		}
		var declared []string
		for key := range c.Stores {
			declared = append(declared, key.String())
		}
		return ref, problem(rangeOf(traversal, 3), "Unknown reference", "No block declares %s.%s", ref.Key,
			nearest.DidYouMean(ref.Key.String(), declared)), false
	}
	rest := names[2:]
	steps := 4
	if len(rest) > 0 && rest[0] == "stable" {
		ref.Stable, rest, steps = true, rest[1:], 5
	}
	if len(rest) == 0 {
		return ref, problem(ref.Range, "Unusable store reference", remedy, ref.Key), false
	}
	ref.Attr, ref.Range = rest[0], rangeOf(traversal, steps)
	return ref, nil, true
}

// allowed lists the references that are allowed at a place.
func allowed(in Place) string {
	var list []string
	for _, root := range in.roots {
		list = append(list, kinds[root])
	}
	if last := len(list) - 1; last > 0 {
		return strings.Join(list[:last], ", ") + " and " + list[last]
	}
	return list[0]
}

// stepNames are the names of attributes at the beginning of the steps of a traversal; a constant
// index is one, too.
func stepNames(steps hcl.Traversal) []string {
	var names []string
	for _, step := range steps {
		name, ok := stepName(step)
		if !ok {
			break
		}
		names = append(names, name)
	}
	return names
}

func stepName(step hcl.Traverser) (string, bool) {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return step.Name, true
	case hcl.TraverseIndex:
		if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key.AsString(), true
		}
	}
	return "", false
}

// rangeOf is that of the first steps of a traversal.
func rangeOf(traversal hcl.Traversal, steps int) hcl.Range {
	return traversal[:min(steps, len(traversal))].SourceRange()
}
