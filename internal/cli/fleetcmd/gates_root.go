// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// rootView shows a phase of the work on a root module under its name.
type rootView struct {
	*show.NodeOutput
	dir      string
	files    map[string]*hcl.File // sources of the inputs
	out, err views.Options
	any      bool // lines were written, from which the next output is to be set apart
}

var _ driver.RootView = (*rootView)(nil)

// showRoot begins to show a phase.
func (g *gates) showRoot(unit *rollout.Unit, phase string) driver.RootView {
	output := g.output.Node(unit.Name)
	output.Phase(phase)
	options := func(stream io.Writer) views.Options {
		options := g.session.ViewOptions(stream)
		options.Concise = g.options.concise
		if options.Width > 0 { // of which the name of the unit takes its part
			options.Width = max(options.Width-ansi.StringWidth(safetext.Name(unit.Name))-len(" | "), leastWidth)
		}
		return options
	}
	return &rootView{
		NodeOutput: output,
		dir:        unit.Dir,
		files:      unit.Inputs.Sources(),
		out:        options(g.session.Streams.Out),
		err:        options(g.session.Streams.Err),
	}
}

// leastWidth is as few columns as there may be for text.
const leastWidth = 40

// Event implements [driver.RootView].
func (v *rootView) Event(event engine.Event) {
	switch event.Type {
	case engine.PlannedChange, engine.ResourceDrift, engine.RefreshComplete: // the plan shows it, or it is over at once
		return
	}
	if text := strings.TrimRight(eventtext.Message(event), "\n"); text != "" {
		v.write(text + "\n")
		v.any = true
	}
}

// write writes to the output of the unit, which says when it is closed whether all could be shown.
func (v *rootView) write(text string) { _, _ = io.WriteString(v.Out, text) } //nolint:errcheck // see above

// apart sets the next output apart from the lines before it.
func (v *rootView) apart() {
	if v.any {
		v.write("\n")
	}
	v.any = true
}

// Plan implements [driver.RootView].
func (v *rootView) Plan(plan *stackplan.Plan, diags hcl.Diagnostics) error {
	v.apart()
	options := v.out
	options.Reported = diags
	return views.WriteModulePlan(v.Out, plan, options)
}

// Applied implements [driver.RootView].
func (v *rootView) Applied(applied rootmodule.Applied, destroy bool) error {
	v.apart()
	summary := views.ModuleSummary{Destroy: destroy, Failed: applied.Failed, Interrupted: applied.Interrupted, Counts: applied.Counts}
	if err := views.WriteModuleSummary(v.Out, summary, v.out); err != nil || len(applied.Outputs) == 0 {
		return err
	}
	v.write("\nOutputs:\n\n")
	return views.WriteOutputs(v.Out, applied.Outputs, v.out)
}

// Report implements [driver.RootView].
func (v *rootView) Report(diags hcl.Diagnostics, compact bool) error {
	if len(diags) == 0 {
		return nil
	}
	options := v.err
	options.CompactWarnings = compact
	return views.WriteDiagnostics(v.Err, diags, v.sources(), options)
}

// sources finds the files of the module, and others that the engine names relative to it.
func (v *rootView) sources() diagnostic.Sources {
	return diagnostic.Sources{Files: v.files, Lookup: func(name string) []byte {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(v.dir, path)
		}
		source, err := safefile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), hclsource.MaxSize)
		if err != nil {
			return nil // shown without its source
		}
		return source
	}}
}
