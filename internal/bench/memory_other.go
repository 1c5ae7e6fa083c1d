// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package main

import "os"

// peakMemory returns 0: the system does not report it.
func peakMemory(*os.ProcessState) int64 { return 0 }
