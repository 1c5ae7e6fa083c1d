// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"errors"
)

// Transport carries calls to the workers of pools. It is safe for concurrent use.
//
// A call is named by its caller: the same name is the same call, now and after a restart of this
// program. A call with [Call.Changes] is begun once at most, whatever happens; another one may be
// begun again when its worker is lost.
//
// What a worker reports is kept by the transport from when the worker's report has succeeded, until
// some time after the answer was taken. The reports of a call that is lost to its worker are
// refused.
type Transport interface {
	// Call carries out a call on a worker and returns its answer. Reports gets all that the worker
	// reports, in order, some at a time and before Call returns, in calls that do not overlap: for a
	// call that was begun by another program, from the first report on.
	//
	// A call without a request is one that another program may have made. It is taken over, and never
	// begun: if there is none, there will be none of that name.
	//
	// Ending ctx asks the worker to stop. Call goes on waiting for its answer, also while no server
	// can be reached.
	//
	// Errors: [ErrNotBegun], [ErrWorkerLost] and [ErrForgotten]. With any other one, nothing is known.
	// It is for calls that are taken over, which can be tried again, and those that change nothing.
	Call(ctx context.Context, call Call, reports func([][]byte)) ([]byte, error)

	// StopNow says that somebody waits for the end of a call. It waits for nothing.
	StopNow(ctx context.Context, name string) error
}

// Call is a call of a worker.
type Call struct {
	Name    string
	Pool    string
	About   string // for people: the component
	Changes bool   // it may change something, and is not to be begun twice
	Request []byte // nil to take over a call
}

var (
	// ErrNotBegun is the error of a call that no worker has begun, and none will.
	ErrNotBegun = errors.New("no worker has begun the work")

	// ErrWorkerLost is the error of a call whose worker will not answer. All that it has reported was
	// passed on, and nothing that it reports from now on is accepted.
	ErrWorkerLost = errors.New("the worker was lost")

	// ErrForgotten is the error of a call of which the transport has nothing any more.
	ErrForgotten = errors.New("the reports of the worker are not kept any more")
)
