// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package promising provides promises and tasks that cannot deadlock by waiting
// for themselves.
//
// A promise is a result that is supplied once and may be awaited by many. A task
// is one line of execution, identified by the context it was given. Every
// unresolved promise has exactly one task that is responsible for resolving it,
// and every task awaits at most one promise at a time. So the question "what is
// this promise waiting for?" always has at most one answer, and following the
// answers is a walk along a chain, never a search of a graph. A task walks that
// chain before it blocks; if the chain comes back to the task, blocking would
// close a cycle, and every promise of the cycle fails with one [*CycleError]
// instead.
//
// A program enters with [MainTask], starts concurrent work with [AsyncTask] or in a [Group], makes
// promises with [NewPromise] and memoises computations with [Once].
//
// # Duties of the caller
//
// Breaking P1, P2 or P5 panics where it can be noticed.
//
//   - P1. A task awaits one promise at a time. To wait for several in parallel,
//     start a task for each.
//   - P2. The task that makes a promise is responsible for it until it hands it
//     over to a new task. Only the responsible task may resolve it or hand it
//     over, and it resolves it once.
//   - P3. A task resolves everything it is responsible for before it ends.
//   - P4. A task blocks for other tasks only by awaiting promises. Waiting by
//     mutex, channel or wait group is invisible to the detector; keep it to things
//     that end whatever becomes of the promises, and await nothing meanwhile. A task
//     that waits for others with a [Group] is responsible for no promise.
//   - P5. Every operation gets the context of the task it runs in. A goroutine
//     that was not started by AsyncTask may not await with the context of the
//     task that started it while that task awaits too.
//
// # Guarantees
//
//   - P6. When waiting closes a cycle, all promises on it fail with the same
//     [*CycleError] before any of the participants wakes. Their responsible tasks
//     may still resolve them; those calls are ignored. A task that awaits its own
//     promise is the shortest cycle. A cycle is reported only if all its parts
//     held at one instant.
//   - P7. When a task ends, by return, panic or [runtime.Goexit], the promises it
//     leaves unresolved fail with one [*UnresolvedError].
//   - P8. When the context given to an await ends, that waiter alone is freed, with
//     [context.Cause]. The promise is unaffected and may be awaited again.
//   - P9. The function of a [Once] runs under the context that was given to the
//     [MainTask] of its first caller: that context ends the work, and only its
//     values are visible. Which caller came first therefore makes no difference,
//     and a caller whose own context ends frees only itself.
//   - P10. A panic is never lost, and nobody overtakes it. In a main task it
//     continues in the caller, once the promises of the task have failed. In any other
//     task it crashes the program like a panic in any goroutine, and nobody who waits
//     for the task by promise or [Group] is woken, lest the program ends before. If
//     [WithPanicHandler] put something else in charge, that has ended when they wake.
//     The [*UnresolvedError] holds the panic value and stack.
//   - P11. A [MainTask] called inside a task counts as awaited by that task, so a
//     cycle through both is found.
//
// # Costs
//
// There is no global lock. Awaiting a resolved promise is one atomic load and a
// look at the context. Blocking costs a walk over the tasks that the awaited
// promise waits for at that moment, a few atomic loads each, without allocation.
//
// # Not guaranteed
//
// Nobody joins async tasks but those of a [Group]: MainTask may return while they run, and promises
// may be awaited long after. Fairness, order of wake-ups and limits on the number of goroutines are
// left to the caller. Endless loops and P4 violations still hang.
//
// The ownership rule and the detector are after Caleb Voss and Vivek Sarkar, "An
// Ownership Policy and Deadlock Detector for Promises", arXiv:2101.01312.
package promising
