// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build windows

package provision

// systemShell is what commands are given to.
var systemShell = []string{"cmd", "/C"}
