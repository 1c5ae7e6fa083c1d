// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackdir

import (
	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
)

// The versions of the formats that are read here. What a file requires is compared with them, since the version of
// cairn says nothing about these formats.
const (
	TerrastackVersion = "1.0.0"
	TerramateVersion  = "0.14.0"
)

// checkVersion compares what a block of the kind "terrastack" or "terramate" requires with what is read here.
func checkVersion(kind, constraint string, rng hcl.Range) *hcl.Diagnostic {
	running := TerramateVersion
	if kind == "terrastack" {
		running = TerrastackVersion
	}
	constraints, err := version.NewConstraint(constraint)
	if err != nil {
		return order.Problem(order.CodeVersion, &rng, "Wrong version constraint",
			"%q is not a version constraint. Write it as in \"~> 1.0\" or \">= 0.9, < 1\".", constraint)
	}
	if constraints.Check(version.Must(version.NewVersion(running))) {
		return nil
	}
	return order.Problem(order.CodeVersion, &rng, "Required version not met",
		"%s requires version %s of the %s format, and this program reads version %s. Change required_version, or use a program of that version.",
		rng.Filename, constraint, kind, running)
}
