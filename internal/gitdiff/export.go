// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Export writes the files of the base into a directory, which only this user can read and nothing
// else is in. Of submodules there are empty directories, as their files are in other repositories.
// Conversions that git makes for a working tree, such as other ends of lines, are not made.
//
// No file is written outside of the directory, whatever names and links the base has. When ctx
// ends, the directory is left incomplete.
func (d *Diff) Export(ctx context.Context, dir string) error {
	entries, err := d.repository.tree(ctx, d.Commit)
	if err != nil {
		return fmt.Errorf("list the files of %s: %w", d.Base, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // each file was closed
	if err := d.repository.write(ctx, root, entries); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("read the files of %s: %w", d.Base, err)
	}
	return nil
}

// treeEntry is a file, a link or a submodule of a commit.
type treeEntry struct {
	mode, id string
	path     string // from the top of the repository
}

// The modes of entries that are no plain files.
const (
	programMode   = "100755"
	linkMode      = "120000"
	submoduleMode = "160000"
)

// tree lists the entries of a commit.
func (r *Repository) tree(ctx context.Context, commit string) ([]treeEntry, error) {
	text, err := r.run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var entries []treeEntry
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\x00"), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(about); len(fields) == 3 && name != "" { // mode, type and ID
			entries = append(entries, treeEntry{fields[0], fields[2], name})
		}
	}
	return entries, nil
}

// write writes entries below a directory. One process reads them all.
func (r *Repository) write(ctx context.Context, root *os.Root, entries []treeEntry) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var ids bytes.Buffer
	for _, entry := range entries {
		if entry.mode != submoduleMode {
			ids.WriteString(entry.id + "\n")
		}
	}
	cmd := r.command(ctx, "cat-file", "--batch")
	cmd.Stdin = &ids
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	out := bufio.NewReader(pipe)
	for _, entry := range entries {
		if err := entry.write(root, out); err != nil {
			cancel()
			_ = cmd.Wait() //nolint:errcheck // it was ended
			return fmt.Errorf("%s: %w", entry.path, err)
		}
	}
	return cmd.Wait()
}

// write writes an entry, whose content is the next of the contents of all entries.
func (e treeEntry) write(root *os.Root, contents *bufio.Reader) error {
	name := filepath.FromSlash(e.path)
	if e.mode == submoduleMode {
		return root.MkdirAll(name, 0o700)
	}
	if dir := path.Dir(e.path); dir != "." {
		if err := root.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
			return err
		}
	}
	size, err := blobSize(contents)
	if err != nil {
		return err
	}
	if e.mode == linkMode {
		target := make([]byte, min(size, maxLink))
		if _, err := io.ReadFull(contents, target); err != nil {
			return err
		}
		if size > maxLink {
			return errors.New("it is a symbolic link to a path that is too long")
		}
		if _, err := contents.Discard(1); err != nil { // the end of the line
			return err
		}
		return root.Symlink(filepath.FromSlash(string(target)), name)
	}
	mode := os.FileMode(0o600)
	if e.mode == programMode {
		mode = 0o700
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode) // through no link
	if err != nil {
		return err
	}
	_, err = io.CopyN(file, contents, size)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	_, err = contents.Discard(1)
	return err
}

// maxLink is more than any system allows for a path.
const maxLink = 1 << 16

// blobSize reads a line "ID blob SIZE".
func blobSize(in *bufio.Reader) (int64, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[1] != "blob" {
		return 0, errors.New("git has no content of it, as in a clone that is not complete") // "ID missing"
	}
	return strconv.ParseInt(fields[2], 10, 64)
}
