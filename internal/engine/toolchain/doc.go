// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package toolchain finds the terraform and tofu binaries of a machine, chooses one of them, and
// installs releases for users who have none.
//
// Candidates are looked at in a fixed order: the one that a setting names; tofu and then terraform
// from PATH; the releases that [Install] has installed, newest first. The first one that is new
// enough and that all requirements accept is used; where there is none, the first one that only
// advisory requirements do not accept.
//
// Rules:
//
//  1. A setting that is the path of a binary leaves no choice. One that is the name of a program
//     stands for that program wherever it is: first on PATH, then among the installed ones.
//  2. A binary that cannot be identified ends the search: broken binaries are not passed over in
//     silence.
//  3. A directory with its final name below the directory of installed engines is complete and was
//     verified. It is NAME/VERSION/, with the binary in it.
package toolchain
