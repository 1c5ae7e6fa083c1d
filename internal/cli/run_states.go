// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/cairnstacks/cairn/internal/order/lowdata"
	"github.com/cairnstacks/cairn/internal/order/lowdata/statefn"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
)

func runStatesCommand() *command {
	var o statesOptions
	var test, failhard bool
	var functions string
	return &command{
		name:    "states",
		args:    "ROOT SLS...",
		summary: "Brings this machine into the states that SLS files describe.",
		long: `
The files are in the directory ROOT, and web.config is web/config.sls there. All mistakes that can be found beforehand are, and nothing is
run then. With -test nothing is changed, and what would be is shown. An interrupt lets the call end that is being made, and a second one ends it.

Functions: ` + strings.Join(statefn.Names(), ", ") + `. All others are programs named MODULE.FUNCTION in the directory given with -functions.`,
		example: "cairn run states -test states web\ncairn run states -functions=functions states web db",
		minArgs: 2, maxArgs: 1 << 30,
		flags: func(f *flagSet) {
			f.statesFlags(&o)
			f.tieFlag(&o)
			f.BoolVar(&test, "test", false, "change nothing, and show what would be changed")
			f.BoolVar(&failhard, "failhard", false, "stop at the first failure")
			f.StringVar(&functions, "functions", "", "programs for functions are in `DIR`")
			f.jsonFlag("write a JSON document")
		},
		run: func(ctx context.Context, s *session, args []string) (int, error) {
			s.reportDocuments()
			if err := checkFunctionsDir(functions); err != nil {
				return 0, err
			}
			src, err := s.openStates(args, o)
			if err != nil {
				return 0, err
			}
			run := &statesRun{session: s, source: src, test: test, host: &statefn.Host{Files: src.files(), Folder: functions}}
			status, err := run.run(ctx, o, failhard)
			return status, errors.Join(err, src.close())
		},
	}
}

func checkFunctionsDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory")
	}
	if err != nil {
		return fail("Functions cannot be used", "The directory given with -functions cannot be used: %s.", reason(err))
	}
	return nil
}

// statesRun is one run of states.
type statesRun struct {
	session *session
	source  *statesSource
	host    *statefn.Host
	test    bool
}

func (r *statesRun) run(ctx context.Context, o statesOptions, failhard bool) (int, error) {
	s := r.session
	if err := s.compileStates(r.source, o); err != nil {
		return 0, err
	}
	if diags := r.host.Check(r.source.low.Calls); len(diags) > 0 {
		return 0, diags
	}
	starting, making, stop := s.interruptibleCalls(ctx)
	call := func(req lowdata.Request) lowdata.Outcome { return r.host.Call(making, req) }
	options := lowdata.RunOptions{Functions: hostCalls{r.host, call}, Test: r.test, Failhard: failhard}
	if !s.options.json {
		options.Ended = r.write
	}
	results := r.source.low.Run(starting, options)
	stop()
	status := exitOK
	for _, result := range results {
		if !result.Status.Success() {
			status = exitError
		}
	}
	if s.options.json {
		return status, jsonview.WriteDocument(s.streams.Out, r.document(results), true)
	}
	for _, result := range results {
		if result.Status == lowdata.NotStarted {
			r.write(result)
		}
	}
	s.stdout("\n%s\n", r.summary(results))
	return status, nil
}

// hostCalls makes calls that do not end when nothing more is to be started.
type hostCalls struct {
	*statefn.Host
	call func(lowdata.Request) lowdata.Outcome
}

// Call implements [lowdata.Functions].
func (c hostCalls) Call(_ context.Context, req lowdata.Request) lowdata.Outcome { return c.call(req) }

// interruptibleCalls returns a context for starting calls, which ends with the first interrupt, and one for making them, which
// ends with the second. The caller must call stop.
func (s *session) interruptibleCalls(ctx context.Context) (starting, making context.Context, stop func()) {
	making, end := context.WithCancelCause(ctx)
	starting, begin := context.WithCancelCause(making)
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	var handler sync.WaitGroup
	handler.Go(func() {
		for count := 1; ; count++ {
			select {
			case <-done:
				return
			case <-signals:
			}
			if count > 1 {
				s.note("\nEnding what is still running.\n")
				end(errInterrupted)
				continue
			}
			s.note("\nInterrupted. Nothing more is started; waiting for what is running. Interrupt once more to end it.\n")
			begin(errInterrupted)
		}
	})
	return starting, making, func() {
		signal.Stop(signals)
		close(done)
		handler.Wait()
		begin(context.Canceled)
		end(context.Canceled)
	}
}

// write shows a result.
func (r *statesRun) write(result lowdata.Result) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s  %s\n", r.status(result.Status), result.Call)
	if result.Comment != "" {
		writeIndented(&b, result.Comment)
	}
	if result.Changes.Len() > 0 {
		var changes strings.Builder
		if err := lowdata.WriteYAML(&changes, result.Changes); err == nil {
			writeIndented(&b, changes.String())
		}
	}
	r.session.stdout("%s", b.String())
}

// status names a status, in test mode as what would be.
func (r *statesRun) status(status lowdata.Status) string {
	if r.test && status == lowdata.Changed {
		return "would change"
	}
	return status.String()
}

func writeIndented(b *strings.Builder, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		b.WriteString("    " + line)
	}
}

// summary counts how calls have ended.
func (r *statesRun) summary(results []lowdata.Result) string {
	counts := map[lowdata.Status]int{}
	for _, result := range results {
		counts[result.Status]++
	}
	var parts []string
	for _, status := range lowdata.Statuses() {
		if counts[status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[status], r.status(status)))
		}
	}
	if len(parts) == 0 {
		return "There is nothing to do."
	}
	return strings.Join(parts, ", ") + "."
}

// statesDocument is what cairn run states -json writes.
type statesDocument struct {
	FormatVersion string         `json:"format_version"`
	Test          bool           `json:"test"`
	Results       []stateResult  `json:"results"`
	Summary       map[string]int `json:"summary"`
}

type stateResult struct {
	ID       string       `json:"id"`
	SLS      string       `json:"sls"`
	Function string       `json:"function"`
	Name     string       `json:"name"`
	Status   string       `json:"status"`
	Result   bool         `json:"result"` // false for what counts as a failure
	Changes  *lowdata.Map `json:"changes"`
	Comment  string       `json:"comment"`
	Because  string       `json:"because,omitempty"`
}

func (r *statesRun) document(results []lowdata.Result) statesDocument {
	document := statesDocument{FormatVersion: jsonview.FormatVersion, Test: r.test, Results: []stateResult{}, Summary: map[string]int{}}
	for _, result := range results {
		call := result.Call
		shown := stateResult{
			ID: call.ID, SLS: call.SLS, Function: call.FullFunction(), Name: call.Name, Status: result.Status.String(),
			Result: result.Status.Success(), Changes: result.Changes, Comment: result.Comment,
		}
		if shown.Changes == nil {
			shown.Changes = &lowdata.Map{}
		}
		if result.Because != nil {
			shown.Because = result.Because.String()
		}
		document.Results = append(document.Results, shown)
		document.Summary[shown.Status]++
	}
	return document
}
