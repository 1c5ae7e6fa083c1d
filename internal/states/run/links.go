// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links a path may lead through, as Linux has it.
const maxLinks = 40

// followLinks returns the path that a path leads to, without symbolic links, of which the last one
// too is followed if follow is true. A part that does not exist yet is kept as it is.
//
// A link that belongs to another user than root and this one is an error: its owner would decide
// which file is written.
func followLinks(path string, follow bool) (string, error) {
	volume := filepath.VolumeName(path)
	resolved, rest := volume+string(filepath.Separator), filepath.Clean(path)[len(volume):]
	links := 0
	for rest = strings.Trim(rest, string(filepath.Separator)); rest != ""; {
		name, after, _ := strings.Cut(rest, string(filepath.Separator))
		if name == ".." {
			resolved, rest = filepath.Dir(resolved), after
			continue
		}
		next := filepath.Join(resolved, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return filepath.Join(resolved, rest), nil
		case err != nil:
			return "", fmt.Errorf("the path %s cannot be looked at: %s", next, reason(err))
		case info.Mode()&fs.ModeSymlink == 0 || after == "" && !follow:
			resolved, rest = next, after
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("the path %s leads through too many symbolic links", path)
		}
		target, err := trustedLink(next, info)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			resolved = filepath.VolumeName(target) + string(filepath.Separator)
		}
		rest = strings.Trim(filepath.Join(target[len(filepath.VolumeName(target)):], after), string(filepath.Separator))
	}
	return resolved, nil
}

// trustedLink returns where a symbolic link leads.
func trustedLink(path string, info fs.FileInfo) (string, error) {
	if owned, ok := ownerOf(info); ok && !owned.isTrusted(newOwner()) {
		return "", fmt.Errorf("%s is a symbolic link of another user, who could make it lead anywhere. "+
			"Name the path that it leads to, or remove it", path)
	}
	target, err := os.Readlink(path)
	if err != nil {
		return "", fmt.Errorf("the symbolic link %s cannot be read: %s", path, reason(err))
	}
	return target, nil
}

// isTrusted reports whether a link of an owner is followed by self.
func (o owner) isTrusted(self owner) bool { return o.uid == 0 || o.uid == self.uid }

// inPlace calls do with another path to the same file, in a directory that is held meanwhile. The
// path must lead through no links, as one of [followLinks] does: a user who can put one there would
// decide which file is changed.
func inPlace(path string, do func(path string) error) error {
	dir, release, err := hold(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer release()
	return do(filepath.Join(dir, filepath.Base(path)))
}
