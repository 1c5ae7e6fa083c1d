// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostics

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// aboutProvider is the Extra of diagnostics of a provider about its configuration. Each component
// that uses the configuration has a copy, until [Merge] makes one of all.
type aboutProvider struct {
	config     string // in the words of the stack's files
	components []stackaddrs.AbsComponentInstance
}

// AboutProvider is the Extra of diagnostics of a provider about a configuration, which has this
// address in the words of the stack's files: to a component instance, or to none that is known.
func AboutProvider(config string, components ...stackaddrs.AbsComponentInstance) any {
	return aboutProvider{config, components}
}

// IsAboutProvider reports whether a diagnostic comes from a provider and is about its
// configuration.
func IsAboutProvider(diag *hcl.Diagnostic) bool {
	_, ok := diag.Extra.(aboutProvider)
	return ok
}

// Address returns the component instance that the diagnostic is about, "" if there are several.
func (d aboutProvider) Address() string { return onlyAddress(d.components) }

func onlyAddress(components []stackaddrs.AbsComponentInstance) string {
	if len(components) != 1 {
		return ""
	}
	return components[0].String()
}

// requestID is a part of messages that differs from request to request.
var requestID = regexp.MustCompile(`[[:xdigit:]]{8}(-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12}`)

// Merge makes one diagnostic of those of a provider to several components about the same
// configuration, and of one warning about several component instances.
func Merge(diags hcl.Diagnostics) hcl.Diagnostics {
	var merged hcl.Diagnostics
	said := map[repetition]*repeated{}
	instances := ofInstances(diags)
	for _, diag := range diags {
		id, ok := identify(diag)
		if !ok {
			merged = merged.Append(diag)
			continue
		}
		if about, ok := diag.Extra.(aboutProvider); ok && len(about.components) == 0 && instances[id.ofBlock()] {
			continue // was said of the block before it was said of its instances
		}
		first := said[id]
		if first == nil {
			here := *diag
			first = &repeated{diag: &here}
			said[id] = first
			merged = merged.Append(&here)
		}
		first.add(diag.Extra)
	}
	for _, one := range said {
		one.conclude()
	}
	return merged
}

// repetition is the same for all diagnostics of which [Merge] makes one.
type repetition struct {
	identity.ID
	ofProvider bool
	config     string // of errors, which may have different reasons in each instance of a configuration
}

// ofBlock is the identity for all configurations that a block has.
func (id repetition) ofBlock() repetition {
	id.config = ""
	return id
}

// ofInstances returns the identities of the diagnostics that component instances get from
// providers, for all configurations of a block.
func ofInstances(diags hcl.Diagnostics) map[repetition]bool {
	found := map[repetition]bool{}
	for _, diag := range diags {
		if about, ok := diag.Extra.(aboutProvider); ok && len(about.components) > 0 {
			id, _ := identify(diag)
			found[id.ofBlock()] = true
		}
	}
	return found
}

// identify returns the identity that all repetitions of a diagnostic share. Only diagnostics that
// say whom they are for have repetitions.
func identify(diag *hcl.Diagnostic) (repetition, bool) {
	id := repetition{ID: identity.Of(diag)}
	id.Summary, id.Detail = requestID.ReplaceAllString(id.Summary, ""), requestID.ReplaceAllString(id.Detail, "")
	switch about := diag.Extra.(type) {
	case aboutProvider:
		id.ofProvider = true
		if diag.Severity == hcl.DiagError {
			id.config = about.config
		}
		return id, true
	case fault.Address:
		return id, diag.Severity == hcl.DiagWarning
	default:
		return id, false
	}
}

// repeated gathers the repetitions of a diagnostic.
type repeated struct {
	diag       *hcl.Diagnostic // the first time; nobody else has it
	configs    []string        // of a provider that components use, in the words of the stack's files
	components []stackaddrs.AbsComponentInstance
}

func (r *repeated) add(extra any) {
	switch about := extra.(type) {
	case aboutProvider:
		if len(r.components) == 0 {
			r.configs = nil // said of the block; now there are instances
		}
		if len(r.components) == 0 || len(about.components) > 0 {
			r.configs = append(r.configs, about.config)
		}
		r.components = append(r.components, about.components...)
	case fault.Address:
		r.components = append(r.components, about.Component)
	}
}

// conclude adds the configurations and components to the text.
func (r *repeated) conclude() {
	slices.SortFunc(r.components, stackaddrs.AbsComponentInstance.Compare)
	r.components = slices.Compact(r.components)
	var said string
	switch about := r.diag.Extra.(type) {
	case aboutProvider:
		said = r.aboutProvider()
		r.diag.Extra = aboutProvider{components: r.components}
	case fault.Address:
		if len(r.components) == 1 {
			return
		}
		said = fmt.Sprintf("This is about %s.", Enumerate(r.components))
		r.diag.Extra = severalAddresses{about.Inner}
	}
	if r.diag.Detail != "" {
		r.diag.Detail += "\n\n"
	}
	r.diag.Detail += said
}

func (r *repeated) aboutProvider() string {
	slices.Sort(r.configs)
	r.configs = slices.Compact(r.configs)
	said := "The provider says so about the configuration"
	if len(r.configs) > 1 {
		said += "s"
	}
	said += " " + Enumerate(r.configs)
	switch len(r.components) {
	case 0:
		return said + "."
	case 1:
		return said + ", which " + Enumerate(r.components) + " uses."
	default:
		return said + ", which " + Enumerate(r.components) + " use."
	}
}

// severalAddresses is the Extra of a diagnostic about several component instances.
type severalAddresses struct{ inner any }

var _ hcl.DiagnosticExtraUnwrapper = severalAddresses{}

// UnwrapDiagnosticExtra implements [hcl.DiagnosticExtraUnwrapper].
func (a severalAddresses) UnwrapDiagnosticExtra() any { return a.inner }
