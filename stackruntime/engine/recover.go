// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"context"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Recoverer is the ability to pick up applies that another program has begun, by their names: the
// engine has recorded them before it began. A session without it loses its work when the program
// dies.
type Recoverer interface {
	// Bind sets the purpose of the work that is begun from now on, and the work to recover: the work
	// that was begun with the same secret.
	Bind(purpose Purpose)

	// Record makes sure that there is a record of the work that is begun from now on, also after a
	// power failure, and names it: "" if the session has none in one place. A caller that keeps the
	// name with the state learns later if the record was lost ([Purpose.Recorded]).
	//
	// Added, which may be nil, is called with all that is added to that record, in calls that do
	// not overlap: before anything is done that the record must know of, and from time to time.
	// What it has kept replaces a record that is lost ([Purpose.Copies]); after an error of it,
	// nothing more is done.
	Record(ctx context.Context, added func(ctx context.Context, content []byte) error) (string, error)

	// Unfinished returns the applies that were begun by programs which are not alive, and were not
	// forgotten, sorted by component. It waits for nothing. The work stays with this session until
	// [Recoverer.Forget] or [Recoverer.Leave], and is not returned again.
	//
	// Errors: joined, one for each record that cannot be used. The usable work is returned together
	// with them.
	Unfinished(ctx context.Context) ([]UnfinishedWork, error)

	// Resume reads the events of unfinished work after a position, waits for its end, and returns its
	// result. Ending ctx stops it, as it does for [Session.Apply], and so does [Session.Stop]. The
	// result is nil if nothing was done; the work is forgotten then. [ObjectChanged] is not among the
	// events: the result has the whole state. The observer may be nil.
	//
	// The state must be saved and then acknowledged by [Session.Acknowledge], unless it was before.
	Resume(ctx context.Context, work WorkID, after Position, observe Observer) (*Recovered, error)

	// MarkSeen tells later programs that somebody has seen the doubts.
	MarkSeen(ctx context.Context, work WorkID) error

	// Forget says that nobody needs to hear of the work any more, and removes its records.
	Forget(ctx context.Context, work WorkID) error

	// Leave leaves everything in place, for another program.
	Leave(ctx context.Context, work WorkID) error
}

// Keeper is the ability to list the applies whose results are not safe yet, for a caller that wants
// to change the state they would be recovered into. It takes less than a [Recoverer]: a session
// that cannot recover them may have it.
type Keeper interface {
	// Kept returns the component instances, sorted, of the applies that were begun with a secret and
	// of which no result was acknowledged, whether their programs are alive or not. It waits for
	// nobody and changes nothing. Unreadable records are for [Recoverer.Unfinished] to report.
	Kept(ctx context.Context, secret []byte) ([]string, error)
}

// Purpose is the state that work belongs to, and the plan and operation for which it is begun.
type Purpose struct {
	// Secret is of the state: the records of work are signed with it, and only records with that
	// signature are believed. Somebody who can write to their place, such as the author of a
	// repository that comes with them, does not know it. Without a secret, all are believed that were
	// begun without one.
	Secret []byte

	Plan   string // identity of the saved plan that is applied, empty for another one
	Serial int64  // of the state when the apply began

	// CutOff are the prefixes of the names of all work of operations on the same state whose
	// programs have died; none if the caller knows of none. The caller has recorded them before
	// that work began, for engines that can look up work only by its name.
	CutOff []string

	// Recorded names the records of which the state knows ([Recoverer.Record]). They are kept as long
	// as that is so. If one is not there, or not whole, a piece of unfinished work stands for the lost
	// records.
	Recorded []string

	// Copies are the contents of some of these, as far as they were kept somewhere else.
	Copies map[string][]byte

	// Others names records of which the state knows as well, of operations on other parts of it. They
	// are left alone, whether the programs of those operations are alive or not.
	Others []string
}

// UnfinishedWork is an apply of which nobody has taken the result.
type UnfinishedWork struct {
	Work      WorkID
	Component string // address of the component instance, as it was recorded
	Mode      Mode
	StartedAt time.Time

	Running bool // it goes on
	PID     int  // of the process that does it; 0 if that is not known, or is none of this machine

	// Foreign says that the work was not begun with the secret of [Recoverer.Bind]. It cannot be
	// resumed.
	Foreign bool

	// Empty says that the record has lost all that it had, or never had anything. If it is not
	// foreign, it is of an operation that had begun nothing, and is gone now.
	Empty bool

	// Place is where the work is recorded, and StateFile the file with its newest state, if there is
	// one: for messages.
	Place, StateFile string
}

// Recovered is the result of an apply whose program was killed, or which was killed itself.
type Recovered struct {
	Work      WorkID
	Component string // address of the component instance
	Mode      Mode
	State     State // the newest; empty if it is saved

	// Plan and Serial are those of its [Purpose], unless it is saved.
	Plan   string
	Serial int64

	// Saved says that the state was acknowledged before. It remains to report the failure, and to
	// clear up the Doubts.
	Saved bool

	// Doubts are the resource instances that were being changed, or have been, while the state may not
	// show the outcome, by their addresses in the component. Planning may make such a change once
	// more.
	Doubts []string

	// Lost names, as a sentence without a full stop, the lost part of the record of work; "" for
	// none. Then any component may have done more, which is in doubt, too. Without a Component,
	// that is all that there is.
	Lost string

	// Incomplete says that the record of this work may have had more, so that the state of the
	// caller may be newer than State.
	Incomplete bool

	// Seen says that the doubts were shown by an earlier program.
	Seen bool

	// Diagnostics are the engine's diagnostics, and those about results that may be missing from the
	// state.
	Diagnostics hcl.Diagnostics
}

// IsDoubtful reports whether changes may have been made that the state does not show.
func (r *Recovered) IsDoubtful() bool { return len(r.Doubts) > 0 || r.Lost != "" }
