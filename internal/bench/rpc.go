// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/proto/terraform1/client"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

const (
	rpcComponents = 300
	rpcSessions   = 1000
)

// threeObjects is a module with three objects.
const threeObjects = `variable "in" {
  type = string
}

resource "terraform_data" "a" {
  input = var.in
}

resource "terraform_data" "b" {
  input = var.in
}

resource "terraform_data" "c" {
  input = var.in
}
`

// writeStack writes a stack of components that all use one module.
func writeStack(dir string, components int) error {
	var config strings.Builder
	for i := range components {
		fmt.Fprintf(&config, "component \"c%d\" {\n  source = \"./module\"\n  inputs = { in = %q }\n}\n\n", i, unitInput(i))
	}
	return errors.Join(
		writeFile(filepath.Join(dir, "module", moduleFile), threeObjects), writeFile(filepath.Join(dir, "main.tfcomponent.hcl"), config.String()))
}

// rpcCost is the cost of a step: time, and the memory of the process of cairn, without those of
// engines.
type rpcCost struct {
	elapsed time.Duration
	memory  int64
}

func (c rpcCost) String() string {
	return fmt.Sprintf("%.1f s, %d MB", c.elapsed.Seconds(), c.memory>>20)
}

// rpcHost drives stacks as a host does: each operation is in a process of its own, and plans and
// states are in files.
type rpcHost struct {
	opts        options
	dir         string
	plan, state string // files
}

// with runs something with a server, and measures it from its start to its end.
func (h *rpcHost) with(ctx context.Context, run func(*client.Client) error) (c rpcCost, err error) {
	start := time.Now()
	environ := append(plainEnvironment(), "CAIRN_ENGINE="+h.opts.engine)
	server, err := client.Start(ctx, client.Options{Program: h.opts.cairn, Dir: h.dir, Environ: environ, Log: os.Stderr})
	if err != nil {
		return c, err
	}
	defer server.Close()
	err = run(server)
	return rpcCost{time.Since(start), serverStatus("VmHWM:")}, err
}

// planning plans and keeps the plan.
func (h *rpcHost) planning(ctx context.Context, prior *client.State) (rpcCost, error) {
	return h.with(ctx, func(server *client.Client) error {
		stack, err := server.OpenStack(ctx, client.StackOptions{Source: "./"})
		if err != nil {
			return err
		}
		plan, err := stack.Plan(ctx, client.PlanOptions{Prior: prior})
		if err != nil {
			return err
		}
		if !plan.Applyable() {
			return fmt.Errorf("the plan cannot be applied: %v", plan.Diagnostics)
		}
		return errors.Join(plan.WriteFile(h.plan), stack.Close())
	})
}

// applying applies the plan that was kept, and keeps the state.
func (h *rpcHost) applying(ctx context.Context) (rpcCost, error) {
	return h.with(ctx, func(server *client.Client) error {
		plan, err := client.ReadPlan(h.plan)
		if err != nil {
			return err
		}
		stack, err := server.OpenStack(ctx, client.StackOptions{Source: "./"})
		if err != nil {
			return err
		}
		changes, state := 0, &client.State{}
		_, err = stack.Apply(ctx, plan, state, client.ApplyOptions{Change: func(*stackspb.AppliedChange) error { changes++; return nil }})
		if err == nil && changes < rpcComponents {
			err = fmt.Errorf("there were only %d changes of the state", changes)
		}
		return errors.Join(err, state.WriteFile(h.state), stack.Close())
	})
}

// all plans, applies and plans again.
func (h *rpcHost) all(ctx context.Context) (costs [3]rpcCost, err error) {
	if costs[0], err = h.planning(ctx, nil); err != nil {
		return costs, err
	}
	if costs[1], err = h.applying(ctx); err != nil {
		return costs, err
	}
	state, err := client.ReadState(h.state)
	if err != nil {
		return costs, err
	}
	costs[2], err = h.planning(ctx, state)
	return costs, err
}

// commands does the same with commands.
func (h *rpcHost) commands(ctx context.Context) (costs [3]rpcCost, err error) {
	file := h.plan + ".cairn"
	for i, args := range [][]string{{"plan", "-out=" + file}, {"apply", file}, {"plan", "-out=" + file}} {
		cmd := command(ctx, h.opts.cairn, args...)
		cmd.Dir, cmd.Env = h.dir, append(plainEnvironment(), "CAIRN_ENGINE="+h.opts.engine)
		elapsed, _, err := timed(cmd)
		if err != nil {
			return costs, err
		}
		costs[i] = rpcCost{elapsed, peakMemory(cmd.ProcessState)}
	}
	return costs, nil
}

// rpcRounds is how often many sessions run at once: the remains of the first round, such as room in
// the heap, are used again by the next ones.
const rpcRounds = 3

// sessions opens, validates and closes a stack many times at once on one server, round by round. It
// returns the duration of a round, and the memory and the open files of the server before the first
// one and after each.
func (h *rpcHost) sessions(ctx context.Context) (elapsed time.Duration, memory, files [rpcRounds + 1]int64, err error) {
	validate := func(server *client.Client) error {
		stack, err := server.OpenStack(ctx, client.StackOptions{Source: "./"})
		if err != nil {
			return err
		}
		diags, err := stack.Validate(ctx)
		if diags.HasErrors() {
			err = errors.Join(err, fmt.Errorf("the stack is not valid: %v", diags))
		}
		return errors.Join(err, stack.Close())
	}
	_, err = h.with(ctx, func(server *client.Client) error {
		if err := validate(server); err != nil {
			return err
		}
		memory[0], files[0] = serverStatus("VmRSS:"), serverFiles()
		start := time.Now()
		for round := range rpcRounds {
			errs := make([]error, rpcSessions)
			var running sync.WaitGroup
			for i := range errs {
				running.Go(func() { errs[i] = validate(server) })
			}
			running.Wait()
			if err := errors.Join(errs...); err != nil {
				return err
			}
			memory[round+1], files[round+1] = serverStatus("VmRSS:"), serverFiles()
		}
		elapsed = time.Since(start) / rpcRounds
		return nil
	})
	return elapsed, memory, files, err
}

// serverProcess returns the directory in /proc of the only child of this process, "" where there is
// none.
func serverProcess() string {
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return ""
	}
	for _, task := range tasks {
		children, err := os.ReadFile(task)
		if fields := strings.Fields(string(children)); err == nil && len(fields) > 0 {
			return filepath.Join("/proc", fields[0])
		}
	}
	return ""
}

// serverStatus returns a size from the status of the server, in bytes; 0 where it is not known.
func serverStatus(name string) int64 {
	status, err := os.ReadFile(filepath.Join(serverProcess(), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			size, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return size << 10
		}
	}
	return 0
}

// serverFiles returns how many files the server has open.
func serverFiles() int64 {
	files, err := os.ReadDir(filepath.Join(serverProcess(), "fd"))
	if err != nil {
		return 0
	}
	return int64(len(files))
}

// measureRPC compares operations by the RPC API with commands.
func (r *report) measureRPC(ctx context.Context, opts options, dir string) error {
	if opts.cairn == "" {
		return errors.New("the RPC API needs the program cairn: name it with the option for it")
	}
	h := &rpcHost{opts: opts, dir: filepath.Join(dir, "rpc"), plan: filepath.Join(dir, "rpc.plan"), state: filepath.Join(dir, "rpc.state")}
	if err := writeStack(h.dir, rpcComponents); err != nil {
		return err
	}
	rpc, err := h.all(ctx)
	if err != nil {
		return err
	}
	progress("rpc: measured by the API")
	commands, err := h.commands(ctx)
	if err != nil {
		return err
	}
	progress("rpc: measured by commands")
	table := newTable("", "plan", "apply", "plan again")
	table.row("RPC API", rpc[0], rpc[1], rpc[2])
	table.row("commands", commands[0], commands[1], commands[2])
	r.section("Operations by the RPC API", fmt.Sprintf("A stack of %d components of three `terraform_data` each. "+
		"Each operation is in a process of its own, from its start to its end, "+
		"with the raw plan and the raw state in files between them. Time, and the most memory of the process of cairn; engines have their own.",
		rpcComponents), table)

	h.dir = filepath.Join(dir, "rpc-small")
	if err := writeStack(h.dir, 3); err != nil {
		return err
	}
	elapsed, memory, files, err := h.sessions(ctx)
	if err != nil {
		return err
	}
	table = newTable("", "before", "after one round", "after two", "after three")
	table.row("memory, MB", memory[0]>>20, memory[1]>>20, memory[2]>>20, memory[3]>>20)
	table.row("open files", files[0], files[1], files[2], files[3])
	r.section("Sessions of the RPC API", fmt.Sprintf("One server, on which %d clients at once open, "+
		"validate and close a stack of three components: %.1f s a round.", rpcSessions, elapsed.Seconds()), table)
	return nil
}
