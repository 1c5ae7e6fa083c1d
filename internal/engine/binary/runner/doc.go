// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package runner runs commands of terraform and tofu that report data, such as plan and apply, such
// that nothing that happens to this program can hurt the state that the process is writing.
//
// The rules, each for a way in which state was seen to be dropped:
//
//  1. The process writes its events to a file, never to a pipe: a reader that dies would take the
//     process with it.
//  2. It runs in its own process group, so that Ctrl-C on the terminal does not reach it, and isn't
//     set to die with its parent.
//  3. It is interrupted once at most, also across programs: a second interrupt makes it give up at
//     once, in the middle of writing state. [Process.Kill] is for a user who insists.
//  4. The identity of the process is written to a file, so that a later program can [Attach] to it.
//  5. That a process is about to be started is written first, and it inherits a lock: also where
//     the program dies before it has written which process it is, the next one can see whether
//     there is one. Where the lock is free, there is none.
//
// A run has a directory of its own, with the files events.jsonl, stderr.txt, run.json and alive,
// which is locked. They may hold values of the configuration, and only their owner can read them.
// The package never removes the directory.
package runner
