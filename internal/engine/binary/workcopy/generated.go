// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// PlannedChecks restores the names in the check results of a plan, and leaves out those of
// generated objects.
func PlannedChecks(checks []engine.CheckResult) []engine.CheckResult {
	var kept []engine.CheckResult
	for _, check := range checks {
		if IsGenerated(check.Address) && check.Kind == engine.CheckVariable {
			check.Address = RestoreAddress(check.Address)
			check.Objects = slices.Clone(check.Objects)
			for i := range check.Objects {
				check.Objects[i].Address = RestoreAddress(check.Objects[i].Address)
			}
		}
		if !strings.Contains(check.Address, prefix) {
			kept = append(kept, check)
		}
	}
	slices.SortFunc(kept, func(a, b engine.CheckResult) int { return strings.Compare(a.Address, b.Address) })
	return kept
}

// CleanState removes cairn's own parts from a state: the latch, references to it, and the results
// of its checks. Latched variables get their names back.
func CleanState(state *tfstate.Document) (*tfstate.Document, error) {
	if !bytes.Contains(state.Bytes(), []byte(prefix)) {
		return state, nil
	}
	var kept []tfstate.Entry
	for _, entry := range state.Entries() {
		if strings.HasPrefix(entry.Addr.Resource.Name, prefix) {
			continue
		}
		entry, err := entry.WithoutDependencies(IsGenerated)
		if err != nil {
			return nil, err
		}
		kept = append(kept, entry)
	}
	state, err := state.WithEntries(kept)
	if err != nil {
		return nil, err
	}
	return state.WithCheckAddresses(func(address string) string {
		if address = RestoreAddress(address); strings.Contains(address, prefix) {
			return ""
		}
		return address
	})
}

// IsGeneratedOutput reports whether an output of the module is none of its own.
func IsGeneratedOutput(name string) bool { return strings.HasPrefix(name, prefix) }

// IsGenerated reports whether an address in the module is that of a generated object.
func IsGenerated(address string) bool {
	return strings.HasPrefix(address, "data.terraform_remote_state."+prefix) ||
		strings.HasPrefix(address, "module."+prefix)
}
