// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// library plans and applies through the Go packages, in a process of its own.
type library struct{ engine string }

func (l *library) name() string { return "cairn, library and binary" }

// prepare does nothing: it is done by a run.
func (l *library) prepare(context.Context, *fixture) error { return nil }

// libraryCommand is the first argument with which this program runs as a subject: "library BINARY
// STACK PARALLELISM".
const libraryCommand = "library"

// libraryTiming is the output of that.
type libraryTiming struct{ Plan, Apply time.Duration }

func (l *library) run(ctx context.Context, f *fixture, parallelism int) (timing, error) {
	self, err := os.Executable()
	if err != nil {
		return timing{}, err
	}
	cmd := command(ctx, self, libraryCommand, l.engine, f.stack, strconv.Itoa(parallelism))
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	_, processor, err := timed(cmd)
	if err != nil {
		return timing{}, err
	}
	var measured libraryTiming
	if err := json.Unmarshal(stdout.Bytes(), &measured); err != nil {
		return timing{}, fmt.Errorf("library: %w", err)
	}
	return timing{plan: stepCost{measured.Plan, processor}, apply: stepCost{elapsed: measured.Apply}}, nil
}

// runLibrary plans and applies a stack from nothing, and prints how long that took.
func runLibrary(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 4 {
		return fmt.Errorf("usage: %s BINARY STACK PARALLELISM", libraryCommand)
	}
	parallelism, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	var measured libraryTiming
	start := time.Now()
	opts, err := prepare(ctx, args[1], args[2], parallelism)
	if err != nil {
		return err
	}
	plan, diags := stackruntime.Plan(ctx, stackruntime.PlanRequest{Options: opts})
	if err := asError(diags); err != nil {
		return err
	}
	// The plan goes through a file, as it does for users.
	var file bytes.Buffer
	if _, err := stackplan.Write(&file, plan, stackplan.FileContext{}); err != nil {
		return err
	}
	measured.Plan = time.Since(start)

	start = time.Now()
	plan, _, err = stackplan.ReadFrom(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		return err
	}
	result, diags := stackruntime.Apply(ctx, stackruntime.ApplyRequest{Options: opts, Plan: plan})
	if err := asError(diags); err != nil {
		return err
	}
	measured.Apply = time.Since(start)

	components := len(opts.Config.Root.Components)
	if added := result.Counts().Add; added != resourcesEach*components {
		return fmt.Errorf("%d resources were added, want %d for each of %d components", added, resourcesEach, components)
	}
	return json.NewEncoder(out).Encode(measured)
}

// prepare reads a stack and opens a session of the engine for it, which ends with the program.
func prepare(ctx context.Context, program, stack string, parallelism int) (stackruntime.Options, error) {
	config, diags := stackconfig.Load(stack)
	if err := asError(diags); err != nil {
		return stackruntime.Options{}, err
	}
	e, err := binary.New(ctx, binary.Options{Binary: program, WorkDir: filepath.Join(stack, ".cairn")})
	if err != nil {
		return stackruntime.Options{}, err
	}
	session, err := e.Open(ctx, engine.SessionOptions{StackDir: stack, Parallelism: parallelism})
	if err != nil {
		return stackruntime.Options{}, err
	}
	preparer := session.Abilities().Preparer
	req := &engine.PrepareRequest{}
	for _, component := range config.Root.Components {
		req.Modules = append(req.Modules, component.Source.Dir)
	}
	if _, diags := preparer.Prepare(ctx, req); diags.HasErrors() {
		return stackruntime.Options{}, asError(diags)
	}
	locks, err := preparer.Locks(ctx)
	return stackruntime.Options{Config: config, Session: session, Locks: locks}, err
}

// asError returns the errors among diagnostics.
func asError(diags hcl.Diagnostics) error { return errors.Join(diags.Errs()...) }
