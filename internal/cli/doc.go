// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package cli is the command line of cairn.
//
// The commands are in a folder a family: stackcmd for one stack, statecmd for its state, fleetcmd
// for many stacks, statescmd for SLS files, enginecmd for engines; providerscmd for providers; one
// file a command. They turn arguments into calls of package operation or fleet, and results into
// views. Package cmdline has commands, options and help; the shared parts of a command's run are in
// package session, which opens the configuration, the engine and the state when they are first
// asked for, so that a command pays only for the parts it needs.
//
// Rules:
//
//	L1. A command writes its result to standard output and everything else to standard error; with
//	    -json everything goes to standard output.
//	L2. The exit code is 0 for success, 1 for an error, and 2 only where -detailed-exitcode asks for
//	    it.
//	L3. A command that changes the state holds the lock from reading the state to the end.
//	L4. A flag beats the environment, the environment beats cairn.hcl.
package cli
