// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"fmt"
	"os"
	"strings"
)

// processStart returns when a process started, as a number of clock ticks within a boot of the machine. It is
// not alive if it is gone, or has ended and only waits for its parent to notice.
func processStart(pid int) (start string, alive bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// The second field is the program's name in parentheses, and may itself contain anything.
	end := strings.LastIndexByte(string(stat), ')')
	fields := strings.Fields(string(stat[end+1:]))
	const state, startTime = 0, 19 // fields 3 and 22 of proc_pid_stat(5)
	if len(fields) <= startTime || fields[state] == "Z" || fields[state] == "X" {
		return "", false
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return fields[startTime], true
	}
	return fields[startTime] + "@" + strings.TrimSpace(string(boot)), true
}
