// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package plugin

import "os/exec"

// endWithParent does nothing here: only some systems can do that.
func endWithParent(*exec.Cmd) {}
