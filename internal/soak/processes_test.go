// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lifeVariable marks all processes of one life, in their environment.
const lifeVariable = "CAIRN_SOAK_LIFE"

// processes returns the numbers of the processes of a life whose program has this name, or of all
// with "".
func processes(life, program string) []int {
	mark := []byte("\x00" + lifeVariable + "=" + life + "\x00")
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var pids []int
	for _, name := range environs {
		environ, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), mark) {
			continue // ended, or of somebody else
		}
		pid, err := strconv.Atoi(strings.Split(name, "/")[2])
		if err != nil {
			continue
		}
		target, err := os.Readlink(filepath.Join(filepath.Dir(name), "exe"))
		if err != nil || program != "" && !strings.HasPrefix(filepath.Base(target), program) {
			continue
		}
		if program == "terraform" && strings.HasPrefix(filepath.Base(target), "terraform-provider") {
			continue
		}
		pids = append(pids, pid)
	}
	return pids
}
