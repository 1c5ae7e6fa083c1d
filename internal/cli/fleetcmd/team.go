// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/buildinfo"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/remote"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/config"
	"github.com/cairnstacks/cairn/internal/workers/connect"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/queue"
	filesources "github.com/cairnstacks/cairn/internal/workers/sources"
)

// parallelOnWorkers is how many units are worked on at the same time if nobody says otherwise:
// workers have limits of their own.
const parallelOnWorkers = 32

// noWorkers is the value of [config.Variable] that has all work done here.
const noWorkers = "none"

// team are the workers that do the work of a run.
type team struct {
	gates      *gates
	config     *config.Config
	run        string // ID
	connection *connect.Connection
	client     *remote.Client
}

// openTeam has the work done by workers if somebody says where these are.
func (g *gates) openTeam(declared *config.Config) error {
	switch name := os.Getenv(config.Variable); name {
	case "":
	case noWorkers:
		return nil
	default:
		read, diags := config.ReadFile(name, g.session.Files)
		if diags.HasErrors() {
			return diags
		}
		declared = read
	}
	if declared != nil {
		g.team = &team{gates: g, config: declared, run: newRunID()}
	}
	return nil
}

// newRunID returns an ID that sorts by time.
func newRunID() string {
	return time.Now().UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:6])
}

// open connects with the workers, brings them the files of the run, and has drivers opened whose
// work they do.
func (t *team) open(ctx context.Context, d *rollout.Drivers) error {
	key, err := config.RunKey(os.Environ())
	if err != nil {
		return err
	}
	if key.Public() != t.config.Trusted {
		return failure.Error("Key not trusted", "The key in %s is not the one that workers trust: the argument \"trusted\" of the block %q "+
			"has the public half of another key.", config.RunKeyVariable, config.BlockType)
	}
	pools, err := t.pools()
	if err != nil {
		return err
	}
	if err := t.prepare(ctx, d); err != nil {
		return err
	}
	identity := fmt.Sprintf("cairn run %s", t.run)
	if t.connection, err = connect.Open(ctx, t.config, connect.Options{Environ: os.Environ(), Identity: identity, Away: t.away}); err != nil {
		return err
	}
	files, top, err := t.bring(ctx, pools)
	if err != nil {
		return err
	}
	s := t.gates.session
	out, errs := s.ViewOptions(s.Streams.Out), s.ViewOptions(s.Streams.Err)
	t.client = &remote.Client{
		Calls: &calls.Client{
			Queue: t.connection.Queues, Records: t.connection.Records, Key: key, Pools: pools, Run: t.run, Version: buildinfo.Read().Protocol(),
		},
		Sources: files, Top: top, Pool: t.poolOf, Variables: variables.InEnviron(os.Environ()), Processes: d.Roots.Processes,
		View:           remote.View{Out: remote.Stream{Color: out.Color, Width: out.Width}, Err: remote.Stream{Color: errs.Color, Width: errs.Width}},
		Details:        t.gates.options.report != "",
		AcceptRecovery: t.gates.options.acceptRecovery,
		Show:           t.show,
	}
	t.client.View.Columns = s.Part("", session.Streams{}, &operation.Options{}).ViewOptions(nil).Width
	t.client.View.Concise = t.gates.options.concise
	d.Remote = func(unit int, planFile string, together map[string]bool) driver.Driver {
		return t.client.Open(unit, &t.gates.work.Units[unit], planFile, together)
	}
	s.Note("Run %s, on workers at %s.\n", t.run, t.config.Address)
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

// prepare fetches the packages of the stacks and completes their lock files, so that no worker
// chooses a version.
func (t *team) prepare(ctx context.Context, d *rollout.Drivers) error {
	prepared := map[string]bool{}
	for _, unit := range t.gates.work.Chosen() {
		u := &t.gates.work.Units[unit]
		if u.Kind != rollout.Components || prepared[u.Dir] {
			continue
		}
		prepared[u.Dir] = true
		options := d.Stack
		options.Env.Dir, options.Env.Home, options.Env.Environ = u.Dir, u.Home, rollout.Environment(u)
		part := t.gates.session.Part(u.Name, t.gates.session.Streams, &options)
		stack := operation.Open(options)
		_, diags := stack.Install(ctx, operation.InstallRequest{})
		if err := part.Report(diags); err != nil {
			return err
		}
		if err := stack.Close(); err != nil {
			return err
		}
		if diags.HasErrors() {
			return failure.Error("Stack not prepared", "The sources and providers of %s could not be prepared. Nothing was run.", u.Name)
		}
	}
	return nil
}

// bring records the files of the run for its pools.
func (t *team) bring(ctx context.Context, pools map[string]envelope.PoolRecipient) (files remote.Sources, top string, err error) {
	root, err := filepath.Abs(t.gates.Root)
	if err != nil {
		return files, "", err
	}
	top = filesources.Top(root)
	archive, digest, err := filesources.Pack(top)
	if err != nil {
		return files, "", err
	}
	below, err := filepath.Rel(top, root)
	if err != nil {
		return files, "", err
	}
	record := calls.Folder(t.run) + "sources"
	var to []envelope.Recipient
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		to = append(to, pools[name])
	}
	sealed, err := envelope.Seal(record, archive, to...)
	if err != nil {
		return files, "", err
	}
	return remote.Sources{Record: record, Digest: digest, Below: filepath.ToSlash(below)}, top, t.connection.Records.Put(ctx, record, sealed)
}

// away says that the queue is away, or back.
func (t *team) away(outage queue.Outage) {
	if outage.Over {
		t.gates.session.Note("The queue at %s is back.\n", outage.Place)
		return
	}
	t.gates.session.Note("The queue at %s is away. Workers go on with what they have begun; waiting for it.\n", outage.Place)
}

// close ends the connection.
func (t *team) close() {
	if t != nil && t.connection != nil {
		_ = t.connection.Close() //nolint:errcheck // all that matters is recorded
	}
}

// task runs the task of a unit.
func (t *team) task(ctx context.Context, unit int, reacts bool) error {
	return t.client.Task(ctx, unit, &t.gates.work.Units[unit], reacts)
}

// lost says what is lost if this program ends now.
func (g *gates) lost() string {
	if g.team == nil {
		return g.inFlight.Lost()
	}
	return "Nothing will be lost: workers go on with what they have begun."
}

// teamSink shows a phase of work that a worker does.
type teamSink struct {
	*show.NodeOutput
	recorder *timeline.Recorder
}

// Worked implements [remote.Sink].
func (s teamSink) Worked(work timeline.Work) { s.recorder.Add(work) }

// show begins to show a phase of the work on a unit.
func (t *team) show(unit, phase string) remote.Sink {
	output := t.gates.output.Node(unit)
	output.Phase(phase)
	return teamSink{output, t.gates.recorder(unit)}
}
