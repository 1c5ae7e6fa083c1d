// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
)

// apply applies the plan of a unit, and finds out whether its outputs are other ones then, if somebody wants to know.
func (r *run) apply(ctx context.Context, unit int) error {
	u := &r.Units[unit]
	if !r.exports[unit] {
		return r.rounds(ctx, unit)
	}
	before, known := r.outputs(u)
	if err := r.rounds(ctx, unit); err != nil {
		return err
	}
	after, stillKnown := r.outputs(u)
	r.outcome[unit].outputs = !known || !stillKnown || before != after // what cannot be read may have changed
	return nil
}

// outputs returns a digest of the outputs of a unit, which are secret in part. It is not known if they cannot be read.
func (r *run) outputs(u *Unit) (digest [sha256.Size]byte, known bool) {
	hash := sha256.New()
	command := process.Command{
		Program: r.options.Engine, Args: []string{"output", "-json"}, Dir: u.Dir, Env: environment(u), Stdout: hash, Stderr: io.Discard,
	}
	switch {
	case u.Kind == Components:
		command.Program, command.Args = r.options.Cairn, r.withOptions(u, command.Args)
	case u.Workspace != "" || r.selectsIn(u.Dir): // another one may be selected, as by another unit in the directory
		command.Env = append(command.Env, "TF_WORKSPACE="+cmp.Or(u.Workspace, DefaultWorkspace))
	}
	known = r.options.Processes.Run(command) == nil
	return [sha256.Size]byte(hash.Sum(nil)), known
}

// withoutSameOutputs leaves out units that are there only because outputs of others might change, if none of them has.
func (r *run) withoutSameOutputs(decide func(int, func(int) order.Result) order.Result) func(int, func(int) order.Result) order.Result {
	return func(node int, result func(int) order.Result) order.Result {
		step := r.Steps[node]
		if step.Phase == Plan && r.options.Mode != Destroy {
			if of := r.Units[step.Unit].OnlyByOutputs; len(of) > 0 && !slices.ContainsFunc(of, func(unit int) bool { return r.outcome[unit].outputs }) {
				return order.Result{State: order.Passed, Err: r.sameOutputs(of)}
			}
		}
		if decide == nil {
			return order.Result{}
		}
		return decide(node, result)
	}
}

func (r *run) sameOutputs(units []int) error {
	var names []string
	for _, unit := range units {
		names = append(names, r.Units[unit].Name)
	}
	return errors.New("outputs of " + strings.Join(names, ", ") + " have not changed")
}
