// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import "github.com/cairnstacks/cairn/stackruntime/stackplan"

// moved lists the component instances that get another address. Their other changes stand under the
// new one.
func (v *planView) moved() {
	if len(v.plan.Moved) == 0 {
		return
	}
	for _, rename := range v.plan.Moved {
		v.comment(v.Bold(rename.From.String()) + " has moved to " + v.Bold(rename.To.String()))
	}
	v.printf("\n")
}

// onlyAddresses reports whether a plan changes addresses, and nothing else of components.
func onlyAddresses(plan *stackplan.Plan) bool {
	return len(plan.Moved) > 0 && plan.Applyable && plan.Complete && len(plan.Removed) == 0 && plan.Counts().Total() == 0 &&
		changedComponents(plan) == 0
}

// movedCount is the number of component instances that get another address, for the total line.
func movedCount(plan *stackplan.Plan) string {
	if len(plan.Moved) == 0 {
		return ""
	}
	return " Moved: " + count(len(plan.Moved), "component") + "."
}
