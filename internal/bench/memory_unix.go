// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the most memory that a process had at a time, in bytes; 0 where it is not
// known.
func peakMemory(process *os.ProcessState) int64 {
	usage, ok := process.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	peak := int64(usage.Maxrss) //nolint:unconvert // an int32 on some systems
	if runtime.GOOS != "darwin" {
		peak <<= 10
	}
	return peak
}
