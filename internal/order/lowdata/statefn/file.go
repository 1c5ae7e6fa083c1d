// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statefn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/cairnstacks/cairn/internal/order/lowdata"
)

func fileFunctions() map[string]*function {
	return map[string]*function{
		"file.managed": {
			args: map[string]kind{
				"contents": texts, "contents_newline": boolean, "source": text, "mode": text, "user": text, "group": text,
				"makedirs": boolean, "dir_mode": text, "replace": boolean, "show_changes": boolean,
			},
			check: checkManaged,
			call:  func(_ context.Context, c *call) lowdata.Outcome { return c.manage() },
		},
		"file.absent": {check: checkAbsent, call: func(_ context.Context, c *call) lowdata.Outcome { return c.remove() }},
	}
}

func checkManaged(c *call) error {
	if !filepath.IsAbs(c.Name) {
		return fmt.Errorf("the path %q is not absolute. Give the whole path as \"name\"", c.Name)
	}
	if c.given("contents") && c.given("source") {
		return errors.New("it has both \"contents\" and \"source\". Give only one of them")
	}
	if c.given("source") {
		if _, err := c.sourcePath(); err != nil {
			return err
		}
	}
	for _, name := range []string{"mode", "dir_mode"} {
		if _, err := c.mode(name, 0); err != nil {
			return err
		}
	}
	return nil
}

// sourcePath returns the path of the source below the root of the SLS files.
func (c *call) sourcePath() (string, error) {
	source := c.text("source")
	path, isURL := strings.CutPrefix(source, "salt://")
	switch {
	case !isURL && strings.Contains(source, "://"):
		return "", fmt.Errorf("the source %q is of a kind that is not supported. Use salt:// or a path below the root of the SLS files", source)
	case strings.Contains(path, "?"):
		return "", fmt.Errorf("the source %q names an environment, and there is but one. Leave out what follows the question mark", source)
	case !fs.ValidPath(path) || path == ".":
		return "", fmt.Errorf("the source %q does not name a file below the root of the SLS files. Write its path there, without \"..\" and a leading slash", source)
	}
	return path, nil
}

// mode returns an argument that is the mode of files in octal digits, which YAML may have read as a decimal number.
func (c *call) mode(name string, otherwise fs.FileMode) (fs.FileMode, error) {
	if !c.given(name) {
		return otherwise, nil
	}
	number, err := strconv.ParseUint(c.text(name), 8, 12)
	if err != nil {
		return 0, fmt.Errorf("the argument %q must be octal digits such as \"0644\", not %q", name, c.text(name))
	}
	mode := fs.FileMode(number & 0o777)
	for bit, flag := range map[uint64]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if number&bit != 0 {
			mode |= flag
		}
	}
	return mode, nil
}

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// octal writes a mode as users do.
func octal(mode fs.FileMode) string {
	number := uint32(mode.Perm())
	for bit, flag := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&flag != 0 {
			number |= bit
		}
	}
	return fmt.Sprintf("%04o", number)
}

// file is what a managed file is and shall be.
type file struct {
	path   string // with links followed
	exists bool

	oldContents, contents []byte
	oldMode, mode         fs.FileMode
	oldOwner, owner       owner
}

func (c *call) manage() lowdata.Outcome {
	f, err := c.inspect()
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	changes := c.fileChanges(f)
	switch {
	case changes.Len() == 0:
		return lowdata.Outcome{Comment: fmt.Sprintf("The file %s is as it shall be.", c.Name)}
	case c.Test:
		return lowdata.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The file %s would be changed.", c.Name)}
	}
	if err := c.writeFile(f); err != nil {
		return failed("The file %s cannot be written: %s.", c.Name, reason(err))
	}
	return lowdata.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The file %s was changed.", c.Name)}
}

func upperFirst(text string) string {
	return strings.ToUpper(text[:1]) + text[1:]
}

// reason leaves out the names of system calls and of temporary files.
func reason(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	var linkError *os.LinkError
	if errors.As(err, &linkError) {
		return linkError.Err.Error()
	}
	return err.Error()
}

// inspect finds out what there is and what shall be.
func (c *call) inspect() (*file, error) {
	f := &file{path: filepath.Clean(c.Name), mode: 0o644, owner: newOwner()}
	if err := c.inspectOld(f); err != nil {
		return nil, err
	}
	var err error
	if f.mode, err = c.mode("mode", f.mode); err != nil {
		return nil, err
	}
	if name := c.text("user"); name != "" {
		if f.owner.uid, err = findUser(name); err != nil {
			return nil, err
		}
	}
	if name := c.text("group"); name != "" {
		if f.owner.gid, err = findGroup(name); err != nil {
			return nil, err
		}
	}
	return f, c.newContents(f)
}

func (c *call) inspectOld(f *file) error {
	info, err := os.Lstat(f.path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if f.path, err = filepath.EvalSymlinks(f.path); err != nil {
			return fmt.Errorf("the path %s is a symbolic link that leads nowhere: %s", c.Name, reason(err))
		}
		info, err = os.Lstat(f.path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the file %s cannot be looked at: %s", c.Name, reason(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("the path %s is no regular file but %s. Remove it first, such as with file.absent", c.Name, fileKind(info))
	}
	f.exists = true
	f.oldMode = info.Mode() & modeBits
	f.mode = f.oldMode
	if current, ok := ownerOf(info); ok {
		f.owner = current
	}
	f.oldOwner = f.owner
	if f.oldContents, err = os.ReadFile(f.path); err != nil {
		return fmt.Errorf("the file %s cannot be read: %s", c.Name, reason(err))
	}
	return nil
}

func fileKind(info fs.FileInfo) string {
	if info.IsDir() {
		return "a directory"
	}
	return "a special file"
}

func (c *call) newContents(f *file) error {
	switch {
	case f.exists && !c.boolean("replace", true):
		f.contents = f.oldContents
	case c.given("source"):
		path, err := c.sourcePath()
		if err != nil {
			return err
		}
		if f.contents, err = fs.ReadFile(c.host.Files, path); err != nil {
			return fmt.Errorf("the source %q cannot be read: %s", c.text("source"), reason(err))
		}
	case c.given("contents"):
		text := strings.Join(c.texts("contents"), "\n")
		if text != "" && !strings.HasSuffix(text, "\n") && c.boolean("contents_newline", true) {
			text += "\n"
		}
		f.contents = []byte(text)
	default:
		f.contents = f.oldContents
	}
	return nil
}

// fileChanges says what has to change.
func (c *call) fileChanges(f *file) *lowdata.Map {
	changes := &lowdata.Map{}
	if !f.exists || !bytes.Equal(f.oldContents, f.contents) {
		changes.Set("diff", c.diff(f))
	}
	if f.exists && f.mode == f.oldMode && f.owner == f.oldOwner {
		return changes
	}
	if c.given("mode") && (!f.exists || f.mode != f.oldMode) {
		changes.Set("mode", octal(f.mode))
	}
	for _, name := range []string{"user", "group"} {
		before, after := f.oldOwner.uid, f.owner.uid
		if name == "group" {
			before, after = f.oldOwner.gid, f.owner.gid
		}
		if c.given(name) && (!f.exists || before != after) {
			changes.Set(name, c.text(name))
		}
	}
	return changes
}

func (c *call) diff(f *file) string {
	const most = 64 << 10
	switch {
	case !c.boolean("show_changes", true):
		return "not shown (show_changes is false)"
	case !f.exists && len(f.contents) == 0:
		return "new file"
	case bytes.IndexByte(f.oldContents, 0) >= 0 || bytes.IndexByte(f.contents, 0) >= 0:
		return "binary files differ"
	case len(f.oldContents)+len(f.contents) > most:
		return fmt.Sprintf("not shown (from %d to %d bytes)", len(f.oldContents), len(f.contents))
	}
	old := c.Name
	if !f.exists {
		old = "/dev/null"
	}
	text := string(diff.Diff(old, f.oldContents, c.Name, f.contents))
	_, text, _ = strings.Cut(text, "\n") // the command that would show it
	return strings.ToValidUTF8(text, "\ufffd")
}

// writeFile replaces the file in one step, so that there is never half of it.
func (c *call) writeFile(f *file) error {
	dir := filepath.Dir(f.path)
	if c.boolean("makedirs", false) {
		mode, err := c.mode("dir_mode", 0o755)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(dir, mode); err != nil {
			return err
		}
	}
	temporary, err := os.CreateTemp(dir, ".cairn-*")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no directory %s, and \"makedirs\" is not true", dir)
	}
	if err != nil {
		return err
	}
	if err := fill(temporary, f); err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	if err := os.Rename(temporary.Name(), f.path); err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// fill writes a new file and closes it.
func fill(temporary *os.File, f *file) error {
	_, err := temporary.Write(f.contents)
	if err == nil && f.owner != newOwner() {
		err = temporary.Chown(f.owner.uid, f.owner.gid)
	}
	if err == nil { // after the owner, whose change clears bits
		err = temporary.Chmod(f.mode)
	}
	if err == nil {
		err = temporary.Sync()
	}
	return errors.Join(err, temporary.Close())
}

func checkAbsent(c *call) error {
	path := filepath.Clean(c.Name)
	if !filepath.IsAbs(path) {
		return fmt.Errorf("the path %q is not absolute. Give the whole path as \"name\"", c.Name)
	}
	if filepath.Dir(path) == path {
		return fmt.Errorf("the path %q is the root of all files, which is not removed", c.Name)
	}
	return nil
}

func (c *call) remove() lowdata.Outcome {
	path := filepath.Clean(c.Name)
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return lowdata.Outcome{Comment: fmt.Sprintf("There is no %s.", c.Name)}
	}
	if err != nil {
		return failed("The path %s cannot be looked at: %s.", c.Name, reason(err))
	}
	changes := &lowdata.Map{}
	changes.Set("removed", c.Name)
	if c.Test {
		return lowdata.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("%s would be removed.", c.Name)}
	}
	if err := os.RemoveAll(path); err != nil {
		return failed("%s cannot be removed: %s.", c.Name, reason(err))
	}
	return lowdata.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("%s was removed.", c.Name)}
}
