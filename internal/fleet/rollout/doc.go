// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package rollout plans, applies and destroys many units in the order of a graph, each as soon as
// its gates are open.
//
// The model:
//
//   - A [Unit] is what is planned and applied as a whole: a stack, or a root module in one of its
//     workspaces; or it is a task, a command among them.
//   - A [Work] is units with a graph of their steps, and what of it is selected. The packages of
//     formats make it; this one knows no format.
//   - [Work.Run] does the selected steps and says about each unit how it ended, as an [End].
//
// Rules:
//
//	R1. A unit is applied by exactly the plan that was made of it in the same run, and only if that
//	    has changes.
//	R2. After a failure nothing more is started, but tasks that wait for a failure are. What runs
//	    comes to its end. With [Options.KeepGoing] only what comes after the failure is left as it
//	    is.
//	R3. What is not approved has not failed: what comes after it is left as it is, and no task reacts
//	    to it.
//	R4. In one directory one thing is done at a time, besides reading outputs.
//	R5. A unit that is there only for other outputs of others is left alone if these have none. What
//	    cannot be read counts as another one.
//	R6. A unit whose plan leaves changes to a later one is planned and applied again, in rounds,
//	    until nothing is left. What comes after it waits for the last round; each one needs consent.
//	    If changes are left forever, it has failed.
//
// Programs get values of variables in their environment or in files, never as arguments.
package rollout
