// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package run

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
)

func runAs(_ *exec.Cmd, name string) error { return checkUser(name, 0) }

func checkUser(name string, _ int) error {
	if name != "" {
		return errors.New("commands can be run as another user on Unix only")
	}
	return nil
}

func endGroup(cmd *exec.Cmd, _ bool) error { return cmd.Process.Kill() }

func killGroup(*exec.Cmd) {}

// owner is the numbers of a user and a group, which there are none of here.
type owner struct{ uid, gid int }

func ownerOf(fs.FileInfo) (owner, bool) { return owner{}, false }

func setAttributes(path string, _ owner, mode fs.FileMode) error { return os.Chmod(path, mode) }

func openPlain(path string) (*os.File, error) { return os.Open(path) }

func newOwner() owner { return owner{} }

var errNoOwners = errors.New("users and groups of files can be set on Unix only")

func findUser(string) (int, error) { return 0, errNoOwners }

func findGroup(string) (int, error) { return 0, errNoOwners }
