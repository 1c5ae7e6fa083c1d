// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import "fmt"

// Problem is the reason why an envelope cannot be sealed or opened.
type Problem string

// The problems of an [*Error].
const (
	ProblemRecipient Problem = "unusable recipient"
	ProblemFormat    Problem = "unknown format"
	ProblemDamaged   Problem = "damaged"
	ProblemKey       Problem = "wrong key"
	ProblemPlace     Problem = "wrong place"
	ProblemSender    Problem = "wrong sender"
	ProblemLarge     Problem = "too large"
)

// Error is a failure to seal or to open an envelope. It has no key and no content (rule V7).
type Error struct {
	Place   string
	Problem Problem
	Detail  string // the fault: a clause that follows the place
	Remedy  string // a sentence without its full stop
}

func (e *Error) Error() string { return fmt.Sprintf("record %s %s; %s", e.Place, e.Detail, e.Remedy) }

func fail(place string, problem Problem) *Error {
	e := &Error{Place: place, Problem: problem}
	switch problem {
	case ProblemRecipient:
		e.Detail = "cannot be sealed: one of those who are to open it has no usable public key"
		e.Remedy = "correct the public keys of the pools, which begin with age1, and of those who start runs, which begins with cairn-run1"
	case ProblemFormat:
		e.Detail = "is not sealed in a way that is known here"
		e.Remedy = "use the same version of cairn on all machines, and start a new run if they have it"
	case ProblemDamaged:
		e.Detail = "is damaged: it is not as it was written"
		e.Remedy = "check the storage that keeps it, then start a new run"
	case ProblemKey:
		e.Detail = "is sealed for other keys than the one that is given"
		e.Remedy = "give this machine the private key that belongs to the public key which its sender has"
	case ProblemPlace:
		e.Detail = "was sealed under another name: somebody has moved or copied it"
		e.Remedy = "find out who can write to the storage that keeps it, then start a new run"
	case ProblemSender:
		e.Detail = "was not sealed by a worker of the pool: a worker has another key, or somebody else has written it"
		e.Remedy = "compare the key of the workers with the public key of the pool, and find out who can write to the storage that keeps it"
	case ProblemLarge:
		e.Detail = "is larger than allowed"
		e.Remedy = "raise the limit, or split the component whose values are so large"
	}
	return e
}
