// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// processStart returns when a process started, as a number of clock ticks within a boot of the
// machine. It is not alive if it is gone, or has ended and only waits for its parent to notice.
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

// processScope names the boot of the machine, and the name space in which its processes are
// numbered.
func processScope() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	numbers, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + numbers
}

// holders returns the processes that have a file open, as far as this user can see them.
func holders(name string) []int {
	file, err := os.Stat(name)
	if err != nil {
		return nil
	}
	descriptors, err := filepath.Glob("/proc/[0-9]*/fd/[0-9]*")
	if err != nil {
		return nil
	}
	var pids []int
	for _, descriptor := range descriptors {
		target, err := os.Readlink(descriptor)
		if err != nil || filepath.Base(target) != filepath.Base(name) {
			continue // a file with another name need not be asked
		}
		open, err := os.Stat(descriptor)
		if err != nil || !os.SameFile(file, open) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(descriptor, "/")[2]); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

func leadsGroup(pid int) bool { return inGroup(pid, pid) }

func inGroup(pid, group int) bool {
	is, err := syscall.Getpgid(pid)
	return err == nil && is == group
}
