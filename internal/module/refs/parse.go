// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package refs

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Parse returns the reference that a traversal from the root of the scope is. Without error
// diagnostics the reference has a subject.
func Parse(traversal hcl.Traversal) (Reference, hcl.Diagnostics) {
	p := &parser{traversal: traversal, next: 1}
	ref := Reference{Subject: p.subject()}
	if p.diags.HasErrors() {
		return Reference{}, p.diags
	}
	if kind := ref.Subject.Kind; kind == Resource || kind == Call || kind == Action || kind == List {
		ref.Key = p.key()
	}
	if ref.Subject.Kind == Call && p.next < len(traversal) {
		ref.Subject.Kind = CallOutput
		ref.Subject.Attr = p.name("the name of an output of the module, as in module.NAME.OUTPUT")
	}
	if p.diags.HasErrors() {
		return Reference{}, p.diags
	}
	ref.Rest = traversal[p.next:]
	ref.Range, ref.Whole = traversal[:p.next].SourceRange(), traversal.SourceRange()
	return ref, nil
}

// parser takes steps from a traversal. After an error, its results are not used.
type parser struct {
	traversal hcl.Traversal
	next      int // step
	diags     hcl.Diagnostics
}

// reserved are words at the beginning of a reference that are none of a resource type, and why.
var reserved = map[string]string{
	"template": `The word "template" is reserved for later versions of the language`,
	"lazy":     `The word "lazy" is reserved for later versions of the language`,
	"arg":      `The word "arg" is reserved for later versions of the language`,
	"check":    "The results of checks cannot be referred to",
	"output":   "The outputs of a module cannot be referred to inside of it",
	"run":      "Runs are parts of tests, which modules cannot refer to",
}

func (p *parser) subject() Subject {
	switch root := p.traversal.RootName(); root {
	case "var":
		return Subject{Kind: Variable, Name: p.name("the name of a variable")}
	case "local":
		return Subject{Kind: Local, Name: p.name("the name of a local value")}
	case "module":
		return Subject{Kind: Call, Name: p.name("the name of a module call")}
	case "data":
		return p.resource(stackaddrs.DataResource)
	case "ephemeral":
		return p.resource(stackaddrs.EphemeralResource)
	case "resource":
		return p.resource(stackaddrs.ManagedResource)
	case "action":
		s := p.resource(stackaddrs.ManagedResource)
		return Subject{Kind: Action, Type: s.Type, Name: s.Name}
	case "list":
		s := p.resource(stackaddrs.ManagedResource)
		return Subject{Kind: List, Type: s.Type, Name: s.Name}
	case "each", "count", "path", "terraform":
		return p.attribute(root)
	case "self":
		return Subject{Kind: Self}
	case "caller":
		return Subject{Kind: Caller}
	default:
		if why, ok := reserved[root]; ok {
			p.fail(0, why+".")
		}
		return Subject{Kind: Resource, Type: root, Name: p.name(fmt.Sprintf("the name of a resource of type %s, if one is meant", root))}
	}
}

func (p *parser) resource(mode stackaddrs.ResourceMode) Subject {
	return Subject{Kind: Resource, Mode: mode, Type: p.name("a type and a name"), Name: p.name("a type and a name")}
}

// attributes are the attributes of symbols that are not declared anywhere.
var attributes = map[string]map[string]Kind{
	"each":      {"key": EachKey, "value": EachValue},
	"count":     {"index": CountIndex},
	"path":      {"module": PathAttr, "root": PathAttr, "cwd": PathAttr},
	"terraform": {"workspace": TerraformOf, "applying": TerraformOf},
}

func (p *parser) attribute(root string) Subject {
	name := p.name("the name of an attribute")
	kind, ok := attributes[root][name]
	if !ok {
		p.fail(p.next-1, fmt.Sprintf("The symbol %q has no attribute %q.", root, name))
	}
	subject := Subject{Kind: kind}
	if kind == PathAttr || kind == TerraformOf {
		subject.Attr = name
	}
	return subject
}

// name takes a step that is a name.
func (p *parser) name(want string) string {
	if p.next < len(p.traversal) {
		if attr, ok := p.traversal[p.next].(hcl.TraverseAttr); ok {
			p.next++
			return attr.Name
		}
	}
	p.fail(p.next, fmt.Sprintf("After %q must come a dot and %s.", p.traversal.RootName(), want))
	return ""
}

// key takes a step with an instance key, if the next one is.
func (p *parser) key() stackaddrs.InstanceKey {
	if p.next >= len(p.traversal) {
		return stackaddrs.NoKey
	}
	index, ok := p.traversal[p.next].(hcl.TraverseIndex)
	if !ok {
		return stackaddrs.NoKey
	}
	p.next++
	if n := index.Key; n.Type() == cty.Number && n.IsKnown() && !n.IsNull() && n.AsBigFloat().IsInt() &&
		n.AsBigFloat().Cmp(new(big.Float)) < 0 {
		return stackaddrs.IntKey(-1) // which no instance has; evaluation will say so
	}
	key, ok := stackaddrs.KeyFromValue(index.Key)
	if !ok {
		p.fail(p.next-1, "The key of an instance is a string or a whole number.")
	}
	return key
}

// fail reports the first error, at a step or, if there is none, at all of them.
func (p *parser) fail(step int, detail string) {
	if p.diags.HasErrors() {
		return
	}
	subject := p.traversal.SourceRange()
	if step < len(p.traversal) {
		subject = p.traversal[step].SourceRange()
	}
	p.diags = hcl.Diagnostics{failure.At(subject, "Invalid reference", "%s", detail)}
}

// InTraversals parses traversals, and omits those that are no references.
func InTraversals(traversals []hcl.Traversal) ([]Reference, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	found := make([]Reference, 0, len(traversals))
	for _, traversal := range traversals {
		ref, moreDiags := Parse(traversal)
		diags = append(diags, moreDiags...)
		if !moreDiags.HasErrors() {
			found = append(found, ref)
		}
	}
	return slices.Clip(found), diags
}
