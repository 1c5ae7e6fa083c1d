// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processScope names this boot and the namespaces that number processes and
// count their start times. Two containers have different ones, whatever they
// call themselves.
func processScope() string {
	// /proc may show the processes of another namespace than ours.
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	pids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	clock, err := os.Readlink("/proc/self/ns/time")
	if err != nil && !errors.Is(err, os.ErrNotExist) { // absent before Linux 5.6
		return ""
	}
	return "linux " + strings.TrimSpace(string(boot)) + " " + pids + " " + clock
}

// processExists reports false only if there is certainly no such process.
func processExists(pid int) bool {
	return pid > 0 && !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// processStart returns when a process started, in clock ticks since boot, and
// whether it is still more than an entry in the process table.
func processStart(pid int) (string, string) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", ProcessUnknown
	}
	// The second field is the program's name in parentheses, which may
	// itself hold spaces and parentheses. State and start time are fields 3
	// and 22 (proc_pid_stat(5)).
	i := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[i+1:]))
	if i < 0 || len(fields) < 20 {
		return "", ProcessUnknown
	}
	if state := fields[0]; state == "Z" || state == "X" {
		return fields[19], ProcessGone
	}
	return fields[19], ProcessRunning
}
