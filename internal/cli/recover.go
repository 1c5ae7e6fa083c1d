// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/tfengine"
	"github.com/cairnstacks/cairn/internal/tfengine/runner"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// recover saves what applies have done whose program was killed, and says so at once: this program may be killed, too. What such an
// apply has failed with does not keep the next one from going on, so errors are said as warnings; but what may be there without
// being in the state would be made once more, so that nothing is changed before the user has looked.
//
// What is said is kept until the operation is finished.
func (o *execution) recover(ctx context.Context) hcl.Diagnostics {
	if err := o.bindRuns(ctx); err != nil {
		return asDiagnostics(err)
	}
	found, diags := o.findInterrupted(ctx)
	diags = diags.Extend(o.saveRecovered(ctx, found))
	for _, recovered := range o.recovered {
		if err := o.report(recoveredWarnings(recovered)); err != nil {
			return diags.Extend(asDiagnostics(err))
		}
		diags = diags.Extend(errorDiagnostics(recovered.MarkSeen()))
	}
	if o.name != "plan" && !o.flags.refreshOnly {
		diags = diags.Extend(o.checkDoubts())
	}
	return diags
}

// checkDoubts fails if something is in doubt that the user has not accepted: planned once more, it may be made twice.
func (o *execution) checkDoubts() hcl.Diagnostics {
	var doubts []string
	for _, recovered := range o.recovered {
		if o.accepts(recovered) {
			continue
		}
		for _, resource := range recovered.Doubts {
			doubts = append(doubts, recovered.Component+"."+resource)
		}
	}
	if len(doubts) == 0 {
		return nil
	}
	again := "Then run this command again with -accept-recovery."
	if o.flags.acceptRecovery {
		again = "Then run this command again: -accept-recovery accepts only what an earlier command has shown, and this was found just now."
	}
	return hcl.Diagnostics{problem("Recovered state is in doubt",
		"An apply that was cut off may have made changes which the state does not show:\n\n  %s\n\nNothing was planned or applied now, since "+
			"that could make them once more. Look at what really exists, and bring the state in line with it: by an import block, by \"cairn state import\", "+
			"or by deleting what nobody manages. %s", strings.Join(doubts, "\n  "), again)}
}

// accepts reports whether the user has seen what is in doubt, and goes on.
func (o *execution) accepts(recovered *tfengine.Recovered) bool {
	return o.flags.acceptRecovery && recovered.Seen
}

// bindRuns has the engine believe only those applies that were begun with this state, and not what came with a checkout.
func (o *execution) bindRuns(ctx context.Context) error {
	read := o.stored.Secret
	if o.stored.Locked() && o.name != "plan" { // something may be begun
		read = o.stored.MakeSecret
	}
	var err error
	if o.runs, err = o.stack().RunsDir(); err != nil {
		return err
	}
	secret, err := read(ctx)
	if err != nil {
		return err
	}
	if secret == nil {
		secret = []byte(rand.Text()) // by which nothing was signed
	}
	opened, err := o.stack().Engine(ctx)
	if err != nil {
		return err
	}
	opened.BindRuns(secret)
	o.secret = secret
	return nil
}

// unknownRuns explains the errors about directories of applies that the state doesn't know, and returns the others.
func unknownRuns(err error) (hcl.Diagnostics, error) {
	all, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, err
	}
	var diags hcl.Diagnostics
	var others []error
	for _, err := range all.Unwrap() {
		unknown, ok := errors.AsType[*tfengine.UnknownRunError](err)
		if !ok {
			others = append(others, err)
			continue
		}
		remedy := "Delete it, unless you know what has left it behind."
		if addr, err := stackaddrs.ParseAbsComponentInstance(unknown.Component); err == nil {
			remedy = fmt.Sprintf("If it is not yours, delete it. If an apply of yours has left it behind, see what is in its state, and put that into this one before: "+
				"cairn state import '%s' %s", addr, unknown.StateFile)
		}
		diags = diags.Append(problem("Unknown apply in working directory",
			"By the directory %s, an apply was cut off, but this state knows of none: the directory came with a checkout or a copy of the stack, belongs to "+
				"another state, or is of an earlier version of cairn. Nothing was taken from it. %s", unknown.Dir, remedy))
	}
	return diags, errors.Join(others...)
}

// saveRecovered saves the states of applies that were not saved before. What is saved is then in o.recovered.
func (o *execution) saveRecovered(ctx context.Context, found []*tfengine.Recovered) (diags hcl.Diagnostics) {
	var unsaved []*tfengine.Recovered
	for _, recovered := range found {
		if recovered.Saved {
			o.recovered = append(o.recovered, recovered)
		} else {
			unsaved = append(unsaved, recovered)
		}
	}
	if len(unsaved) == 0 {
		return nil
	}
	if !o.stored.Locked() { // nothing was to be changed until now
		locked, err := o.stack().LockState(ctx, statestore.LockRequest{Operation: "recover"})
		if err != nil {
			return keep(unsaved).Extend(asDiagnostics(err))
		}
		o.stored = locked
	}
	var usable []*tfengine.Recovered
	state := o.stored.State.With(func(state *stackstate.State) {
		for _, recovered := range unsaved {
			if err := o.recoverComponent(ctx, state, recovered); err != nil {
				diags = diags.Append(problem("State of an interrupted apply cannot be read",
					"An earlier apply of %s was cut off, and the state that it left behind in %s cannot be read: %s. It is kept there.",
					recovered.Component, o.runs, err))
				diags = diags.Extend(keep([]*tfengine.Recovered{recovered}))
				continue
			}
			usable = append(usable, recovered)
		}
	})
	if len(usable) == 0 {
		return diags
	}
	if err := o.stored.Change(ctx, "recover", state); err != nil {
		return diags.Extend(keep(usable)).Extend(asDiagnostics(err))
	}
	o.stored.State = state
	for _, recovered := range usable {
		diags = diags.Extend(errorDiagnostics(recovered.MarkSaved()))
	}
	o.recovered = append(o.recovered, usable...)
	return diags
}

// finish shows the diagnostics of the whole command and returns its exit code. What was recovered has been said to its end then.
func (o *execution) finish(diags hcl.Diagnostics) (int, error) {
	status, err := o.session.finish(diags)
	for _, recovered := range o.recovered {
		end := recovered.Done
		if err != nil || len(recovered.Doubts) > 0 && !o.accepts(recovered) {
			end = recovered.Keep
		}
		if endErr := end(); endErr != nil {
			o.fail(endErr)
			status = exitError
		}
	}
	o.recovered = nil
	return status, err
}

// waitNoticeDelay is how long a running engine is waited for in silence.
const waitNoticeDelay = 250 * time.Millisecond

// findInterrupted asks the engine for applies that were cut off. If that takes time, the user is told what for.
func (o *execution) findInterrupted(ctx context.Context) ([]*tfengine.Recovered, hcl.Diagnostics) {
	told := make(chan struct{})
	timer := time.AfterFunc(waitNoticeDelay, func() {
		defer close(told)
		for _, running := range runningApplies(o.runs) {
			o.note("Waiting for an apply that is still running (%s).\n", running)
		}
	})
	opened, err := o.stack().Engine(ctx)
	if err != nil {
		return nil, asDiagnostics(err)
	}
	found, err := opened.Recover(ctx)
	if !timer.Stop() {
		<-told
	}
	diags, err := unknownRuns(err)
	return found, diags.Extend(errorDiagnostics(err))
}

// runningApplies describes the applies of which the engine's process is running, in the order of their directories.
func runningApplies(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // whoever needs the directory reports that
	}
	var running []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		process, err := runner.ReadRun(path)
		if err != nil || !process.Running() {
			continue
		}
		var record struct {
			Component string `json:"component"`
		}
		src, err := os.ReadFile(filepath.Join(path, "apply.json"))
		if err != nil || json.Unmarshal(src, &record) != nil {
			continue // a plan, or not begun yet
		}
		text := record.Component
		if process.PID > 0 {
			text += fmt.Sprintf(", process %d", process.PID)
		}
		running = append(running, text)
	}
	return running
}

// recoveredWarnings tell of one recovered apply, with all that it has failed with in one warning.
func recoveredWarnings(recovered *tfengine.Recovered) hcl.Diagnostics {
	warning := &hcl.Diagnostic{
		Severity: hcl.DiagWarning,
		Summary:  "Interrupted apply recovered",
		Detail:   "An earlier apply of " + recovered.Component + " was cut off. What it had done until then is now saved in the state.",
	}
	diags := hcl.Diagnostics{warning}
	var failures []string
	for _, diag := range recovered.Diagnostics {
		if diag.Severity != hcl.DiagError {
			diags = diags.Append(diag)
			continue
		}
		failure := diag.Summary
		if diag.Subject != nil {
			failure += fmt.Sprintf(" (%s:%d)", diag.Subject.Filename, diag.Subject.Start.Line)
		}
		if detail := strings.TrimSpace(diag.Detail); detail != "" {
			failure += ": " + detail
		}
		failures = append(failures, failure)
	}
	if len(failures) > 0 {
		warning.Detail += " It ended with:\n\n" + strings.Join(failures, "\n\n")
	}
	if len(recovered.Doubts) > 0 {
		warning.Detail += " When you have, give -accept-recovery: nothing else is applied before that."
	}
	return diags
}

func keep(found []*tfengine.Recovered) hcl.Diagnostics {
	var errs []error
	for _, recovered := range found {
		errs = append(errs, recovered.Keep())
	}
	return errorDiagnostics(errors.Join(errs...))
}

// recoverComponent puts the state of a module into the state of the stack. After an error nothing has changed.
func (o *execution) recoverComponent(ctx context.Context, state *stackstate.State, recovered *tfengine.Recovered) error {
	addr, err := stackaddrs.ParseAbsComponentInstance(recovered.Component)
	if err != nil {
		return err
	}
	module, err := tfstate.Parse(recovered.State)
	if err != nil {
		return err
	}
	if !module.HasObjects() && recovered.Mode == engine.Destroy {
		delete(state.Components, addr)
		return nil
	}
	var component stackstate.Component
	if known := state.Components[addr]; known != nil {
		component = *known
	} else {
		component = stackstate.Component{Addr: addr}
		component.Dependencies, component.Dependents = o.neighbours(ctx, stackaddrs.ComponentOf(addr))
	}
	component.Module = recovered.State
	state.Components[addr] = &component
	return nil
}

// neighbours returns what a component requires, and what requires it, by the configuration.
func (o *execution) neighbours(ctx context.Context, of stackaddrs.AbsComponent) (dependencies, dependents []stackaddrs.AbsComponent) {
	inspector := stackruntime.Inspect(stackruntime.InspectRequest{Options: o.opts, State: o.stored.State})
	graph := inspector.ComponentGraph(ctx)
	for component, requires := range graph {
		if slices.Contains(requires, of) {
			dependents = append(dependents, component)
		}
	}
	slices.SortFunc(dependents, stackaddrs.AbsComponent.Compare)
	return graph[of], dependents
}
