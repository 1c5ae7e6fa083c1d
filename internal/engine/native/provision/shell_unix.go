// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package provision

// systemShell is the shell for commands.
var systemShell = []string{"/bin/sh", "-c"}
