// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package objecttest

import "syscall"

// attributes are those of servers.
func attributes() *syscall.SysProcAttr { return nil }
