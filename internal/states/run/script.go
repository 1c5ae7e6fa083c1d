// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

func checkScript(c *call) error {
	if _, err := sourcePath(c.scriptSource()); err != nil {
		return err
	}
	return checkCommand(c)
}

func (c *call) scriptSource() string { return cmp.Or(c.text("source"), c.Name) }

// script returns the content of the script.
func (c *call) script() ([]byte, error) {
	source := c.scriptSource()
	file, err := sourcePath(source)
	if err != nil {
		return nil, err
	}
	content, err := c.readFile(file)
	if err != nil {
		return nil, fmt.Errorf("the source %q cannot be read: %s", source, reason(err))
	}
	return content, nil
}

// layOut copies a script to a directory of its own, for the user who is to run it, and makes the
// command run that. The caller must remove the directory.
func (c *call) layOut(command *Command) (dir string, err error) {
	content, err := c.script()
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "cairn-script-*"); err != nil {
		return "", err
	}
	script := filepath.Join(dir, path.Base(c.scriptSource()))
	err = withoutStarts(func() error { return os.WriteFile(script, content, 0o700) }) //nolint:gosec // it is to be run
	if err == nil && command.User != "" {
		err = giveTo(command.User, script, dir) // the directory last: its owner can put something else in the place of the script
	}
	if err != nil {
		return "", fmt.Errorf("it cannot be copied: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	line := `"$0"`
	if args := c.text("args"); args != "" {
		line += " " + args
	}
	own := c.commandLine(line)
	command.Args = append(own.Args, script)
	return dir, nil
}

// giveTo makes files belong to a user.
func giveTo(name string, paths ...string) error {
	uid, err := findUser(name)
	if err != nil || uid == newOwner().uid {
		return err
	}
	for _, path := range paths {
		if err := os.Lchown(path, uid, -1); err != nil {
			return err
		}
	}
	return nil
}
