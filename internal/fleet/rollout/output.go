// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"io"

	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Output is where what is done for a unit is shown.
type Output interface {
	// Phase says which part of the work begins.
	Phase(phase string)

	// Writers returns where programs write to.
	Writers() (stdout, stderr io.Writer)

	// Close ends the output. Its error is that something could not be shown.
	Close() error
}

// Sum adds up how many resources plans would do something with. It is nil if that is not known of one of them.
func Sum(a, b *stackplan.Counts) *stackplan.Counts {
	if a == nil || b == nil {
		return nil
	}
	sum := a.Plus(*b)
	return &sum
}
