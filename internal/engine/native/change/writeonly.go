// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// CheckWriteOnly returns where an object that a provider has returned has values of write-only
// attributes, which are never kept.
func CheckWriteOnly(block *schema.Block, object cty.Value) []error {
	var f faults
	for _, path := range block.WriteOnlyPaths(object) {
		if value, err := path.Apply(object); err == nil && !value.IsNull() {
			f.add(path, "has a value, but the attribute is write-only")
		}
	}
	return f.errs
}

// WithoutWriteOnlyMarks returns the marks that are not on write-only attributes or inside of them.
// Their values are not kept, so that it does not matter whether these were ephemeral. The object is
// that of the marks, but without them.
func WithoutWriteOnlyMarks(block *schema.Block, object cty.Value, marks []cty.PathValueMarks) []cty.PathValueMarks {
	return withoutMarks(block, object, marks, func(marked, writeOnly cty.Path) bool { return marked.HasPrefix(writeOnly) })
}

// KeptMarks returns the marks that are not inside of write-only attributes, of which null is kept.
// That the attribute itself was sensitive is in states of terraform, so that without it the object
// would seem to change.
func KeptMarks(block *schema.Block, object cty.Value, marks []cty.PathValueMarks) []cty.PathValueMarks {
	return withoutMarks(block, object, marks, func(marked, writeOnly cty.Path) bool {
		return len(marked) > len(writeOnly) && marked.HasPrefix(writeOnly)
	})
}

func withoutMarks(
	block *schema.Block, object cty.Value, marks []cty.PathValueMarks, drop func(marked, writeOnly cty.Path) bool,
) []cty.PathValueMarks {
	if len(marks) == 0 {
		return marks
	}
	paths := block.WriteOnlyPaths(object)
	if len(paths) == 0 {
		return marks
	}
	return slices.DeleteFunc(slices.Clone(marks), func(marked cty.PathValueMarks) bool {
		return slices.ContainsFunc(paths, func(path cty.Path) bool { return drop(marked.Path, path) })
	})
}

// NullWriteOnly returns an object in which write-only attributes are null, as it is kept.
func NullWriteOnly(block *schema.Block, object cty.Value) cty.Value {
	for _, path := range block.WriteOnlyPaths(object) {
		object = update(object, path, func(old cty.Value) (cty.Value, bool) { return cty.NullVal(old.Type()), true })
	}
	return object
}
