// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order/changes"
)

const ignoreFile = ".gitignore"

// keepFromGit makes git ignore a state, with what is beside it at times, and the last copy of one: "git add -A" would take all secrets. A
// file that the user has gets lines at its end only where its rules, or those of directories above, do not do it already.
func (s *session) keepFromGit(ctx context.Context, state string) {
	dir, err := filepath.Abs(filepath.Dir(state))
	if err != nil {
		return
	}
	base := filepath.Base(state)
	patterns := map[string]string{ // by a file that each is for
		base:                    "/" + base + "*",
		"." + base + ".reserve": "/." + base + ".*",
		rescueFile:              "/" + rescueFile + "*",
	}
	missing := []string{base, "." + base + ".reserve", rescueFile}
	repository, err := changes.Open(ctx, dir)
	if err != nil && dir != currentDir() {
		return // it is not even where a repository may be made later
	}
	if err == nil {
		var paths []string
		for _, name := range missing {
			paths = append(paths, filepath.Join(dir, name))
		}
		ignored := repository.Ignored(ctx, paths...)
		missing = slices.DeleteFunc(missing, func(name string) bool { return slices.Contains(ignored, filepath.Join(dir, name)) })
	}
	var lines []string
	for _, name := range missing {
		lines = append(lines, patterns[name])
	}
	added, err := addLines(filepath.Join(dir, ignoreFile), "# Written by cairn: these files hold secrets in clear.", lines)
	switch {
	case err != nil:
		s.note("%s cannot be written (%s), so that git may take %s, which holds secrets in clear. Keep it out of commits.\n", ignoreFile, reason(err), base)
	case len(added) > 0:
		s.note("Added to %s, since these files hold secrets in clear: %s\n", ignoreFile, strings.Join(added, ", "))
	}
}

// addLines adds lines to a file that does not have them yet. It returns what it has added to a file that was there before.
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
