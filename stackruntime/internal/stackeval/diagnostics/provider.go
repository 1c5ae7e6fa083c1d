// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostics

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// aboutProvider is the Extra of what a provider says about its configuration. Each component that uses the
// configuration hears it anew, until [MergeProviders] makes one of it.
type aboutProvider struct { //nolint:recvcheck // a copy is the Extra of a diagnostic, and only what is gathered changes
	config     stackaddrs.AbsProviderConfigInstance
	components []stackaddrs.AbsComponentInstance
	written    string // the address in the words of the stack's files
}

// AboutProvider is the Extra of what a provider says about its configuration to a component instance. written is the address of the
// configuration in the words of the stack's files.
func AboutProvider(config stackaddrs.AbsProviderConfigInstance, component stackaddrs.AbsComponentInstance, written string) any {
	return aboutProvider{config, []stackaddrs.AbsComponentInstance{component}, written}
}

// Address returns the component instance that the diagnostic is about, "" if there are several.
func (d aboutProvider) Address() string {
	if len(d.components) != 1 {
		return ""
	}
	return d.components[0].String()
}

// requestID is a part of messages that differs from request to request.
var requestID = regexp.MustCompile(`[[:xdigit:]]{8}(-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12}`)

// MergeProviders makes one diagnostic of what a provider says to several components about the same
// configuration.
func MergeProviders(diags hcl.Diagnostics) hcl.Diagnostics {
	type identity struct {
		config          stackaddrs.AbsProviderConfigInstance
		severity        hcl.DiagnosticSeverity
		subject         hcl.Range
		summary, detail string
	}
	said := map[identity]*aboutProvider{}
	var merged hcl.Diagnostics
	for _, diag := range diags {
		about, ok := diag.Extra.(aboutProvider)
		if !ok {
			merged = merged.Append(diag)
			continue
		}
		id := identity{
			about.config, diag.Severity, *diag.Subject,
			requestID.ReplaceAllString(diag.Summary, ""), requestID.ReplaceAllString(diag.Detail, ""),
		}
		first := said[id]
		if first == nil {
			first = &aboutProvider{config: about.config, written: about.written}
			said[id] = first
			here := *diag
			here.Extra = first
			merged = merged.Append(&here)
		}
		first.components = append(first.components, about.components...)
	}
	for _, diag := range merged {
		if about, ok := diag.Extra.(*aboutProvider); ok {
			about.conclude(diag)
		}
	}
	return merged
}

// conclude adds to the text which configuration it is about and what uses that.
func (d *aboutProvider) conclude(diag *hcl.Diagnostic) {
	slices.SortFunc(d.components, stackaddrs.AbsComponentInstance.Compare)
	d.components = slices.Compact(d.components)
	use := "uses"
	if len(d.components) > 1 {
		use = "use"
	}
	if diag.Detail != "" {
		diag.Detail += "\n\n"
	}
	diag.Detail += fmt.Sprintf("The provider says so about the configuration %s, which %s %s.", d.written, Enumerate(d.components), use)
}
