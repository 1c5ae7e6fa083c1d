// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

// Budget is how many steps may still be spent on the requests of the author of a file, so that an
// untrusted file that asks for too much is an error rather than a program that takes all time or
// memory. It is negative once more was asked for than there was.
type Budget int

// A budget for finding the targets of references, in steps of some nanoseconds. It is enough for
// MaxReferenced targets.
const (
	ReferenceBudget    Budget = MaxReferenced * StepsPerReferenced
	StepsPerReferenced        = 1000
	MaxReferenced             = 2_000_000
)

// Spend takes steps and reports whether there were as many. The first time that there were not, it
// calls exhausted; after that nothing is left.
func (b *Budget) Spend(steps int, exhausted func()) bool {
	if *b < 0 {
		return false
	}
	if *b -= Budget(steps); *b >= 0 {
		return true
	}
	exhausted()
	return false
}
