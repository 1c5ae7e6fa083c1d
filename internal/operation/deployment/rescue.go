// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// RescueFile is written when a state can't be saved, with a number at its end if there is one
// already.
const RescueFile = "errored.cairnstate.json"

// RescueDirs are the directories to try, those that last longest first. They are rarely all on the
// same disk.
func RescueDirs() []string {
	dirs := []string{"."}
	own := os.Getenv("XDG_STATE_HOME")
	if home, err := os.UserHomeDir(); err == nil && !filepath.IsAbs(own) {
		own = filepath.Join(home, ".local", "state")
	}
	if filepath.IsAbs(own) {
		dirs = append(dirs, filepath.Join(own, "cairn"))
	}
	return append(append(dirs, os.TempDir()), MemoryDirs()...)
}

// MemoryDirs are the directories that are on no disk.
func MemoryDirs() []string {
	var dirs []string
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/dev/shm"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}

// WriteRescue writes a new file in the first directory where that is possible.
func WriteRescue(dirs []string, document []byte) (string, error) {
	var errs []error
	for _, dir := range dirs {
		if filepath.IsAbs(dir) { // others than the current one may not be there yet
			if err := os.MkdirAll(dir, 0o700); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		path, err := writeNew(filepath.Join(dir, RescueFile), document)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// writeNew writes a file that only its owner can read, and replaces none.
func writeNew(path string, content []byte) (string, error) {
	for attempt := 1; ; attempt++ {
		name := path
		if attempt > 1 {
			name = fmt.Sprintf("%s.%d", path, attempt)
		}
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = file.Write(content)
		err = errors.Join(err, file.Sync(), file.Close())
		if err != nil {
			return "", errors.Join(err, os.Remove(name))
		}
		return name, nil
	}
}
