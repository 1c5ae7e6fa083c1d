// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/settings"
)

// CodeUntrusted is of a program that the user has not named.
const CodeUntrusted failure.Code = "operation/untrusted-program"

// checkTrust fails if the settings file names a program that whoever has written the file may have brought along. Every command that needs an
// engine runs it, "validate" too; a file that came with a checkout is not a decision of the user's.
func (s *Stack) checkTrust(binary string) error {
	root, from := s.foreignRoot()
	if root == "" || binary == "" || isEngineElsewhere(binary, root) && (s.opts.Home == "" || isEngineElsewhere(binary, repositoryOf(s.home()))) {
		return nil
	}
	return hcl.Diagnostics{failure.WithCode(CodeUntrusted, failure.New("Untrusted engine program",
		"The file %s names the program %q as the engine, and the file %s: whoever has written it could have any program run. "+
			"Nothing was run. If you trust it, name it yourself: %[4]s=%[2]s in the environment.", settings.File, binary, from, EngineVariable))}
}

// isEngineElsewhere reports whether a setting names an engine that is not in a directory: one from PATH, or a file elsewhere that is called like one.
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

// foreignRoot returns the directory that the settings file came with, and in words why, if that may not have been the user's decision.
func (s *Stack) foreignRoot() (root, from string) {
	dir, err := filepath.Abs(s.dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", ""
	}
	if top := repositoryOf(dir); top != "" {
		return top, "is in a checkout of a repository"
	}
	if s.opts.Home != "" {
		return dir, "comes from a checkout of a repository"
	}
	if isOthers(s.join(settings.File)) {
		return dir, "belongs to another user"
	}
	return "", ""
}

// repositoryOf returns the nearest directory with a repository, "" if there is none.
func repositoryOf(dir string) string {
	for at := absolute(dir); ; at = filepath.Dir(at) {
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
