// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/planset"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// savingSet is a set while its plans are made.
type savingSet struct {
	*planset.Set
	mu    sync.Mutex
	units map[int]planset.Unit // that were planned
	clear map[int]string       // plan files outside of the set, of engines that do not encrypt
}

// openSet reads the set that is to be applied, and asks for its units. There is none if no set is
// named.
func openSet(ctx context.Context, s *session.Session, request *fleet.Request, o *gateOptions) (*planset.Applying, error) {
	if o.set == "" {
		return nil, nil
	}
	keys, err := s.Stack().Env().Keys()
	if err != nil {
		return nil, err
	}
	set, progress, err := planset.Read(ctx, o.set, keys)
	if err != nil {
		return nil, err
	}
	if err := planset.Protect(o.set); err != nil {
		return nil, err
	}
	if o.sameTree {
		if err := checkTree(ctx, set, o.setName(), request.Root); err != nil {
			return nil, err
		}
	}
	if err := set.CheckWorkspace(filepath.Join(request.Root, format.File)); err != nil {
		return nil, err
	}
	request.Names, request.NamesFrom = []string{}, "The set "+o.setName()
	for _, unit := range set.Units {
		request.Names = append(request.Names, unit.Name)
	}
	o.autoApprove = true
	return planset.NewApplying(set, progress, o.kept.written(ctx, o.set)), nil
}

// checkTree finds out whether the commit that is checked out has the files that a set was made
// from, all of them: also those that no plan depends on, such as scripts of tasks.
func checkTree(ctx context.Context, set *planset.Set, name, root string) error {
	if set.Tree == "" {
		return failure.Error("Plans of no commit", "The plans in %s were made with files that are in no commit, "+
			"so that they cannot be compared with what is checked out. Nothing was done. Commit them, and plan again.", name)
	}
	repository, err := gitdiff.Open(ctx, root)
	if err != nil {
		return changeProblem(err)
	}
	now, err := repository.Checkout(ctx)
	switch {
	case errors.Is(err, gitdiff.ErrEdited):
		return failure.Error("Files not committed", "Files were edited since the commit that is checked out, "+
			"so that they are not those of the plans in %s. Nothing was done. Check it out again.", name)
	case err != nil:
		return changeProblem(err)
	case now.Tree != set.Tree:
		return failure.Error("Plans of other files", "The plans in %s were made from the files of commit %.12s, "+
			"and those of commit %.12s, which is checked out, are others. "+
			"Something else was merged since, or there was another push. Nothing was done. Plan again.", name, set.Commit, now.Commit)
	}
	return nil
}

// checkedOut is the commit that a set is made from; empty where that cannot be said.
func (g *gates) checkedOut(ctx context.Context) gitdiff.Checkout {
	repository, err := gitdiff.Open(ctx, g.Root)
	if err != nil {
		return gitdiff.Checkout{} // sets need no git
	}
	at, err := repository.Checkout(ctx)
	if err != nil {
		return gitdiff.Checkout{}
	}
	return at
}

// withSet makes a run save a set, or apply one.
func (g *gates) withSet(ctx context.Context, drivers *rollout.Drivers, options *rollout.Options) error {
	switch {
	case g.options.out != "":
		keys, err := g.session.Stack().Env().Keys()
		if err != nil {
			return err
		}
		dir := g.options.out
		if g.options.keepsWithRun() {
			dir = filepath.Join(drivers.Plans, "set")
		}
		set, err := planset.Create(ctx, dir, rand.Text(), keys)
		if err != nil {
			return err
		}
		if set.Workspace, err = planset.HashWorkspace(filepath.Join(g.Root, format.File)); err != nil {
			return err
		}
		set.CairnVersion, set.Created = session.Version(), time.Now().UTC()
		set.MadeBy = statestore.CurrentOwner() + "@" + statestore.CurrentHost()
		at := g.checkedOut(ctx)
		set.Commit, set.Tree = at.Commit, at.Tree
		g.saving = &savingSet{Set: set, units: map[int]planset.Unit{}, clear: map[int]string{}}
		if drivers.PlanFile, err = planFileIn(set); err != nil {
			return err
		}
		if set.Demands() {
			drivers.PlanFile = g.planFileOutside(drivers)
		}
		options.Keep, options.Planned = true, func(planning rollout.Planning) error {
			return errors.Join(g.summarizePlan(planning), g.planned(ctx, planning))
		}
	case g.applying != nil:
		return g.withPlans(ctx, drivers, options)
	}
	return nil
}

// planFileIn returns where the plans of units are in a set. Engines run in other directories.
func planFileIn(set *planset.Set) (func(int) string, error) {
	dir, err := filepath.Abs(set.Dir)
	if err != nil {
		return nil, err
	}
	absolute := planset.Set{Dir: dir}
	return absolute.PlanFile, nil
}

// planFileOutside has the plans of root modules written among the files of this run, from where
// they are encrypted into the set.
func (g *gates) planFileOutside(drivers *rollout.Drivers) func(int) string {
	inSet := drivers.PlanFile
	return func(unit int) string {
		if g.work.Units[unit].Kind == rollout.Components {
			return inSet(unit)
		}
		file := clearPlan(drivers, unit)
		g.saving.mu.Lock()
		defer g.saving.mu.Unlock()
		g.saving.clear[unit] = file
		return file
	}
}

// clearPlan is where the plan of a unit is in clear while the run goes on.
func clearPlan(drivers *rollout.Drivers, unit int) string {
	return filepath.Join(drivers.Plans, fmt.Sprintf("clear-%d.plan", unit))
}

// planned keeps the plan of a unit, its inputs and its predecessors for the set.
func (g *gates) planned(ctx context.Context, planning rollout.Planning) error {
	u := &g.work.Units[planning.Unit]
	unit := planset.Unit{
		Name: u.Name, Kind: string(u.Kind), Path: u.Path, Deployment: u.Deployment, Workspace: u.Workspace,
		After: []string{}, Changes: planning.Plan.Changes, Counts: planning.Plan.Counts,
	}
	before := map[string]bool{}
	for _, phase := range []rollout.Phase{rollout.Plan, rollout.Apply} {
		for _, other := range g.work.HeldBy(planning.Unit, phase) {
			before[g.work.Units[other].Name] = true
		}
	}
	unit.After = slices.AppendSeq(unit.After, maps.Keys(before))
	slices.Sort(unit.After)
	if u.Inputs != nil || len(planning.Plan.Taken) > 0 {
		unit.Inputs = map[string]planset.Value{}
	}
	for reference := range planning.Plan.Taken {
		value, err := g.saving.NewValue(planning.Inputs[reference], []string{reference})
		if err != nil {
			return err
		}
		unit.Inputs[reference] = value
	}
	if u.Inputs != nil {
		for name, references := range u.Inputs.References() {
			from := []string{}
			for _, reference := range references {
				from = append(from, reference.Text)
			}
			value, err := g.saving.NewValue(planning.Inputs[name], from)
			if err != nil {
				return err
			}
			unit.Inputs[name] = value
		}
	}
	if root, ok := planning.Driver.(driver.Fingerprinter); ok {
		var err error
		if unit.Module, err = planset.NewModule(ctx, root); err != nil {
			return err
		}
	}
	g.saving.mu.Lock()
	defer g.saving.mu.Unlock()
	if file := g.saving.clear[planning.Unit]; file != "" { // which is removed before the set is saved
		if err := g.saving.Seal(ctx, planning.Unit, file); err != nil {
			return err
		}
	}
	g.saving.units[planning.Unit] = unit
	return nil
}

// saveSet saves the plans as a set, unless something has failed. Units are left out that wait for
// one that could not be planned.
func (g *gates) saveSet(ctx context.Context, ends []rollout.End) error {
	if g.saving == nil {
		return nil
	}
	if slices.ContainsFunc(ends, func(end rollout.End) bool { return !end.Done }) {
		g.saving.Discard()
		return failure.Error("Set of plans not saved", "Not all stacks could be planned, so that there is no set in %s.", g.outName())
	}
	out := map[int]bool{} // not in the set
	for _, end := range ends {
		if _, made := g.saving.units[end.Unit]; !made && end.State == rollout.Waiting {
			out[end.Unit] = true
		}
	}
	added := map[int]bool{}
	for _, n := range g.work.Graph.Sequence(g.work.Rule, g.work.Selected) {
		unit := g.work.Steps[n].Unit
		saved, made := g.saving.units[unit]
		if !made || added[unit] || out[unit] {
			continue
		}
		if slices.ContainsFunc(g.work.Units[unit].Upstream(), func(other int) bool { return out[other] }) {
			out[unit] = true
			continue
		}
		added[unit] = true
		if err := g.saving.Add(unit, saved); err != nil {
			return err
		}
	}
	if err := g.saving.Finish(); err != nil {
		return err
	}
	if g.options.keepsWithRun() {
		if err := g.keepSet(ctx); err != nil {
			return err
		}
	}
	var left []string
	for unit := range out {
		left = append(left, g.work.Units[unit].Name)
	}
	if slices.Sort(left); len(left) > 0 {
		g.session.Note("\nNot in the set, since values that they need are not known yet: %s.\n", strings.Join(left, ", "))
	}
	return nil
}

// sayHowToApply names the command that applies a saved set.
func (g *gates) sayHowToApply(code int) {
	if g.saving == nil || code == cmdline.ExitError {
		return
	}
	place := "are in " + g.options.out + ", and may hold secrets"
	if g.options.keepsWithRun() {
		place = "are kept with the run"
	}
	g.session.Note("\nThe plans %s. To apply exactly these: cairn run apply %s\n", place, commandLine([]string{g.outName()}))
}

// howToGoOn names the remedy for a unit that the plan of a set does not fit any more; "" for
// others.
func (g *gates) howToGoOn(end rollout.End) string {
	if _, unfit := errors.AsType[*planset.UnfitError](end.Err); !unfit || g.applying == nil {
		return ""
	}
	alone := commandLine([]string{"cairn", "run", "apply", "-query=stack_name:" + g.work.Units[end.Unit].Name})
	goOn := commandLine([]string{"cairn", "run", "apply", g.options.setName()})
	return "; plan and apply it by itself with " + alone + ", then go on with " + goOn
}

// withPlans makes a run apply the plans of a set. All of them are looked at before anything is
// done.
func (g *gates) withPlans(ctx context.Context, drivers *rollout.Drivers, options *rollout.Options) error {
	chosen := map[string]int{}
	for _, unit := range g.work.Chosen() {
		if g.work.Units[unit].Task == nil {
			chosen[g.work.Units[unit].Name] = unit
		}
	}
	var others []string
	for name := range chosen {
		if g.applying.Unit(name) == nil {
			others = append(others, name)
		}
	}
	if slices.Sort(others); len(others) > 0 {
		return failure.Error("Incomplete set of plans",
			"The set of plans needs %s, which has no plan in it. Nothing was done. Plan again.", strings.Join(others, ", "))
	}
	dir, err := filepath.Abs(g.applying.Dir)
	if err != nil {
		return err
	}
	unsealed, err := g.unsealPlans(ctx, drivers, chosen)
	if err != nil {
		return err
	}
	drivers.PlanFile = func(unit int) string {
		if file := unsealed[unit]; file != "" {
			return file
		}
		if saved := g.applying.Unit(g.work.Units[unit].Name); saved != nil {
			return filepath.Join(dir, filepath.FromSlash(saved.Plan))
		}
		return filepath.Join(drivers.Plans, "none")
	}
	if diags := g.checkPlans(ctx, drivers, chosen); diags.HasErrors() {
		return diags
	}
	options.KeepGoing, options.MaxRounds = true, 1
	options.Open = func(unit int) driver.Driver {
		opened, saved := drivers.Open(g.work, unit), g.applying.Unit(g.work.Units[unit].Name)
		if saved == nil {
			return opened
		}
		return g.applying.Driver(saved, opened)
	}
	return nil
}

// unsealPlans writes plans of root modules, which engines read that do not decrypt, among the files
// of this run. It returns these files by units.
func (g *gates) unsealPlans(ctx context.Context, drivers *rollout.Drivers, chosen map[string]int) (map[int]string, error) {
	files := map[int]string{}
	for name, unit := range chosen {
		saved := g.applying.Unit(name)
		if !g.applying.Demands() || saved.Module == nil {
			continue
		}
		files[unit] = clearPlan(drivers, unit)
		if err := g.applying.Unseal(ctx, saved, files[unit]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// checkPlans checks all plans of a set, as many at the same time as are worked on, and returns the
// errors in the order of the set.
func (g *gates) checkPlans(ctx context.Context, drivers *rollout.Drivers, chosen map[string]int) hcl.Diagnostics {
	found := make([]hcl.Diagnostics, len(g.applying.Units))
	var b order.Builder
	for i := range g.applying.Units {
		b.Add(order.Node{Name: g.applying.Units[i].Name})
	}
	graph, err := b.Build()
	if err != nil {
		return failure.Diagnostics(err)
	}
	graph.Run(ctx, order.RunOptions{Parallel: g.parallel, Limits: g.sameDirectories()}, func(ctx context.Context, n int) error {
		unit := &g.applying.Units[n]
		number, ok := chosen[unit.Name]
		if !ok {
			found[n] = hcl.Diagnostics{unit.NotThere()}
			return nil
		}
		found[n] = g.applying.Check(ctx, unit, drivers.Open(g.work, number))
		return nil
	})
	var diags hcl.Diagnostics
	for n, ofUnit := range found {
		for _, diag := range ofUnit {
			if diag.Severity == hcl.DiagError {
				diags = diags.Append(g.applying.Units[n].Of(diag))
			}
		}
	}
	if ctx.Err() != nil {
		return failure.Diagnostics(failure.Error("Operation interrupted", "The plans of the set were looked at. Nothing was done."))
	}
	if applied := g.applying.Applied(g.applying.Progress); applied != "" {
		g.session.NoteLine("%s", applied)
	}
	return diags
}

// sameDirectories lets one thing at a time be done in one directory.
func (g *gates) sameDirectories() []order.Limit {
	nodes := map[string][]int{}
	for i, unit := range g.applying.Units {
		nodes[unit.Path] = append(nodes[unit.Path], i)
	}
	var limits []order.Limit
	for _, path := range slices.Sorted(maps.Keys(nodes)) {
		limits = append(limits, order.Limit{Parallel: 1, Nodes: nodes[path]})
	}
	return limits
}
