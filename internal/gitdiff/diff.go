// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// File is a file that has changed.
type File struct {
	Path string // from the top of the repository, with slashes
	From string // where it was, if it was renamed

	Added, Deleted bool
	Uncommitted    bool // also those that git does not know yet
	Untracked      bool
}

// What returns a predicate with the change of the file.
func (f File) What() string {
	text := "changed"
	switch {
	case f.Untracked:
		return "is new and not known to git"
	case f.From != "":
		text = "was renamed from " + f.From
	case f.Added:
		text = "is new"
	case f.Deleted:
		text = "was deleted"
	}
	if f.Uncommitted {
		text += ", not committed"
	}
	return text
}

// Diff has the files that have changed since a base.
type Diff struct {
	Base   string // name for people
	Commit string // the commit, or tree, to which the base amounts
	Files  []File // sorted by path

	repository *Repository
}

// Diff compares with a base: the name of a commit, a range FROM..TO of commits, or "" for the
// default branch.
//
// Errors: [*Problem] where there is no such base.
func (r *Repository) Diff(ctx context.Context, base string) (*Diff, error) {
	c, err := r.compare(ctx, base)
	if err != nil {
		return nil, err
	}
	d := &Diff{Base: c.name, Commit: c.from, repository: r}
	args := []string{"diff", "--name-status", "-z", "-M", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"}
	if r.AllRenames {
		args = append(args, "-l0")
	}
	args = append(args, c.from)
	if c.to != "" {
		args = append(args, c.to)
	}
	text, err := r.run(ctx, append(args, "--")...)
	if err != nil {
		return nil, fmt.Errorf("compare with %s: %w", c.name, err)
	}
	d.Files = parseNameStatus(text)
	if c.to == "" {
		if err := d.addUncommitted(ctx); err != nil {
			return nil, err
		}
	}
	if err := d.addSubmodules(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(d.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return d, nil
}

// File returns the change of a file by its path from the top of the repository, nil if it has not
// changed.
func (d *Diff) File(path string) *File {
	i, found := slices.BinarySearchFunc(d.Files, path, func(f File, path string) int { return cmp.Compare(f.Path, path) })
	if !found {
		return nil
	}
	return &d.Files[i]
}

// Before returns the content that a file had at the base, of at most limit bytes. The path is from
// the top of the repository.
func (d *Diff) Before(ctx context.Context, file string, limit int) ([]byte, error) {
	contents, err := d.ContentsBefore(ctx, []string{file}, limit)
	if err != nil {
		return nil, err
	}
	content, ok := contents[file]
	if !ok {
		return nil, fmt.Errorf("%s has no file %s of at most %d bytes", d.Base, file, limit)
	}
	return content, nil
}

// ContentsBefore returns the contents that files had at the base, those of at most limit bytes, by
// their paths from the top of the repository. One process reads them all.
func (d *Diff) ContentsBefore(ctx context.Context, files []string, limit int) (map[string][]byte, error) {
	return d.repository.contents(ctx, d.Commit, files, limit)
}

// parseNameStatus reads status, path and, for renamed files, another path, each ended by a zero
// byte.
func parseNameStatus(text string) []File {
	fields := strings.Split(text, "\x00")
	var files []File
	for len(fields) >= 2 && fields[0] != "" {
		f := File{Path: fields[1], Added: fields[0] == "A", Deleted: fields[0] == "D"}
		isCopy := fields[0][0] == 'C'
		if isRename := fields[0][0] == 'R'; (isRename || isCopy) && len(fields) >= 3 {
			f.Path, fields = fields[2], fields[1:]
			if isRename {
				f.From = fields[0]
			}
		}
		fields = fields[2:]
		files = append(files, f)
	}
	return files
}

// addUncommitted marks uncommitted changes, and adds the files that git does not know yet.
func (d *Diff) addUncommitted(ctx context.Context) error {
	dirty, err := d.repository.Dirty(ctx)
	if err != nil {
		return err
	}
	uncommitted := map[string]bool{}
	for _, f := range dirty {
		uncommitted[f.Path] = true
	}
	for i, f := range d.Files {
		d.Files[i].Uncommitted = uncommitted[f.Path]
	}
	for _, f := range dirty {
		if f.Untracked {
			d.Files = append(d.Files, f)
		}
	}
	return nil
}

// Dirty returns the files that are not as the last commit has them, sorted.
func (r *Repository) Dirty(ctx context.Context) ([]File, error) {
	tracked, err := r.run(ctx, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
		"HEAD", "--")
	if err != nil {
		return nil, fmt.Errorf("find uncommitted files: %w", err)
	}
	others, err := r.run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, fmt.Errorf("find files that git does not know: %w", err)
	}
	var files []File
	for path := range strings.SplitSeq(tracked, "\x00") {
		if path != "" {
			files = append(files, File{Path: path, Uncommitted: true})
		}
	}
	for path := range strings.SplitSeq(others, "\x00") {
		if path != "" {
			files = append(files, File{Path: path, Uncommitted: true, Untracked: true})
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return files, nil
}
