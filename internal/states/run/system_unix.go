// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package run

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

// runAs makes a command one of a process group of its own, and of a user, in whose home it runs if
// no directory is given.
func runAs(cmd *exec.Cmd, name string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if name == "" {
		return nil
	}
	found, err := another(name, os.Geteuid())
	if found == nil || err != nil {
		return err
	}
	return become(cmd, found)
}

// become makes a command one of a user.
func become(cmd *exec.Cmd, found *user.User) error {
	credential, err := credentialOf(found)
	if err != nil {
		return fmt.Errorf("the groups of the user %s are not known: %w", found.Username, err)
	}
	cmd.SysProcAttr.Credential = credential
	cmd.Env = append(cmd.Env, "HOME="+found.HomeDir, "USER="+found.Username, "LOGNAME="+found.Username)
	if cmd.Dir == "" {
		cmd.Dir = "/"
		if info, err := os.Stat(found.HomeDir); err == nil && info.IsDir() {
			cmd.Dir = found.HomeDir
		}
	}
	return nil
}

// another returns the user of a name; nil if that is euid, the user of this process. Only root can
// run commands as others.
func another(name string, euid int) (*user.User, error) {
	found, err := user.Lookup(name)
	switch {
	case err != nil && euid == 0:
		return nil, &unknownUserError{name}
	case err != nil:
		return nil, fmt.Errorf("there is no user %q", name)
	case found.Uid == strconv.Itoa(euid):
		return nil, nil //nolint:nilnil // the comment says when it is nil
	case euid != 0:
		return nil, fmt.Errorf("only root can run commands as another user, here %s", name)
	}
	return found, nil
}

// checkUser reports why euid cannot run commands as a user.
//
// Errors: a [*unknownUserError] if that could change.
func checkUser(name string, euid int) error {
	if name == "" {
		return nil
	}
	_, err := another(name, euid)
	return err
}

func credentialOf(found *user.User) (*syscall.Credential, error) {
	groups, err := found.GroupIds()
	if err != nil {
		return nil, err
	}
	numbers := make([]uint32, 0, len(groups)+2)
	for _, text := range append([]string{found.Uid, found.Gid}, groups...) {
		number, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, uint32(number))
	}
	return &syscall.Credential{Uid: numbers[0], Gid: numbers[1], Groups: numbers[2:]}, nil
}

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

// setAttributes changes the owner and the mode of a directory, and of nothing that somebody puts in
// its place meanwhile.
func setAttributes(path string, wanted owner, mode fs.FileMode) error {
	dir, err := openDirectory(path)
	if errors.Is(err, fs.ErrPermission) { // its owner, who is not root, cannot read it
		if err = os.Chmod(path, 0o700); err == nil { //nolint:gosec // it is one to go through
			dir, err = openDirectory(path)
		}
	}
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	if err := give(dir, wanted); err != nil {
		return err
	}
	return dir.Chmod(mode) // after the owner, whose change clears bits
}

// openPlain opens a file for reading, but not the target of a symbolic link, and waits for nobody.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// openDirectory opens a directory, but not the target of a symbolic link.
func openDirectory(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
}

// newOwner is the user of this process.
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
