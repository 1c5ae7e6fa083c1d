// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment_test

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// What is published stays through operations that do not know of it, and what was published last counts, whichever deployment it was applied with.
func TestPublished(t *testing.T) {
	ctx := t.Context()
	store, err := statestore.Open(ctx, filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	publish := func(name string, at time.Time, values map[string]cty.Value) {
		t.Helper()
		stored, err := (&deployment.Deployment{Name: name, Store: store}).Lock(ctx, statestore.LockRequest{Operation: "apply"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stored.Unlock(ctx) }()
		records, err := stored.PublishedRecords(deployment.Published{At: at, Values: values})
		if err != nil {
			t.Fatal(err)
		}
		if err := stored.Write(ctx, "apply", records); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want map[string]cty.Value) {
		t.Helper()
		newest, err := deployment.NewReadings(store).NewestPublished(ctx)
		if err != nil || !maps.EqualFunc(newest.Values, want, cty.Value.RawEquals) {
			t.Errorf("published is %v (%v), want %v", newest.Values, err, want)
		}
	}
	check(nil)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first := map[string]cty.Value{"id": cty.StringVal("x"), "key": cty.StringVal("secret").Mark(marks.Sensitive)}
	publish("b", start, first)
	check(first)
	second := map[string]cty.Value{"id": cty.StringVal("y"), "list": cty.EmptyTupleVal}
	publish("a", start.Add(time.Second), second)
	check(second)
	third := map[string]cty.Value{}
	publish("b", start.Add(2*time.Second), third)
	check(third)
}

func TestStable(t *testing.T) {
	ctx := t.Context()
	store, err := statestore.Open(ctx, filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	stored, err := (&deployment.Deployment{Name: "a", Store: store}).Lock(ctx, statestore.LockRequest{Operation: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stored.Unlock(ctx) }()
	values := map[string]cty.Value{"store.varset.x.stable.k": cty.StringVal("v").Mark(marks.Sensitive)}
	records, err := stored.StableRecords(values)
	if err != nil || len(records) != 1 {
		t.Fatalf("records %v, error %v; want one", records, err)
	}
	if err := stored.Write(ctx, "apply", records); err != nil {
		t.Fatal(err)
	}
	kept, err := stored.Stable()
	if err != nil || !maps.EqualFunc(kept, values, cty.Value.RawEquals) {
		t.Errorf("stable values are %v (%v), want %v", kept, err, values)
	}
	if records, err := stored.StableRecords(values); err != nil || len(records) > 0 {
		t.Errorf("records %v (%v) for what is kept already, want none", records, err)
	}
}
