// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package gitignore makes git ignore the files that hold secrets next to a stack: its state, and
// copies of it.
package gitignore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/notice"
)

// fileName is the name of files with rules.
const fileName = ".gitignore"

// rescued is the pattern for the last copies of a state.
const rescued = "/" + deployment.RescueFile + "*"

// Rules are those for the files of a stack.
type Rules struct {
	Dir    string // of the stack, absolute
	Notify notice.Func
}

// plans is the pattern for saved plans by the names that they usually have.
const plans = "*.plan"

// AddState makes git ignore a state, with the files that may be next to it, and the last copy of
// one. Plans are ignored with a state in the usual directory.
func (r Rules) AddState(ctx context.Context, path string) {
	base := filepath.Base(path)
	patterns := []string{"/" + base + "*", "/." + base + ".*", rescued}
	if absolute, err := filepath.Abs(path); err == nil && filepath.Dir(absolute) == r.Dir {
		patterns = append(patterns, plans)
	}
	r.add(ctx, path, patterns...)
}

// AddRescued makes git ignore the last copy of a state.
func (r Rules) AddRescued(ctx context.Context, path string) { r.add(ctx, path, rescued) }

// add makes git ignore a file that holds secrets, which "git add -A" would take, and the matches of
// these patterns with it. A file of rules that the user has gets lines at its end only where its
// rules, or those of directories above, do not do it already.
func (r Rules) add(ctx context.Context, path string, patterns ...string) {
	path, err := filepath.Abs(path)
	if err != nil {
		return
	}
	dir := filepath.Dir(path)
	repository, err := gitdiff.Open(ctx, dir)
	switch {
	case err == nil && len(repository.Ignored(ctx, path)) > 0:
		return
	case err != nil && dir != r.Dir:
		return // it is not even where a repository may be made later
	}
	added, err := addLines(filepath.Join(dir, fileName), "# Written by cairn: these files hold secrets in clear.", patterns)
	switch {
	case err != nil:
		r.Notify.Send(notice.IgnoreFileUnwritable{File: fileName, Secret: filepath.Base(path), Reason: failure.Reason(err)})
	case len(added) > 0:
		r.Notify.Send(notice.IgnoreFileExtended{File: fileName, Added: added})
	}
}

// addLines adds lines to a file that does not have them yet. It returns the added lines if the file
// was there before.
func addLines(path, comment string, lines []string) ([]string, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		text := comment + "\n" + strings.Join(lines, "\n") + "\n"
		return nil, os.WriteFile(path, []byte(text), 0o644) //nolint:gosec // it is to be committed, and holds no secret
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a link of somebody else's may lead anywhere
		return nil, errors.New("it is not a regular file")
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	have := strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")
	lines = slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(have, line) })
	if len(lines) == 0 {
		return nil, nil
	}
	if len(src) > 0 && !strings.HasSuffix(string(src), "\n") {
		comment = "\n" + comment
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(file, "%s\n%s\n", comment, strings.Join(lines, "\n"))
	return lines, errors.Join(err, file.Close())
}
