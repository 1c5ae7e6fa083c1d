// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package cairn plans and applies stacks as the command cairn does, from within another program:
// with the same settings, engine, state, locks and plan files. A stack that the command has applied
// can be planned here, and the other way round.
//
// A [Stack] is a directory with files *.tfcomponent.hcl. It is opened with [Options], which may all
// be zero, and then planned or applied: by [Stack.Apply] in one go, or by [Stack.Plan] with a file
// that [Stack.ApplyFile] applies later, perhaps elsewhere. A [Request] names the kind of plan, its
// selection and its values; a [Caller] has functions that approve, show progress and answer
// questions. An apply without an approver applies nothing.
//
// Nothing here prints, asks, or ends the process. Problems are diagnostics, about files whose
// sources [Stack.Files] has.
//
// Rules:
//
//   - C1. A stack is used by one goroutine at a time. Different stacks, and the same one opened
//     twice, may be used at the same time: whoever changes a state locks it, and others get an
//     error or wait, as [Options] say.
//   - C2. Paths in options and requests are relative to the current directory, which is never
//     changed; those in the environment and in settings, and names of files in diagnostics, to the
//     directory of the stack.
//   - C3. The environment counts as it does for the command: CAIRN_STATE, CAIRN_ENGINE,
//     CAIRN_DEPLOYMENT, CAIRN_DATA_DIR, CAIRN_VAR_name, TF_VAR_name. Options beat it, and it beats
//     the settings file.
//   - C4. To interrupt an operation, end its context with the cause [ErrInterrupted]. Running work
//     is waited for and saved, so the call takes as long as the engine needs to come to an end.
//     Closing Options.StopNow after that ends at once any work that changes nothing, such as a
//     plan.
//   - C5. Values that the configuration declares as sensitive are marked as such in plans and
//     outputs (package marks), and never part of a diagnostic.
//
// The engine is cairn's own, with terraform or tofu where it needs one, or one that the program
// brings. A program that has its own place for configurations or states uses package stackruntime
// in place of this one.
package cairn
