// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statescmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/reportfile"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"

	"github.com/cairnstacks/cairn/internal/document"
	staterun "github.com/cairnstacks/cairn/internal/states/run"
)

// RunCommand returns the command that makes the calls of SLS files.
func RunCommand() *session.Command {
	var o Options
	var test, failhard bool
	var functions, backups, output string
	var parallel cmdline.Count
	var report cmdline.File
	return &session.Command{
		Name:    "states",
		Foreign: true,
		Args:    "ROOT [SLS...]",
		Summary: "Brings this machine into the states that SLS files describe.",
		Long: `
The files are in the directory ROOT, and web.config is web/config.sls there. Without names,
ROOT/top.sls says which. All mistakes that can be found beforehand are, and nothing is run then.
With -test, or test=True as Salt has it, nothing is changed, and the changes that would be made are shown. An
interrupt lets the call end that is being made, and a second one ends it.

Functions: ` + strings.Join(staterun.Names(), ", ") + `. All others are programs named MODULE.FUNCTION
in the directory given with -functions.`,
		Example: "cairn run states -test states web\ncairn run states -functions=functions states web db\ncairn run states -id=web1 states",
		MinArgs: 1, MaxArgs: 1 << 30,
		Flags: func(f *session.Flags) {
			statesFlags(f, &o)
			tieFlag(f, &o)
			f.BoolVar(&test, "test", false, "change nothing, and show the changes that would be made")
			f.BoolVar(&failhard, "failhard", false, "stop at the first failure")
			parallel = 10
			f.Var(&parallel, "parallel", "make at most `N` calls at the same time, of those with \"parallel: true\" (default: 10)")
			f.StringVar(&backups, "backups", "",
				"put files with \"backup: minion\" below `DIR` before they are replaced "+
					"(default: /var/backups/cairn for root, or ~/.local/state/cairn/backups)")
			f.StringVar(&functions, "functions", "", "programs for functions are in `DIR`")
			f.StringVar(&output, "output", "full",
				"of each call, show all, one line, all if it has failed, or all if it has failed or changed something: `full|terse|mixed|changes`")
			report = ""
			f.Var(&report, "report", "write the results to `FILE`: JSON, or JUnit if its name ends in .xml")
			session.JSONFlag(f, "write a JSON document")
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			if err := checkFunctionsDir(functions); err != nil {
				return 0, err
			}
			show, err := resultsShown(output)
			if err != nil {
				return 0, err
			}
			if args, err = testArgument(args, &test); err != nil {
				return 0, err
			}
			src, err := Open(args, o)
			if err != nil {
				return 0, err
			}
			host := &staterun.Host{Files: src.files(), Folder: functions, Backups: backupsDir(backups)}
			run := &statesRun{session: s, source: src, host: host, test: test, report: report, show: show}
			status, err := run.run(ctx, o, schedule.Options{Test: test, Failhard: failhard, Parallel: int(parallel)})
			return status, errors.Join(err, src.Close())
		},
	}
}

func checkFunctionsDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a directory")
	}
	if err != nil {
		return failure.Error("Unusable functions directory", "The directory given with -functions cannot be used: %s.", failure.Reason(err))
	}
	return nil
}

// backupsDir returns the directory for backups, "" if there can be none.
func backupsDir(given string) string {
	if given != "" {
		if absolute, err := filepath.Abs(given); err == nil {
			return absolute
		}
		return given
	}
	if os.Geteuid() == 0 {
		return "/var/backups/cairn"
	}
	state := os.Getenv("XDG_STATE_HOME")
	if home, err := os.UserHomeDir(); !filepath.IsAbs(state) && err == nil {
		state = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(state) {
		return ""
	}
	return filepath.Join(state, "cairn", "backups")
}

// resultsShown returns of which results all is shown with one of the values of -output.
func resultsShown(output string) (func(schedule.Status) bool, error) {
	switch output {
	case "full":
		return func(schedule.Status) bool { return true }, nil
	case "terse":
		return func(schedule.Status) bool { return false }, nil
	case "mixed":
		return func(status schedule.Status) bool { return !status.Success() }, nil
	case "changes":
		return func(status schedule.Status) bool { return !status.Success() || status == schedule.Changed }, nil
	}
	return nil, failure.Error("Invalid option", "For the option -output there is no value %q. Use full, terse, mixed or changes.", output)
}

// testArgument takes "test=True" out of the arguments, which stands for the option -test.
func testArgument(args []string, test *bool) ([]string, error) {
	var others []string
	for _, arg := range args {
		value, ok := strings.CutPrefix(arg, "test=")
		switch {
		case !ok:
			others = append(others, arg)
		case strings.EqualFold(value, "true"):
			*test = true
		case strings.EqualFold(value, "false"):
			*test = false
		default:
			return nil, failure.Error("Invalid argument", "The argument %q must be test=True or test=False.", arg)
		}
	}
	if len(others) == 0 {
		return nil, failure.Error("Missing argument", "The command needs: cairn run states ROOT [SLS...].")
	}
	return others, nil
}

// statesRun is one run of states.
type statesRun struct {
	session *session.Session
	source  *Source
	host    *staterun.Host
	test    bool
	report  cmdline.File               // the file for the results; "" if there is none
	show    func(schedule.Status) bool // whether of a result all is shown, and not only one line
	unread  func()                     // is called if nobody reads the results
}

func (r *statesRun) run(ctx context.Context, o Options, options schedule.Options) (int, error) {
	s := r.session
	if err := r.source.Compile(o); err != nil {
		return 0, err
	}
	if diags := r.host.Check(r.source.Low.Calls); len(diags) > 0 {
		return 0, diags
	}
	if err := reportfile.Check(r.report); err != nil {
		return 0, err
	}
	if !s.Options.JSON { // the document has them
		if err := s.Report(r.source.Warnings); err != nil {
			return 0, err
		}
	}
	starting, making, unread, stop := interruptibleCalls(ctx, s)
	r.unread = unread
	call := func(req schedule.Request) schedule.Outcome { return r.host.Call(making, req) }
	options.Functions = hostCalls{r.host, call}
	var results []schedule.Result
	work := func() { results = schedule.Run(starting, r.source.Low, options) }
	if s.Options.JSON {
		work()
	} else {
		r.during(&options, work)
	}
	stop()
	status := cmdline.ExitOK
	for _, result := range results {
		if !result.Status.Success() {
			status = cmdline.ExitError
		}
	}
	if err := reportfile.Write(r.report, statesReport{r, results}, reportfile.ForOwner); err != nil {
		return 0, err
	}
	if s.Options.JSON {
		return status, document.WriteDocument(s.Streams.Out, r.document(results), true)
	}
	for _, result := range results {
		if result.Status == schedule.NotStarted {
			r.write(result)
		}
	}
	s.Print("\n%s\n", r.summary(results))
	return status, nil
}

// during shows the progress while work runs: each result, and on a terminal also the running calls.
func (r *statesRun) during(options *schedule.Options, work func()) {
	display := r.session.NewRunDisplay(session.RunDisplayOptions{Title: "Running", Total: len(r.source.Low.Calls), Parallel: true})
	rows := map[*compile.Call]*show.NodeOutput{}
	options.Started = func(call *compile.Call) {
		if rows[call] == nil {
			rows[call] = display.Output.Node(call.String())
		}
	}
	options.Ended = func(result schedule.Result) {
		if row := rows[result.Call]; row != nil {
			_ = row.Close() //nolint:errcheck // nothing was printed there
		}
		r.write(result)
		display.Count(statesAsNodes[result.Status])
	}
	display.During(work)
}

// statesAsNodes maps the statuses of calls to the states under which a display counts them.
var statesAsNodes = map[schedule.Status]order.State{
	schedule.OK: order.Succeeded, schedule.Changed: order.Succeeded, schedule.NotNeeded: order.Succeeded,
	schedule.Failed: order.Failed, schedule.Skipped: order.Skipped,
}

// hostCalls makes calls that do not end when nothing more is to be started.
type hostCalls struct {
	*staterun.Host
	call func(schedule.Request) schedule.Outcome
}

// Call implements [schedule.Functions].
func (c hostCalls) Call(_ context.Context, req schedule.Request) schedule.Outcome { return c.call(req) }

// interruptibleCalls returns a context for starting calls, which ends with the first interrupt, and
// one for making them, which ends with the second. That nobody reads the results, which unread
// says, counts as a first one. The caller must call stop.
func interruptibleCalls(ctx context.Context, s *session.Session) (starting, making context.Context, unread, stop func()) {
	making, end := context.WithCancelCause(ctx)
	starting, begin := context.WithCancelCause(making)
	unwatch := s.WatchInterrupts(session.InterruptActions{
		First:  func(os.Signal) { begin(operation.ErrInterrupted) },
		Second: func() { end(operation.ErrInterrupted) },

		WritesPipes: true, // functions that are programs get their arguments by one
	})
	unread = sync.OnceFunc(func() {
		s.Note(session.NoteUnread)
		begin(operation.ErrInterrupted)
	})
	return starting, making, unread, func() {
		unwatch()
		begin(context.Canceled)
		end(context.Canceled)
	}
}

// write shows a result.
func (r *statesRun) write(result schedule.Result) {
	r.session.Print("%s", resultText(result, r.status(result.Status), r.show(result.Status)))
	if lost := r.session.Lost.Load(); lost != nil && errors.Is(*lost, syscall.EPIPE) {
		r.unread()
	}
}

// status names a status; in test mode, the status that a run would give.
func (r *statesRun) status(status schedule.Status) string {
	if r.test && status == schedule.Changed {
		return "would change"
	}
	return status.String()
}

// summary counts how calls have ended.
func (r *statesRun) summary(results []schedule.Result) string {
	counts := map[schedule.Status]int{}
	for _, result := range results {
		counts[result.Status]++
	}
	var parts []string
	for _, status := range schedule.Statuses() {
		if counts[status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[status], r.status(status)))
		}
	}
	if len(parts) == 0 {
		return "There is nothing to do."
	}
	return strings.Join(parts, ", ") + "."
}
