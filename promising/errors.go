// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising

import (
	"fmt"
	"slices"
	"strings"
)

// CycleError says that a group of promises could only be resolved after each
// other. All promises on the cycle fail with the same *CycleError (rule P6).
type CycleError struct {
	// IDs are the promises of the cycle in the order of the waits: resolving each
	// takes the next, and resolving the last takes the first. Where the list
	// starts depends on timing. Not to be changed.
	IDs []PromiseID
}

// Names returns the names of the promises in the order of IDs, "(...)" for those
// without one.
func (e *CycleError) Names() []string { return names(e.IDs) }

// RotatedNames returns the names in the order of the waits, starting with the
// alphabetically smallest, and so the same at every run. Of several smallest it takes
// the one that makes the list smallest.
func (e *CycleError) RotatedNames() []string {
	n := len(e.IDs)
	twice := slices.Repeat(e.Names(), 2)
	best := 0
	for i := 1; i < n; i++ {
		if slices.Compare(twice[i:i+n], twice[best:best+n]) < 0 {
			best = i
		}
	}
	return twice[best : best+n : best+n]
}

// SameCycle reports whether both errors are about the same promises in the same order,
// wherever each list starts.
func (e *CycleError) SameCycle(other *CycleError) bool {
	if e == other {
		return true
	}
	if e == nil || other == nil || len(e.IDs) != len(other.IDs) || len(e.IDs) == 0 {
		return false
	}
	n := slices.Index(other.IDs, e.IDs[0])
	return n >= 0 &&
		slices.Equal(e.IDs, slices.Concat(other.IDs[n:], other.IDs[:n]))
}

func (e *CycleError) Error() string {
	rotated := e.RotatedNames()
	if len(rotated) == 1 {
		return "promise waits for itself: " + rotated[0]
	}
	return "promises wait for each other: " + strings.Join(append(rotated, rotated[0]), " -> ")
}

// UnresolvedError says that a task ended without resolving promises it was
// responsible for (rule P7). All of them fail with the same *UnresolvedError.
type UnresolvedError struct {
	// IDs are all promises the task left unresolved, in the order in which it
	// became responsible for them. Not to be changed.
	IDs []PromiseID

	// Panic is the value of the panic that ended the task, nil if none did; Stack
	// is the stack of that panic in the format of debug.Stack.
	Panic any
	Stack []byte

	// Goexit is true if runtime.Goexit ended the task.
	Goexit bool
}

// Names returns the names of the promises, "(...)" for those without one.
func (e *UnresolvedError) Names() []string { return names(e.IDs) }

func (e *UnresolvedError) Error() string {
	how := "task ended"
	switch {
	case e.Panic != nil:
		how = fmt.Sprintf("task panicked (%v)", e.Panic)
	case e.Goexit:
		how = "task ended by runtime.Goexit"
	}
	if len(e.IDs) == 0 {
		return how
	}
	return how + " without resolving " + strings.Join(e.Names(), ", ")
}

func names(ids []PromiseID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.String()
	}
	return out
}
