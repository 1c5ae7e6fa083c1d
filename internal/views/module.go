// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"io"

	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// WriteModulePlan writes the plan of a root module for a person, as [WritePlan] writes that of a
// component. Its only component is the module, which has no address. Diagnostics are not part of
// it.
func WriteModulePlan(w io.Writer, plan *stackplan.Plan, options Options) error {
	return writePlan(w, planView{page: newPage(options), plan: plan, module: true})
}

// ModuleSummary is the result of an apply of a root module.
type ModuleSummary struct {
	Destroy     bool
	Interrupted bool // by the user
	Failed      bool
	Counts      stackplan.Counts
}

// WriteModuleSummary writes the result of an apply of a root module. Diagnostics and outputs are
// not part of it.
func WriteModuleSummary(w io.Writer, summary ModuleSummary, options Options) error {
	p := newPage(options)
	p.applyTotal(ApplySummary{Destroy: summary.Destroy, Interrupted: summary.Interrupted, Failed: summary.Failed}, summary.Counts)
	return p.writeTo(w)
}
