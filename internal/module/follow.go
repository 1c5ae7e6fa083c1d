// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"iter"
	"slices"

	"github.com/cairnstacks/cairn/internal/module/refs"
)

// Follow yields references and those that they lead to: by way of the values of local values, and
// of the validation rules of variables. Each subject is yielded once.
func (d *Directory) Follow(references []refs.Reference) iter.Seq[refs.Reference] {
	return func(yield func(refs.Reference) bool) {
		seen := map[refs.Subject]bool{}
		queue := slices.Clone(references)
		for len(queue) > 0 {
			ref := queue[0]
			queue = queue[1:]
			if seen[ref.Subject] {
				continue
			}
			seen[ref.Subject] = true
			if !yield(ref) {
				return
			}
			queue = append(queue, d.next(ref.Subject)...)
		}
	}
}

// next returns the references in the declaration of a local value or a variable.
func (d *Directory) next(subject refs.Subject) (next []refs.Reference) {
	switch subject.Kind {
	case refs.Local:
		if local := d.Locals[subject.Name]; local != nil {
			next = local.Value.Refs
		}
	case refs.Variable:
		if variable := d.Variables[subject.Name]; variable != nil {
			for _, rule := range variable.Validations {
				next = append(append(next, rule.Condition.Refs...), rule.ErrorMessage.Refs...)
			}
		}
	}
	return next
}
