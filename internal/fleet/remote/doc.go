// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package remote plans and applies units on workers: it has drivers whose work is done by a worker
// of a pool, and the server that does that work there.
//
// The model:
//
//   - A [Client] opens drivers for a run, in place of those of package driver. Each call of a
//     driver is a call of package calls, named by the unit and the number of the call, so that a
//     run that goes on in another process makes the same calls.
//   - A [Server] has the same unit as a driver of package driver in its own process, with the files
//     of the run, and does the same with it. Plans travel as the files that they are.
//   - What is shown of the work travels as text, with the times of the work on components: the
//     server shows it as the person sees it who has begun the run.
//
// Rules:
//
//	M1. Decisions stay with the run: order, gates, approval, rounds, values between units. A
//	    worker does one phase of one unit.
//	M2. An apply of a stack may be delivered again: the state of its deployment says what has been
//	    done of the plan, and its lock that nobody else does it. An apply of a root module and a
//	    task, of which nothing says that, are left for a person if they may have begun.
//	M3. A worker has the credentials of its pool and none of the run. The run gives values of
//	    variables, the units' own environment, and files.
//	M4. A worker works on the deployments that it was started for, whatever a run asks.
//	M5. The files of a run are a copy that every worker has for itself, and that may be removed. A
//	    unit whose state would be a file in it is refused before anything is done.
package remote
