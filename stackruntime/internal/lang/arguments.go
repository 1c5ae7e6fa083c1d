// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// quoted returns s for use in an error message, or a note in its place if the argument that s came
// from carries marks (rule L3).
func quoted(s string, own cty.ValueMarks) string {
	switch {
	case own.Has(marks.Sensitive):
		return "(sensitive value)"
	case own.Has(marks.Ephemeral):
		return "(ephemeral value)"
	case len(own) > 0:
		return "(hidden value)"
	}
	return strconv.Quote(s)
}
