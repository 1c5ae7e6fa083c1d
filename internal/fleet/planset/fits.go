// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// UsualDir is the name of the directory, in the root of a repository, in which a set is looked for
// that nobody has named.
const UsualDir = "plans"

// Exists reports whether a directory has a set, and nothing else.
func Exists(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && isSet(entries) &&
		slices.ContainsFunc(entries, func(entry os.DirEntry) bool { return entry.Name() == indexName })
}

// HashWorkspace identifies the contents of the file that declares the units.
func HashWorkspace(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", failure.Error("No workspace file", "The file %s cannot be read: %s.", filepath.Base(file), failure.Reason(err))
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

// CheckWorkspace returns why the file that declares the units is not the one that the set was made
// with; nil if it is.
func (s *Set) CheckWorkspace(file string) error {
	hash, err := HashWorkspace(file)
	if err != nil {
		return err
	}
	if hash != s.Workspace {
		return failure.Error("Configuration changed since planning",
			"The file %s is not the one that the plans in %s were made with. Nothing was done. Plan again.", filepath.Base(file), s.Dir)
	}
	return nil
}

// NotThere says that a unit of the set is gone.
func (u *Unit) NotThere() *hcl.Diagnostic {
	return failure.New("Incomplete set of plans", "There is no stack %q to apply any more. Nothing was done. Plan again.", u.Name)
}

// Of returns a diagnostic about the plan of a unit as one that names the unit.
func (u *Unit) Of(diag *hcl.Diagnostic) *hcl.Diagnostic {
	named := *diag
	named.Detail = u.Name + ": " + diag.Detail
	return &named
}

// Applied returns a sentence about the plans with changes that were applied; "" if none was.
func (s *Set) Applied(progress func(unit string) Progress) string {
	done := 0
	for _, unit := range s.Units {
		if unit.Changes && progress(unit.Name) == Done {
			done++
		}
	}
	if done == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d plans of the set are applied already.", done, len(s.Units))
}

// CheckConfig returns why a plan of a root module does not fit the files of the module, which is in
// an absolute directory; nil if it does. The engine that has made the plan is not run.
//
// Errors: the files cannot be read.
func (m *Module) CheckConfig(dir string) (*hcl.Diagnostic, error) {
	name, version, _ := strings.Cut(m.Engine, " ")
	hash, err := rootmodule.HashConfig(engine.Info{Name: name, Version: version}, dir)
	if err != nil {
		return nil, err
	}
	return m.checkConfig(hash), nil
}

func (m *Module) checkConfig(hash string) *hcl.Diagnostic {
	if hash == m.Config {
		return nil
	}
	return failure.New("Configuration changed since planning",
		"The files of the root module are not those that this plan was made from. Nothing was done. "+
			"Apply the plan in a checkout of the commit that it was made from, or make a new plan.")
}

// CheckState returns why a plan of a root module does not fit its state; nil if it does.
func (m *Module) CheckState(now planfile.StateVersion) *hcl.Diagnostic {
	if diag := m.version().Check(now); diag != nil {
		return withBackend(diag)
	}
	return nil
}
