// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/states"
	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

// workNames notes the names of work, without the name of the lock that the store has recorded by
// the time it begins.
type workNames struct {
	engine.Session
	store string
	mu    *sync.Mutex
	names *[]string
}

func (w workNames) note(ctx context.Context, id engine.WorkID) {
	name := string(id)
	if store, err := tables.Open(w.store, nil, statestore.Options{}); err == nil {
		if holder, err := storetest.Holder(ctx, store, "default"); err == nil && holder != nil {
			name = strings.Replace(name, holder.ID, "LOCK", 1)
		}
		_ = store.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.names = append(*w.names, name)
}

func (w workNames) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	w.note(ctx, req.Work)
	return w.Session.Plan(ctx, req, observe)
}

func (w workNames) Apply(ctx context.Context, req *engine.ApplyRequest, observe engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	w.note(ctx, req.Work)
	return w.Session.Apply(ctx, req, observe)
}

// All work of an apply has a name of its own, in every round, which begins with that of the lock.
func TestNamesOfWork(t *testing.T) {
	dir := newStack(t, map[string]string{
		"main.tfcomponent.hcl": `
component "a" { source = "./m" }
component "b" {
  for_each = toset([component.a.id])
  source   = "./m"
}
`,
		"m/main.tf": `
resource "terraform_data" "x" {}
output "id" { value = terraform_data.x.id }
`,
	})
	var mu sync.Mutex
	var names []string
	stack := openDir(t, operation.Options{Env: env.Options{Dir: dir}, Engine: engines.Request{Given: enginetest.Replaced{
		Engine: stacktest.NewMemory(t, filepath.Join(dir, ".cairn"), memengine.Options{}),
		Session: func(session engine.Session) engine.Session {
			return workNames{session, filepath.Join(dir, states.Default), &mu, &names}
		},
	}}})
	mustDiags(t, stack.Apply(t.Context(), operation.Request{}, operation.Caller{Approve: operation.ApproveAll}))
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("two pieces of work have one name: %q", names)
	}
	for i, name := range names {
		names[i], _, _ = strings.Cut(name, `["`)
	}
	want := []string{
		"LOCK/1/plan/component.a", "LOCK/1/plan/component.b[*]", "LOCK/2/apply/component.a",
		"LOCK/3/plan/component.a", "LOCK/3/plan/component.b", "LOCK/4/apply/component.b",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}
