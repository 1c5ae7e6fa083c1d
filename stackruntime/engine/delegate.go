// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import "context"

// Delegator is the ability to divide an apply between two sessions, which may be on two machines:
// one does the work and reports its record, and the other one keeps that record with its own, so
// that a [Recoverer] finds the work there. A session without it can do neither.
type Delegator interface {
	// Report has the session pass on the record of an apply that it is about to do, in place of
	// keeping it. The function is called in calls that do not overlap: before anything is done that
	// the record must know of, and with results before anything begins that waits for them, or a
	// moment later. After an error of it, nothing more is done.
	Report(work WorkID, to func(content []byte) error)

	// EndReport ends that once [Session.Apply] has returned. It returns the rest of the record, which
	// has not been passed on; nil if there is none.
	EndReport(work WorkID) []byte

	// Delegate records that another session is about to do an apply, as if this one began it: it has
	// to be acknowledged, and is unfinished work for later programs if it was not. What they have to
	// know of the other session is about, which [Delegator.Delegated] returns to them.
	Delegate(ctx context.Context, req *ApplyRequest, about []byte) error

	// Reported adds reports to the record of work that was delegated, by this session or an earlier
	// one. They come in the order in which they were made. They may be repeated from the first one:
	// those that the record has are left out.
	//
	// Errors: [ErrUnknownWork], or that they cannot be recorded. The same ones may be tried again.
	Reported(ctx context.Context, work WorkID, content []byte) error

	// Lose records that reports of unfinished work are lost: it may have done more than it is known
	// for, which is in doubt. The reason is a sentence without a full stop.
	Lose(ctx context.Context, work WorkID, reason string) error

	// Settle says that nobody goes on with work that was delegated: its record has all that is known
	// of it. Until then, [Recoverer.Resume] fails for such work that has not ended by its record. It
	// goes by the record alone, also for work that the session has delegated itself.
	Settle(work WorkID)

	// Delegated returns the knowledge about the session that does unfinished work. It is nil if the
	// record has the end of that, or if the work was not delegated.
	Delegated(work WorkID) []byte
}
