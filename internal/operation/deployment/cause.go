// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"regexp"
	"strings"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Cause is the cause of a serial, which the history keeps as one text.
type Cause struct {
	Operation  string // such as "apply"
	Plan       string // [stackplan.ShortIdentity] of a plan that was saved; "" where there was none
	ApprovedBy string // the rule or the person that has approved the plan; "" where that is not known
}

const (
	ofPlan     = " of plan "
	approvedBy = ", approved by "
)

// savedPlan is the end of the name of an operation that has applied a saved plan.
var savedPlan = regexp.MustCompile(ofPlan + "([0-9a-f]{12})$")

// CauseOf returns the cause of a serial, which an older version may have written.
func CauseOf(v statestore.Version) Cause {
	var c Cause
	c.Operation, c.ApprovedBy, _ = strings.Cut(v.Operation, approvedBy)
	if found := savedPlan.FindStringSubmatch(c.Operation); found != nil {
		c.Operation, c.Plan = strings.TrimSuffix(c.Operation, found[0]), found[1]
	}
	return c
}

// String returns the text in the history.
func (c Cause) String() string {
	if c.Plan != "" {
		c.Operation += ofPlan + c.Plan
	}
	return c.WithoutPlan()
}

// WithoutPlan is [Cause.String] for where the plan has a place of its own.
func (c Cause) WithoutPlan() string {
	if c.ApprovedBy == "" {
		return c.Operation
	}
	return c.Operation + approvedBy + c.ApprovedBy
}
