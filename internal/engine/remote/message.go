// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/buildinfo"
	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// request is the content of a call. One of Plan, Apply and Query is set.
type request struct {
	Session string                 // names the session here
	Prepare *engine.PrepareRequest // nil if nothing was prepared

	Plan  *engine.PlanRequest
	Apply *engine.ApplyRequest
	Query *engine.QueryRequest
}

// answer is the answer of a call. All results are nil if nothing was done.
type answer struct {
	Plan  *engine.PlanResult
	Apply *engine.ApplyResult
	Query *engine.QueryResult
	Diags hcl.Diagnostics
}

// report is one report of a worker: events, and then a part of the record of an apply.
type report struct {
	Events []engine.Event
	Record []byte
}

// place is the knowledge about delegated work that is recorded with it.
type place struct{ Pool, Call string }

// encodeRequest puts the version of cairn before a request, where each version finds it.
func encodeRequest(version string, req *request) ([]byte, error) {
	text, err := wire.Encode(req)
	return append([]byte(version+"\n"), text...), err
}

// decodeRequest reads a request, unless another version has made it.
//
// Errors: a [*versionError].
func decodeRequest(version string, content []byte) (*request, error) {
	made, text, found := bytes.Cut(content, []byte("\n"))
	if !found {
		return nil, errors.New("the request is damaged")
	}
	if string(made) != version {
		return nil, &versionError{made: string(made), worker: version}
	}
	var req *request
	err := wire.Decode(text, &req)
	return req, err
}

// versionError is the error of a request for another version of cairn.
type versionError struct{ made, worker string }

func (e *versionError) Error() string {
	return fmt.Sprintf("the worker has cairn %s, and the work is for cairn %s", e.worker, e.made)
}

// versionOf returns the version of this program, unless another one is given.
func versionOf(given string) string {
	if given != "" {
		return given
	}
	return buildinfo.Read().Protocol()
}

// dirs are the directories of a request as they are sent, or back.
type dirs func(dir string) (string, error)

// from makes directories relative to the one of the stack (rule R7).
func from(stack string) dirs {
	return func(dir string) (string, error) {
		relative, err := filepath.Rel(stack, dir)
		return filepath.ToSlash(relative), err
	}
}

// below finds directories from the one of the stack.
func below(stack string) dirs {
	return func(dir string) (string, error) { return filepath.Join(stack, filepath.FromSlash(dir)), nil }
}

// request returns a copy of a request with other directories.
func (d dirs) request(req request) (*request, error) {
	var errs []error
	move := func(dir string) string {
		moved, err := d(dir)
		errs = append(errs, err)
		return moved
	}
	if req.Prepare != nil {
		prepare := *req.Prepare
		prepare.Modules = nil
		for _, dir := range req.Prepare.Modules {
			prepare.Modules = append(prepare.Modules, move(dir))
		}
		req.Prepare = &prepare
	}
	switch {
	case req.Plan != nil:
		plan := *req.Plan
		plan.ModuleDir = move(plan.ModuleDir)
		req.Plan = &plan
	case req.Apply != nil:
		apply := *req.Apply
		apply.ModuleDir = move(apply.ModuleDir)
		req.Apply = &apply
	case req.Query != nil:
		query := *req.Query
		query.ModuleDir = move(query.ModuleDir)
		req.Query = &query
	}
	return &req, errors.Join(errs...)
}

// answer returns a copy of an answer with other directories.
func (d dirs) answer(a answer) (*answer, error) {
	if a.Plan == nil || len(a.Plan.Generated) == 0 {
		return &a, nil
	}
	plan := *a.Plan
	plan.Generated = nil
	for _, generated := range a.Plan.Generated {
		var err error
		if generated.ModuleDir, err = d(generated.ModuleDir); err != nil {
			return nil, err
		}
		plan.Generated = append(plan.Generated, generated)
	}
	a.Plan = &plan
	return &a, nil
}
