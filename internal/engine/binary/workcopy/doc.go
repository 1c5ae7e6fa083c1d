// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package workcopy lays out the directory in which the engine runs for one component instance.
//
// The module of the component is the root module there: addresses, paths and state are those of
// plain terraform. The directory holds links to the module's files, and for a binary generated
// files that fill its provider slots, and, where an input is not wholly known, changed copies of
// files.
//
// # The input latch
//
// A variable of a root module can't be unknown. So for such an input x the block variable "x" moves
// into a generated child module, together with an output x, and each var.x in the root module's
// files becomes module.__stack_in.x. The argument x of the child module's call is an expression
// that builds the input from its known parts and from outputs of a terraform_remote_state data
// source. The path of that data source is unknown while planning, so its outputs are unknown, too;
// while applying it is the path of a file that has by then been written with the final values. The
// engine thus makes the inputs known by itself in the middle of applying a saved plan, and compares
// each resource's final plan with the saved one.
//
// Rules:
//
//	W1. Byte offsets, lines and columns in the generated copies can be mapped back: removed text is
//	    replaced with blanks, replaced text is remembered.
//	W2. Nothing in the directory can be read by other users.
//	W3. Ephemeral values, and all values of provider configurations, reach the engine through files
//	    of variables that are ephemeral for it: they are in no plan.
//	W4. The same module and planned inputs give the same files, so that a plan can be applied in
//	    another directory than it was made in.
//	W5. Where the system has names for descriptors, values of variables are in no file but in a pipe.
//	    Values that the engine has read there are gone: neither its children nor a program that comes
//	    after a kill find them.
package workcopy
