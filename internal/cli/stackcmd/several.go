// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/groups"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// chosen are the deployments of a stack that a command works on, if there are several.
type chosen struct {
	config *deployconfig.Config
	all    bool // none was named
	names  map[string]bool
}

// Names returns them in the order of their blocks.
func (c *chosen) Names() []string {
	return slices.DeleteFunc(slices.Clone(c.config.Order), func(name string) bool { return !c.names[name] })
}

// groups returns those of the deployments, without members that were not chosen.
func (c *chosen) groups() []groups.Group {
	var result []groups.Group
	for _, name := range c.config.GroupOrder {
		declared := c.config.Groups[name]
		group := groups.Group{Name: name, Eager: declared.EagerPlan, Tolerance: declared.FailureTolerance, Alone: declared.Automatic}
		for _, member := range declared.Members {
			if c.names[member] {
				group.Members = append(group.Members, member)
			}
		}
		if len(group.Members) > 0 {
			result = append(result, group)
		}
	}
	return result
}

// chooseDeployments returns the deployments that the options name, or all. It is nil if it is one,
// which the session then has, or if there are no deployment files.
func (o *Execution) chooseDeployments() (*chosen, error) {
	given := o.Options.Deployments
	if len(given) == 1 && !glob.HasMeta(given[0]) {
		o.ChooseDeployment(given[0])
		return nil, nil
	}
	// The variable names one deployment, and the operation reads it itself.
	if len(given) == 0 && os.Getenv(env.DeploymentVariable) != "" {
		return nil, nil
	}
	config, diags := o.Stack().Sources().Deployments()
	switch {
	case config == nil && len(given) > 0 && !diags.HasErrors():
		return nil, failure.Error("No deployments declared", "The stack has no deployment files, "+
			"so that only one deployment can be named at a time. Name one, without a pattern, or declare all in a file *.tfdeploy.hcl.")
	case config == nil || diags.HasErrors(), len(given) == 0 && len(config.Order) < 2:
		return nil, nil // errors in the files are reported with the rest of the stack
	}
	result := &chosen{config: config, all: len(given) == 0, names: map[string]bool{}}
	for _, text := range given {
		if err := result.choose(text); err != nil {
			return nil, err
		}
	}
	if result.all {
		for _, name := range config.Order {
			result.names[name] = true
		}
	}
	if len(result.names) == 1 {
		o.ChooseDeployment(result.Names()[0])
		return nil, nil
	}
	return result, nil
}

// choose adds the deployments that a pattern matches.
func (c *chosen) choose(text string) error {
	pattern, err := glob.Compile(text)
	if err != nil {
		return failure.Error("Invalid deployment pattern", "The pattern %q cannot be understood: %s.", text, failure.Reason(err))
	}
	found := false
	for _, name := range c.config.Order {
		if pattern.Match(name) {
			c.names[name], found = true, true
		}
	}
	if !found {
		return hcl.Diagnostics{sources.NotDeclared(c.config, text)}
	}
	return nil
}

// severalRequest is a request to plan, apply or destroy several deployments.
type severalRequest struct {
	operation.Request
	mode        string // "plan", "apply" or "destroy"
	autoApprove bool
	detailed    bool
}

// several is the work on several deployments while it is done.
type several struct {
	*Execution
	*chosen
	request severalRequest
	ready   *ready

	plans      *session.Plans
	options    operation.Options
	display    *session.RunDisplay // nil with -json
	shown      PartViews
	json       sync.Mutex // held while a line is written
	unanswered bool       // nobody answers questions
}

// runSeveral plans or applies several deployments, group by group.
func (o *Execution) runSeveral(ctx context.Context, all *chosen, request severalRequest, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	ready, diags := o.readySeveral(ctx, all, request.Request)
	defer ready.close()
	if diags.HasErrors() {
		return o.finish(diags)
	}
	if err := o.Report(diags); err != nil {
		return 0, err
	}
	if request.ApproveLater {
		if err := o.Stack().Sources().PrepareWaiting(); err != nil {
			return 0, err
		}
	}
	s := &several{Execution: o, chosen: all, request: request, options: o.StackOptions()}
	s.options.Shared, s.ready = &operation.Shared{}, ready
	s.options.Env.Files = nil // each deployment reads into a map of its own, as several do so at the same time
	if s.plans, err = o.MakePlans(); err != nil {
		return 0, err
	}
	defer s.plans.Abandon() // it is gone, unless there was a panic
	parallel, err := s.parallel()
	if err != nil {
		return 0, err
	}
	s.options.Shared.OfEngines().Binary.AllowProcesses(parallel)
	ctx, unread, stop := o.InterruptAll(ctx, &process.Set{}, session.InFlight{
		Begun: s.shown.Begun,
		Lost:  s.shown.Lost,
	})
	if !o.Options.JSON {
		s.display = o.NewRunDisplay(session.RunDisplayOptions{
			Title:    severalTitles[request.mode],
			Total:    len(all.names),
			Parallel: parallel > 1,
			Unread:   unread,
		})
	}
	options := groups.Options{
		PlanOnly: request.mode == "plan", Destroy: request.Mode == engine.Destroy, Parallel: parallel, Rounds: request.Rounds,
		Open: s.open, Approve: s.approve, Ended: s.ended,
	}
	var ends []groups.End
	s.during(func() { ends = groups.Run(ctx, all.groups(), options) })
	s.plans.Remove() // while one more signal does not end this program
	stop()
	return s.summarize(ends)
}

// ready are deployments of a stack that is read, and of which all requirements are installed.
type ready struct {
	stack   *operation.Stack
	checked map[string]*operation.Stack // for each deployment
	given   map[string]*operation.Given // its input values
}

func (r *ready) close() {
	for _, checked := range r.checked {
		_ = checked.Close() //nolint:errcheck // it has changed nothing
	}
	_ = r.stack.Close() //nolint:errcheck // it has changed nothing
}

// checkDeployments checks the deployment files against the configuration.
func (r *ready) checkDeployments() hcl.Diagnostics {
	config, _ := r.stack.Sources().Config() //nolint:errcheck // which is reported elsewhere
	return r.stack.Sources().CheckDeployments(config)
}

// readySeveral does the work once that all deployments need: the stack is read, and its
// requirements are installed. An engine works for one deployment, here for the first. The input
// values of the deployments are checked before, as far as that takes no engine: if none of them can
// be planned with its values, nothing is installed.
func (o *Execution) readySeveral(ctx context.Context, all *chosen, request operation.Request) (*ready, hcl.Diagnostics) {
	options := o.StackOptions()
	options.Env.Deployment, options.Like = all.Names()[0], o.Stack()
	r := &ready{operation.Open(options), map[string]*operation.Stack{}, map[string]*operation.Given{}}
	var some faults // of some deployments, while others can be planned
	_, diags := r.stack.Install(ctx, operation.InstallRequest{Check: func(ctx context.Context) hcl.Diagnostics {
		diags := r.checkDeployments() // here, so that each mistake is reported once, not by each deployment
		if all.all && !diags.HasErrors() {
			diags = diags.Extend(o.Stack().States().CheckLeft(ctx))
		}
		if diags.HasErrors() {
			return diags
		}
		failed := 0
		for _, name := range all.Names() {
			options.Env.Deployment, options.Like = name, r.stack
			r.checked[name] = operation.Open(options)
			given, moreDiags := r.checked[name].CheckGiven(ctx, request, o.Caller())
			r.given[name] = given
			if moreDiags.HasErrors() {
				failed++
			}
			some.add(name, moreDiags)
		}
		if failed == len(all.names) {
			diags, some = diags.Extend(some.once()), nil
		}
		return diags
	}})
	if diags.HasErrors() {
		diags = some.once().Extend(diags)
	}
	return r, diags
}

// fault is an error in the input values of a deployment.
type fault struct {
	diag *hcl.Diagnostic
	also []string // other deployments with the same, written at another place
}

// faults are those of several deployments, each once.
type faults []fault

func (f *faults) add(deployment string, diags hcl.Diagnostics) {
	for _, diag := range diags {
		at := slices.IndexFunc(*f, func(known fault) bool {
			return known.diag.Summary == diag.Summary && known.diag.Detail == diag.Detail && (known.diag.Subject == nil) == (diag.Subject == nil)
		})
		switch {
		case at < 0:
			*f = append(*f, fault{diag: diag})
		case diag.Subject != nil && *diag.Subject != *(*f)[at].diag.Subject:
			(*f)[at].also = append((*f)[at].also, deployment)
		}
	}
}

func (f *faults) once() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, found := range *f {
		diag := *found.diag
		if len(found.also) > 0 {
			diag.Detail += " It is the same in: " + strings.Join(found.also, ", ") + "."
		}
		diags = diags.Append(&diag)
	}
	return diags
}

var severalTitles = map[string]string{"plan": "Planning", "apply": "Applying", "destroy": "Destroying"}

func (s *several) during(work func()) {
	if s.display == nil {
		work()
		return
	}
	s.display.During(work)
}

// parallel is the number of deployments that are worked on at the same time.
func (s *several) parallel() (int, error) {
	if n := s.request.Parallelism; n > 0 {
		return n, nil
	}
	read, err := s.Stack().Env().Settings()
	if err != nil || read.Parallelism > 0 {
		return read.Parallelism, err
	}
	return engine.DefaultParallelism, nil
}

// open returns the driver of a deployment.
func (s *several) open(member string) driver.Driver {
	options := driver.StackOptions{
		Operation: s.options, Request: s.request.Request, Version: s.request.Version, Prepared: true,
		PlanFile: filepath.Join(s.plans.Path(), member+".plan"),
		Show:     func(phase string, options *operation.Options) driver.View { return s.show(member, phase, options) },
	}
	options.Operation.Env.Deployment, options.Operation.Like = member, s.ready.checked[member]
	options.Request.Given, options.Request.Together = s.ready.given[member], s.names
	if s.request.ApproveLater {
		options.PlanFile, options.Keep = s.Stack().Env().WaitingPlan(member), driver.UntilApplied
	}
	return driver.NewStack(options)
}

// approve decides whether the plan of a deployment is applied: by its rules, by options, or by the
// answer of a person.
func (s *several) approve(ctx context.Context, member string, plan driver.Plan, show func() error) (string, error) {
	switch {
	case plan.Judged.Approved():
		return operation.ByRules(plan.Judged.Rules), nil
	case s.request.autoApprove:
		return operation.ByOption, nil
	case s.request.ApproveLater, s.asksNobody(), s.unanswered:
		return "", groups.ErrWaiting
	}
	if s.display.Output.Last() != member {
		if err := show(); err != nil {
			return "", err
		}
	}
	defer s.display.Output.Hold()()
	s.Say("%s", strings.Replace(approvalQuestion(s.request.Mode), "?\n", " in the deployment "+member+"?\n", 1))
	answer, err := s.Ask(ctx, "  Enter a value: ", false)
	s.Note("\n")
	switch {
	case errors.Is(err, session.ErrNoAnswer):
		s.unanswered = true
		return "", groups.ErrWaiting
	case err != nil:
		return "", err
	case strings.TrimSpace(answer) != "yes":
		return "", groups.ErrRefused
	}
	return operation.ByAnswer, nil
}

// ended takes notice of the end of a deployment.
func (s *several) ended(end groups.End) {
	if s.display == nil {
		return
	}
	state := order.Skipped
	switch end.State {
	case groups.Failed:
		state = order.Failed
	case groups.Applied, groups.Destroyed, groups.NoChanges, groups.Planned:
		state = order.Succeeded
	}
	text := string(end.State)
	if detail := s.detail(end); detail != "" {
		text += " (" + detail + ")"
	}
	s.display.EndedAs(end.Member, state, text)
}

// exitCode is that of the whole command.
func (s *several) exitCode(ends []groups.End) int {
	code := cmdline.ExitOK
	for _, end := range ends {
		switch {
		case end.State == groups.Failed, end.State == groups.Refused:
			return cmdline.ExitError
		case end.State == groups.Waiting, end.State == groups.InPart:
			code = cmdline.ExitApproval
		case end.State == groups.Planned && s.request.detailed && code == cmdline.ExitOK:
			code = cmdline.ExitChanges
		case end.State == groups.NotBegun && code != cmdline.ExitApproval && !waitsBefore(ends):
			return cmdline.ExitError
		}
	}
	return code
}

// waitsBefore reports whether a deployment waits for approval, for which those wait in turn that
// were not begun.
func waitsBefore(ends []groups.End) bool {
	return slices.ContainsFunc(ends, func(end groups.End) bool { return end.State == groups.Waiting || end.State == groups.InPart })
}
