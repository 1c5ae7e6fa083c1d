// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// footprint has the resources of a process.
type footprint struct {
	memory   int // resident, in MiB
	files    int // open
	children int // processes
}

func (f footprint) String() string {
	return fmt.Sprintf("%d MiB, %d open files, %d child processes", f.memory, f.files, f.children)
}

// maxMemory is how much a process without work may have, in MiB: 64 MiB that it keeps for its next
// calls, and the pages of the program that were read.
const maxMemory = 150

// exceeds reports whether a footprint is larger than an earlier one by more than the usual
// variation.
func (f footprint) exceeds(before footprint) bool {
	return f.memory > maxMemory || f.files > before.files+10 || f.children > 0
}

// settled measures a process until it does not exceed an earlier footprint, or for as long as tests
// wait: memory is given back a second after the last call.
func settled(t testing.TB, pid int, before footprint) footprint {
	t.Helper()
	end := time.Now().Add(testenv.Patience)
	for {
		f := measure(t, pid)
		if !f.exceeds(before) || time.Now().After(end) {
			return f
		}
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // nobody says when memory is given back
	}
}

// measure reads from /proc, and skips the test where there is none.
func measure(t testing.TB, pid int) footprint {
	t.Helper()
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		t.Skipf("needs /proc: %v", err)
	}
	files, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	var f footprint
	f.files = len(files)
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmRSS:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			f.memory = kib / 1024
		}
	}
	tasks, err := filepath.Glob(filepath.Join(proc, "task", "*", "children"))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		children, err := os.ReadFile(task)
		if err == nil { // the thread may be gone
			f.children += len(strings.Fields(string(children)))
		}
	}
	return f
}
