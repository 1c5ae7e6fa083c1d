// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// recovery is the recovery of applies that were cut off, and the record of the one that goes on.
type recovery struct {
	run      *run
	runs     string   // directory in which applies are recorded until they are saved
	recorded []string // names of the records of applies of which the locked state knows
	secret   []byte   // of the state, by which it knows applies

	lost map[*engine.Recovered]string // names of the journals for which work stands that the state remembers
}

// recover saves the changes of applies whose program was killed, and reports them at once: this
// program may be killed, too. The failure of such an apply does not keep the next one from going
// on, so errors are reported as warnings; but objects that may exist without being in the state
// would be created once more, so that nothing is changed before the user has looked.
//
// Reported work is kept until [Stack.Acknowledge].
func (r *recovery) recover(ctx context.Context) hcl.Diagnostics {
	if err := r.bindRuns(ctx); err != nil {
		return Diagnostics(err)
	}
	found, diags := r.findInterrupted(ctx)
	diags = diags.Extend(r.saveRecovered(ctx, found))
	if !diags.HasErrors() {
		diags = diags.Extend(Diagnostics(r.dropRecord(ctx)))
	}
	for _, recovered := range r.run.stack.opened.recovered {
		if r.run.caller.Report == nil {
			diags = diags.Extend(recoveredWarnings(recovered, r.run.stack.opened.accepts(recovered)))
		} else if err := r.run.caller.Report(recoveredWarnings(recovered, r.run.stack.opened.accepts(recovered))); err != nil {
			return diags.Extend(Diagnostics(err))
		}
		if recovered.Work != "" { // which the engine knows
			diags = diags.Extend(Diagnostics(r.run.stack.opened.recoverer().MarkSeen(ctx, recovered.Work)))
		}
	}
	if r.run.name != planName && r.run.req.Mode != engine.RefreshOnly {
		diags = diags.Extend(r.checkDoubts())
	}
	return diags
}

// dropRecord makes the state forget the records of applies that were cut off: their work is saved
// or in doubt. The engine keeps the doubts from now on, in a working directory, and so does the
// state, for those who have another directory or only look.
func (r *recovery) dropRecord(ctx context.Context) error {
	remembered := r.toRemember(r.run.stack.opened.recovered)
	if r.run.stored.Locked() && (len(r.run.stored.CutOff) > 0 || !remembered.Same(r.run.stored.Remembered)) {
		if err := r.run.stored.Forget(ctx, remembered); err != nil {
			return err
		}
	}
	return r.forgetRecord(ctx)
}

// lostWork begins the names of work that stands for the lost record of a journal.
const lostWork = "journal/"

// toRemember returns what the state is to remember of recovered work: all that nobody has accepted.
func (r *recovery) toRemember(all []*engine.Recovered) deployment.Remembered {
	remembered := deployment.Remembered{Doubts: map[string][]string{}}
	for _, recovered := range all {
		if r.run.stack.opened.accepts(recovered) {
			continue
		}
		if recovered.Lost != "" {
			remembered.Lost = append(remembered.Lost, cmp.Or(r.lost[recovered], strings.TrimPrefix(string(recovered.Work), lostWork)))
		}
		if len(recovered.Doubts) > 0 {
			doubts := append(remembered.Doubts[recovered.Component], recovered.Doubts...)
			slices.Sort(doubts)
			remembered.Doubts[recovered.Component] = slices.Compact(doubts)
		}
	}
	slices.Sort(remembered.Lost)
	return remembered
}

// remembered returns work that stands for what the state remembers, unless the engine does, too.
func (r *recovery) remembered(found []*engine.Recovered) []*engine.Recovered {
	var all []*engine.Recovered
	known := r.toRemember(found)
	for _, name := range r.run.stored.Remembered.Lost {
		if !slices.Contains(known.Lost, name) {
			lost := &engine.Recovered{Saved: true, Seen: true, Lost: "The journal " + name + " is missing"}
			r.lost[lost] = name
			all = append(all, lost)
		}
	}
	for _, component := range slices.Sorted(maps.Keys(r.run.stored.Remembered.Doubts)) {
		doubts := slices.DeleteFunc(slices.Clone(r.run.stored.Remembered.Doubts[component]), func(resource string) bool {
			return slices.Contains(known.Doubts[component], resource)
		})
		if len(doubts) > 0 {
			all = append(all, inDoubt(component, doubts, true))
		}
	}
	return all
}

// inDoubt returns work that stands for doubts of which no engine knows.
func inDoubt(component string, resources []string, seen bool) *engine.Recovered {
	return &engine.Recovered{Component: component, Saved: true, Seen: seen, Doubts: resources, Diagnostics: hcl.Diagnostics{
		failure.New("Unknown outcome of changes", "Changes of these objects were begun, and may have been made or not:\n\n  %s\n\n"+
			"Compare the objects with the real ones before you plan again.", strings.Join(resources, "\n  ")),
	}}
}

// checkDoubts fails if something is in doubt that the user has not accepted: planned once more, it
// may be made twice.
func (r *recovery) checkDoubts() hcl.Diagnostics {
	var doubts []string
	for _, recovered := range r.run.stack.opened.recovered {
		if r.run.stack.opened.accepts(recovered) {
			continue
		}
		if recovered.Lost != "" {
			doubts = append(doubts, recovered.Lost)
		}
		for _, resource := range recovered.Doubts {
			doubts = append(doubts, recovered.Component+"."+resource)
		}
	}
	if len(doubts) == 0 {
		return nil
	}
	code, again := CodeDoubt, "Then do this again, accepting the recovered state"
	if r.run.req.AcceptRecovery {
		code, again = CodeNewDoubt, "Then do this again: only doubts that were reported before can be accepted, and these were found just now"
	}
	return hcl.Diagnostics{failure.With(code, failure.New("Doubtful recovered state",
		"An apply that was cut off may have made changes which the state does not show:\n\n  %s\n\nNothing was planned or applied now, since "+
			"that could make them once more. Look at the objects that really exist, and bring the state in line with them: by an import block, "+
			"by taking over another state, or by deleting objects that nobody manages. %s.", strings.Join(doubts, "\n  "), again))}
}

// The codes of doubts: those that were reported before, and those that were found just now.
const (
	CodeDoubt    fault.Code = "operation/doubt"
	CodeNewDoubt fault.Code = "operation/new-doubt"

	// CodeForeignWork is of the record of an apply that the state does not know. Its names are the
	// component and the file with the state of the apply.
	CodeForeignWork fault.Code = "operation/foreign-work"

	// CodeRescued is of a state that could not be saved. Its name is the file that has the state.
	CodeRescued fault.Code = "operation/rescued"

	// CodeRecoveredDoubt is of a report about a recovery with doubts.
	CodeRecoveredDoubt fault.Code = "operation/recovered-doubt"
)

// bindRuns has the engine believe only those applies that were begun with this state, and no
// records that came with a checkout.
func (r *recovery) bindRuns(ctx context.Context) error {
	read := r.run.stored.Secret
	if r.run.stored.Locked() && r.run.name != planName { // something may be begun
		read = r.run.stored.MakeSecret
	}
	var err error
	if r.runs, err = r.run.stack.sources.RunsDir(); err != nil {
		return err
	}
	r.recorded = r.run.stored.CutOff
	secret, err := read(ctx)
	if err != nil {
		return err
	}
	if secret == nil {
		secret = []byte(rand.Text()) // by which nothing was signed
	}
	r.secret = secret
	return r.bindEngine(ctx)
}

// bindEngine passes to the engine for which plan applies are begun from now on.
func (r *recovery) bindEngine(ctx context.Context) error {
	if _, err := r.run.stack.session(ctx); err != nil {
		return err
	}
	if recoverer := r.run.stack.opened.recoverer(); recoverer != nil {
		recoverer.Bind(engine.Purpose{
			Secret: r.secret, Plan: r.run.saved, Serial: r.run.stored.Serial,
			CutOff: r.run.stored.Lock().Displaced(), Recorded: named(r.recorded), Copies: r.run.stored.Copies, Others: named(r.run.stored.Others),
		})
	}
	return nil
}

// named leaves out the journals of engines that have none in one place.
func named(journals []string) []string {
	return slices.DeleteFunc(slices.Clone(journals), func(name string) bool { return name == "" })
}

// foreignWork explains the record of an apply that the state doesn't know.
func foreignWork(work engine.UnfinishedWork) *hcl.Diagnostic {
	remedy, about := "Delete it, unless you know the apply that has left it behind.", any(nil)
	if addr, err := stackaddrs.ParseAbsComponentInstance(work.Component); err == nil {
		remedy = "If it is not yours, delete it. If an apply of yours has left it behind, look at the content of its state, and have this one " +
			"take that over before."
		about = fault.Named{Code: CodeForeignWork, Names: []string{addr.String(), work.StateFile}}
	}
	diag := failure.New("Unknown apply in working directory",
		"By the directory %s, an apply was cut off, but this state knows of none: the directory came with a checkout or a copy of the stack, "+
			"belongs to another state, or is of an earlier version of cairn. Nothing was taken from it. %s", work.Place, remedy)
	diag.Extra = about
	return diag
}

// emptyRecord explains the record of an apply that has nothing in it. Whether anything can have
// been begun is known once the state is locked.
func (r *recovery) emptyRecord(work engine.UnfinishedWork) hcl.Diagnostics {
	switch {
	case !work.Foreign:
		return hcl.Diagnostics{failure.Warning("Apply journal without content", "An earlier apply was cut off while it made its journal %s, "+
			"before it had begun any change: nothing is lost with it, and it was removed.", work.Place)}
	case r.run.stored.Locked():
		return hcl.Diagnostics{foreignWork(work)}
	}
	return nil
}

// saveRecovered saves the states of applies that were not saved before. The saved ones are then in
// r.run.stack.opened.recovered.
func (r *recovery) saveRecovered(ctx context.Context, found []*engine.Recovered) (diags hcl.Diagnostics) {
	var unsaved []*engine.Recovered
	for _, recovered := range found {
		if recovered.Saved {
			r.run.stack.opened.recovered = append(r.run.stack.opened.recovered, recovered)
		} else {
			unsaved = append(unsaved, recovered)
		}
	}
	if len(unsaved) == 0 {
		return nil
	}
	if addrs := components(unsaved); !r.run.stored.Lock().MayChange(addrs...) { // nothing was to be changed until now
		parts := r.run.stored.Lock().ToChange(addrs...)
		if err := r.run.stored.Unlock(ctx); err != nil {
			return r.leave(ctx, unsaved).Extend(Diagnostics(err))
		}
		locked, err := r.run.stack.states.Lock(ctx, statestore.LockRequest{Operation: "recover", Parts: parts})
		if err != nil {
			return r.leave(ctx, unsaved).Extend(Diagnostics(err))
		}
		r.run.stored = locked
	}
	var usable []*engine.Recovered
	state := r.run.stored.State.With(func(state *stackstate.State) {
		for _, recovered := range unsaved {
			if err := r.recoverComponent(ctx, state, recovered); err != nil {
				diags = diags.Append(failure.New("Unreadable state of interrupted apply",
					"An earlier apply of %s was cut off, and the state that it left behind in %s cannot be read: %s. It is kept there.",
					recovered.Component, r.runs, err))
				diags = diags.Extend(r.leave(ctx, []*engine.Recovered{recovered}))
				continue
			}
			usable = append(usable, recovered)
		}
	})
	if len(usable) == 0 {
		return diags
	}
	remembered := r.toRemember(slices.Concat(found, r.run.stack.opened.recovered))
	if err := r.run.stored.Recover(ctx, state, r.begunBy(usable), remembered); err != nil {
		return diags.Extend(r.leave(ctx, usable)).Extend(Diagnostics(err))
	}
	diags = diags.Extend(Diagnostics(r.bindEngine(ctx)))
	for _, recovered := range usable {
		diags = diags.Extend(Diagnostics(r.run.stack.opened.session.Acknowledge(ctx, recovered.Work)))
		recovered.Saved = true
	}
	r.run.stack.opened.recovered = append(r.run.stack.opened.recovered, usable...)
	return diags
}

// components returns the component instances of recovered work.
func components(found []*engine.Recovered) []stackaddrs.AbsComponentInstance {
	var addrs []stackaddrs.AbsComponentInstance
	for _, recovered := range found {
		if addr, err := stackaddrs.ParseAbsComponentInstance(recovered.Component); err == nil {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

// begunBy returns the plan of which all that was recovered is work, as is all that has changed in
// the state since it was made; nil if there is none.
func (r *recovery) begunBy(found []*engine.Recovered) *deployment.Begun {
	begun := &deployment.Begun{Plan: found[0].Plan, Progress: stackplan.Progress{}}
	before, isBegun := r.run.stored.Begun[begun.Plan]
	maps.Copy(begun.Progress, before)
	if begun.Plan == "" || !isBegun && (len(r.run.stored.Begun) > 0 || found[0].Serial != r.run.stored.Serial) {
		return nil
	}
	for _, recovered := range found {
		addr, err := stackaddrs.ParseAbsComponentInstance(recovered.Component)
		if err != nil || recovered.Plan != begun.Plan {
			return nil
		}
		if begun.Progress[addr] == "" { // else it may be done, and only was not removed yet
			begun.Progress[addr] = stackplan.Begun
		}
	}
	return begun
}

// record has the engine make the record of its work on a number of components, and then has the
// state know of it, before anything is done.
func (r *recovery) record(ctx context.Context, saver *deployment.Saver, changed int) error {
	recoverer := r.run.stack.opened.recoverer()
	if recoverer == nil || changed == 0 {
		return nil
	}
	var added func(context.Context, []byte) error
	if r.run.stack.states.File() == "" { // which outlives working directories
		added = saver.AddToJournal
	}
	name, err := recoverer.Record(ctx, added)
	if err != nil {
		return failure.Error("Unusable apply journal", "The work of the apply could not be written down, so nothing "+
			"was begun: %s.", failure.Reason(err))
	}
	directory := ""
	if r.run.stack.states.File() == "" {
		if directory, err = r.directory(); err != nil {
			return err
		}
	}
	if name == "" && directory == "" {
		return nil
	}
	if err := saver.Begin(ctx, name, directory); err != nil {
		return err
	}
	r.recorded = []string{name}
	return r.bindEngine(ctx)
}

// forgetRecord says to the engine that the state does not know of the records any more.
func (r *recovery) forgetRecord(ctx context.Context) error {
	if len(r.recorded) == 0 {
		return nil
	}
	r.recorded = nil
	return r.bindEngine(ctx)
}

// waitNoticeDelay is how long a running engine is waited for in silence.
const waitNoticeDelay = 250 * time.Millisecond

// findInterrupted asks the engine for applies that were cut off, and waits for those that go on. If
// that takes time, a notice gives the reason.
func (r *recovery) findInterrupted(ctx context.Context) ([]*engine.Recovered, hcl.Diagnostics) {
	recoverer := r.run.stack.opened.recoverer()
	if recoverer == nil {
		return nil, nil
	}
	unfinished, err := recoverer.Unfinished(ctx)
	errs := []error{err}
	noticed := make(chan struct{})
	timer := time.AfterFunc(waitNoticeDelay, func() {
		defer close(noticed)
		for _, work := range unfinished {
			if work.Running {
				r.run.stack.env.Notify.Send(notice.WaitingForApply{Component: work.Component, PID: work.PID})
			}
		}
	})
	var diags hcl.Diagnostics
	var found []*engine.Recovered
	for _, work := range unfinished {
		if work.Empty {
			diags = diags.Extend(r.emptyRecord(work))
			continue
		}
		if work.Foreign {
			diags = diags.Append(foreignWork(work))
			continue
		}
		if !r.concerns(work) {
			errs = append(errs, recoverer.Leave(ctx, work.Work))
			continue
		}
		recovered, err := recoverer.Resume(ctx, work.Work, 0, nil)
		errs = append(errs, err)
		if recovered != nil {
			found = append(found, recovered)
		}
	}
	if !timer.Stop() {
		<-noticed
	}
	unknown, err := r.unknownWork(found)
	errs = append(errs, err)
	found = append(found, unknown...)
	found = append(found, r.remembered(found)...)
	return found, diags.Extend(Diagnostics(errors.Join(errs...)))
}

// concerns reports whether work is of a component that the operation has locked. That of others is
// for an operation on those.
func (r *recovery) concerns(work engine.UnfinishedWork) bool {
	addr, err := stackaddrs.ParseAbsComponentInstance(work.Component)
	return err != nil || r.run.stored.Lock().Concerns(addr) // what stands for a lost journal is of no component
}

// recoveredWarnings report one recovered apply, whose doubts were accepted or not, with all that it
// has failed with in one warning.
func recoveredWarnings(recovered *engine.Recovered, accepted bool) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if recovered.Lost != "" {
		diags = diags.Append(failure.Warning("Apply journal lost", "An earlier apply was cut off. %s, so that some of what it had done "+
			"and was doing may be unknown: objects "+
			"may exist that the state does not have. Compare the objects that really exist with the state, whichever "+
			"component of it.", recovered.Lost))
	}
	if recovered.Component == "" { // which stands for a lost journal
		return diags
	}
	warning := failure.Warning("Interrupted apply recovered",
		"An earlier apply of %s was cut off. The changes that it had made until then are now saved in the state.", recovered.Component)
	diags = diags.Append(warning)
	var failures []string
	for _, diag := range recovered.Diagnostics {
		if diag.Severity != hcl.DiagError {
			diags = diags.Append(diag)
			continue
		}
		text := diag.Summary
		if diag.Subject != nil {
			text += fmt.Sprintf(" (%s:%d)", diag.Subject.Filename, diag.Subject.Start.Line)
		}
		if detail := strings.TrimSpace(diag.Detail); detail != "" {
			text += ": " + detail
		}
		failures = append(failures, text)
	}
	if len(failures) > 0 {
		warning.Detail += " It ended with:\n\n" + strings.Join(failures, "\n\n")
		if len(recovered.Doubts) > 0 && !accepted { // else another message names them
			warning.Extra = CodeRecoveredDoubt
		}
	}
	return diags
}

// leave leaves the recovered work to another program.
func (r *recovery) leave(ctx context.Context, found []*engine.Recovered) hcl.Diagnostics {
	var errs []error
	for _, recovered := range found {
		errs = append(errs, r.run.stack.opened.recoverer().Leave(ctx, recovered.Work))
	}
	return Diagnostics(errors.Join(errs...))
}

// recoverComponent puts the state of a module into the state of the stack. After an error nothing
// has changed.
func (r *recovery) recoverComponent(ctx context.Context, state *stackstate.State, recovered *engine.Recovered) error {
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
		if recovered.Incomplete {
			if module, err = withMissing(known.Module, module); err != nil {
				return err
			}
		}
	} else {
		component = stackstate.Component{Addr: addr}
		component.Dependencies, component.Dependents = r.neighbours(ctx, stackaddrs.ComponentOf(addr))
	}
	component.Module = recovered.State
	if recovered.Incomplete {
		component.Module = module.Bytes()
	}
	state.Components[addr] = &component
	return nil
}

// withMissing adds to the state of a module the objects that only another one has: one of the same
// component that may be older.
func withMissing(known engine.State, older *tfstate.Document) (*tfstate.Document, error) {
	newer, err := tfstate.Parse(known)
	if err != nil || newer.IsEmpty() {
		return older, err
	}
	type object struct {
		addr    stackaddrs.ResourceInstance
		deposed stackaddrs.DeposedKey
	}
	all := slices.Clone(newer.Entries())
	there := map[object]bool{}
	for _, e := range all {
		there[object{e.Addr, e.Deposed}] = true
	}
	for _, e := range older.Entries() {
		if !there[object{e.Addr, e.Deposed}] {
			all = append(all, e)
		}
	}
	return newer.WithEntries(all)
}

// neighbours returns the dependencies and the dependents of a component, by the configuration.
func (r *recovery) neighbours(ctx context.Context, of stackaddrs.AbsComponent) (dependencies, dependents []stackaddrs.AbsComponent) {
	inspector := stackruntime.Inspect(stackruntime.InspectRequest{Options: r.run.runtime, State: r.run.stored.State})
	graph := inspector.ComponentGraph(ctx)
	for component, requires := range graph {
		if slices.Contains(requires, of) {
			dependents = append(dependents, component)
		}
	}
	slices.SortFunc(dependents, stackaddrs.AbsComponent.Compare)
	return graph[of], dependents
}
