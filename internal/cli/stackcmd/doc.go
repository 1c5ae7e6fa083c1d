// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackcmd has the commands that work on one stack: they prepare, validate, plan and apply
// it, and show its configuration and its state.
//
// An [Execution] is a plan or an apply as a command carries it out, and a [Display] is its view.
// Runs over many stacks show each of them by these, too.
package stackcmd
