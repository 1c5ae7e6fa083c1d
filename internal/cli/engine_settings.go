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
// It has one line: a version, or a constraint. Lines that are empty or begin with # don't count.
func readVersionFile() (*engines.Requirement, error) {
	content, err := os.ReadFile(versionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail("Version file cannot be read", "The file %s says which version of terraform is wanted, and cannot be read: %s.", versionFile, reason(err))
	}
	var found *engines.Requirement
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if found != nil {
			return nil, fail("Wrong version file", "%s, line %d: there is a second version. Write one version, or one constraint such as \">= 1.11, < 2\".", versionFile, number)
		}
		constraint, err := engines.ParseConstraint(line)
		if err != nil {
			return nil, fail("Wrong version file", "%s, line %d: %s.", versionFile, number, err)
		}
		found = &engines.Requirement{Program: engines.Terraform, Constraint: constraint, Place: versionFile}
	}
	if found == nil {
		return nil, fail("Wrong version file", "%s is empty. Write a version such as 1.11.4 into it, or remove it.", versionFile)
	}
	return found, nil
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
func (s *session) engineRequirements(settings settings) ([]engines.Requirement, error) {
	var all []engines.Requirement
	if required := settings.engine.requirement; required != nil {
		all = append(all, *required)
	}
	required, err := readVersionFile()
	if required != nil {
		all = append(all, *required)
	}
	return all, err
}

// engineSearch says which binary is wanted.
func (s *session) engineSearch() (engines.Search, error) {
	settings, err := s.readSettings()
	if err != nil {
		return engines.Search{}, err
	}
	required, err := s.engineRequirements(settings)
	if err != nil {
		return engines.Search{}, err
	}
	search := engines.Search{Requirements: required, Identifier: engines.Identifier{Environ: os.Environ()}}
	search.Setting, _ = s.engineSetting(settings)
	if home, err := engines.Home(); err == nil { // without one nothing is installed
		search.Home = home
	}
	return search, nil
}

// engineProblem makes a diagnostic of the reason why there is no engine to use.
func (s *session) engineProblem(err error) error {
	var tooOld *engines.TooOldError
	var unaccepted *engines.UnacceptedError
	switch {
	case errors.As(err, &unaccepted):
		diag := problem("Engine version not accepted", "%s", sentences(err.Error())+" "+installRemedy(unaccepted))
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
	program := cmp.Or(required.Program, unaccepted.Info.Name)
	return fmt.Sprintf("Install such a version with \"cairn engine install %s %s\", or change what is required there.",
		program, quoteArgument(required.Constraint.String()))
}

// quoteArgument quotes an argument for a shell where it has to be.
func quoteArgument(text string) string {
	if strings.ContainsAny(text, " <>~!=") {
		return "'" + text + "'"
	}
	return text
}
