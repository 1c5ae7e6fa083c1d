// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
)

// remedies are what a user of the command line can do about failures, beside what their details say: libraries know no options.
var remedies = map[failure.Code]string{
	deployment.CodeLocked:        "With -lock-timeout=5m the command waits for the lock.",
	deployment.CodeNotInState:    `"cairn state list" shows what it has.`,
	planfile.CodeNotFound:        `Make one with: cairn plan -out=FILE`,
	planfile.CodeNotPlan:         `Give a file that "cairn plan -out=FILE" has written.`,
	planfile.CodeOtherDeployment: "It is named with -deployment or " + deploymentVariable + ".",
}

// withRemedies adds the remedies to diagnostics of which there are some.
func withRemedies(diags hcl.Diagnostics) hcl.Diagnostics {
	for i, diag := range diags {
		code, _ := hcl.DiagnosticExtra[failure.Code](diag)
		if remedies[code] == "" {
			continue
		}
		remedied := *diag
		remedied.Detail += " " + remedies[code]
		diags[i] = &remedied
	}
	return diags
}
