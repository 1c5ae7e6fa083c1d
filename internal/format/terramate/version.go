// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/problem"
)

// The versions of the formats that are read here. What a file requires is compared with them, since the version of
// cairn says nothing about these formats.
const (
	TerrastackVersion = "1.0.0"
	TerramateVersion  = "0.17.0"
)

// checkVersion compares what a block of the kind "terrastack" or "terramate" requires with what is read here.
func checkVersion(kind, constraint string, rng hcl.Range) *hcl.Diagnostic {
	running := TerramateVersion
	if kind == "terrastack" {
		running = TerrastackVersion
	}
	constraints, err := version.NewConstraint(constraint)
	if err != nil {
		return problem.New(problem.Version, &rng, "Invalid version constraint",
			"%q is not a version constraint. Write it as in \"~> 1.0\" or \">= 0.9, < 1\".", constraint)
	}
	if constraints.Check(version.Must(version.NewVersion(running))) {
		return nil
	}
	if kind == "terramate" && requiresNewer(constraints, version.Must(version.NewVersion(running))) {
		return problem.Warning(problem.Version, &rng, "Newer version required",
			"%s requires version %s of the %s format, and this program reads version %s. What is new since then may be ignored or refused.",
			rng.Filename, constraint, kind, running)
	}
	return problem.New(problem.Version, &rng, "Required version not met",
		"%s requires version %s of the %s format, and this program reads version %s. Change required_version, or use a program of that version.",
		rng.Filename, constraint, kind, running)
}

// requiresNewer reports whether a version does not meet constraints only because it is too low.
func requiresNewer(constraints version.Constraints, running *version.Version) bool {
	return !slices.ContainsFunc(constraints, func(one *version.Constraint) bool {
		required, err := version.NewVersion(strings.TrimLeft(one.String(), "<>=!~ "))
		return !one.Check(running) && (err != nil || !required.GreaterThan(running))
	})
}
