// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

func checkDirectory(c *call) error {
	if err := checkPath(c); err != nil {
		return err
	}
	if c.given("mode") && c.given("dir_mode") {
		return wrongArgument("dir_mode", "\"mode\" and \"dir_mode\" mean the same for a directory. Give only one of them")
	}
	_, err := c.directoryMode(0)
	return err
}

func (c *call) directoryMode(otherwise fs.FileMode) (fs.FileMode, error) {
	if c.given("dir_mode") {
		return c.mode("dir_mode", otherwise)
	}
	return c.mode("mode", otherwise)
}

// manageDirectory makes a directory, or changes its mode and owner.
func (c *call) manageDirectory() schedule.Outcome {
	f, err := c.inspectDirectory()
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	changes := &compile.Map{}
	if !f.exists {
		changes.Set("directory", "new")
	}
	c.attributeChanges(changes, f)
	switch {
	case changes.Len() == 0:
		return schedule.Outcome{Comment: fmt.Sprintf("The directory %s is as it shall be.", c.Name)}
	case c.Test:
		return schedule.Outcome{
			Changed: true,
			Changes: changes,
			Comment: fmt.Sprintf("The directory %s would be changed.", c.Name) + c.noParent(f.path) + c.noOwner(f),
		}
	}
	if err := c.writeDirectory(f); err != nil {
		return failed("The directory %s cannot be changed: %s.", c.Name, reason(err))
	}
	return schedule.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The directory %s was changed.", c.Name)}
}

func (c *call) inspectDirectory() (*file, error) {
	f := &file{directory: true, mode: 0o755, owner: owner{kept, kept}}
	var err error
	if f.path, err = followLinks(c.Name, true); err != nil {
		return nil, err
	}
	switch info, err := os.Lstat(f.path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("the directory %s cannot be looked at: %s", c.Name, reason(err))
	case !info.IsDir():
		return nil, fmt.Errorf("there is something else than a directory at the path %s. Remove it first, such as with file.absent", c.Name)
	default:
		f.exists, f.oldMode = true, info.Mode()&modeBits
		f.mode = f.oldMode
		if current, ok := ownerOf(info); ok {
			f.owner = current
		}
		f.oldOwner = f.owner
	}
	if f.mode, err = c.directoryMode(f.mode); err != nil {
		return nil, err
	}
	f.owner, err = c.wantedOwner(f.owner)
	return f, err
}

func (c *call) writeDirectory(f *file) error {
	if !f.exists {
		if err := c.parents(f); err != nil {
			return err
		}
		if _, err := makeDirectory(f.path); err != nil {
			return err
		}
	}
	return inPlace(f.path, func(path string) error { return setAttributes(path, f.owner, f.mode) })
}

// parents makes the directories above a path that are missing, if that is asked for.
func (c *call) parents(f *file) error {
	dir := filepath.Dir(f.path)
	if c.boolean("makedirs", false) {
		return c.makeDirectories(dir, f)
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no directory %s, and \"makedirs\" is not true", dir)
	}
	return nil
}

// noParent says in test mode that there is no directory for a path, which only another call could
// bring.
func (c *call) noParent(path string) string {
	dir := filepath.Dir(path)
	if _, err := os.Lstat(dir); !isMissing(err) || c.boolean("makedirs", false) {
		return ""
	}
	return fmt.Sprintf(" But there is no directory %s yet, and \"makedirs\" is not true.", dir)
}

// noOwner is [call.noParent] for the future owner of a file.
func (c *call) noOwner(f *file) string {
	missing := ""
	if f.owner.uid == nobody {
		missing += fmt.Sprintf(" But there is no user %q yet.", c.text("user"))
	}
	if f.owner.gid == nobody {
		missing += fmt.Sprintf(" But there is no group %q yet.", c.text("group"))
	}
	return missing
}

func checkLink(c *call) error {
	if c.text("target") == "" {
		return errors.New("it has no \"target\". Give the path that the link leads to")
	}
	return checkPath(c)
}

// manageLink makes a symbolic link, in one step where there is another one.
func (c *call) manageLink() schedule.Outcome {
	target := c.text("target")
	path, err := followLinks(c.Name, false)
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	old := ""
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return failed("The link %s cannot be looked at: %s.", c.Name, reason(err))
	case info.Mode()&fs.ModeSymlink != 0:
		if old, err = os.Readlink(path); err != nil {
			return failed("The link %s cannot be read: %s.", c.Name, reason(err))
		}
	case info.IsDir() || !c.boolean("force", false):
		return failed("There is something else than a symbolic link at the path %s. Remove it first, or for a file give \"force: true\".", c.Name)
	default:
		old = "a file"
	}
	if old == target {
		return schedule.Outcome{Comment: fmt.Sprintf("The link %s is as it shall be.", c.Name)}
	}
	changes := &compile.Map{}
	changes.Set("old", old)
	changes.Set("new", target)
	if c.Test {
		return schedule.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The link %s would be changed.", c.Name) + c.noParent(path)}
	}
	f := &file{path: path, mode: 0o755, owner: owner{kept, kept}}
	err = c.parents(f)
	if err == nil {
		err = inPlace(path, func(path string) error { return replaceLink(target, path) })
	}
	if err != nil {
		return failed("The link %s cannot be made: %s.", c.Name, reason(err))
	}
	return schedule.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The link %s was changed.", c.Name)}
}

// replaceLink makes a link under a name that is not taken and puts it in its place.
func replaceLink(target, path string) error {
	const attempts = 100
	for n := range attempts {
		temporary := filepath.Join(filepath.Dir(path), ".cairn-link-"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(n))
		err := os.Symlink(target, temporary)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			if err = os.Rename(temporary, path); err != nil {
				err = errors.Join(err, os.Remove(temporary))
			}
		}
		return err
	}
	return errors.New("all temporary names are taken")
}
