// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package unitview

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Output is where a phase is shown.
type Output interface {
	Writers() (stdout, stderr io.Writer)
	Close() error
}

// Root shows a phase of the work on a root module. Safe for one goroutine.
type Root struct {
	Output
	dir         string
	files       map[string]*hcl.File // sources of the inputs
	stdout      io.Writer
	stderr      io.Writer
	plain, errs views.Options
	any         bool // lines were written, from which the next output is to be set apart
}

var _ driver.RootView = (*Root)(nil)

// RootOptions say how the work on a root module is shown.
type RootOptions struct {
	Dir      string               // of the module
	Files    map[string]*hcl.File // sources of its inputs
	Out, Err views.Options
}

// NewRoot begins to show a phase.
func NewRoot(output Output, options RootOptions) *Root {
	stdout, stderr := output.Writers()
	return &Root{
		Output: output, dir: options.Dir, files: options.Files,
		stdout: stdout, stderr: stderr, plain: options.Out, errs: options.Err,
	}
}

// Event implements [driver.RootView].
func (v *Root) Event(event engine.Event) {
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
func (v *Root) write(text string) { _, _ = io.WriteString(v.stdout, text) } //nolint:errcheck // see above

// apart sets the next output apart from the lines before it.
func (v *Root) apart() {
	if v.any {
		v.write("\n")
	}
	v.any = true
}

// Plan implements [driver.RootView].
func (v *Root) Plan(plan *stackplan.Plan, diags hcl.Diagnostics) error {
	v.apart()
	options := v.plain
	options.Reported = diags
	return views.WriteModulePlan(v.stdout, plan, options)
}

// Applied implements [driver.RootView].
func (v *Root) Applied(applied rootmodule.Applied, destroy bool) error {
	v.apart()
	summary := views.ModuleSummary{Destroy: destroy, Failed: applied.Failed, Interrupted: applied.Interrupted, Counts: applied.Counts}
	if err := views.WriteModuleSummary(v.stdout, summary, v.plain); err != nil || len(applied.Outputs) == 0 {
		return err
	}
	v.write("\nOutputs:\n\n")
	return views.WriteOutputs(v.stdout, applied.Outputs, v.plain)
}

// Report implements [driver.RootView].
func (v *Root) Report(diags hcl.Diagnostics, compact bool) error {
	if len(diags) == 0 {
		return nil
	}
	options := v.errs
	options.CompactWarnings = compact
	return views.WriteDiagnostics(v.stderr, diags, v.sources(), options)
}

// sources finds the files of the module, and others that the engine names relative to it.
func (v *Root) sources() diagnostic.Sources {
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
