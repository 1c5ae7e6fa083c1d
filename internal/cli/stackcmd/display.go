// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"fmt"
	"os"
	"slices"

	"github.com/charmbracelet/x/ansi"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/progress"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Display shows an operation while it runs, and its outcome: to a person, or with -json to a
// program.
type Display struct {
	session   *session.Session
	operation string
	planFile  string // that is applied; empty for none
	concise   bool

	events *jsonview.Events // nil for a person
	begun  bool             // the first line is written

	recorder timeline.Recorder // of the latest apply, for its summary

	arrived map[string]int64 // how much of each package was written about
}

// NewDisplay returns the display of an operation: "plan", "apply" or "destroy". With -json,
// diagnostics become events, too.
func NewDisplay(s *session.Session, operation string) *Display {
	v := &Display{session: s, operation: operation}
	if s.Options.JSON {
		v.events, v.arrived = jsonview.NewEvents(s.Streams.Out, nil), map[string]int64{}
		s.Reporter, s.Notice = v.reportEvents, v.noticeEvent
		return v
	}
	return v
}

// during shows the progress of work, which is one phase of the operation: "plan", "apply" or
// "destroy".
func (v *Display) during(phase string, work func(hooks.Hooks)) {
	v.begin()
	v.recorder.Reset()
	shown := work
	work = func(watch hooks.Hooks) { shown(v.recorder.Watch(watch)) }
	switch out := v.session.Streams.Out; {
	case v.events != nil:
		work(v.events.Hooks(phase))
	case v.session.CanRedraw():
		shown := progress.NewLive(out, progress.LiveOptions{
			Operation: phase,
			Style:     textstyle.Style{Color: v.session.ViewOptions(out).Color},
			Concise:   v.concise,
			Size:      func() live.Size { return session.TerminalSize(out) },
		})
		v.session.ShowLive(shown.Display, func() { work(shown.Hooks()) })
		v.session.Print("\n")
	default:
		lines := progress.NewLines(out, progress.LinesOptions{
			Style:   textstyle.Style{Color: v.session.ViewOptions(out).Color},
			Concise: v.concise,
		})
		work(lines.Hooks(phase))
		if lines.Any() {
			v.session.Print("\n")
		}
	}
}

// begin writes the line that comes first: the versions of this program and its engine. It does so
// once.
func (v *Display) begin() {
	if v.events == nil || v.begun {
		return
	}
	v.begun = true
	info, why, _ := v.session.Stack().EngineInfo()
	v.events.Version(session.Version(), info, why)
}

// Plan shows a plan, as far as there is one in spite of errors. Diagnostics about it are still to
// be reported.
func (v *Display) Plan(plan *stackplan.Plan, diags hcl.Diagnostics) error {
	if v.events != nil {
		v.events.Moved(plan.Moved)
		v.events.OutputChanges(plan.Outputs)
		v.events.ChangeSummary("plan", plan.Counts())
		return v.events.Err()
	}
	if !plan.Applyable && plan.Counts().Total()+len(plan.Moved) == 0 {
		return nil
	}
	out := v.session.Streams.Out
	options := v.session.ViewOptions(out)
	options.Concise, options.Reported = v.concise, diags
	return views.WritePlan(out, plan, options)
}

// inAutomation reports whether commands follow each other without a person who needs to know the
// next one.
func inAutomation() bool { return os.Getenv("TF_IN_AUTOMATION") != "" }

// next names the next step after a plan.
func (v *Display) next(planned operation.Planned, file string) {
	switch {
	case v.events != nil, inAutomation():
	case file != "":
		v.session.Say("\n%s\n", v.howToApply(planned, file))
	case !planned.Plan.IsEmpty():
		v.session.Say("\nThe plan was not saved. To apply exactly this plan later, save it with -out=FILE.\n")
	}
}

// generated names the next step after a plan that has generated configuration, or was to.
func (v *Display) generated(file string, written bool, diags hcl.Diagnostics) {
	switch {
	case v.events != nil:
	case written:
		v.session.Say("\nThe generated configuration is in %s. Move each block into the directory of its module, review it, and plan again.\n",
			file)
	case !diags.HasErrors():
		v.session.Say("\nNo configuration was generated: each object to import has a block. There is no file %s.\n", file)
	}
}

// howToApply names the command that applies a saved plan. Where there is no room next to the rest,
// it stands on a line of its own, so that it can be copied. Values of sensitive variables belong
// into files: other users see the options of commands.
func (v *Display) howToApply(planned operation.Planned, file string) string {
	plan, command := planned.Plan, "cairn apply"
	saved := fmt.Sprintf("Plan %s is saved in %s. To carry it out:", stackplan.ShortIdentity(planned.Identity), file)
	secrets := ""
	needed := plan.UnknownInputs()
	if plan.LeavesUnknown() {
		needed = nil
	}
	for _, name := range needed {
		if marks.Contains(plan.Inputs[name].After, marks.Sensitive) {
			secrets = " -var-file=FILE"
		} else {
			command += " -var=" + name + "=VALUE"
		}
	}
	command += secrets
	command += " " + file
	if width := v.session.ViewOptions(v.session.Streams.Out).Width; width > 0 && ansi.StringWidth(saved+" "+command) > width {
		return saved + "\n  " + command
	}
	return saved + " " + command
}

// paragraph separates the following output from the plan.
func (v *Display) paragraph() {
	if v.events == nil {
		v.session.Print("\n")
	}
}

// NextRound says that there will be another plan.
func (v *Display) NextRound() {
	if v.events == nil {
		v.session.Say("\nSome changes were deferred. Planning again...\n\n")
	}
}

// nothingDone says that there was nothing to apply.
func (v *Display) nothingDone(state *stackstate.State) hcl.Diagnostics {
	if v.events != nil {
		v.events.ChangeSummary(v.operation, stackplan.Counts{})
		v.events.Outputs(state.Outputs)
		return operation.Diagnostics(v.events.Err())
	}
	return v.outputs(state.Outputs)
}

// applied shows the outcome of an apply.
func (v *Display) applied(applied operation.Applied) hcl.Diagnostics {
	result := applied.Result
	if v.events != nil {
		if applied.Failed || applied.Interrupted || applied.Unsaved {
			v.events.IncompleteSummary(v.operation, applied.Interrupted, result.Counts())
		} else {
			v.events.ChangeSummary(v.operation, result.Counts())
		}
		v.events.Outputs(result.State.Outputs)
		return operation.Diagnostics(v.events.Err())
	}
	summary := views.ApplySummary{
		Destroy:     v.operation == "destroy",
		Failed:      applied.Failed,
		Interrupted: applied.Interrupted,
		Unsaved:     applied.Unsaved,
		InDoubt:     applied.InDoubt,
	}
	switch {
	case applied.InDoubt:
		summary.Next = "the option -accept-recovery"
	case v.planFile != "":
		summary.Next = "cairn apply " + v.planFile
	}
	for addr, done := range result.Components {
		component := views.ComponentResult{Addr: addr, Status: done.Status, Counts: done.Counts}
		if done.Status == hooks.Skipped {
			component.Because = missed(applied.Plan, result, addr)
		}
		summary.Components = append(summary.Components, component)
	}
	if path := v.recorder.Applied(applied.Plan).CriticalPath(); path.WorthSaying() {
		summary.CriticalPath = path.Text()
	}
	out := v.session.Streams.Out
	if err := views.WriteApplySummary(out, summary, v.session.ViewOptions(out)); err != nil {
		return operation.Diagnostics(err)
	}
	return v.outputs(result.State.Outputs)
}

// missed returns the unmet prerequisites of a skipped component instance.
func missed(
	plan *stackplan.Plan, result *stackruntime.ApplyResult, skipped stackaddrs.AbsComponentInstance,
) []stackaddrs.AbsComponentInstance {
	planned := map[stackaddrs.AbsComponentInstance]*stackplan.Component{}
	for _, component := range plan.Components {
		planned[component.Addr] = component
	}
	goes := planned[skipped] != nil && planned[skipped].Action == stackplan.Delete
	var because []stackaddrs.AbsComponentInstance
	for addr, done := range result.Components {
		// A component can be destroyed only once its dependents are gone.
		needing, needed := planned[skipped], addr
		if goes {
			needing, needed = planned[addr], skipped
		}
		if done.Status != hooks.Applied && done.Status != hooks.Deferred && needing != nil &&
			slices.Contains(needing.Requires, stackaddrs.ComponentOf(needed)) {
			because = append(because, addr)
		}
	}
	return because
}

// outputs shows the output values after an apply, if there are any.
func (v *Display) outputs(values map[string]cty.Value) hcl.Diagnostics {
	if len(values) == 0 {
		return nil
	}
	v.session.Print("\nOutputs:\n\n")
	out := v.session.Streams.Out
	return operation.Diagnostics(views.WriteOutputs(out, values, v.session.ViewOptions(out)))
}

// reportEvents shows diagnostics to a program.
func (v *Display) reportEvents(diags hcl.Diagnostics) error {
	v.begin()
	for _, diag := range diagnostic.All(diags, v.session.Sources()) {
		v.events.Diagnostic(diag.Address, diag)
	}
	return v.events.Err()
}

// noticeEvent writes a notice of an operation as an event, if it is one that concerns programs.
func (v *Display) noticeEvent(n notice.Notice) bool {
	switch n := n.(type) {
	case notice.Resuming:
		v.begin()
		v.events.Resuming(n.Done, n.Begun, n.Of)
	case notice.ProviderFetch:
		v.fetchEvent(n)
	default:
		return false
	}
	return true
}

// fetchEvent writes that a package is fetched, and how much of it has arrived in steps of a tenth.
func (v *Display) fetchEvent(n notice.ProviderFetch) {
	switch n.Stage {
	case selection.Begun:
		v.begin()
		v.events.ProviderFetch(n.Provider.String(), n.Version.String(), n.Platform.String(), "begun", -1, -1)
	case selection.Fetched:
		v.events.ProviderFetch(n.Provider.String(), n.Version.String(), n.Platform.String(), "fetched", -1, -1)
	case selection.Arriving:
		key := n.Provider.String() + " " + n.Platform.String()
		if step := tenths(n.Done, n.Total); step > v.arrived[key] {
			v.arrived[key] = step
			v.events.ProviderFetch(n.Provider.String(), n.Version.String(), n.Platform.String(), "arriving", n.Done, n.Total)
		}
	}
}

// tenths returns how many tenths of a package have arrived, or how many tens of megabytes if nobody
// knows how large it is.
func tenths(done, total int64) int64 {
	if total <= 0 {
		return done / 10_000_000
	}
	return done * 10 / total
}
