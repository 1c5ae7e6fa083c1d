// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package remote reaches machines by ssh, runs commands there and copies files to them.
//
// Files are copied with the program scp of the other machine, which every sshd comes with. The
// address of a machine may be behind a proxy, behind another machine, or both.
//
// Rules:
//
//	R1. A machine that cannot be reached is tried again until the time is over: it may be about to
//	    start, and its keys about to be installed.
//	R2. No secret is sent to a machine whose host key is not the expected one. Without an expected
//	    one, each is accepted.
//	R3. When the context ends, the command that runs is interrupted, and gets a moment to end before
//	    the connection is closed.
package remote
