// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package jsonview

import (
	"fmt"

	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// DeploymentEnd is the end of the work on one of several deployments.
type DeploymentEnd struct {
	Deployment string            `json:"deployment"`
	Group      string            `json:"group"`
	State      string            `json:"state"`
	Detail     string            `json:"detail,omitempty"`
	Changes    *stackplan.Counts `json:"changes,omitempty"` // planned, or applied
	Plan       string            `json:"plan,omitempty"`    // file of a plan that waits for approval
}

// DeploymentsSummary writes how the work on several deployments ended.
func (e *Events) DeploymentsSummary(operation string, ends []DeploymentEnd) {
	e.emit(levelInfo, "deployments_summary", fmt.Sprintf("Deployments: %d", len(ends)), line{"operation": operation, "deployments": ends})
}
