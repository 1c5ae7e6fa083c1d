// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"
	"fmt"
	"iter"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// reject reports a wrong reference.
func (s *scope) reject(ref *refs.Reference, summary, detail string) bool {
	return s.module.eval.Diagnostics.AddTo(s.at.Resource, failure.At(ref.Range, summary, "%s", detail))
}

// undeclared reports a reference to an object that the module does not declare. Others are the
// names of those of the same kind.
func (s *scope) undeclared(ref *refs.Reference, kind, name string, others iter.Seq[string]) bool {
	return s.reject(ref, "Reference to undeclared object",
		"The module does not declare "+kind+name+"."+s.module.eval.Diagnostics.DidYouMean(name, others))
}

func (s *scope) undeclaredResource(ref *refs.Reference, addr stackaddrs.Resource) bool {
	for _, mode := range []stackaddrs.ResourceMode{stackaddrs.ManagedResource, stackaddrs.DataResource, stackaddrs.EphemeralResource} {
		other := stackaddrs.Resource{Mode: mode, Type: addr.Type, Name: addr.Name}
		if s.module.resources[other] != nil {
			return s.reject(ref, "Reference to undeclared object", fmt.Sprintf("The module does not declare %s. There is %s.", addr, other))
		}
	}
	return s.undeclared(ref, "", addr.String(), func(yield func(string) bool) {
		for other := range s.module.resources {
			if !yield(other.String()) {
				return
			}
		}
	})
}

// misplaced reports a reference to a symbol that other places have.
func (s *scope) misplaced(ref *refs.Reference, where string) bool {
	return s.reject(ref, "Reference not allowed here", fmt.Sprintf("The symbol %s can only be used in %s.", ref.Subject, where))
}

// knownAtDestroy reports whether a reference has a value when all other objects are gone.
func knownAtDestroy(kind refs.Kind) bool {
	switch kind {
	case refs.Self, refs.CountIndex, refs.EachKey, refs.PathAttr, refs.TerraformOf:
		return true
	default:
		return false
	}
}

// right checks a reference to a resource as far as its blocks and its schema allow.
func (s *scope) right(ctx context.Context, ref *refs.Reference, r *Resource) bool {
	addr, repeated, keyed := r.Config.Addr, r.Config.Repeat.Keyed(), ref.Key != stackaddrs.NoKey
	switch {
	case r.Config.Check != nil && r.Config.Check != s.at.check:
		return s.reject(ref, "Reference to undeclared object",
			fmt.Sprintf("%s is declared in the check %q, and is only to be used there.", addr, r.Config.Check.Name))
	case r == s.at.owner:
		return s.reject(ref, "Self-referential block", fmt.Sprintf(
			"%s refers to itself, and so can never be known. Conditions after the fact, provisioners and connections use the symbol self.", addr))
	case len(ref.Rest) == 0 && (repeated || !keyed):
		return true
	case repeated && !keyed:
		if _, attribute := ref.Rest[0].(hcl.TraverseAttr); attribute {
			return s.reject(ref, "Resource instance key missing", KeyMistake(addr.String(), r.Config.Repeat, keyed))
		}
		return true
	case !repeated && keyed:
		return s.reject(ref, "Key without several instances", KeyMistake(addr.String(), r.Config.Repeat, keyed))
	}
	object, _ := s.module.eval.opts.Objects.Object(ctx, r, stackaddrs.NoKey)
	_, diags := ref.Rest.TraverseRel(object)
	return s.module.eval.Diagnostics.AddTo(s.at.Resource, diags...)
}

// KeyMistake returns the mistake in a reference to one instance of a block with a name: that it has
// a key, or none. It is "" if that is right.
func KeyMistake(name string, repeat module.Repeat, keyed bool) string {
	argument := "for_each"
	if repeat.Count != nil {
		argument = "count"
	}
	switch repeated := repeat.Keyed(); {
	case repeated && !keyed:
		return fmt.Sprintf("%s has several instances, or none: it has a %s argument. Write the key of the instance that is meant in brackets "+
			"after the name.", name, argument)
	case !repeated && keyed:
		return name + " has one instance, without a key: there is no count or for_each argument. Leave out the brackets."
	default:
		return ""
	}
}
