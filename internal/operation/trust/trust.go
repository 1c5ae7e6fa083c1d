// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package trust says whether a program that a file of a stack names is one that the user has
// chosen.
package trust

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/settings"
)

// Untrusted returns in words why the user may not have decided that the settings file in a
// directory names a program: it may have come with a checkout, which is no decision. It returns ""
// if nothing speaks against it, or if the program is an engine that did not come along. Of a copy,
// home is where the original is or was.
func Untrusted(program, dir, home string) string {
	root, from := foreignRoot(dir, home)
	if root == "" || isEngineElsewhere(program, root) && (home == "" || isEngineElsewhere(program, repositoryOf(home))) {
		return ""
	}
	return from
}

// isEngineElsewhere reports whether a setting names an engine that is not in a directory: one from
// PATH, or a file elsewhere that is called like one.
func isEngineElsewhere(binary, dir string) bool {
	name := filepath.Base(binary)
	if !strings.HasPrefix(name, toolchain.Terraform) && !strings.HasPrefix(name, toolchain.Tofu) {
		return false // others may do anything when called with "version"
	}
	if name == binary {
		return true
	}
	path, err := filepath.EvalSymlinks(binary)
	if err != nil || !filepath.IsAbs(binary) {
		return false
	}
	relative, err := filepath.Rel(dir, path)
	return err != nil || !filepath.IsLocal(relative)
}

// foreignRoot returns the directory that the settings file came with, and in words why, if that may
// not have been the user's decision.
func foreignRoot(dir, home string) (root, from string) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", ""
	}
	if top := repositoryOf(dir); top != "" {
		return top, "is in a checkout of a repository"
	}
	if home != "" {
		return dir, "comes from a checkout of a repository"
	}
	if isOthers(filepath.Join(dir, settings.File)) {
		return dir, "belongs to another user"
	}
	return "", ""
}

// repositoryOf returns the nearest directory with a repository, "" if there is none.
func repositoryOf(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			if resolved, err := filepath.EvalSymlinks(at); err == nil {
				return resolved
			}
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}
