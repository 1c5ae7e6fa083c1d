// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Operation is the kind of a [Call].
type Operation string

// The operations: four of a component or module, those on one resource instance
// while a component is applied, and calls of functions of providers.
const (
	DescribeModule Operation = "module"
	ValidateModule Operation = "validate"
	Plan           Operation = "plan"
	Apply          Operation = "apply"

	Create Operation = "create"
	Update Operation = "update"
	Delete Operation = "delete"

	CallFunction Operation = "function"
)

// Call is one thing that an engine was asked to do.
type Call struct {
	Operation Operation
	Dir       string
	Component stackaddrs.AbsComponentInstance // of plans and applies
	Mode      engine.Mode                     // of plans and applies
	Resource  string                          // address of the resource instance in the module, or ""
	Function  string                          // name of a function of a provider, or ""

	// Started and Finished number the starts and ends of all calls of an engine
	// in the order in which they happened, from 1. Finished is 0 before the end.
	Started, Finished int
}

// Before reports whether the call had ended when the other one started.
func (c Call) Before(other Call) bool {
	return c.Finished != 0 && c.Finished < other.Started
}

// callLog records the calls of an engine. The zero value is ready to use.
type callLog struct {
	mu struct {
		sync.Mutex
		calls   []Call
		clock   int
		running map[Operation]int
		most    map[Operation]int
	}
}

// Calls returns all calls so far in the order of their starts.
func (e *Engine) Calls() []Call {
	e.calls.mu.Lock()
	defer e.calls.mu.Unlock()
	return slices.Clone(e.calls.mu.calls)
}

// CallsOf returns the calls with this operation in the order of their starts.
func (e *Engine) CallsOf(op Operation) []Call {
	return slices.DeleteFunc(e.Calls(), func(c Call) bool { return c.Operation != op })
}

// MostConcurrent returns how many calls with this operation have run at the
// same time at most.
func (e *Engine) MostConcurrent(op Operation) int {
	e.calls.mu.Lock()
	defer e.calls.mu.Unlock()
	return e.calls.mu.most[op]
}

// Forget empties the record of calls. Nothing may be running.
func (e *Engine) Forget() {
	e.calls.mu.Lock()
	defer e.calls.mu.Unlock()
	e.calls.mu.calls, e.calls.mu.running, e.calls.mu.most = nil, nil, nil
}

func (l *callLog) start(call Call) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.running == nil {
		l.mu.running, l.mu.most = map[Operation]int{}, map[Operation]int{}
	}
	l.mu.clock++
	call.Started, call.Finished = l.mu.clock, 0
	l.mu.calls = append(l.mu.calls, call)
	l.mu.running[call.Operation]++
	l.mu.most[call.Operation] = max(l.mu.most[call.Operation], l.mu.running[call.Operation])
	return len(l.mu.calls) - 1
}

func (l *callLog) finish(index int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.clock++
	l.mu.calls[index].Finished = l.mu.clock
	l.mu.running[l.mu.calls[index].Operation]--
}

// Begin records the start of a call, which another engine may carry out, and asks
// [Options.Before]. The first result records the end and must be called; after an error, nothing
// else may be done.
func (e *Engine) Begin(ctx context.Context, call Call) (func(), error) {
	index := e.calls.start(call)
	done := func() { e.calls.finish(index) }
	if err := context.Cause(ctx); err != nil {
		return done, err
	}
	if e.opts.Before == nil {
		return done, nil
	}
	return done, e.opts.Before(ctx, call)
}

// begin is [Engine.Begin] with diagnostics.
func (e *Engine) begin(ctx context.Context, call Call) (func(), hcl.Diagnostics) {
	done, err := e.Begin(ctx, call)
	if err != nil {
		return done, operationFailed(err)
	}
	return done, nil
}

func operationFailed(err error) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Operation failed", Detail: sentence(err)}}
}
