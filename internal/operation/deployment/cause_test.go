// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment_test

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
)

func TestCauseOf(t *testing.T) {
	for text, want := range map[string]deployment.Cause{
		"":                                 {},
		"apply":                            {Operation: "apply"},
		"destroy, approved by rules a, b":  {Operation: "destroy", ApprovedBy: "rules a, b"},
		"apply of plan 0123456789ab":       {Operation: "apply", Plan: "0123456789ab"},
		"state rollback to 3, 1 unmanaged": {Operation: "state rollback to 3, 1 unmanaged"},
		"apply of plan 0123456789ab, approved by saved plan": {Operation: "apply", Plan: "0123456789ab", ApprovedBy: "saved plan"},
		"apply, approved by rule of plan 0123456789ab":       {Operation: "apply", ApprovedBy: "rule of plan 0123456789ab"},
		"apply of plan B": {Operation: "apply of plan B"},
	} {
		got := deployment.CauseOf(statestore.Version{Operation: text})
		if got != want {
			t.Errorf("CauseOf(%q) = %+v, want %+v", text, got, want)
		}
		if got.String() != text {
			t.Errorf("%+v is written as %q, want %q", got, got, text)
		}
	}
}
