// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// backupInFolder is the value of "backup" that puts old files into a folder for them.
const backupInFolder = "minion"

func checkBackup(c *call) error {
	backup := c.text("backup")
	if backup == "" || backup == backupInFolder || c.Args.Get("backup") == false {
		return nil
	}
	if !strings.HasPrefix(backup, ".") || strings.ContainsAny(backup, "/\\") {
		return wrongArgument("backup", "the argument \"backup\" must be %q, or an extension such as \".bak\", not %q", backupInFolder, backup)
	}
	return nil
}

// backupPath returns where the old file is kept, "" if it is not.
func (c *call) backupPath(f *file) (string, error) {
	backup := c.text("backup")
	switch {
	case backup == "" || c.Args.Get("backup") == false || !f.exists:
		return "", nil
	case backup != backupInFolder:
		return f.path + backup, nil
	case c.host.Backups == "":
		return "", errors.New("there is no folder for backups")
	}
	// As deep in the folder as in the file system, so that no two files have the same one.
	relative := strings.TrimPrefix(f.path, filepath.VolumeName(f.path))
	return filepath.Join(c.host.Backups, relative) + "_" + time.Now().UTC().Format("2006-01-02T15-04-05.000000"), nil
}

// keepOld writes the old file to path. In the folder for backups, it is for nobody else.
func (c *call) keepOld(f *file, path string) error {
	old := *f
	old.path, old.contents, old.mode, old.owner = path, f.oldContents, f.oldMode, f.oldOwner
	if c.text("backup") == backupInFolder {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // links in the path of the folder are those of the user who has named it
		if err != nil {
			return err
		}
		old.path = filepath.Join(dir, filepath.Base(path))
		old.mode, old.owner = 0o600, owner{kept, kept}
	}
	return replaceFile(&old, ".cairn-*", nil)
}
