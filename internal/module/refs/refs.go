// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package refs parses the references of expressions in the Terraform modules language.
//
// It knows the syntax of references only. Whether their subjects are there, and may be used in that
// place, is for others to decide.
package refs

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Kind is the kind of a [Subject].
type Kind uint8

// The kinds of subjects, with the fields of [Subject] that they use.
const (
	Variable    Kind = iota + 1 // Name
	Local                       // Name
	Resource                    // Mode, Type, Name
	Call                        // Name of the module call, with all its outputs
	CallOutput                  // Name of the module call, Attr of its output
	EachKey                     //
	EachValue                   //
	CountIndex                  //
	Self                        //
	Caller                      // the object whose change triggers an action
	PathAttr                    // Attr: module, root or cwd
	TerraformOf                 // Attr: workspace or applying
	Action                      // Type, Name; nowhere a value
	List                        // Type, Name; in query files only
)

// Subject is the target of a reference: an object of the module that the reference is in, or
// something that belongs to the place where it stands. Comparable.
type Subject struct {
	Kind Kind
	Mode stackaddrs.ResourceMode
	Type string
	Name string
	Attr string
}

// Resource returns the resource that the subject is.
func (s Subject) Resource() stackaddrs.Resource {
	return stackaddrs.Resource{Mode: s.Mode, Type: s.Type, Name: s.Name}
}

// OfResource returns a resource as a subject.
func OfResource(r stackaddrs.Resource) Subject {
	return Subject{Kind: Resource, Mode: r.Mode, Type: r.Type, Name: r.Name}
}

// String returns the subject as it is written in expressions.
func (s Subject) String() string {
	switch s.Kind {
	case Variable:
		return "var." + s.Name
	case Local:
		return "local." + s.Name
	case Resource:
		return s.Resource().String()
	case Call:
		return "module." + s.Name
	case CallOutput:
		return "module." + s.Name + "." + s.Attr
	case EachKey:
		return "each.key"
	case EachValue:
		return "each.value"
	case CountIndex:
		return "count.index"
	case Self:
		return "self"
	case Caller:
		return "caller"
	case PathAttr:
		return "path." + s.Attr
	case TerraformOf:
		return "terraform." + s.Attr
	case Action:
		return "action." + s.Type + "." + s.Name
	case List:
		return "list." + s.Type + "." + s.Name
	}
	return "?"
}

// Reference is the use of a subject in an expression.
type Reference struct {
	Subject Subject

	// Key is the step with the key of an instance that follows the name of a resource, a module call
	// or an action, if it is a constant. Otherwise [stackaddrs.NoKey].
	Key stackaddrs.InstanceKey

	// Rest are the steps after the subject and the key.
	Rest hcl.Traversal

	// Range is that of the subject and the key, Whole that of the traversal.
	Range, Whole hcl.Range
}
