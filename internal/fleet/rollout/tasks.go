// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"context"
	"errors"
	"os"

	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/telemetry"
)

// Job returns the job of a task in a directory. The reaction is a part of it only if the task
// reacts.
func (t *Task) Job(dir string, env []string, reacts bool) process.Job {
	command := func(words []string) process.Command {
		return process.Command{Program: words[0], Args: words[1:], Dir: dir, Env: env, Timeout: t.Timeout}
	}
	job := process.Job{Command: command(t.Command), Retries: t.Retries, Interval: t.Interval}
	if reacts && t.Reaction != nil {
		reaction := command(t.Reaction)
		job.Reaction = &reaction
	}
	return job
}

// task runs the command of a task.
func (r *run) task(ctx context.Context, u *Unit, reacts bool) error {
	job := u.Task.Job(u.Dir, telemetry.Environ(ctx, append(os.Environ(), u.Env...)), reacts)
	out := r.options.Output(u.Name)
	job.Stdout, job.Stderr = out.Writers()
	err := r.options.Processes.RunJob(ctx, job)
	return errors.Join(err, out.Close())
}
