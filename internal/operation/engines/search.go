// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/trust"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// findBinary returns the binary to use.
func (s *Stack) findBinary(ctx context.Context) (*toolchain.Candidate, error) {
	if s.search.done {
		return s.search.found, s.search.err
	}
	search, err := s.Search()
	if err != nil {
		return nil, err
	}
	if err := s.sources.PrepareWorkDir(); err != nil {
		return nil, err
	}
	search.Identifier.RecordFile = binary.RecordFile(s.env.WorkDir)
	found, err := search.Find(ctx)
	if err != nil {
		// Asking again would mean waiting once more for an engine that hangs.
		*s.search = searched{done: true, err: Unusable(err)}
		return nil, s.search.err
	}
	s.env.Log.Info("engine", "path", found.Path, "origin", string(found.Origin), "name", found.Info.Name, "version", found.Info.Version)
	*s.search = searched{done: true, found: found, warnings: s.Unmet(found)}
	return found, nil
}

// TakeWarnings returns those about the choice of the engine, once: here or with the prepared
// engine.
func (s *Stack) TakeWarnings() hcl.Diagnostics {
	warnings := s.search.warnings
	s.search.warnings = nil
	return warnings
}

// program makes a path of one that is relative to the stack. The name of a program is left as it
// is.
func (s *Stack) program(setting string) string {
	if !strings.ContainsRune(setting, filepath.Separator) {
		return setting
	}
	return s.env.FromEnviron(setting)
}

// Requirements returns the requirements of the stack for the engine.
//
// The version file was written for other programs. It is advice to those who choose the engine for
// cairn, and for operations that change nothing.
func (s *Stack) Requirements() ([]toolchain.Requirement, error) {
	read, err := s.env.Settings()
	if err != nil {
		return nil, err
	}
	var all []toolchain.Requirement
	if required := read.Engine.Requirement; required != nil {
		all = append(all, *required)
	}
	if required := settings.ReadVersionFile(s.env.Dir); required != nil {
		required.Advisory = s.request.ChangesNothing || s.chosenBy() != ""
		all = append(all, *required)
	}
	return all, nil
}

// Search says which binary is wanted.
func (s *Stack) Search() (toolchain.Search, error) {
	required, err := s.Requirements()
	if err != nil {
		return toolchain.Search{}, err
	}
	search := toolchain.Search{Requirements: required, Identifier: toolchain.Identifier{Environ: s.env.Environ, Known: &s.shared.Known}}
	setting, from := s.Setting()
	if s.Kind() != "" {
		setting, from = "", "" // none of the binaries is named
	}
	setting = cmp.Or(setting, s.plannedBinary)
	if from == settings.File {
		if err := s.checkTrust(s.settings().Binary); err != nil {
			return toolchain.Search{}, err
		}
	}
	search.Setting = setting
	if home, err := toolchain.Home(); err == nil { // without one nothing is installed
		search.Home = home
	}
	return search, nil
}

// Unmet warns of requirements that the engine in use does not meet.
func (s *Stack) Unmet(found *toolchain.Candidate) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, unmet := range found.Unmet {
		by := s.chosenBy()
		warning := failure.Warning("Ignored version file", "%s It is used all the same, since %s.",
			failure.Sentences(unmet.Error()), cmp.Or(by, "this command changes nothing; those that do stop here"))
		if by == "" {
			warning.Extra = failure.Cause{Err: unmet}
		}
		diags = diags.Append(warning)
	}
	return diags
}

// Unusable makes a diagnostic of the reason why there is no engine to use. The reason is its
// [failure.Cause].
func Unusable(err error) error {
	var tooOld *toolchain.TooOldError
	var unaccepted *toolchain.UnacceptedError
	var unwritten *enginelog.FileError
	diag := failure.New("Unusable engine", "%s.", failure.Capitalize(failure.Reason(err)))
	switch {
	case errors.As(err, &unaccepted):
		diag = failure.New("Unacceptable engine version", "%s", failure.Sentences(err.Error()))
		if unaccepted.Requirement.Invalid != "" {
			diag.Summary = "Invalid version file"
		}
		diag.Subject = unaccepted.Requirement.Range
	case errors.As(err, &tooOld):
		diag = failure.New("Engine too old", "%s", failure.Sentences(err.Error()))
	case errors.As(err, &unwritten) && unwritten.Named:
		diag = failure.New("Log file not written", "The file that %s names cannot be written: %s.", enginelog.PathVariable,
			failure.Reason(unwritten.Err))
	case errors.Is(err, toolchain.ErrNone), errors.As(err, new(*toolchain.NotFoundError)):
		diag = failure.New("Engine not found", "%s", failure.Sentences(err.Error()))
	}
	diag.Extra = failure.Cause{Err: err}
	return hcl.Diagnostics{diag}
}

// VersionFileIgnored says so if there is a version file that is not about the program in use.
func (s *Stack) VersionFileIgnored(program string) string {
	if _, err := os.Stat(filepath.Join(s.env.Dir, settings.VersionFile)); err != nil || program != toolchain.Tofu {
		return ""
	}
	return fmt.Sprintf("The file %s is about terraform and does not count for tofu; "+
		"%s is the place for requirements of tofu.", settings.VersionFile, settings.File)
}

// CodeUntrusted is of a program that the user has not named.
const CodeUntrusted fault.Code = "operation/untrusted-program"

// checkTrust fails if the settings file names a program that the author of the file may have
// brought along. Every command that needs an engine runs it, "validate" too; a file that came with
// a checkout is not a decision of the user's.
func (s *Stack) checkTrust(binary string) error {
	if binary == "" {
		return nil
	}
	from := trust.Untrusted(binary, s.env.Dir, s.env.Original())
	if from == "" {
		return nil
	}
	return hcl.Diagnostics{failure.With(CodeUntrusted, failure.New("Untrusted engine program",
		"The file %s names the program %q as the engine, and the file %s: whoever has written it could have any program run. "+
			"Nothing was run. If you trust it, name it yourself: %[4]s=%[2]s in the environment.", settings.File, binary, from, Variable))}
}
