// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import "github.com/cairnstacks/cairn/stackaddrs"

// Progress is how far the component instances of a plan have come when an apply of it ended before
// its end. Of those not in it, the engine has changed nothing.
type Progress map[stackaddrs.AbsComponentInstance]Stage

// Stage is how far a component instance has come. The zero value is that of one of which the engine
// has changed nothing.
type Stage string

// The stages that something was done in.
const (
	Begun Stage = "begun" // in part, or wholly without anybody having seen that
	Done  Stage = "done"
)

// Count returns how many component instances have come to a stage.
func (p Progress) Count(stage Stage) int {
	n := 0
	for _, one := range p {
		if one == stage {
			n++
		}
	}
	return n
}
