// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// plannedChecks restores the names in the check results of a plan.
func plannedChecks(checks []engine.CheckResult) []engine.CheckResult {
	var kept []engine.CheckResult
	for _, check := range checks {
		if isGeneratedAddress(check.Address) && check.Kind == engine.CheckVariable {
			check.Address = workcopy.RestoreAddress(check.Address)
			check.Objects = slices.Clone(check.Objects)
			for i := range check.Objects {
				check.Objects[i].Address = workcopy.RestoreAddress(check.Objects[i].Address)
			}
		}
		if !strings.Contains(check.Address, generatedPrefix) {
			kept = append(kept, check)
		}
	}
	slices.SortFunc(kept, func(a, b engine.CheckResult) int { return strings.Compare(a.Address, b.Address) })
	return kept
}

func markOutput(value cty.Value, sensitive bool) cty.Value {
	if sensitive {
		return value.Mark(marks.Sensitive)
	}
	return value
}
