// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gone

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/localsource"
)

// leftovers are the remains of a configuration that git removes: plans, states and other untracked
// files. Paths are from the top of the repository, with slashes.
type leftovers struct {
	dirs     []string // in which no configuration is left
	varFiles []string // that are read from there
}

func (l *leftovers) add(u *rollout.Unit, diff *gitdiff.Diff) error {
	if !exists(u.Home) || lookAt(u.Home).kind != "" {
		return nil
	}
	dir, err := diff.Prefix(u.Home)
	if err != nil {
		return err
	}
	l.dirs = append(l.dirs, dir)
	for _, file := range u.VarFiles {
		if !exists(file) {
			continue
		}
		dir, err := diff.Prefix(filepath.Dir(file))
		if err != nil {
			return err
		}
		l.varFiles = append(l.varFiles, path.Join(dir, filepath.Base(file)))
	}
	return nil
}

// LeftBehind reports whether a file is not known to git, lies beside a destroyed unit, and has no
// part in destroying it: it is neither configuration nor values of variables.
func (g *Gone) LeftBehind(file gitdiff.File) bool {
	name := path.Base(file.Path)
	if !file.Untracked || localsource.IsStackFile(name) || localsource.IsModuleFile(name) || deployconfig.IsDeployFile(name) ||
		slices.Contains(g.leftovers.varFiles, file.Path) {
		return false
	}
	return slices.ContainsFunc(g.leftovers.dirs, func(dir string) bool { return strings.HasPrefix(file.Path, dir+"/") })
}
