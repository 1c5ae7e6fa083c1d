// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cairnstacks/cairn/internal/buildinfo"
	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/runs"
	filesources "github.com/cairnstacks/cairn/internal/workers/sources"
)

// connectToRuns connects with the records of runs that the options or the workspace file of this
// repository name. The caller closes the team.
func connectToRuns(ctx context.Context, s *session.Session, id string) (*team, error) {
	found, err := s.WorkersHere()
	if err != nil {
		return nil, err
	}
	t := &team{gates: &gates{session: s}, config: found, run: id}
	if err := t.connect(ctx); err != nil {
		return nil, err
	}
	if id == "" {
		return t, nil
	}
	if t.record, err = t.read(ctx, id); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// read returns a run that a person has named.
func (t *team) read(ctx context.Context, id string) (*runs.Run, error) {
	run, err := t.store.Read(ctx, id)
	if errors.Is(err, runs.ErrUnknown) {
		err = failure.Error("Unknown run", "There is no run %s in the records %s. \"cairn run list\" lists all.", id, t.config.Records)
	}
	return run, err
}

// runState is how a run stands.
type runState struct {
	*runs.Run
	Outcome   *runs.Outcome   `json:"outcome,omitempty"`
	Waiting   []runs.Question `json:"waiting"` // for approval
	Cancelled *runs.Who       `json:"cancelled,omitempty"`
}

// state reads how a run stands.
func (t *team) state(ctx context.Context, run *runs.Run) (runState, error) {
	st := runState{Run: run, Waiting: []runs.Question{}}
	var err error
	if st.Outcome, err = t.store.Outcome(ctx, run.ID); err != nil || st.Outcome != nil {
		return st, err
	}
	if st.Cancelled, err = t.store.Cancelled(ctx, run.ID); err != nil {
		return st, err
	}
	open, err := t.store.Open(ctx, run.ID)
	if len(open) > 0 {
		st.Waiting = open
	}
	return st, err
}

// text says how a run stands.
func (r *runState) text() string {
	switch {
	case r.Outcome != nil && r.Outcome.Code == cmdline.ExitOK:
		return "done"
	case r.Outcome != nil:
		return fmt.Sprintf("ended with exit code %d", r.Outcome.Code)
	case r.Cancelled != nil:
		return "stopping, as " + safetext.Name(r.Cancelled.By) + " has asked"
	case len(r.Waiting) > 0:
		var names []string
		for _, q := range r.Waiting {
			names = append(names, safetext.Name(q.Name))
		}
		return "waits for approval of " + strings.Join(names, ", ")
	}
	return "not ended"
}

func runListCommand() *session.Command {
	var number cmdline.Count
	return &session.Command{
		Name:    "list",
		Summary: "Lists the runs that workers have done, or do.",
		Long: `
The newest runs come first. A run that has not ended goes on with "cairn run attach ID", unless another process carries it on.`,
		Example: "cairn run list\ncairn run list -n=100 -json",
		Flags: func(f *session.Flags) {
			number = usualRuns
			f.Var(&number, "n", fmt.Sprintf("list the newest `N` runs (default: %d)", usualRuns))
			session.JSONFlag(f, "write a JSON document")
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ReportDocuments()
			t, err := connectToRuns(ctx, s, "")
			if err != nil {
				return 0, err
			}
			defer t.close()
			ids, err := t.store.IDs(ctx)
			if err != nil {
				return 0, err
			}
			states := []runState{}
			for _, id := range ids[:min(len(ids), int(number))] {
				run, err := t.store.Read(ctx, id)
				if errors.Is(err, runs.ErrUnknown) {
					continue // somebody removes it
				}
				if err != nil {
					return 0, err
				}
				st, err := t.state(ctx, run)
				if err != nil {
					return 0, err
				}
				states = append(states, st)
			}
			if s.Options.JSON {
				return cmdline.ExitOK, document.WriteDocument(s.Streams.Out, runsDocument{document.FormatVersion, states}, true)
			}
			return cmdline.ExitOK, writeRuns(s, states, time.Now())
		},
	}
}

const usualRuns = 20

// runsDocument is the output of "run list -json".
type runsDocument struct {
	FormatVersion string     `json:"format_version"`
	Runs          []runState `json:"runs"`
}

func writeRuns(s *session.Session, states []runState, now time.Time) error {
	if len(states) == 0 {
		s.Note("There are no runs.\n")
		return nil
	}
	table := tabwriter.NewWriter(s.Streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tBEGAN\tBY\tMODE\tUNITS\tSTATE")
	for _, st := range states {
		chosen := slices.DeleteFunc(slices.Clone(st.Units), func(u runs.Unit) bool { return !u.Chosen })
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\n",
			st.ID, show.Age(now.Sub(st.Began.At)), safetext.Name(st.Began.By), st.Mode, len(chosen), st.text())
	}
	return table.Flush()
}

func runShowCommand() *session.Command {
	return &session.Command{
		Name:    "show",
		Args:    "ID",
		Summary: "Shows a run on workers: its units, who works on them, and what waits for what.",
		Example: "cairn run show 20310102-030405-abcdef\ncairn run show -json 20310102-030405-abcdef",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(f *session.Flags) {
			session.JSONFlag(f, "write a JSON document")
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			t, err := connectToRuns(ctx, s, args[0])
			if err != nil {
				return 0, err
			}
			defer t.close()
			shown, err := t.shown(ctx)
			if err != nil {
				return 0, err
			}
			if s.Options.JSON {
				return cmdline.ExitOK, document.WriteDocument(s.Streams.Out, shown, true)
			}
			return cmdline.ExitOK, shown.write(s)
		},
	}
}

// shownRun is the output of "run show -json".
type shownRun struct {
	FormatVersion string `json:"format_version"`
	runState
	Progress []shownUnit `json:"progress"`
}

// shownUnit is how far a unit has come.
type shownUnit struct {
	Unit     string          `json:"unit"`
	Pool     string          `json:"pool"`
	State    string          `json:"state"`             // "waiting", "working", "answered", "approval" or "ended"
	Work     string          `json:"work,omitempty"`    // of the last call, such as "apply"
	Attempts []calls.Attempt `json:"workers,omitempty"` // that have taken it
	Text     string          `json:"text"`              // for people
}

// shown reads how far the units of a run have come.
func (t *team) shown(ctx context.Context) (*shownRun, error) {
	st, err := t.state(ctx, t.record)
	if err != nil {
		return nil, err
	}
	statuses, err := calls.Statuses(ctx, t.connection.Records, t.run)
	if err != nil {
		return nil, err
	}
	byUnit := map[string][]calls.Status{}
	for _, status := range statuses {
		unit, _, _ := strings.Cut(status.Call, "/")
		byUnit[unit] = append(byUnit[unit], status)
	}
	shown := &shownRun{FormatVersion: document.FormatVersion, runState: st, Progress: []shownUnit{}}
	for _, u := range t.record.Units {
		made := byUnit[fmt.Sprint(u.Number)]
		if !u.Chosen && len(made) == 0 {
			continue
		}
		shown.Progress = append(shown.Progress, newShownUnit(u, made, st))
	}
	return shown, nil
}

// newShownUnit describes a unit by its calls.
func newShownUnit(u runs.Unit, made []calls.Status, st runState) shownUnit {
	unit := shownUnit{Unit: u.Name, Pool: u.Pool, State: "waiting", Text: "not begun"}
	if st.Outcome != nil {
		for _, end := range st.Outcome.Ends {
			if end.Name == u.Name {
				unit.State, unit.Text = "ended", end.State
			}
		}
	}
	if slices.ContainsFunc(st.Waiting, func(q runs.Question) bool { return q.Unit == u.Number }) {
		unit.State, unit.Text = "approval", "planned, waits for approval"
		return unit
	}
	open := slices.IndexFunc(made, func(status calls.Status) bool { return !status.Answered })
	if open < 0 {
		if len(made) > 0 {
			last := slices.MaxFunc(made, func(a, b calls.Status) int { return begun(a).Compare(begun(b)) })
			unit.Work, unit.Attempts = workOf(last), last.Attempts
			if st.Outcome == nil {
				unit.State, unit.Text = "answered", unit.Work+" done"
			}
		}
		return unit
	}
	status := made[open]
	unit.Work, unit.Attempts = workOf(status), status.Attempts
	if len(status.Attempts) == 0 {
		unit.Text = unit.Work + " waits for a worker of the pool " + u.Pool
		return unit
	}
	last := status.Attempts[len(status.Attempts)-1]
	unit.State = "working"
	unit.Text = fmt.Sprintf("%s by %s since %s", unit.Work, last.Worker, last.Began.Format(time.RFC3339))
	if n := len(status.Attempts); n > 1 {
		unit.Text += fmt.Sprintf(", after %d attempts of others that have not answered", n-1)
	}
	return unit
}

// begun returns when the last attempt at a call has begun.
func begun(status calls.Status) time.Time {
	if len(status.Attempts) == 0 {
		return time.Time{}
	}
	return status.Attempts[len(status.Attempts)-1].Began
}

// workOf returns the kind of work of a call.
func workOf(status calls.Status) string {
	_, work, _ := strings.Cut(status.Call, "/")
	work, _, _ = strings.Cut(work, "-")
	return work
}

func (r *shownRun) write(s *session.Session) error {
	s.Line("Run %s: %s", r.ID, r.text())
	s.Line("Begun by %s at %s on %s: %s", safetext.Name(r.Began.By), r.Began.At.Format(time.RFC3339), safetext.Name(r.Began.Host),
		safetext.Name(commandLine(r.Command)))
	s.Line("")
	table := tabwriter.NewWriter(s.Streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "UNIT\tPOOL\tSTATE")
	for _, unit := range r.Progress {
		fmt.Fprintf(table, "%s\t%s\t%s\n", safetext.Name(unit.Unit), unit.Pool, safetext.Name(unit.Text))
	}
	return table.Flush()
}

func runAttachCommand() *session.Command {
	var o gateOptions
	return &session.Command{
		Name:    "attach",
		Args:    "ID",
		Summary: "Goes on with a run on workers that another process has begun, or follows it.",
		Long: `
All that was done is shown again and not done again; what runs is waited for, and the rest is done in the order of the
run. Approvals stay given. The run needs its own files only, which it has kept: any directory and any machine will do
that has the block "workers" and the key in CAIRN_RUN_KEY.`,
		Example: "cairn run attach 20310102-030405-abcdef",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(f *session.Flags) { o.attachFlags(f) },
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			t, err := connectToRuns(ctx, s, args[0])
			if err != nil {
				return 0, err
			}
			return attach(ctx, s, t, o)
		},
	}
}

// attachFlags adds the options of commands that go on with a run.
func (o *gateOptions) attachFlags(f *session.Flags) {
	*o = gateOptions{}
	f.Var(&o.report, "report", "write the results to `FILE`: JSON, JUnit if its name ends in .xml, or Markdown if in .md")
	o.markdown.Add(f)
}

// attach goes on with a run. It closes the team.
func attach(ctx context.Context, s *session.Session, t *team, o gateOptions) (int, error) {
	defer t.close()
	outcome, err := t.store.Outcome(ctx, t.run)
	switch {
	case err != nil:
		return 0, err
	case outcome != nil:
		shown, err := t.shown(ctx)
		if err != nil {
			return 0, err
		}
		return outcome.Code, shown.write(s)
	case t.record.Version != buildinfo.Read().Protocol():
		return 0, failure.Error("Run of another version", "The run was begun by cairn %s, and this is cairn %s. Go on with the version that "+
			"has begun it, or begin a new run.", t.record.Version, buildinfo.Read().Protocol())
	case t.record.Mode == driftMode:
		return 0, failure.Error("Run of a comparison", "The run has compared stacks, and nobody has to go on with that. "+
			"Compare again: cairn run drift.")
	}
	if o.inMarkdown, err = o.markdown.Options("cairn run " + t.record.Mode); err != nil {
		return 0, err
	}
	dir, err := t.files(ctx)
	if err != nil {
		return 0, err
	}
	kept := &t.record.Options
	o.tree.root = filepath.Join(dir, filepath.FromSlash(t.record.Sources.Below))
	o.autoApprove, o.ask, o.acceptRecovery, o.concise = kept.AutoApprove, kept.Ask, kept.AcceptRecovery, kept.Concise
	o.maxRounds, o.parallelOption, o.attached, o.allowDirty = cmdline.Count(kept.MaxRounds), cmdline.Count(kept.Parallel), t, true
	closeSet, err := o.takeSet(ctx, s, t)
	if err != nil {
		return 0, err
	}
	defer closeSet()
	content, err := t.store.Kept(ctx, t.run, runs.VariablesName)
	if err == nil {
		err = json.Unmarshal(content, &t.variables)
	}
	if err != nil {
		return 0, err
	}
	t.attached = true
	var g *gates
	if kept.Gone != "" {
		g, err = openGoneAgain(ctx, s, o)
	} else {
		g, err = openGates(ctx, s, rollout.Mode(t.record.Mode), o)
	}
	if err != nil {
		return 0, err
	}
	return g.command(ctx)
}

// files returns the directory with the files of the run.
func (t *team) files(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	files := filesources.Cache{Dir: filepath.Join(cache, "cairn", "runs")}
	return files.Get(ctx, t.record.Sources.Digest, func() ([]byte, error) { return t.store.Kept(ctx, t.run, runs.SourcesName) })
}

func runApproveCommand() *session.Command {
	var o gateOptions
	var all, only bool
	return &session.Command{
		Name:    "approve",
		Args:    "ID [UNIT...]",
		Summary: "Approves plans of a run on workers that wait for it, and goes on with the run.",
		Long: `
The approval is recorded with who has given it, and stays. Without UNIT, the only plan that waits is approved, or all of them with
-all. "cairn run attach ID" shows the plans, and asks.`,
		Example: "cairn run approve 20310102-030405-abcdef prod-app\ncairn run approve -all -only 20310102-030405-abcdef",
		MinArgs: 1, MaxArgs: 1 << 20,
		Flags: func(f *session.Flags) {
			o.attachFlags(f)
			all, only = false, false
			f.BoolVar(&all, "all", false, "approve all plans that wait now")
			f.BoolVar(&only, "only", false, "only record the approval: somebody else goes on with the run")
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			t, err := connectToRuns(ctx, s, args[0])
			if err != nil {
				return 0, err
			}
			if err := t.approveNamed(ctx, args[1:], all); err != nil || only {
				t.close()
				return cmdline.ExitOK, err
			}
			return attach(ctx, s, t, o)
		},
	}
}

// approveNamed approves the plans of units that wait.
func (t *team) approveNamed(ctx context.Context, names []string, all bool) error {
	open, err := t.store.Open(ctx, t.run)
	if err != nil {
		return err
	}
	var waiting []string
	for _, q := range open {
		waiting = append(waiting, q.Name)
	}
	list := cmp.Or(strings.Join(waiting, ", "), "none")
	switch {
	case len(open) == 0:
		return failure.Error("Nothing to approve",
			"No plan of the run %s waits for approval. \"cairn run show %[1]s\" shows how it stands.", t.run)
	case all && len(names) > 0:
		return failure.Error("Conflicting arguments", "Give only one of -all and names of units.")
	case len(names) == 0 && len(open) > 1 && !all:
		return failure.Error("Several plans wait", "Name those to approve, or give -all. These wait: %s.", list)
	}
	for _, name := range names {
		if !slices.Contains(waiting, name) {
			return failure.Error("Not waiting for approval", "No plan of %s waits in the run %s. These wait: %s.", name, t.run, list)
		}
	}
	for _, q := range open {
		if len(names) > 0 && !slices.Contains(names, q.Name) {
			continue
		}
		if err := t.store.Approve(ctx, t.run, q.Unit, q.Round, runs.Approval{Who: thisPerson()}); err != nil {
			return err
		}
		t.gates.session.Note("Approved: %s.\n", safetext.Name(q.Name))
	}
	return nil
}

func runCancelCommand() *session.Command {
	return &session.Command{
		Name:    "cancel",
		Args:    "ID",
		Summary: "Asks a run on workers to stop, as an interrupt does.",
		Long: `
Nothing more is begun. What workers have begun comes to the next point where nothing is lost, which this command waits for.
Where the program that carried the run on has died, or the run waits for approval, "cairn run attach ID" records its end after that.`,
		Example: "cairn run cancel 20310102-030405-abcdef",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(*session.Flags) {},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			t, err := connectToRuns(ctx, s, args[0])
			if err != nil {
				return 0, err
			}
			defer t.close()
			return cmdline.ExitOK, t.cancel(ctx)
		},
	}
}

// cancel asks all calls of a run to stop, and waits for their ends.
func (t *team) cancel(ctx context.Context) error {
	outcome, err := t.store.Outcome(ctx, t.run)
	if err != nil {
		return err
	}
	if outcome != nil {
		return failure.Error("Ended run", "The run %s has ended at %s.", t.run, outcome.At.Format(time.RFC3339))
	}
	if err := t.store.Cancel(ctx, t.run, thisPerson()); err != nil {
		return err
	}
	statuses, err := calls.Statuses(ctx, t.connection.Records, t.run)
	if err != nil {
		return err
	}
	pools := map[string]string{}
	for _, u := range t.record.Units {
		pools[fmt.Sprint(u.Number)] = u.Pool
	}
	client := &calls.Client{Queue: t.connection.Queues, Run: t.run}
	for _, status := range statuses {
		if status.Answered {
			continue
		}
		unit, _, _ := strings.Cut(status.Call, "/")
		if err := client.Stop(ctx, status.Call, pools[unit]); err != nil {
			return err
		}
	}
	t.gates.session.Note("The run %s is stopped.\n", t.run)
	return nil
}
