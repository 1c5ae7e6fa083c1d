// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package postgrestest

import "syscall"

// attributes are those of the programs, which the user of the test runs.
func attributes() *syscall.SysProcAttr { return nil }

// giveAway does nothing: the files are those of that user.
func giveAway(...string) error { return nil }
