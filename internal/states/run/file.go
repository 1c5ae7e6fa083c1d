// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

func fileFunctions() map[string]*function {
	return map[string]*function{
		"file.managed": {
			args: map[string]kind{
				"contents": texts, "contents_newline": boolean, "source": texts, "mode": text, "user": text, "group": text,
				"makedirs": boolean, "dir_mode": text, "replace": boolean, "create": boolean, "show_changes": boolean,
				"backup": anything, "follow_symlinks": boolean, "tmp_ext": text,
			},
			check: checkManaged, checks: true,
			call: func(ctx context.Context, c *call) schedule.Outcome { return c.manage(ctx) },
		},
		"file.directory": {
			args:  map[string]kind{"mode": text, "dir_mode": text, "user": text, "group": text, "makedirs": boolean},
			check: checkDirectory,
			call:  func(_ context.Context, c *call) schedule.Outcome { return c.manageDirectory() },
		},
		"file.symlink": {
			args:  map[string]kind{"target": text, "force": boolean, "makedirs": boolean},
			check: checkLink,
			call:  func(_ context.Context, c *call) schedule.Outcome { return c.manageLink() },
		},
		"file.absent": {check: checkAbsent, call: func(_ context.Context, c *call) schedule.Outcome { return c.remove() }},
	}
}

func checkPath(c *call) error {
	if !filepath.IsAbs(c.Name) {
		return wrongArgument("name", "the path %q is not absolute. Give the whole path as \"name\"", c.Name)
	}
	return nil
}

func checkManaged(c *call) error {
	if err := checkPath(c); err != nil {
		return err
	}
	if c.given("contents") && c.given("source") {
		return wrongArgument("source", "it has both \"contents\" and \"source\". Give only one of them")
	}
	for _, source := range c.texts("source") {
		if _, err := sourcePath(source); err != nil {
			return err
		}
	}
	for _, name := range []string{"mode", "dir_mode"} {
		if name == "mode" && c.text(name) == keepMode && c.given("source") {
			continue
		}
		if _, err := c.mode(name, 0); err != nil {
			return err
		}
	}
	if extension := c.text("tmp_ext"); strings.ContainsAny(extension, "/\\*") {
		return wrongArgument("tmp_ext", "the argument \"tmp_ext\" must be an extension such as \".conf\", not %q", extension)
	}
	return checkBackup(c)
}

// keepMode is the value of "mode" that stands for the mode of the source.
const keepMode = "keep"

// sourcePath returns the path of a source below the root of the SLS files.
func sourcePath(source string) (string, error) {
	path, isURL := strings.CutPrefix(source, "salt://")
	switch {
	case !isURL && strings.Contains(source, "://"):
		return "", wrongArgument("source",
			"the source %q is of a kind that is not supported. Use salt:// or a path below the root of the SLS files", source)
	case strings.Contains(path, "?"):
		return "", wrongArgument("source",
			"the source %q names an environment, and there is but one. Leave out the part from the question mark on", source)
	case !fs.ValidPath(path) || path == ".":
		return "", wrongArgument("source",
			"the source %q does not name a file below the root of the SLS files. Write its path there, without \"..\" and a leading slash", source)
	}
	return path, nil
}

// mode returns an argument that is the mode of files in octal digits, which YAML may have read as a
// decimal number.
func (c *call) mode(name string, otherwise fs.FileMode) (fs.FileMode, error) {
	if !c.given(name) {
		return otherwise, nil
	}
	number, err := strconv.ParseUint(c.text(name), 8, 12)
	if err != nil {
		return 0, wrongArgument(name, "the argument %q must be octal digits such as \"0644\", not %q", name, c.text(name))
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

// file has the present and the wanted properties of a managed file or directory.
type file struct {
	path      string // with links followed
	link      bool   // there is a symbolic link in its place, which is replaced
	exists    bool
	directory bool

	oldContents, contents []byte
	oldMode, mode         fs.FileMode
	oldOwner, owner       owner
}

func (c *call) manage(ctx context.Context) schedule.Outcome {
	f, err := c.inspect()
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	if !f.exists && !c.boolean("create", true) {
		return schedule.Outcome{Comment: fmt.Sprintf("There is no file %s, and \"create\" is false.", c.Name)}
	}
	shown := c.Name
	if f.path != filepath.Clean(c.Name) {
		shown += " (" + f.path + ")"
	}
	changes := c.fileChanges(f)
	switch {
	case changes.Len() == 0:
		return schedule.Outcome{Comment: fmt.Sprintf("The file %s is as it shall be.", shown)}
	case c.Test:
		return schedule.Outcome{
			Changed: true,
			Changes: changes,
			Comment: fmt.Sprintf("The file %s would be changed.", shown) + c.noParent(f.path) + c.noOwner(f),
		}
	}
	kept, err := c.writeFile(ctx, f)
	if err != nil {
		return failed("The file %s cannot be written: %s.", shown, reason(err))
	}
	if kept != "" {
		changes.Set("backup", kept)
	}
	return schedule.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The file %s was changed.", shown)}
}

func upperFirst(text string) string {
	return strings.ToUpper(text[:1]) + text[1:]
}

// reason leaves out the names of system calls and of temporary files. An error that says more is
// left as it is.
func reason(err error) string {
	switch wrapper := err.(type) { //nolint:errorlint // only these themselves, not errors that wrap them
	case *fs.PathError:
		err = wrapper.Err
	case *os.LinkError:
		err = wrapper.Err
	}
	if err == syscall.EBUSY { //nolint:errorlint // as above
		return err.Error() + ": something is mounted there, as containers have it for some of their files, or it is in use otherwise"
	}
	return err.Error()
}

// isMissing reports whether an error says that there is no such file: also if the path leads
// through something that is not a directory.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// inspect finds out the present and the wanted properties.
func (c *call) inspect() (*file, error) {
	f := &file{mode: 0o644, owner: owner{kept, kept}}
	if err := c.inspectOld(f); err != nil {
		return nil, err
	}
	var err error
	if c.text("mode") != keepMode {
		if f.mode, err = c.mode("mode", f.mode); err != nil {
			return nil, err
		}
	}
	if f.owner, err = c.wantedOwner(f.owner); err != nil {
		return nil, err
	}
	return f, c.newContents(f)
}

const (
	kept   = -1 // the number of the user or group that a new file has anyway, which may be the group of its directory
	nobody = -2 // the number of one that is not there yet, in test mode: another call may bring it
)

// wantedOwner returns the future owner of a file, given the current one.
func (c *call) wantedOwner(current owner) (owner, error) {
	var err error
	if name := c.text("user"); name != "" {
		if current.uid, err = findUser(name); err != nil && !c.Test {
			return current, err
		} else if err != nil {
			current.uid = nobody
		}
	}
	if name := c.text("group"); name != "" {
		if current.gid, err = findGroup(name); err != nil && !c.Test {
			return current, err
		} else if err != nil {
			current.gid = nobody
		}
	}
	return current, nil
}

func (c *call) inspectOld(f *file) error {
	follow := c.boolean("follow_symlinks", true)
	var err error
	if f.path, err = followLinks(c.Name, follow); err != nil {
		return err
	}
	info, err := os.Lstat(f.path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		f.link = true
		return nil
	}
	if named, namedErr := os.Lstat(c.Name); errors.Is(err, fs.ErrNotExist) && namedErr == nil && named.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("the path %s is a symbolic link that leads nowhere: there is no %s", c.Name, f.path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the file %s cannot be looked at: %s", c.Name, reason(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("the path %s is not a regular file but %s. Remove it first, such as with file.absent", c.Name, fileKind(info))
	}
	err = inPlace(f.path, func(path string) error {
		f.oldContents, info, err = readRegular(path)
		return err
	})
	if err != nil {
		return fmt.Errorf("the file %s cannot be read: %s", c.Name, reason(err))
	}
	f.exists = true
	f.oldMode = info.Mode() & modeBits
	f.mode = f.oldMode
	if current, ok := ownerOf(info); ok {
		f.owner = current
	}
	f.oldOwner = f.owner
	return nil
}

// readRegular reads a file, and returns the mode and owner of the very file that was read, even if
// somebody puts something else in its place meanwhile. Links are not followed, and pipes not waited
// for.
func readRegular(path string) (content []byte, info fs.FileInfo, err error) {
	opened, err := openPlain(path)
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close() //nolint:errcheck // nothing was written
	if info, err = opened.Stat(); err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, safefile.ErrNotRegular
	}
	content, err = io.ReadAll(opened)
	return content, info, err
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
		return c.readSource(f)
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

// largestSource is the size of the largest source, in bytes. Files are kept in memory.
const largestSource = 1 << 30

// readFile reads an ordinary file next to the SLS files.
func (c *call) readFile(path string) ([]byte, error) {
	content, err := safefile.Read(c.host.Files, path, largestSource)
	if err == nil && len(content) > largestSource {
		err = fmt.Errorf("it has more than %d bytes", largestSource)
	}
	return content, err
}

// readSource takes the first source that exists.
func (c *call) readSource(f *file) error {
	var err error
	for _, source := range c.texts("source") {
		path, pathErr := sourcePath(source)
		if pathErr != nil {
			return pathErr
		}
		if f.contents, err = c.readFile(path); err != nil {
			missing := errors.Is(err, fs.ErrNotExist)
			err = fmt.Errorf("the source %q cannot be read: %s", source, reason(err))
			if missing {
				err = fmt.Errorf("%w%s", err, c.nearSource(path))
				continue
			}
			return err
		}
		if c.text("mode") == keepMode {
			info, err := fs.Stat(c.host.Files, path)
			if err != nil {
				return err
			}
			f.mode = info.Mode() & modeBits
		}
		return nil
	}
	return err
}

// nearSource names the file that may have been meant by another in its directory.
func (c *call) nearSource(name string) string {
	entries, err := fs.ReadDir(c.host.Files, path.Dir(name))
	if err != nil {
		return ""
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = path.Join(path.Dir(name), entry.Name())
	}
	near := nearest.Name(name, names)
	if near == "" || len(path.Base(name)) <= 2 { // near to any short name
		return ""
	}
	return fmt.Sprintf(", but there is %q", near)
}

// fileChanges returns the necessary changes.
func (c *call) fileChanges(f *file) *compile.Map {
	changes := &compile.Map{}
	if f.link {
		changes.Set("link", "replaced by a file")
	}
	if !f.exists || !bytes.Equal(f.oldContents, f.contents) {
		changes.Set("diff", c.diff(f))
	}
	c.attributeChanges(changes, f)
	return changes
}

// attributeChanges adds the changes of the mode and the owner that are necessary and were asked
// for.
func (c *call) attributeChanges(changes *compile.Map, f *file) {
	if (c.given("mode") || f.directory && c.given("dir_mode")) && (!f.exists || f.mode != f.oldMode) {
		changes.Set("mode", octal(f.mode))
	}
	if c.given("user") && (!f.exists || f.owner.uid != f.oldOwner.uid) {
		changes.Set("user", c.text("user"))
	}
	if c.given("group") && (!f.exists || f.owner.gid != f.oldOwner.gid) {
		changes.Set("group", c.text("group"))
	}
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

// writeFile replaces the file in one step, so that there is never half of it. It returns where the
// old one is kept, if it is.
func (c *call) writeFile(ctx context.Context, f *file) (kept string, err error) {
	if err := c.parents(f); err != nil {
		return "", err
	}
	if !bytes.Equal(f.oldContents, f.contents) {
		if kept, err = c.backupPath(f); err != nil {
			return "", err
		}
	}
	return kept, replaceFile(f, ".cairn-*"+c.text("tmp_ext"), func(temporary string) error {
		if err := c.checkContents(ctx, temporary); err != nil || kept == "" {
			return err
		}
		if err := c.keepOld(f, kept); err != nil {
			return fmt.Errorf("no backup can be made as %s: %s", kept, reason(err))
		}
		return nil
	})
}

// replaceFile writes a file under a temporary name next to it, lets ready have a look at it, if
// given, and puts it in its place.
func replaceFile(f *file, pattern string, ready func(temporary string) error) error {
	return inPlace(f.path, func(path string) error { return f.replace(path, pattern, ready) })
}

// replace is [replaceFile] in a directory that is held. Others, such as commands, know it by its
// own path.
func (f *file) replace(path, pattern string, ready func(temporary string) error) error {
	var temporary string
	write := func() error {
		opened, err := os.CreateTemp(filepath.Dir(path), pattern)
		if err != nil {
			return err
		}
		temporary = opened.Name()
		return fill(opened, f)
	}
	var err error
	if f.mode&0o111 != 0 {
		err = withoutStarts(write)
	} else {
		err = write()
	}
	if err == nil && ready != nil {
		err = ready(filepath.Join(filepath.Dir(f.path), filepath.Base(temporary)))
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err == nil || temporary == "" {
		return err
	}
	if removeErr := os.Remove(temporary); removeErr != nil {
		return errors.Join(err, removeErr)
	}
	return err
}

// checkContents runs the commands of "check_cmd" with the path of the new file, before it is put in
// its place.
func (c *call) checkContents(ctx context.Context, path string) error {
	for _, command := range c.texts("check_cmd") {
		output, err := c.host.runner().Run(ctx, Command{Args: []string{"/bin/sh", "-c", command + ` "$1"`, "sh", path}})
		if err != nil {
			return fmt.Errorf("the command %q of \"check_cmd\" cannot be run: %w", command, err)
		}
		if !c.boolean("show_changes", true) {
			output.Stdout, output.Stderr = "", ""
		}
		if output.Code != 0 {
			return fmt.Errorf("the command %q of \"check_cmd\" refuses it with exit code %d%s", command, output.Code,
				strings.TrimSuffix(strings.ReplaceAll(said(output), path, c.Name), "."))
		}
	}
	return nil
}

// makeDirectories makes a directory and those above it that there are not. They belong to whom the
// file does, and are as open as that.
func (c *call) makeDirectories(dir string, f *file) error {
	mode := fs.FileMode(0o755)
	if c.given("mode") {
		mode = f.mode.Perm() | f.mode.Perm()&0o444>>2 // who may read the file may go through them
	}
	mode, err := c.mode("dir_mode", mode)
	if err != nil {
		return err
	}
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || filepath.Dir(at) == at {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, at)
	}
	var made []string
	for _, one := range slices.Backward(missing) {
		switch isNew, err := makeDirectory(one); {
		case err != nil:
			return err
		case isNew:
			made = append(made, one)
		}
	}
	for _, one := range slices.Backward(made) { // those inside first, where nobody else gets to before
		if err := inPlace(one, func(path string) error { return setAttributes(path, f.owner, mode) }); err != nil {
			return err
		}
	}
	return nil
}

// makeDirectory makes a directory for this user alone, unless a call made at the same time has done
// so.
func makeDirectory(path string) (isNew bool, err error) {
	err = inPlace(path, func(path string) error {
		err := os.Mkdir(path, 0o700)
		isNew = err == nil
		if errors.Is(err, fs.ErrExist) {
			if info, statErr := os.Lstat(path); statErr == nil && info.IsDir() {
				return nil
			}
		}
		return err
	})
	return isNew, err
}

// give makes an open file belong to an owner, if it does not yet.
func give(opened *os.File, wanted owner) error {
	info, err := opened.Stat()
	if err != nil {
		return err
	}
	current, ok := ownerOf(info)
	if !ok || (wanted.uid == kept || wanted.uid == current.uid) && (wanted.gid == kept || wanted.gid == current.gid) {
		return nil
	}
	return opened.Chown(wanted.uid, wanted.gid)
}

// fill writes a new file and closes it.
func fill(temporary *os.File, f *file) error {
	_, err := temporary.Write(f.contents)
	if err == nil {
		err = give(temporary, f.owner)
	}
	if err == nil { // after the owner, whose change clears bits
		err = temporary.Chmod(f.mode)
	}
	if err == nil {
		err = temporary.Sync()
	}
	if closeErr := temporary.Close(); closeErr != nil {
		return errors.Join(err, closeErr)
	}
	return err
}

func checkAbsent(c *call) error {
	if err := checkPath(c); err != nil {
		return err
	}
	path := filepath.Clean(c.Name)
	if filepath.Dir(path) == path {
		return wrongArgument("name", "the path %q is the root of all files, which is not removed", c.Name)
	}
	return nil
}

func (c *call) remove() schedule.Outcome {
	path := filepath.Clean(c.Name)
	_, err := os.Lstat(path)
	if isMissing(err) {
		return schedule.Outcome{Comment: fmt.Sprintf("There is no %s.", c.Name)}
	}
	if err != nil {
		return failed("The path %s cannot be looked at: %s.", c.Name, reason(err))
	}
	if path, err = followLinks(c.Name, false); err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	changes := &compile.Map{}
	changes.Set("removed", c.Name)
	if c.Test {
		return schedule.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("%s would be removed.", c.Name)}
	}
	if err := inPlace(path, os.RemoveAll); err != nil {
		return failed("%s cannot be removed: %s.", c.Name, reason(err))
	}
	return schedule.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("%s was removed.", c.Name)}
}
