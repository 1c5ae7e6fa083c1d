// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package views writes the output of the command line for people and programs: plans, states,
// outputs, diagnostics and progress.
//
// Text for people comes from this package: [WriteDiagnostics], [WritePlan], the
// functions for states, outputs and summaries, all with [Options]. Its parts:
//
//   - diagnostictext: a diagnostic with its source code and values, as text and JSON
//   - valuediff: how a value changes, in the notation of terraform's plans
//   - jsonview: the lines of -json
//   - progress: the progress of an operation, for a person
//   - live: a display at the bottom of a terminal while something runs
//   - textstyle: colours and wrapping
//
// Nothing here parses options, opens files or asks the terminal anything; the caller gives all
// input, and the text goes to an [io.Writer] in one call.
//
// The rules the compiler cannot check:
//
//	R1. Sensitive and ephemeral values are written by the JSON documents of states, plans and outputs
//	    and by [RawOutput] only, because that is the purpose of these.
//	R2. Output depends on the arguments only: everything is sorted, and times come from a clock that
//	    the caller gives.
//	R3. Writers are safe for concurrent use where their comment says so.
package views
