// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/buildinfo"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/remote"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/providers/parallel"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/config"
	"github.com/cairnstacks/cairn/internal/workers/connect"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/runs"
	filesources "github.com/cairnstacks/cairn/internal/workers/sources"
)

// parallelOnWorkers is how many units are worked on at the same time if nobody says otherwise:
// workers have limits of their own.
const parallelOnWorkers = 32

// team are the workers that do the work of a run.
type team struct {
	gates  *gates
	config *config.Config
	run    string // ID

	connection *connect.Connection
	store      *runs.Store
	record     *runs.Run // as it is kept
	purpose    string    // other than the mode of the run; "" for none
	attached   bool      // the run was begun by another process
	variables  []string  // of the environment in which the run was begun, that give values to variables
	client     *remote.Client
	numbers    map[int]int // by which calls are named, of units
	rounds     map[int]int // questions that were asked about a unit
}

// openTeam has the work done by workers if somebody says where these are.
func (g *gates) openTeam(declared *config.Config) error {
	if attached := g.options.attached; attached != nil {
		g.team = attached
		g.team.gates = g
		return nil
	}
	found, err := g.session.Workers(declared)
	if err != nil {
		return err
	}
	if found == nil {
		if g.options.keepsWithRun() {
			return failure.Error("No workers",
				"Plans are kept with a run only where workers do it, and this one is done here. Name a directory: -out=DIR.")
		}
		return nil
	}
	if g.session.Options.Engine != "" {
		return failure.Error("Conflicting options", "The option -engine is about this process, and workers do the work of this run. "+
			"Start the workers with it, or have the work done here: CAIRN_WORKERS=none.")
	}
	g.team = &team{gates: g, config: found, run: newRunID()}
	return nil
}

// newRunID returns an ID that sorts by the time in thousandths of a second, as runs are listed.
func newRunID() string {
	const digits = "234567abcdefghijklmnopqrstuvwxyz" // of base 32, in their order
	now := time.Now().UTC()
	fraction := now.Nanosecond() / 1e6
	return now.Format("20060102-150405-") + digits[fraction>>5:fraction>>5+1] + digits[fraction&31:fraction&31+1] +
		strings.ToLower(rand.Text()[:4])
}

// connect connects with the workers and the records of runs.
func (t *team) connect(ctx context.Context) error {
	opened, key, err := t.gates.session.ConnectToWorkers(ctx, t.config, "cairn run "+t.run)
	if err == nil {
		t.connection, t.store = opened, &runs.Store{Records: opened.Records, Key: key}
	}
	return err
}

// open brings workers the files of the run, and has drivers opened whose work they do.
func (t *team) open(ctx context.Context, d *rollout.Drivers) error {
	pools, err := t.pools()
	if err != nil {
		return err
	}
	if t.attached {
		t.gates.session.Note("Run %s of %s, begun at %s.\n", t.run, t.record.Began.By, t.record.Began.At.Format(time.RFC3339))
	} else if err := t.begin(ctx, d, pools); err != nil {
		return err
	}
	if err := t.number(); err != nil {
		return err
	}
	s := t.gates.session
	out, errs := s.ViewOptions(s.Streams.Out), s.ViewOptions(s.Streams.Err)
	top, err := filepath.Abs(t.gates.files())
	if err != nil {
		return err
	}
	t.client = &remote.Client{
		Calls: &calls.Client{
			Queue: t.connection.Queues, Records: t.connection.Records, Key: t.store.Key, Pools: pools, Run: t.run,
			Version: buildinfo.Read().Protocol(), Again: t.attached, Waiting: t.waiting,
		},
		Sources: remote.Sources{
			Archive: filesources.Archive{Record: calls.Folder(t.run) + runs.SourcesName, Digest: t.record.Sources.Digest},
			Below:   t.record.Sources.Below,
		},
		Top: filesources.Top(top), Pool: t.poolOf, Variables: t.variables, Processes: d.Roots.Processes,
		View: remote.View{
			Columns: s.Part("", session.Streams{}, &operation.Options{}).ViewOptions(nil).Width, Concise: t.gates.options.concise,
			Out: remote.Stream{Color: out.Color, Width: out.Width}, Err: remote.Stream{Color: errs.Color, Width: errs.Width},
		},
		Details:        t.record.Options.Details,
		AcceptRecovery: t.gates.options.acceptRecovery,
		Show:           t.show,
		Remember:       func(u *rollout.Unit, drift driver.Drift) error { return remember(d, u, drift) },
	}
	d.Remote = func(unit int, planFile string, together map[string]bool) driver.Driver {
		return t.client.Open(t.numbers[unit], &t.gates.work.Units[unit], planFile, together)
	}
	return nil
}

// remember keeps the result of a comparison that a worker has made where "cairn status" finds it.
func remember(d *rollout.Drivers, u *rollout.Unit, drift driver.Drift) error {
	options := d.Stack
	options.Env.Dir, options.Env.Home, options.Env.Deployment = u.Dir, u.Home, u.Deployment
	stack := operation.Open(options)
	return errors.Join(driver.Remember(stack, drift), stack.Close())
}

// begin records a new run.
func (t *team) begin(ctx context.Context, d *rollout.Drivers, pools map[string]envelope.PoolRecipient) error {
	if err := t.connect(ctx); err != nil {
		return err
	}
	if err := t.prepare(ctx, d); err != nil {
		return err
	}
	readers, err := t.readers(d, pools)
	if err != nil {
		return err
	}
	files, err := t.bring(ctx, readers)
	if err != nil {
		return err
	}
	o := &t.gates.options
	t.record = &runs.Run{
		ID: t.run, Began: thisPerson(), Version: buildinfo.Read().Protocol(), Command: append([]string{"cairn"}, os.Args[1:]...),
		Mode: cmp.Or(t.purpose, string(t.gates.mode)), Commit: t.gates.checkedOut(ctx).Commit, Sources: files,
		Options: runs.Options{
			AutoApprove: o.autoApprove, Ask: o.ask, AcceptRecovery: o.acceptRecovery, MaxRounds: int(o.maxRounds), Parallel: t.gates.parallel,
			Concise: o.concise, Set: o.set != "", Details: o.report != "", SetOf: o.kept.of(), KeepsSet: o.keepsWithRun(),
			Gone: t.gates.gone.baseName(),
		},
	}
	chosen := map[int]bool{}
	for _, n := range t.gates.work.Chosen() {
		chosen[n] = true
	}
	for n := range t.gates.work.Units {
		u := &t.gates.work.Units[n]
		unit := runs.Unit{Number: n, Name: u.Name, Kind: string(u.Kind), Deployment: u.Deployment, Chosen: chosen[n]}
		if pool := t.find(u); pool != nil {
			unit.Pool = pool.Name
		}
		for _, other := range u.OnlyByOutputs {
			unit.OnlyByOutputs = append(unit.OnlyByOutputs, t.gates.work.Units[other].Name)
		}
		t.record.Units = append(t.record.Units, unit)
	}
	t.variables = variables.InEnviron(os.Environ())
	content, err := json.Marshal(t.variables)
	if err != nil {
		return err
	}
	if err := t.store.Keep(ctx, t.run, runs.VariablesName, content); err != nil {
		return err
	}
	if err := t.store.Begin(ctx, t.record); err != nil {
		return err
	}
	if err := t.claimSet(ctx); err != nil {
		return err
	}
	t.gates.session.Note("Run %s, on workers at %s.\n", t.run, t.config.Address)
	return nil
}

// thisPerson is who runs this program.
func thisPerson() runs.Who {
	return runs.Who{By: statestore.CurrentOwner(), Host: statestore.CurrentHost(), At: time.Now().UTC()}
}

// number gives units the numbers that they have in the record of the run.
func (t *team) number() error {
	byName := map[string]*runs.Unit{}
	for i := range t.record.Units {
		byName[t.record.Units[i].Name] = &t.record.Units[i]
	}
	t.numbers, t.rounds = map[int]int{}, map[int]int{}
	at := map[string]int{}
	for n := range t.gates.work.Units {
		at[t.gates.work.Units[n].Name] = n
	}
	for n := range t.gates.work.Units {
		u := &t.gates.work.Units[n]
		kept := byName[u.Name]
		if kept == nil {
			return failure.Error("Other units", "The run %s has no unit %s, which the workspace file has now.", t.run, u.Name)
		}
		t.numbers[n] = kept.Number
		u.OnlyByOutputs = nil
		for _, other := range kept.OnlyByOutputs {
			u.OnlyByOutputs = append(u.OnlyByOutputs, at[other])
		}
	}
	return nil
}

// pools returns the public keys of the pools of all units.
func (t *team) pools() (map[string]envelope.PoolRecipient, error) {
	pools := map[string]envelope.PoolRecipient{}
	for _, unit := range t.gates.work.Chosen() {
		for _, n := range append([]int{unit}, t.gates.work.Units[unit].Upstream()...) {
			u := &t.gates.work.Units[n]
			pool := t.find(u)
			if pool == nil {
				return nil, failure.Error("No pool for a unit", "No pool of the block %q is for %s, and there is none with the name %q. "+
					"Name it, or its deployment or one of its tags, in a pool.", config.BlockType, u.Name, config.DefaultPool)
			}
			pools[pool.Name] = pool.Recipient
		}
	}
	return pools, nil
}

func (t *team) find(u *rollout.Unit) *config.Pool {
	deployment := u.Deployment
	if u.Kind == rollout.Components {
		deployment = cmp.Or(deployment, settings.DefaultDeployment)
	}
	return t.config.For(deployment, u.Tags)
}

// poolOf returns the pool of a unit, which has one.
func (t *team) poolOf(u *rollout.Unit) string { return t.find(u).Name }

// stacks returns the units that are stacks, one of each directory.
func (t *team) stacks() []*rollout.Unit {
	var units []*rollout.Unit
	found := map[string]bool{}
	for _, unit := range t.gates.work.Chosen() {
		u := &t.gates.work.Units[unit]
		if u.Kind == rollout.Components && !found[u.Dir] {
			found[u.Dir] = true
			units = append(units, u)
		}
	}
	return units
}

// prepare fetches the packages of the stacks and completes their lock files, so that no worker
// chooses a version.
func (t *team) prepare(ctx context.Context, d *rollout.Drivers) error {
	type result struct {
		part  *session.Session
		diags hcl.Diagnostics
		err   error
	}
	units := t.stacks()
	results := make([]result, len(units))
	parallel.Each(units, parallel.Downloads, func(i int, u *rollout.Unit) {
		options := d.Stack
		options.Env.Dir, options.Env.Home, options.Env.Environ = u.Dir, u.Home, rollout.Environment(u)
		one := &results[i]
		one.part = t.gates.session.Part(u.Name, t.gates.session.Streams, &options)
		stack := operation.Open(options)
		_, one.diags = stack.Install(ctx, operation.InstallRequest{})
		one.err = stack.Close()
	})
	for i, one := range results {
		if err := errors.Join(one.part.Report(one.diags), one.err); err != nil {
			return err
		}
		if one.diags.HasErrors() {
			return failure.Error("Stack not prepared", "The sources and providers of %s could not be prepared. Nothing was run.", units[i].Name)
		}
	}
	return nil
}

// readers returns the pools whose workers get the files of the run: those of its units, and those
// of components of its stacks.
func (t *team) readers(d *rollout.Drivers, ofUnits map[string]envelope.PoolRecipient) (map[string]envelope.PoolRecipient, error) {
	readers := maps.Clone(ofUnits)
	for _, u := range t.stacks() {
		options := d.Stack
		options.Env.Dir = u.Dir
		stack := operation.Open(options)
		names, err := stack.Engines().Pools()
		if err := errors.Join(err, stack.Close()); err != nil {
			return nil, err
		}
		for _, name := range names {
			pool := t.config.Pool(name)
			if pool == nil {
				return nil, failure.Error("Unknown pool", "%s has components in the pool %q, and the block %q has none of that name.",
					u.Name, name, config.BlockType)
			}
			readers[name] = pool.Recipient
		}
	}
	return readers, nil
}

// bring records the files of the run, and the set that it applies.
func (t *team) bring(ctx context.Context, pools map[string]envelope.PoolRecipient) (files runs.Sources, err error) {
	root, err := filepath.Abs(t.gates.files())
	if err != nil {
		return files, err
	}
	top := filesources.Top(root)
	archive, digest, err := filesources.Pack(top)
	if err != nil {
		return files, err
	}
	below, err := filepath.Rel(top, root)
	if err != nil {
		return files, err
	}
	var to []envelope.Recipient
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		to = append(to, pools[name])
	}
	if err := t.store.Keep(ctx, t.run, runs.SourcesName, archive, to...); err != nil {
		return files, err
	}
	if t.gates.options.set != "" {
		if err := t.store.KeepSet(ctx, t.run, t.gates.options.set); err != nil {
			return files, err
		}
	}
	return runs.Sources{Digest: digest, Below: filepath.ToSlash(below)}, nil
}

// waiting says that no worker has taken a call.
func (t *team) waiting(call calls.Call) {
	number, _, _ := strings.Cut(call.Name, "/")
	for _, u := range t.record.Units {
		if strconv.Itoa(u.Number) == number {
			t.gates.session.NoteLine("%s waits for a worker of the pool %s.", safetext.Name(u.Name), call.Pool)
		}
	}
}

// close ends the connection.
func (t *team) close() {
	if t != nil && t.connection != nil {
		_ = t.connection.Close() //nolint:errcheck // all that matters is recorded
	}
}

// task runs the task of a unit.
func (t *team) task(ctx context.Context, unit int, reacts bool) error {
	return t.client.Task(ctx, t.numbers[unit], &t.gates.work.Units[unit], reacts)
}

// lost names the work that is lost if this program ends now.
func (g *gates) lost() string {
	if g.team == nil {
		return g.inFlight.Lost()
	}
	return "Nothing will be lost: workers go on with what they have begun, and \"cairn run attach " + g.team.run + "\" follows them."
}

// teamSink shows a phase of work that a worker does.
type teamSink struct {
	*show.NodeOutput
	recorder *timeline.Recorder
}

// Noted implements [remote.Sink].
func (s teamSink) Noted(content []byte) {
	var work timeline.Work
	if json.Unmarshal(content, &work) == nil { // as all workers of this version send
		s.recorder.Add(work)
	}
}

// show begins to show a phase of the work on a unit.
func (t *team) show(unit, phase string) remote.Sink {
	output := t.gates.output.Node(unit)
	output.Phase(phase)
	return teamSink{output, t.gates.recorder(unit)}
}

// approve finds out whether the plan of a unit is approved in the records of the run, and otherwise
// asks here. An approval is recorded before it counts.
func (t *team) approve(ctx context.Context, unit int, show func() error) (rollout.Consent, error) {
	t.rounds[unit]++
	number, round, u := t.numbers[unit], t.rounds[unit], &t.gates.work.Units[unit]
	given, err := t.store.Approval(ctx, t.run, number, round)
	if err != nil {
		return rollout.Consent{}, err
	}
	if given != nil {
		t.gates.session.NoteLine("\n%s %s: approved by %s.", failure.Capitalize(string(t.gates.mode)), u.Name, given.String())
		return rollout.Consent{Given: true, By: given.String()}, nil
	}
	if err := t.store.Ask(ctx, t.run, runs.Question{Unit: number, Name: u.Name, Round: round, Since: thisPerson()}); err != nil {
		return rollout.Consent{}, err
	}
	yes, group, err := t.gates.askFor(ctx, unit, show)
	if !yes || err != nil {
		return rollout.Consent{}, err
	}
	given = &runs.Approval{Who: thisPerson(), Text: group}
	return rollout.Consent{Given: true, By: given.String()}, t.store.Approve(ctx, t.run, number, round, *given)
}

// watch ends a run that somebody asks to stop from elsewhere, until over is closed.
func (t *team) watch(ctx context.Context, over <-chan struct{}, interrupt func()) {
	ticker := time.NewTicker(watchTime)
	defer ticker.Stop()
	for {
		who, err := t.store.Cancelled(ctx, t.run) // an error says that the records are away, and so does the work
		if err == nil && who != nil {
			t.gates.session.Note("\n%s at %s has asked to stop this run.\n", who.By, who.Host)
			interrupt()
			return
		}
		select {
		case <-over:
			return
		case <-ticker.C:
		}
	}
}

// watchTime is the time between looks for the wish to stop a run.
const watchTime = 2 * time.Second

// ended records the end of a run, unless something of it waits for approval, and nobody has asked
// to stop it.
func (t *team) ended(ctx context.Context, ends []rollout.End, code int) error {
	if t == nil || t.connection == nil {
		return nil
	}
	open, err := t.store.Open(ctx, t.run)
	if err != nil {
		return err
	}
	if len(open) > 0 {
		if stopped, err := t.store.Cancelled(ctx, t.run); err != nil || stopped == nil {
			return err
		}
	}
	if set := t.settledSet(code); set != "" {
		if err := t.store.SettleSet(ctx, set, thisPerson()); err != nil {
			return err
		}
	}
	outcome := runs.Outcome{Who: thisPerson(), Code: code}
	for _, end := range ends {
		outcome.Ends = append(outcome.Ends, runs.End{
			Name: t.gates.work.Units[end.Unit].Name, State: string(end.State), Detail: t.gates.endDetail(end),
		})
	}
	return t.store.End(ctx, t.run, outcome)
}

// chosen returns the names of the units that a run works on.
func (t *team) chosen() []string {
	var names []string
	for _, u := range t.record.Units {
		if u.Chosen {
			names = append(names, u.Name)
		}
	}
	return names
}
