// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package calls carries out calls on the workers of pools, for one run.
//
// A call has a name that its caller has made up, so that it is the same call after a restart of
// any program. Its request, the reports of the worker and its answer are records of the run, which
// are written once; a [queue.Queue] only says to some worker of the pool that there is a request,
// and to the caller that there is an answer. The records of a call, below runs/RUN/calls/NAME/:
//
//	request       the request, sealed for the pool
//	taken/N       the worker that made the Nth attempt, in clear: a name and times
//	said/N/NNNN   reports of that attempt, sealed for who may start work
//	alive/N/NNNN  the worker of that attempt goes on, from time to time
//	doubted/N/NN  another worker of the pool has found it like that
//	now           somebody waits for the end of the call
//	answer        the answer, sealed for who may start work
//
// Rules:
//
//	C1. An answer is final: the first one that is recorded counts, and the call is not carried out
//	    any more. Whoever asks again gets it.
//	C2. A worker records that it has taken a call before the handler begins. A handler is told of
//	    attempts of other processes that have left no answer, and judges how far these may have come.
//	C3. A worker takes only tasks that are signed by who may start work, for its pool and version,
//	    before they have expired; and only the request that was signed.
//	C4. Everything but the names of workers is sealed in the records. An answer is believed only
//	    of a worker that has the key of the pool.
//	C5. A call that may change something is attempted again, by another worker, only when that of the
//	    attempt before is lost: it has given no sign of life for a minute, and its reports are closed.
//	    Nothing that it reports from then on is accepted, so that work which reports its intentions
//	    begins nothing more.
//	C6. A call can be taken over without the means to begin it. If no worker has taken it by then,
//	    none ever will.
//	C7. A handler that is told to stop still answers, and its caller waits for that.
package calls

import (
	"errors"
	"fmt"
	"path"
	"time"
)

// Folder is the folder of the records of a run.
func Folder(run string) string { return "runs/" + run + "/" }

// The names of the records of a call, and folders of some.
const (
	callsFolder = "calls/"
	requestName = "request"
	answerName  = "answer"
	nowName     = "now"
	takenFolder = "taken/"
	saidFolder  = "said/"
	aliveFolder = "alive/"
	doubtFolder = "doubted/"
)

// folder is the folder of the records of a call.
func folder(run, call string) string { return Folder(run) + callsFolder + call + "/" }

func takenRecord(attempt int) string { return fmt.Sprintf("%s%04d", takenFolder, attempt) }

func saidRecord(attempt, chunk int) string {
	return path.Join(saidFolder, fmt.Sprintf("%04d", attempt), fmt.Sprintf("%06d", chunk))
}

func aliveRecord(attempt, sign int) string {
	return fmt.Sprintf("%s%04d/%06d", aliveFolder, attempt, sign)
}

func doubtRecord(attempt, signs int) string {
	return fmt.Sprintf("%s%04d/%06d", doubtFolder, attempt, signs)
}

// Attempt is one worker's attempt at a call.
type Attempt struct {
	Worker string    `json:"worker"`
	Host   string    `json:"host"`
	PID    int       `json:"pid"`
	Pool   string    `json:"pool"`
	Began  time.Time `json:"began"`

	Process string `json:"process"` // which tells one run of a worker's program from another

	// Withdrawn says that this is no attempt: nobody is to take the call any more (rule C6).
	Withdrawn bool `json:"withdrawn,omitempty"`
}

// request is the request of a call, as it is sealed.
type request struct {
	Kind  string
	Trace map[string]string // the caller's span, as a propagator writes it
	Body  []byte
}

// answer is the answer of a call, as it is sealed.
type answer struct {
	Attempt      int
	Worker       string
	Began, Ended time.Time
	Body         []byte
	Failure      string // why there is no body; "" for none
	Lost         bool   // there is none since the worker was lost

	// Chunks is the number of records with reports, and Tail the reports after these.
	Chunks int
	Tail   [][]byte
}

// FailedError says that a handler has failed, other than by the answer that it gave.
type FailedError struct {
	Worker string
	Text   string
}

func (e *FailedError) Error() string { return e.Text + " (on the worker " + e.Worker + ")" }

var (
	// ErrLost says that the worker of a call was lost, and nobody else does it. All that it has
	// reported was passed on, and nothing more is accepted.
	ErrLost = errors.New("the worker was lost")

	// ErrNotBegun says of a call that was taken over that no worker has begun it, and none will.
	ErrNotBegun = errors.New("no worker has begun it")

	// ErrForgotten says that the records have nothing of the run of a call any more.
	ErrForgotten = errors.New("its run is not in the records any more")
)

// ErrNoAnswer says that a call has ended without an answer, which is a fault of the records.
var ErrNoAnswer = errors.New("the worker has ended the call, and there is no answer in the records of the run")
