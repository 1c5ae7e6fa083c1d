// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/reportfile"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// run does the work and returns the exit code.
func (g *gates) run(ctx context.Context) (int, error) {
	if err := reportfile.Check(g.options.report); err != nil {
		return 0, err
	}
	drivers, err := g.drivers(ctx)
	if err != nil {
		return 0, err
	}
	plans, err := g.session.MakePlans()
	if err != nil {
		return 0, err
	}
	defer plans.Abandon() // it is gone, unless there was a panic
	drivers.Plans = plans.Path()
	drivers.Roots.WorkDir = filepath.Join(drivers.Plans, "engine")
	ctx, unread, stop := g.session.InterruptAll(ctx, drivers.Roots.Processes, session.InFlight{
		Begun: func() bool {
			return g.mode != rollout.PlanOnly && (g.inFlight.Begun() || drivers.Roots.Processes.Used())
		},
		Lost: g.lost,
	})
	g.gone.watched()
	if g.team != nil {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		over := make(chan struct{})
		var watching sync.WaitGroup
		watching.Go(func() { g.team.watch(context.WithoutCancel(ctx), over, func() { cancel(operation.ErrInterrupted) }) })
		defer watching.Wait()
		defer close(over)
		defer cancel(nil)
	}
	display := g.session.NewRunDisplay(session.RunDisplayOptions{
		Title: gateTitles[g.mode], Total: len(g.work.Chosen()), Parallel: g.parallel > 1, Unread: unread,
	})
	g.output = display.Output
	output := func(unit string) rollout.Output { return g.output.Node(unit) }
	options := rollout.Options{
		Mode:      g.mode,
		Parallel:  g.parallel,
		Processes: drivers.Roots.Processes,
		Output:    output,
		Last:      g.output.Last,
		MaxRounds: int(g.options.maxRounds),
		Open:      func(unit int) driver.Driver { return drivers.Open(g.work, unit) },
		KeepGoing: g.mode == rollout.PlanOnly && g.work.PlansAhead,
	}
	if g.team != nil {
		options.Apart, options.RunTask = true, g.team.task
	}
	options.Planned = g.summarizePlan
	defer g.team.close()
	if err := g.withSet(ctx, drivers, &options); err != nil {
		stop()
		return 0, err
	}
	options.Ended = func(end rollout.End) {
		text := string(end.State)
		if detail := g.endDetail(end); detail != "" {
			text += " (" + detail + ")"
		}
		display.EndedAs(g.work.Units[end.Unit].Name, boardState(end), text)
	}
	switch {
	case g.applying != nil:
		options.ApprovedBy = operation.BySavedPlan
	case g.options.autoApprove:
		options.ApprovedBy = operation.ByOption
	default:
		options.Approve, options.Asks, options.ByRules = g.approve, g.asksFor, g.byRules
	}
	var ends []rollout.End
	display.During(func() { ends = g.work.Run(ctx, options) })
	setErr := g.saveSet(context.WithoutCancel(ctx), ends)
	plans.Remove() // while one more signal does not end this program
	g.gone.tidy(ends)
	stop()
	report := g.report(ends)
	err = reportfile.Write(g.options.report, report, reportfile.ForAll) // before the summary, which may find no reader
	code := g.summarize(ends, report.Timeline().CriticalPath())
	if endErr := g.team.ended(context.WithoutCancel(ctx), ends, code); err == nil {
		err = endErr
	}
	if setErr != nil {
		return cmdline.ExitError, setErr
	}
	g.sayHowToApply(code)
	if code == cmdline.ExitOK && g.options.detailed &&
		slices.ContainsFunc(ends, func(end rollout.End) bool { return end.State == rollout.Planned }) {
		code = cmdline.ExitChanges
	}
	return code, err
}

var gateTitles = map[rollout.Mode]string{rollout.PlanOnly: "Planning", rollout.ApplyAll: "Applying", rollout.Destroy: "Destroying"}

// boardState returns the state under which a board counts a unit.
func boardState(end rollout.End) order.State {
	switch {
	case end.State == rollout.Failed:
		return order.Failed
	case end.Done:
		return order.Succeeded
	}
	return order.Skipped
}

// endDetail adds to the state of a unit the number of planned or made changes, and the reason for
// its end.
func (g *gates) endDetail(end rollout.End) string {
	text := ""
	if end.Changes != nil {
		text = g.countsText(*end.Changes, end.State != rollout.Planned)
	}
	if text != "" && end.Detail != "" {
		text += "; "
	}
	return text + end.Detail + g.howToGoOn(end)
}

// countsText shows the number of planned or made changes.
func (g *gates) countsText(counts stackplan.Counts, done bool) string {
	if done {
		return eventtext.AppliedCounts(string(g.mode), counts)
	}
	return eventtext.PlanCounts(counts)
}

// drivers returns the drivers of units. It finds the engine of root modules here, if there are any
// that are worked on in this process.
func (g *gates) drivers(ctx context.Context) (*rollout.Drivers, error) {
	shared := &operation.Shared{}
	shared.OfEngines().Binary.AllowProcesses(g.parallel) // one for each stack, where these have less parallelism
	d := &rollout.Drivers{
		Roots: &rootmodule.Engine{Processes: &process.Set{}},
		Stack: operation.Options{
			Env: env.Options{Workspace: g.files()}, Engine: g.session.EngineRequest(), Shared: shared, StopNow: g.session.StopNow,
		},
		Version: session.Version(), AcceptRecovery: g.options.acceptRecovery,
		Show: g.showStack, ShowRoot: g.showRoot,
	}
	if g.team != nil {
		return d, g.team.open(ctx, d)
	}
	root := g.work.FirstRoot()
	if root == nil {
		return d, nil // stacks find their engines by themselves
	}
	roots, err := g.session.RootEngine(ctx, shared)
	var unusable hcl.Diagnostics
	if errors.As(err, &unusable) && len(unusable) > 0 {
		unusable[0].Detail += fmt.Sprintf("\n\nThe root module %s is planned and applied with it.", root.Name)
	}
	if err != nil {
		return nil, err
	}
	if !g.session.ViewOptions(g.session.Streams.Out).Color {
		roots.Options = []string{"-no-color"}
	}
	d.Roots = roots
	return d, nil
}

// asksFor reports whether the plan of a unit is applied only with consent.
func (g *gates) asksFor(unit int) bool {
	u := &g.work.Units[unit]
	return !u.AutoApply || len(u.Requirements) > 0 || g.options.ask || g.mode == rollout.Destroy || u.Destroyed
}

// byRules reports whether nobody is asked about the plan of a unit if the rules for its deployment
// approve it, as they do where only that is applied.
func (g *gates) byRules(unit int) bool {
	return g.mode == rollout.ApplyAll && !g.options.ask && len(g.work.Units[unit].Requirements) == 0
}

// approve asks whether the plan of a unit is to be applied, below that plan.
func (g *gates) approve(ctx context.Context, unit int, show func() error) (rollout.Consent, error) {
	if g.team != nil {
		return g.team.approve(ctx, unit, show)
	}
	yes, _, err := g.askFor(ctx, unit, show)
	return rollout.Consent{Given: yes}, err
}

// askFor asks the person at this program whether the plan of a unit is to be applied. The group is
// the one that has been agreed to as a whole, if there is one.
func (g *gates) askFor(ctx context.Context, unit int, show func() error) (yes bool, group string, err error) {
	u := &g.work.Units[unit]
	if g.unanswered {
		return false, "", nil
	}
	if group := g.agreed(u); group != "" {
		g.session.NoteLine("\n%s %s: yes, as to all of %s.", failure.Capitalize(string(g.mode)), u.Name, group)
		return true, group, nil
	}
	if err := show(); err != nil {
		return false, "", err
	}
	where := ""
	if u.Stack != "" {
		where = ", in stack " + u.Stack
	}
	if len(u.Requirements) > 0 {
		where += ", whose requirements are not checked (" + strings.Join(u.Requirements, ", ") + ")"
	}
	defer g.output.Hold()()
	groups := g.groupsToAskFor(unit)
	accepted := `Only "yes" is accepted`
	if len(groups) > 0 {
		accepted = fmt.Sprintf(`Only "yes" is accepted, or "yes %s" for all of %[1]s`, safetext.Name(groups[0]))
	}
	mode := g.mode
	if u.Destroyed {
		mode = rollout.Destroy
	}
	answer, err := g.session.Ask(ctx,
		fmt.Sprintf("\n%s %s%s? %s: ", failure.Capitalize(string(mode)), safetext.Name(u.Name), safetext.Name(where), accepted), false)
	g.session.Note("\n")
	if errors.Is(err, session.ErrNoAnswer) {
		g.unanswered = true
		g.session.Note("There is nobody who answers: nothing more is approved. %s\n", g.howToApprove())
		return false, "", nil
	}
	return err == nil && g.accepts(answer, u, groups), "", err
}

// howToApprove says how plans can be approved where nobody answers.
func (g *gates) howToApprove() string {
	if g.team != nil {
		return "The run waits: \"cairn run approve " + g.team.run + "\" approves and goes on, here or on another machine."
	}
	return "Give -auto-approve to apply without being asked."
}
