// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// ProvisionerOutputs reports for each resource instance whether the whole output of its
// provisioners was shown. The engine keeps back the output of a provisioner with a sensitive or
// ephemeral argument, but not in the message of its failure.
type ProvisionerOutputs map[string]bool

// Event notes an event about a provisioner.
func (o ProvisionerOutputs) Event(ev Event) {
	if ev.Hook == nil {
		return
	}
	address := ev.Hook.Resource.Addr
	switch ev.Type {
	case EventProvisionStart:
		o[address] = false // until it shows something: with the argument quiet, not even the command
	case EventProvisionProgress:
		o[address] = !strings.Contains(ev.Message, "(output suppressed due to ")
	}
}

// exitStatus is how a command ended, in the message about its failure.
var exitStatus = regexp.MustCompile(`': (exit status \d+|signal: [a-z ]+)\. Output: `)

// Hide removes texts that were kept back, command and output, from messages.
func (o ProvisionerOutputs) Hide(diags hcl.Diagnostics) {
	for _, diag := range diags {
		data, ok := diag.Extra.(*engine.DiagnosticData)
		if !ok || !strings.HasSuffix(diag.Summary, "provisioner error") || o[data.Resource] {
			continue
		}
		how := ""
		if match := exitStatus.FindStringSubmatch(diag.Detail); match != nil {
			how = ": " + match[1]
		}
		diag.Detail = "The command has failed" + how +
			". Command and output are not shown, since the provisioner has sensitive or ephemeral arguments, or is quiet."
	}
}
