// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package forgetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// ErrSkipped is the error of a job whose condition does not hold.
var ErrSkipped = errors.New("the job does not run")

// Runner plays jobs, one after the other.
type Runner struct {
	Server *Server
	Root   string            // of the repository with the kit
	Work   string            // directory with the repository "origin", for jobs and artifacts
	Env    map[string]string // for all commands
	Vars   map[string]string // variables and secrets
	Log    strings.Builder   // of the last job

	runs int
	mu   struct {
		sync.Mutex
		process *os.Process // of the command that runs now
	}
}

// Kill kills all that the job has running, as the loss of its machine does.
func (r *Runner) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.process != nil {
		killGroup(r.mu.process)
	}
}

// start begins a job: its number, and a directory with a clone of the origin.
func (r *Runner) start(ref string) (run, dir string, err error) {
	r.Log.Reset()
	for { // those of an earlier server are there
		r.runs++
		run = fmt.Sprint(100 + r.runs)
		dir = filepath.Join(r.Work, "job-"+run)
		if _, err := os.Stat(dir); err != nil {
			break
		}
	}
	clone := "git clone -q origin " + dir + " && cd " + dir + " && git fetch -q origin " + ref + " && git checkout -q --detach FETCH_HEAD"
	return run, dir, r.shell(r.Work, nil, clone, false)
}

// shell runs a command, with a trace of it if that is wanted.
func (r *Runner) shell(dir string, env map[string]string, script string, traced bool) error {
	args := []string{"-e", "-c", script}
	if traced {
		args = slices.Insert(args, 0, "-x")
	}
	cmd := exec.CommandContext(context.Background(), "bash", args...) // which Kill ends
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &r.Log, &r.Log
	ownGroup(cmd)
	for _, variables := range []map[string]string{r.Env, env} {
		for name, value := range variables {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	fmt.Fprintf(&r.Log, "$ %s\n", script)
	if err := cmd.Start(); err != nil {
		return err
	}
	r.mu.Lock()
	r.mu.process = cmd.Process
	r.mu.Unlock()
	err := cmd.Wait()
	r.mu.Lock()
	r.mu.process = nil
	r.mu.Unlock()
	return err
}

// outputs reads a file of lines NAME=VALUE.
func outputs(file string) map[string]any {
	text, _ := os.ReadFile(file) //nolint:errcheck // a step without outputs writes none
	read := map[string]any{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			read[name] = value
		}
	}
	return read
}

// keep keeps a file as part of an artifact.
func (r *Runner) keep(run, name, file string) error {
	to := filepath.Join(r.Server.Artifacts, run, name)
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644) //nolint:gosec // the rights of artifacts are lost
}
