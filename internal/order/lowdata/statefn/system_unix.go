// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package statefn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup asks a command and all that it has started to end, or ends it at once.
func endGroup(cmd *exec.Cmd, atOnce bool) error {
	signal := syscall.SIGTERM
	if atOnce {
		signal = syscall.SIGKILL
	}
	if err := syscall.Kill(-cmd.Process.Pid, signal); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return nil
}

func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // all of them may have ended
}

// owner is the numbers of a user and a group.
type owner struct{ uid, gid int }

func ownerOf(info fs.FileInfo) (owner, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, false
	}
	return owner{int(stat.Uid), int(stat.Gid)}, true
}

// newOwner is who owns files that this process makes.
func newOwner() owner { return owner{os.Geteuid(), os.Getegid()} }

func findUser(name string) (int, error) {
	found, err := user.Lookup(name)
	if err != nil {
		if number, numberErr := strconv.ParseUint(name, 10, 31); numberErr == nil {
			return int(number), nil
		}
		return 0, fmt.Errorf("there is no user %q", name)
	}
	return strconv.Atoi(found.Uid)
}

func findGroup(name string) (int, error) {
	found, err := user.LookupGroup(name)
	if err != nil {
		if number, numberErr := strconv.ParseUint(name, 10, 31); numberErr == nil {
			return int(number), nil
		}
		return 0, fmt.Errorf("there is no group %q", name)
	}
	return strconv.Atoi(found.Gid)
}
