// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package runs keeps the course of a run on workers beside its calls, so that it can be seen,
// approved, stopped and gone on with from any machine.
//
// The records of a run, below runs/ID/, besides those of package calls:
//
//	run                  the [Run]: the request, by whom, of which units
//	sources              the files of the run, as package sources packs them
//	set                  the set of plans that it applies, or has planned for others to apply
//	progress/N           how far that was applied
//	settled              nothing of the set that it has planned is left to be applied
//	variables            values of variables from its environment, whoever goes on with it
//	asked/UNIT-ROUND     a question whether the plan of a unit is to be applied
//	approved/UNIT-ROUND  the [Approval] of that plan
//	cancelled            somebody has asked to stop the run
//	ended                the [Outcome]
//
// The record index/ID/run is there for each run, so that the list of runs is short, and
// removed/ID/MARK/by while somebody removes the run.
//
// Rules:
//
//	D1. A run that goes on in another process makes the same calls with the same names: those which
//	    were answered are not made again, and those in work are joined. So several processes may
//	    carry on the same run.
//	D2. An approval is given once, for one plan, and stays.
//	D3. Whether a run goes on is never concluded from a process that is not there: a run without an
//	    outcome is one that somebody can attach to.
//	D4. A run is removed after it has ended, and as a whole for all who look: a rest of one, whose
//	    outcome is gone already, would be gone on with, and done again. So it is marked first, and
//	    is not found from then on. A run that applies the set of another one is recorded before it
//	    looks for that mark, and the mark before the remover looks for such a run: one of both sees
//	    the other.
package runs
