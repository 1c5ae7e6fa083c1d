// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/queue"
)

// Client opens drivers of the units of a run whose work is done by workers. Its fields are not
// changed while it is used.
type Client struct {
	Calls   *calls.Client
	Sources Sources
	Top     string // directory that the archive is of, absolute

	Pool      func(u *rollout.Unit) string // whose workers do the work on a unit
	Variables []string                     // of the environment, that give values to variables
	View      View
	Details   bool // plans are wanted themselves, also of units that are only planned

	AcceptRecovery bool

	Processes *process.Set // of the run, whose interrupts reach workers by it

	// Remember keeps the result of a comparison of a stack on this machine; see [driver.Drift].
	Remember func(u *rollout.Unit, drift driver.Drift) error

	// Show begins to show a phase of the work on a unit, or a task.
	Show func(unit, phase string) Sink
}

// Sink shows a phase of the work on a unit.
type Sink interface {
	// Writers returns where output goes to.
	Writers() (stdout, stderr io.Writer)

	// Noted receives the notes of [Screen.Note].
	Noted(content []byte)

	// Close ends the phase. Its error is that something could not be shown.
	Close() error
}

// call asks for something to be done with a unit, and shows it under the name of a phase.
func (c *Client) call(ctx context.Context, name string, u *rollout.Unit, req request, phase string) (*response, error) {
	if err := process.Stopped(ctx); err != nil {
		return nil, err
	}
	var err error
	req.Sources, req.View, req.Variables, req.AcceptRecovery = c.Sources, c.View, c.Variables, c.AcceptRecovery
	if req.Unit, err = c.unit(u); err != nil {
		return nil, err
	}
	body, err := wire.Encode(req)
	if err != nil {
		return nil, fmt.Errorf("the request cannot be encoded: %w", err)
	}
	shown := &shown{}
	if req.Op.shows() {
		shown.sink = c.Show(u.Name, phase)
	}
	leave, err := c.Processes.Enter(func() (process.Guest, error) { return &guest{ctx, c, name}, nil })
	if err != nil {
		return nil, errors.Join(err, shown.close())
	}
	defer leave()
	answer, err := c.Calls.Do(ctx, calls.Call{Name: name, Pool: c.Pool(u), Kind: Kind, Changes: req.Op.changes(), Body: body}, shown.report)
	lost := shown.close()
	if err != nil {
		return nil, explain(err, c.Pool(u))
	}
	resp := &response{}
	if err := wire.Decode(answer.Body, resp); err != nil {
		return nil, fmt.Errorf("the answer of the worker %s cannot be decoded: %w", answer.Worker, err)
	}
	err = resp.Failure.decode()
	if err == nil && lost != nil {
		err = &driver.LostOutputError{Err: lost}
	}
	return resp, err
}

// guest is a call among the processes of a run.
type guest struct {
	ctx    context.Context //nolint:containedctx // of the call, for what is recorded of it
	client *Client
	call   string
}

// Kill implements [process.Guest].
func (g *guest) Kill() error { return g.client.Calls.StopNow(context.WithoutCancel(g.ctx), g.call) }

// unit returns a unit as a worker needs it.
func (c *Client) unit(u *rollout.Unit) (unit, error) {
	at, err := c.within(u.Dir)
	if err != nil {
		return unit{}, err
	}
	sent := unit{
		Name: u.Name, Path: at, Kind: u.Kind, Workspace: u.Workspace, Deployment: u.Deployment, Destroyed: u.Destroyed,
		Env: u.Env, Task: u.Task,
	}
	for _, file := range u.VarFiles {
		inside, err := c.within(file)
		if err != nil {
			return unit{}, err
		}
		sent.VarFiles = append(sent.VarFiles, inside)
	}
	return sent, nil
}

// within returns a path from the top of the archive.
func (c *Client) within(name string) (string, error) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(c.Top, absolute)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is not in %s, whose files are brought to workers", name, c.Top)
	}
	return filepath.ToSlash(rel), nil
}

// Task runs the task of a unit on a worker.
func (c *Client) Task(ctx context.Context, n int, u *rollout.Unit, reacts bool) error {
	_, err := c.call(ctx, fmt.Sprintf("%d/task", n), u, request{Op: opTask, Reacts: reacts}, string(rollout.Run))
	return err
}

// explain says why a call could not be carried out.
func explain(err error, pool string) error {
	if errors.Is(err, queue.ErrStopped) {
		return process.ErrStopped
	}
	if refused, ok := errors.AsType[*queue.RefusedError](err); ok {
		return fmt.Errorf("%s (pool %s)", refused.Text(), pool)
	}
	return err
}

// shown passes on reports of a worker.
type shown struct {
	sink    Sink // nil for work that nobody sees
	attempt int
	lost    error
}

func (s *shown) report(attempt int, reports [][]byte) {
	if s.sink == nil {
		return
	}
	stdout, stderr := s.sink.Writers()
	if s.attempt != 0 && attempt != s.attempt {
		s.write(stderr, []byte("The worker has not gone on; another one does it now.\n"))
	}
	s.attempt = attempt
	for _, content := range reports {
		var said report
		if wire.Decode(content, &said) != nil {
			continue
		}
		s.write(stdout, said.Out)
		s.write(stderr, said.Err)
		if said.Note != nil {
			s.sink.Noted(said.Note)
		}
	}
}

func (s *shown) write(to io.Writer, text []byte) {
	if len(text) == 0 || s.lost != nil {
		return
	}
	_, s.lost = to.Write(text)
}

func (s *shown) close() error {
	if s.sink == nil {
		return nil
	}
	return errors.Join(s.lost, s.sink.Close())
}

// writePlan writes the file of a plan.
func writePlan(name string, content []byte) error {
	if content == nil {
		return nil
	}
	return os.WriteFile(name, content, 0o600)
}
