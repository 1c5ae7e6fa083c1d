// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engines"
)

// mirrorVariable is the environment variable that names where releases are fetched from.
const mirrorVariable = "CAIRN_ENGINE_MIRROR"

// versionFile is what version managers and the hosted product read to choose a version of terraform.
const versionFile = ".terraform-version"

// engineSettings are what the engine block of the settings file says.
type engineSettings struct {
	binary      string // path or name
	mirror      string // base URL
	requirement *engines.Requirement
}

var engineSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "binary"}, {Name: "version"}, {Name: "mirror"}}}

func decodeEngineSettings(body hcl.Body) (engineSettings, hcl.Diagnostics) {
	var result engineSettings
	content, diags := body.Content(engineSchema)
	if len(content.Attributes) == 0 && !diags.HasErrors() {
		return result, diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Empty engine block",
			Detail:   "Give at least one of the arguments binary, version and mirror, or leave the whole block out.",
			Subject:  body.MissingItemRange().Ptr(),
		})
	}
	var moreDiags hcl.Diagnostics
	result.binary, moreDiags = stringSetting(content.Attributes["binary"])
	diags = diags.Extend(moreDiags)
	result.mirror, moreDiags = stringSetting(content.Attributes["mirror"])
	diags = diags.Extend(moreDiags)
	attr := content.Attributes["version"]
	text, moreDiags := stringSetting(attr)
	diags = diags.Extend(moreDiags)
	if text == "" {
		return result, diags
	}
	constraint, err := engines.ParseConstraint(text)
	if err != nil {
		return result, diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Wrong version constraint",
			Detail:   upperFirst(err.Error()) + ".",
			Subject:  attr.Expr.Range().Ptr(),
		})
	}
	at := attr.Expr.Range()
	result.requirement = &engines.Requirement{
		Program:    programName(result.binary),
		Constraint: constraint,
		Place:      fmt.Sprintf("%s:%d", settingsFile, at.Start.Line),
		Range:      &at,
	}
	return result, diags
}

// programName returns the setting of a binary if it names a program, not a file.
func programName(setting string) string {
	if setting == engines.Tofu || setting == engines.Terraform {
		return setting
	}
	return ""
}

// readVersionFile returns what the version file requires, nil if there is none.
//
// It has one line: a version, or a constraint. Lines that are empty or begin with # don't count. What is wrong with it is part of the
// requirement: the file may not matter.
func readVersionFile() *engines.Requirement {
	content, err := os.ReadFile(versionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	required := &engines.Requirement{Program: engines.Terraform, Place: versionFile}
	if err != nil {
		required.Invalid = fmt.Sprintf("the file %s, which says which version of terraform is required, cannot be read: %s", versionFile, reason(err))
		return required
	}
	number, found := 0, false
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if found {
			required.Invalid = fmt.Sprintf("%s, line %d: there is a second version; write one version, or one constraint such as \">= 1.11, < 2\"", versionFile, number)
			return required
		}
		found = true
		if required.Constraint, err = engines.ParseConstraint(line); err != nil {
			required.Invalid = fmt.Sprintf("%s, line %d: %s", versionFile, number, err)
			return required
		}
	}
	if !found {
		required.Invalid = versionFile + " is empty; write a version such as 1.11.4 into it, or remove it"
	}
	return required
}

// versionFileIgnored says so if there is a version file that is not about the program in use.
func versionFileIgnored(program string) string {
	if _, err := os.Stat(versionFile); err != nil || program != engines.Tofu {
		return ""
	}
	return fmt.Sprintf("The file %s is about terraform and does not count for tofu; say in %s what is required of tofu.", versionFile, settingsFile)
}

// engineSetting returns the path or name of the binary that was asked for, and who says so.
func (s *session) engineSetting(settings settings) (setting, place string) {
	switch {
	case s.options.engine != "":
		return s.options.engine, "-engine"
	case os.Getenv(engineVariable) != "":
		return os.Getenv(engineVariable), engineVariable
	case settings.engine.binary != "":
		return settings.engine.binary, settingsFile
	}
	return "", ""
}

// engineRequirements returns what the stack requires of the engine.
//
// The version file was written for other programs. It is advice to those who choose the engine for cairn, and for commands that change nothing.
func (s *session) engineRequirements(settings settings) []engines.Requirement {
	var all []engines.Requirement
	if required := settings.engine.requirement; required != nil {
		all = append(all, *required)
	}
	if required := readVersionFile(); required != nil {
		required.Advisory = s.changesNothing || s.engineChosenBy(settings) != ""
		all = append(all, *required)
	}
	return all
}

// engineChosenBy says what names an engine or its version, empty for nothing but the version file.
func (s *session) engineChosenBy(settings settings) string {
	if _, place := s.engineSetting(settings); place != "" {
		return place + " names it"
	}
	if required := settings.engine.requirement; required != nil {
		return required.Place + " says which version is used"
	}
	return ""
}

// engineSearch says which binary is wanted.
func (s *session) engineSearch() (engines.Search, error) {
	settings, err := s.readSettings()
	if err != nil {
		return engines.Search{}, err
	}
	search := engines.Search{Requirements: s.engineRequirements(settings), Identifier: engines.Identifier{Environ: os.Environ()}}
	setting, place := s.engineSetting(settings)
	if place == settingsFile {
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
		if unaccepted.Requirement.Place == versionFile {
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
		unaccepted.Info.Name, unaccepted.Info.Version, engineVariable, settingsFile)
}

// quoteArgument quotes an argument for a shell where it has to be.
func quoteArgument(text string) string {
	if strings.ContainsAny(text, " <>~!=") {
		return "'" + text + "'"
	}
	return text
}
