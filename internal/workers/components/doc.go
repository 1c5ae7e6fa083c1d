// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package components carries the work on components of one stack to workers: it has the
// [remote.Transport] of an operation, and the handler of its calls on a worker.
//
// The calls of an operation are those of a run of their own, whose ID is made of the names of the
// calls: so another program finds the records of a call by its name alone. The files of the stack's
// repository are brought to workers with the first call, unless they are there: the operation of a
// worker, which works on the stack for a run, has the files of the run.
//
// An apply is begun by one worker only. If that is lost, another one closes its attempt and answers
// so (rule C5 of package calls).
package components

import (
	"net/url"
	"strings"

	"github.com/cairnstacks/cairn/internal/workers/sources"
)

// Kind is that of the calls of this package.
const Kind = "component"

// runOf returns the ID of the run that a call belongs to: the calls of one operation begin with its
// name.
func runOf(call string) string {
	operation, _, _ := strings.Cut(call, "/")
	return "operation-" + url.QueryEscape(operation)
}

// nameOf returns the name of a call in its run.
func nameOf(call string) string {
	_, rest, _ := strings.Cut(call, "/")
	return url.QueryEscape(rest)
}

// body is the body of a call.
type body struct {
	Sources sources.Archive
	Dir     string // of the stack, from the top of the archive
	Request []byte
}

// answered is the answer of a call.
type answered struct {
	Content  []byte
	NotBegun string // why nothing was begun; "" if something was
}
