// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package rollout plans, applies and destroys many units in the order of a graph, each as soon as
// its gates are open.
//
// The model:
//
//   - A [Unit] is planned and applied as a whole: it is a stack, or a root module in one of its
//     workspaces; or it is a task, a command among them.
//   - A [Work] is units with a graph of their steps, and a selection of these. The packages of
//     formats make it; this one knows no format.
//   - [Work.Run] does the selected steps and says about each unit how it ended, as an [End].
//
// Rules:
//
//	R1. A unit is applied by exactly the plan that was made of it in the same run, and only if that
//	    has changes.
//	R2. After a failure nothing more is started, except tasks that wait for a failure. Running units
//	    come to their end. With [Options.KeepGoing] only units after the failure are left as they
//	    are.
//	R3. A unit that is not approved has not failed: units after it are left as they are, and no task
//	    reacts to it.
//	R4. In one directory one thing is done at a time, besides reading outputs.
//	R5. A unit that is there only for other outputs of others is left alone if these have none. An
//	    unreadable output counts as another one.
//	R6. A unit whose plan leaves changes to a later one is planned and applied again, in rounds,
//	    until nothing is left. Units after it wait for the last round; each one needs consent. If
//	    changes are left forever, it has failed.
//
// Programs get values of variables in their environment or in files, never as arguments.
package rollout
