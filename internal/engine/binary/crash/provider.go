// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package crash

import (
	"regexp"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
)

// providerGone has the engine's summaries of errors when the process of a provider is gone.
var providerGone = map[string]bool{
	"Plugin did not respond": true,
	"Request cancelled":      true,
}

// panicLine is how a Go program begins to explain that it has crashed.
var panicLine = regexp.MustCompile(`(?m)^(?:panic|fatal error): .*$`)

// ExplainProvider adds the remedy to the diagnostics of a crashed provider, and the provider's last
// words if it left any.
func ExplainProvider(diags hcl.Diagnostics, outcome *runner.Result) {
	if outcome.Interrupted {
		return // its provider was asked to stop
	}
	for _, diag := range diags {
		if !providerGone[diag.Summary] {
			continue
		}
		diag.Detail += "\n\nThe provider has crashed. That is a mistake in the provider, not in the configuration. " +
			"If it happens again, select another version of it, or report it to the provider's authors."
		if words := panicLine.FindString(outcome.Stderr + "\n" + outcome.Text); words != "" {
			diag.Detail += "\n\nIts last words were: " + words
		}
	}
}
