// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engines"
	"github.com/cairnstacks/cairn/internal/operation/settings"
)

// The environment variables that beat the settings file.
const (
	stateVariable  = "CAIRN_STATE"
	engineVariable = "CAIRN_ENGINE"
)

// mirrorVariable is the environment variable that names where releases are fetched from.
const mirrorVariable = "CAIRN_ENGINE_MIRROR"

// versionFileIgnored says so if there is a version file that is not about the program in use.
func versionFileIgnored(program string) string {
	if _, err := os.Stat(settings.VersionFile); err != nil || program != engines.Tofu {
		return ""
	}
	return fmt.Sprintf("The file %s is about terraform and does not count for tofu; say in %s what is required of tofu.", settings.VersionFile, settings.File)
}

// engineSetting returns the path or name of the binary that was asked for, and who says so.
func (s *session) engineSetting(read settings.Settings) (setting, place string) {
	switch {
	case s.options.engine != "":
		return s.options.engine, "-engine"
	case os.Getenv(engineVariable) != "":
		return os.Getenv(engineVariable), engineVariable
	case read.Engine.Binary != "":
		return read.Engine.Binary, settings.File
	}
	return "", ""
}

// engineRequirements returns what the stack requires of the engine.
//
// The version file was written for other programs. It is advice to those who choose the engine for cairn, and for commands that change nothing.
func (s *session) engineRequirements(read settings.Settings) []engines.Requirement {
	var all []engines.Requirement
	if required := read.Engine.Requirement; required != nil {
		all = append(all, *required)
	}
	if required := settings.ReadVersionFile("."); required != nil {
		required.Advisory = s.changesNothing || s.engineChosenBy(read) != ""
		all = append(all, *required)
	}
	return all
}

// engineChosenBy says what names an engine or its version, empty for nothing but the version file.
func (s *session) engineChosenBy(read settings.Settings) string {
	if _, place := s.engineSetting(read); place != "" {
		return place + " names it"
	}
	if required := read.Engine.Requirement; required != nil {
		return required.Place + " says which version is used"
	}
	return ""
}

// engineSearch says which binary is wanted.
func (s *session) engineSearch() (engines.Search, error) {
	read, err := s.readSettings()
	if err != nil {
		return engines.Search{}, err
	}
	search := engines.Search{Requirements: s.engineRequirements(read), Identifier: engines.Identifier{Environ: os.Environ()}}
	setting, place := s.engineSetting(read)
	if place == settings.File {
		if err := checkTrust(setting); err != nil {
			return engines.Search{}, err
		}
	}
	search.Setting = setting
	if home, err := engines.Home(); err == nil { // without one nothing is installed
		search.Home = home
	}
	return search, nil
}

// unmetRequirements warns of what the engine in use does not meet.
func (s *session) unmetRequirements(found *engines.Candidate) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, unmet := range found.Unmet {
		why := "since this command changes nothing; those that do stop here. " + installRemedy(unmet) + " " + overrideRemedy(unmet)
		if by := s.engineChosenBy(*s.settings); by != "" {
			why = "since " + by + "."
		}
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagWarning,
			Summary:  "Version file not followed",
			Detail:   fmt.Sprintf("%s It is used all the same, %s", sentences(unmet.Error()), why),
		})
	}
	return diags
}

// engineProblem makes a diagnostic of the reason why there is no engine to use.
func (s *session) engineProblem(err error) error {
	var tooOld *engines.TooOldError
	var unaccepted *engines.UnacceptedError
	switch {
	case errors.As(err, &unaccepted):
		summary := "Engine version not accepted"
		if unaccepted.Requirement.Invalid != "" {
			summary = "Wrong version file"
		}
		remedies := []string{sentences(err.Error()), installRemedy(unaccepted)}
		if unaccepted.Requirement.Place == settings.VersionFile {
			remedies = append(remedies, overrideRemedy(unaccepted))
		}
		diag := problem(summary, "%s", strings.Join(remedies, " "))
		diag.Subject = unaccepted.Requirement.Range
		return hcl.Diagnostics{diag}
	case errors.As(err, &tooOld):
		return fail("Engine too old", "%s Install a newer one, for example with \"cairn engine install %s\", or name another binary with -engine, CAIRN_ENGINE or in cairn.hcl.",
			sentences(err.Error()), tooOld.Info.Name)
	case errors.Is(err, engines.ErrNone), errors.As(err, new(*engines.NotFoundError)):
		return fail("Engine not found", "%s", sentences(err.Error()))
	default:
		return fail("Engine cannot be used", "%s.", upperFirst(reason(err)))
	}
}

// installRemedy says how to get a version that is accepted.
func installRemedy(unaccepted *engines.UnacceptedError) string {
	required := unaccepted.Requirement
	if required.Invalid != "" {
		return "Correct the file."
	}
	program := cmp.Or(required.Program, unaccepted.Info.Name)
	return fmt.Sprintf("Install such a version with \"cairn engine install %s %s\", or change what is required there.",
		program, quoteArgument(required.Constraint.String()))
}

// overrideRemedy says how to use a binary that the version file does not accept.
func overrideRemedy(unaccepted *engines.UnacceptedError) string {
	return fmt.Sprintf("To use %s %s all the same, name it: -engine=%[1]s, %[3]s=%[1]s in the environment, or engine { binary = %[1]q } in %[4]s.",
		unaccepted.Info.Name, unaccepted.Info.Version, engineVariable, settings.File)
}

// quoteArgument quotes an argument for a shell where it has to be.
func quoteArgument(text string) string {
	if strings.ContainsAny(text, " <>~!=") {
		return "'" + text + "'"
	}
	return text
}
