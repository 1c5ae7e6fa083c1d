// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// plannedChecks restores the names in the check results of a plan.
func plannedChecks(checks []tfjson.CheckResultStatic) []tfjson.CheckResultStatic {
	var kept []tfjson.CheckResultStatic
	for _, check := range checks {
		if isGeneratedAddress(check.Address.ToDisplay) && check.Address.Kind == "var" {
			check.Address.Module = ""
			check.Address.ToDisplay = workcopy.RestoreAddress(check.Address.ToDisplay)
			check.Instances = slices.Clone(check.Instances)
			for i := range check.Instances {
				address := &check.Instances[i].Address
				address.Module = ""
				address.ToDisplay = workcopy.RestoreAddress(address.ToDisplay)
			}
		}
		if !strings.Contains(check.Address.ToDisplay, generatedPrefix) {
			kept = append(kept, check)
		}
	}
	sortChecks(kept)
	return kept
}

func sortChecks(checks []tfjson.CheckResultStatic) {
	slices.SortFunc(checks, func(a, b tfjson.CheckResultStatic) int {
		return strings.Compare(a.Address.ToDisplay, b.Address.ToDisplay)
	})
}

func markOutput(value cty.Value, sensitive bool) cty.Value {
	if sensitive {
		return value.Mark(marks.Sensitive)
	}
	return value
}
