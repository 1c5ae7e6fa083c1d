// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/reportfile"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/stackcmd"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/order"
)

func runDriftCommand() *session.Command {
	var o gateOptions
	return &session.Command{
		Name: "drift", Summary: "Shows changes made outside of stacks since they were applied.",
		Long: `
Every selected stack and root module is compared with the existing objects, by a plan that only refreshes.
Nothing is written to any state, no lock is taken, and none is waited for; order does not matter,
and a failure stops nothing else. The exit code is 2 if anything has drifted, 0 if nothing has, and
1 after errors.`,
		Example: "cairn run drift\ncairn run drift -parallel=8 -report=drift.md\ncairn run drift -json -query=prod",
		Flags: func(f *session.Flags) {
			o = gateOptions{}
			treeFlags(f, &o.tree)
			f.Var(&o.parallelOption, "parallel",
				"work on `N` directories at the same time (default: as a workspace file says, or 1); the output of each is shown when it has ended")
			stackcmd.ConciseFlag(f, &o.concise)
			f.Var(&o.report, "report", "write the results to `FILE`: JSON, or JUnit if its name ends in .xml, or Markdown if it ends in .md")
			session.EngineFlags(f)
			session.JSONFlag(f, "write the results as a JSON document, and everything else to standard error")
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			if s.Options.JSON {
				s.ReportDocuments()
			}
			g, err := openGates(ctx, s, rollout.PlanOnly, o)
			if err != nil {
				return 0, err
			}
			if err := checkStates(g.work, g.team != nil); err != nil {
				return 0, err
			}
			return g.drift(ctx)
		},
	}
}

// drift compares the selected stacks with reality, and returns the exit code.
func (g *gates) drift(ctx context.Context) (int, error) {
	if err := reportfile.Check(g.options.report); err != nil {
		return 0, err
	}
	var document io.Writer
	if g.session.Options.JSON {
		document = g.session.Streams.Out
		g.session.Options.JSON, g.session.Streams.Out = false, g.session.Streams.Err // from here on texts are for people
	}
	if err := g.session.Report(g.diags); err != nil {
		return 0, err
	}
	var ends []rollout.DriftEnd
	if len(g.work.Compared()) == 0 {
		g.session.Note("There is nothing to compare: %s\n", g.options.tree.nothing(""))
	} else {
		var err error
		if ends, err = g.compare(ctx); err != nil {
			return 0, err
		}
	}
	report := driftReport{g.work, ends}
	err := reportfile.Write(g.options.report, report, reportfile.ForAll)
	if document != nil && err == nil {
		var content []byte
		if content, err = report.JSON(); err == nil {
			_, err = document.Write(content)
		}
	}
	return g.summarizeDrift(ends), err
}

// compare does the work, as it is done for plans.
func (g *gates) compare(ctx context.Context) ([]rollout.DriftEnd, error) {
	if g.team != nil {
		g.team.purpose = driftMode
	}
	drivers, err := g.drivers(ctx)
	if err != nil {
		return nil, err
	}
	plans, err := g.session.MakePlans()
	if err != nil {
		return nil, err
	}
	defer plans.Abandon() // it is gone, unless there was a panic
	drivers.Plans = plans.Path()
	drivers.Roots.WorkDir = filepath.Join(drivers.Plans, "engine")
	ctx, unread, stop := g.session.InterruptAll(ctx, drivers.Roots.Processes, session.InFlight{Lost: g.lost})
	defer stop()
	display := g.session.NewRunDisplay(session.RunDisplayOptions{
		Title:    "Comparing",
		Total:    len(g.work.Compared()),
		Parallel: g.parallel > 1,
		Unread:   unread,
	})
	g.output = display.Output
	defer g.team.close()
	var ends []rollout.DriftEnd
	display.During(func() {
		ends = g.work.Drift(ctx, rollout.DriftOptions{
			Parallel: g.parallel,
			Apart:    g.team != nil,
			Open:     func(unit int) driver.Driver { return drivers.Open(g.work, unit) },
			Ended: func(end rollout.DriftEnd) {
				display.EndedAs(g.work.Units[end.Unit].Name, driftBoardStates[end.State], string(end.State))
			},
		})
	})
	for _, end := range ends {
		if end.Drift.Unkept != nil {
			g.session.NoteLine("The result for %s is not remembered: %s", g.work.Units[end.Unit].Name, failure.Reason(end.Drift.Unkept))
		}
	}
	plans.Remove() // while one more signal does not end this program
	if err := g.team.ended(context.WithoutCancel(ctx), nil, cmdline.ExitOK); err != nil {
		return ends, err
	}
	return ends, nil
}

// driftMode is the mode of a run that compares.
const driftMode = "drift"

var driftBoardStates = map[rollout.State]order.State{
	rollout.Drifting:   order.Succeeded,
	rollout.AsStated:   order.Succeeded,
	rollout.Failed:     order.Failed,
	rollout.NotStarted: order.NotStarted,
}

// summarizeDrift shows how everything ended, and returns the exit code.
func (g *gates) summarizeDrift(ends []rollout.DriftEnd) int {
	if len(ends) == 0 {
		return cmdline.ExitOK
	}
	counts := map[rollout.State]int{}
	g.session.Note("\n")
	for _, end := range ends {
		counts[end.State]++
		name := g.work.Units[end.Unit].Name
		switch {
		case end.Err != nil:
			name += "  (" + strings.ReplaceAll(end.Err.Error(), "\n", "; ") + ")"
		case len(end.Drift.Objects) == 1:
			name += "  (1 object)"
		case len(end.Drift.Objects) > 1:
			name += fmt.Sprintf("  (%d objects)", len(end.Drift.Objects))
		}
		g.session.NoteLine("%s  %s", fmt.Sprintf("%-11s", end.State), name)
	}
	var parts []string
	for _, state := range []rollout.State{rollout.Drifting, rollout.AsStated, rollout.Failed, rollout.NotStarted} {
		if counts[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], strings.Replace(string(state), "no drift", "without drift", 1)))
		}
	}
	g.session.Note("\n%s.\n", strings.Join(parts, ", "))
	switch {
	case counts[rollout.Failed]+counts[rollout.NotStarted] > 0:
		return cmdline.ExitError
	case counts[rollout.Drifting] > 0:
		return cmdline.ExitChanges
	}
	return cmdline.ExitOK
}
