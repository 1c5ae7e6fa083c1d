// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackcmd has the commands that work on one stack: they prepare, validate, plan and apply
// it, and show what it is and has.
//
// An [Execution] is a plan or an apply as a command carries it out, and a [Display] what is seen of
// it. Runs over many stacks show each of them by these, too.
package stackcmd
