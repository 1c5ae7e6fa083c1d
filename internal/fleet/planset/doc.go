// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package planset saves the plans of many units as one set, and says whether all of it still fits.
//
// A set is a directory: the plan files of its units in "plans", an index of its contents
// ("index.json"), the progress of its apply ("progress.json"), and an empty file that is locked
// while it is applied ("lock").
//
// Rules:
//
//   - P1. A set is complete when its index is there, which is written last. Nothing but the
//     progress is written after that.
//   - P2. No other user can read anything in it, and git ignores it. Outside of the plan files
//     nothing in it is secret: of a sensitive value there is a keyed hash, whose key is in the
//     index, to compare it with. Where encryption is demanded, all of it but the lock is encrypted.
//   - P3. The contents are checked when they are read: each plan file by its hash, and values by
//     those of the index. An altered or missing part, or one of another version, is an error.
//   - P4. A unit counts as done only after its apply, and is never applied twice by one set.
//   - P5. One process at a time applies a set or replaces it, since the work of another one is
//     nowhere in its own account of the progress.
package planset
