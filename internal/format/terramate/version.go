// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/problem"
)

// The versions of the formats that are read here. The requirements of a file are compared with
// them, since the version of cairn says nothing about these formats.
const (
	TerrastackVersion = "1.0.0"
	TerramateVersion  = "0.17.0"
)

// checkVersion compares the version constraint of a block of the kind "terrastack" or "terramate"
// with the version that is read here.
func checkVersion(kind, constraint string, rng hcl.Range) *hcl.Diagnostic {
	running := TerramateVersion
	if kind == "terrastack" {
		running = TerrastackVersion
	}
	if placeholder.MatchString(constraint) {
		return problem.Warning(problem.Version, &rng, "No version required",
			"%q in %s stands for a version constraint, and requires none. Write one as in \"~> 1.0\", or leave "+
				"required_version out.", constraint, rng.Filename)
	}
	constraints, err := version.NewConstraint(constraint)
	if err != nil {
		return problem.New(problem.Version, &rng, "Invalid version constraint",
			"%q is not a version constraint. Write it as in \"~> 1.0\" or \">= 0.9, < 1\".", constraint)
	}
	current := version.Must(version.NewVersion(running))
	if constraints.Check(current) {
		return nil
	}
	if requiresOlder(constraints, current) {
		return problem.Warning(problem.Version, &rng, "Older version required",
			"%s requires version %s of the %s format, and this program reads version %s, which has all of older ones. Change "+
				"required_version if that is all right.",
			rng.Filename, constraint, kind, running)
	}
	if kind == "terramate" && requiresNewer(constraints, current) {
		return problem.Warning(problem.Version, &rng, "Newer version required",
			"%s requires version %s of the %s format, and this program reads version %s. Newer features may be ignored or refused.",
			rng.Filename, constraint, kind, running)
	}
	return problem.New(problem.Version, &rng, "Required version not met",
		"%s requires version %s of the %s format, and this program reads version %s. Change required_version, or use a program of that version.",
		rng.Filename, constraint, kind, running)
}

// placeholder is written in examples where a constraint belongs.
var placeholder = regexp.MustCompile(`^\s*<[A-Za-z _-]*>\s*$`)

// requiresNewer reports whether a version does not meet constraints only because it is too low.
func requiresNewer(constraints version.Constraints, running *version.Version) bool {
	return onlyUnmet(constraints, running, (*version.Version).GreaterThan)
}

// requiresOlder reports whether a version does not meet constraints only because it is too high.
func requiresOlder(constraints version.Constraints, running *version.Version) bool {
	return onlyUnmet(constraints, running, func(required, running *version.Version) bool { return !required.GreaterThan(running) })
}

// onlyUnmet reports whether all constraints that a version does not meet name versions on the given
// side of it.
func onlyUnmet(constraints version.Constraints, running *version.Version, onSide func(required, running *version.Version) bool) bool {
	return !slices.ContainsFunc(constraints, func(one *version.Constraint) bool {
		required, err := version.NewVersion(strings.TrimLeft(one.String(), "<>=!~ "))
		excluded := strings.HasPrefix(one.String(), "!=") // by name: no other version is as good
		return !one.Check(running) && (err != nil || excluded || !onSide(required, running))
	})
}
