// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package operation carries out operations on one deployment of one stack: it lies between a
// request, such as "plan this", and the runtime, which knows neither files nor stores nor programs.
//
// A [Stack] is opened with [Options] and used for one operation, or for some one after the other,
// as long as its files stay as they are. It consists of values that stand on each other, each in a
// package of its own: the surroundings (env), the files (sources), the engines, the states
// (stored), and the providers (requirements). Their contents are found when they are first asked
// for. All callers perform the same operation by the same calls, in the same process: the command
// line, a server, a run over many stacks.
//
// Rules:
//
//   - O1. Nothing here prints, asks, or ends the process. Results and diagnostics are returned;
//     information that is of use at once is a notice.
//   - O2. Nothing here knows an option of a command line. Diagnostics have codes and causes by
//     which a caller adds its own remedies.
//   - O3. Paths in options are relative to the current directory, those in diagnostics to the
//     directory of the stack.
//   - O4. A stack is used by one goroutine at a time; different stacks at the same time, also with
//     the same files.
//   - O5. Nothing asks upwards: the knowledge of a caller, such as values of stacks that are only
//     planned, comes with the [Request]. A finished plan passes through one place before it is
//     shown or approved, which judges it.
package operation
