// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package postgrestest

import (
	"os"
	"syscall"
)

// nobody is a user and a group without rights.
const nobody = 65534

// attributes are those of the programs, which refuse to be run by root.
func attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for the test
	if os.Geteuid() == 0 {
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return attributes
}

// giveAway gives files to the user that the programs are run by.
func giveAway(paths ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, nobody, nobody); err != nil {
			return err
		}
	}
	return nil
}
