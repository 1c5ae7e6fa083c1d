// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package jsonview

import "strings"

// Approval is the verdict of a deployment's rules on its plan.
type Approval struct {
	Approved bool      `json:"approved"`
	Rules    []string  `json:"rules,omitempty"` // that approve it
	Refusals []Refusal `json:"refusals,omitempty"`
}

// Refusal is the reason why a check does not approve a plan.
type Refusal struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"` // why it could not be evaluated
}

// Approval writes the verdict of rules on the plan.
func (e *Events) Approval(judged Approval) {
	message := "Approved by " + strings.Join(judged.Rules, ", ")
	if !judged.Approved {
		var reasons []string
		for _, refusal := range judged.Refusals {
			reasons = append(reasons, strings.TrimSpace(refusal.Rule+": "+refusal.Reason+" "+refusal.Error))
		}
		message = "Not approved: " + strings.Join(reasons, "; ")
	}
	e.emit(levelInfo, "approval", message, line{"approval": judged})
}
